# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pair lists, sequences, what is skipped, and the other options."""
import hashlib
import os
import pty
import subprocess
import unittest

from support import ToolTest, pair_id, row_of


class Pairs(ToolTest):

    def setUp(self):
        super().setUp()
        self.survey = self.database()
        for number, name in enumerate(("A", "B", "C", "my D", "D"), 1):
            self.survey.add_image(number, name, tokens=range(20))

    def pairs(self, text, code=0, *options):
        return self.run_tool("pairs", self.survey, "--match_list_path",
                             self.list_file(text), *options, code=code)

    def test_case_22_repeated_pairs(self):
        self.pairs("A B\nB A\nA B\nA A\n")
        self.assertEqual(list(self.survey.matches()), [pair_id(1, 2)])

    def test_comments_blanks_and_line_ends(self):
        self.pairs("# A C\r\n\r\n  A   B  \r\n\tB\tC\r\n   \n#\nC A")
        self.assertEqual(set(self.survey.matches()),
                         {pair_id(1, 2), pair_id(2, 3), pair_id(1, 3)})

    def test_byte_order_mark(self):
        self.pairs("\ufeffA B\nB C\n")
        self.assertEqual(set(self.survey.matches()),
                         {pair_id(1, 2), pair_id(2, 3)})
        result = self.pairs("C A\n\ufeffA B\n", 2)
        self.assertIn("line 2", result.stderr)

    def test_several_rows_of_descriptors(self):
        """COLMAP's own schema has no such databases."""
        with self.survey.open() as db:
            for statement in (
                    "CREATE TABLE loose(image_id, rows, cols, data)",
                    "INSERT INTO loose SELECT image_id, rows, cols, data"
                    " FROM descriptors",
                    "INSERT INTO loose SELECT * FROM loose WHERE image_id = 4",
                    "DROP TABLE descriptors",
                    "ALTER TABLE loose RENAME TO descriptors"):
                db.execute(statement)
        before = self.survey.dump(but=())
        for command in "exhaustive", "sequential":
            result = self.run_tool(command, self.survey, code=2)
            self.assertIn("image 'my D' has more than one row of descriptors",
                          result.stderr)
        self.assertEqual(self.survey.dump(but=()), before)

    def test_small_blocks(self):
        self.pairs("A B\nB C\nC A\nA D\nD C\n", 0,
                   "--ImagePairsMatching.block_size", 2)
        self.assertEqual(len(self.survey.matches()), 5)

    def test_names_with_spaces(self):
        self.pairs("A my D\nmy D B\n")
        self.assertEqual(set(self.survey.matches()),
                         {pair_id(1, 4), pair_id(2, 4)})
        self.survey.add_image(6, "A my", tokens=range(20))
        result = self.pairs("A my D\n", 2)
        self.assertIn("line 1", result.stderr)
        self.assertIn("several pairs", result.stderr)

    def test_names_that_two_images_have(self):
        """COLMAP's own schema has no such databases."""
        with self.survey.open() as db:
            for statement in (
                    "CREATE TABLE loose(image_id INTEGER PRIMARY KEY, name)",
                    "INSERT INTO loose SELECT image_id, name FROM images",
                    "UPDATE loose SET name = 'A' WHERE image_id = 3",
                    "DROP TABLE images",
                    "ALTER TABLE loose RENAME TO images"):
                db.execute(statement)
        result = self.pairs("A B\n", 2)
        self.assertIn("two images are named 'A'", result.stderr)

    def test_missing_names(self):
        for text, line, name in (("A B\nB X\n", 2, "'X'"),
                                 ("#\n\nY B\n", 3, "'Y'"),
                                 ("A B C\n", 1, "'B C'"),
                                 ("A\n", 1, "'A'")):
            with self.subTest(text=text):
                result = self.pairs(text, 2)
                self.assertIn(f"line {line}: ", result.stderr)
                self.assertIn(name, result.stderr)
                self.assertEqual(self.survey.matches(), {})
        result = self.run_tool("pairs", self.survey, "--match_list_path",
                               self.folder / "none.txt", code=2)
        self.assertIn("none.txt", result.stderr)

    def test_first_name_gives_the_rows(self):
        self.survey.add_image(7, "F", tokens=range(19, -1, -1))
        self.pairs("F A\nB F\n")
        self.assertEqual(self.survey.matches(), {
            pair_id(1, 7): row_of(7, 1, [(i, 19 - i) for i in range(20)]),
            pair_id(2, 7): row_of(2, 7, [(i, 19 - i) for i in range(20)])})


class Sequence(ToolTest):

    def steps(self, count, *options):
        """Pairs by places in order of name, which is not that of the ids;
        the one that comes first by name gives the rows."""
        database = self.database(name="".join(map(str, options)) + ".db")
        ids = [(7 * k) % count + 1 for k in range(count)]
        for place, number in enumerate(ids):
            tokens = list(range(20))
            tokens = tokens[place:] + tokens[:place]
            database.add_image(number, f"frame{place:03}", tokens=tokens)
        self.run_tool("sequential", database, *options)
        places = {}
        stored = database.matches()
        for a in range(count):
            for b in range(a + 1, count):
                row = stored.pop(pair_id(ids[a], ids[b]), None)
                if row is None:
                    continue
                places.setdefault(a, []).append(b - a)
                self.assertEqual(row, row_of(ids[a], ids[b], [
                    (i, (i + a - b) % 20) for i in range(20)]))
        self.assertEqual(stored, {})
        return places

    def test_overlap(self):
        """The image itself counts, as in COLMAP 3.8."""
        for overlap in (1, 2, 4, 30):
            for name in ("--overlap", "--SequentialMatching.overlap"):
                self.assertEqual(
                    self.steps(12, name, overlap,
                               "--SequentialMatching.quadratic_overlap", 0),
                    {a: list(range(1, min(overlap, 12 - a)))
                     for a in range(12) if min(overlap, 12 - a) > 1})

    def test_quadratic_overlap(self):
        found = self.steps(20, "--overlap", 4)
        self.assertEqual(found[0], [1, 2, 3, 4, 8])
        self.assertEqual(found[11], [1, 2, 3, 4, 8])
        self.assertEqual(found[12], [1, 2, 3, 4])
        self.assertEqual(found[18], [1])
        self.assertEqual(self.steps(12, "--overlap", 1),
                         {a: [1] for a in range(11)})


class Options(ToolTest):

    def setUp(self):
        super().setUp()
        self.survey = self.database()
        for number in range(1, 5):
            self.survey.add_image(number, tokens=range(16 + number))

    def test_unknown_options_are_named(self):
        for option in ("--SiftMatching.max_error", "--SiftMatching.max_ratoi",
                       "--ExhaustiveMatching.overlap", "--whatever"):
            result = self.run_tool("exhaustive", self.survey, option, 4,
                                   code=2)
            self.assertIn(option, result.stdout + result.stderr)
        self.assertEqual(self.survey.matches(), {})

    def test_bad_values_are_named(self):
        for option, value in (("--SiftMatching.max_ratio", "nan"),
                              ("--SiftMatching.max_ratio", "0"),
                              ("--FeatureMatching.max_ratio", "1e-60"),
                              ("--SiftMatching.max_distance", "-1"),
                              ("--SiftMatching.max_distance", "1x"),
                              ("--SiftMatching.cross_check", "2"),
                              ("--FeatureMatching.use_gpu", "2"),
                              ("--SiftMatching.max_num_matches", "0"),
                              ("--SiftMatching.max_num_matches", "many"),
                              ("--FeatureMatching.gpu_index", "0,x"),
                              ("--FeatureMatching.gpu_index", "0,0"),
                              ("--FeatureMatching.gpu_index", "0,-1"),
                              ("--FeatureMatching.gpu_index", "-2"),
                              ("--memory_budget", "-1"),
                              ("--lock_timeout", "nan"),
                              ("--ExhaustiveMatching.block_size", "0")):
            command = [self.tool, "exhaustive", "--database_path",
                       self.survey.path, option, value]
            result = self.run_any(command, 2)
            self.assertIn(option.split(".")[-1],
                          result.stdout + result.stderr)
            self.assertNotIn("serac: ", result.stderr)  # not by the library
        self.assertEqual(self.survey.matches(), {})

    def test_lists_of_gpus(self):
        def run(gpus, code=0):
            return self.run_any([
                self.tool, "exhaustive", "--dry_run", "--database_path",
                self.survey.path, "--SiftMatching.gpu_index", gpus], code)
        for gpus in ("-1", "0", "0,1,2", "3,1"):
            self.assertIn("6 are to be matched", run(gpus).stdout)
        for gpus in ("0,0", "1,0,1", "0,-1", "-1,-1"):
            self.assertIn("each GPU once, or -1 alone", run(gpus, 2).stderr)

    def test_booleans_as_colmap_spells_them(self):
        for option in ("use_gpu", "cross_check"):
            for value in ("0", "1", "false", "true"):
                self.run_any([self.tool, "exhaustive", "--dry_run",
                              "--database_path", self.survey.path,
                              f"--SiftMatching.{option}", value])

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run(
                self.command("exhaustive", self.survey, "--hash"),
                stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("standard output", result.stderr)
        self.assertEqual(len(self.survey.matches()), 6)

    def test_dry_run_changes_nothing(self):
        before = self.survey.path.read_bytes()
        result = self.run_tool("exhaustive", self.survey, "--dry_run",
                               "--hash")
        self.assertIn("6 are to be matched", result.stdout)
        self.assertEqual(self.survey.path.read_bytes(), before)
        self.assertEqual([p.name for p in self.folder.iterdir()],
                         [self.survey.path.name])

    def test_hash(self):
        result = self.run_tool("exhaustive", self.survey, "--hash")
        blobs = [data or b"" for _, (_, _, data) in
                 sorted(self.survey.matches().items())]
        self.assertTrue(all(blobs))
        line = "sha256 of all matches: " + \
            hashlib.sha256(b"".join(blobs)).hexdigest()
        self.assertIn(line, result.stdout)
        info = self.run_any([self.tool, "info", "--hash", "--database_path",
                             self.survey.path])
        self.assertIn(line, info.stdout)

    def test_what_is_matched_is_skipped(self):
        self.survey.store(1, 3, [(1, 2)])
        self.survey.store(2, 4, [])
        kept = self.survey.matches()
        result = self.run_tool("exhaustive", self.survey)
        self.assertIn("6 pairs of 4 images: 2 are matched already, 4 are to "
                      "be matched", result.stdout)
        self.assertEqual({**self.survey.matches(), **kept},
                         self.survey.matches())
        self.assertEqual(len(self.survey.matches()), 6)
        before = self.survey.dump(but=())
        result = self.run_tool("exhaustive", self.survey)
        self.assertIn("0 are to be matched", result.stdout)
        self.assertEqual(self.survey.dump(but=()), before)

    def test_summary_and_plain_progress(self):
        result = self.run_tool("exhaustive", self.survey)
        matches = 17 + 17 + 17 + 18 + 18 + 19
        self.assertIn(f"6 have matches, {matches} in all; 0 pairs skipped",
                      result.stdout)
        self.assertIn("6 / 6 pairs (100.0 %)", result.stderr)
        self.assertNotIn("\r", result.stderr)
        self.assertRegex(result.stdout, r"seconds: [\d.]+ starting, [\d.]+"
                         r" matching( \(\d+ workers together\))?,"
                         r" [\d.]+ reading, [\d.]+ writing \(these"
                         r" overlap\), [\d.]+ in all\n")

    def test_bar_on_a_terminal(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        subprocess.run(self.command("exhaustive", self.survey), check=True,
                       stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text = os.read(ours, 1 << 16).decode()
        self.assertRegex(text, r"\r\[#{30}\] 6 / 6 pairs \(100\.0 %\), "
                               r"[0-9.]+ pairs/s, 0:00 left\x1b\[K\r\n$")

    def test_use_gpu(self):
        """Without a word the tool says where it matches; a GPU that is asked
        for and is not there is an error."""
        command = [self.tool, "exhaustive", "--database_path",
                   self.survey.path]
        result = self.run_any(command)
        on_gpu = " pairs on GPU " in result.stdout
        self.assertNotEqual(on_gpu, " pairs on the host" in result.stdout)
        self.assertNotEqual(on_gpu, "no GPU is usable" in result.stderr)
        with self.survey.open() as db:
            db.execute("DELETE FROM matches")
        result = self.run_any([*command, "--SiftMatching.use_gpu", 1],
                              0 if on_gpu else 2)
        if not on_gpu:
            self.assertIn("no GPU is usable", result.stderr)
            self.assertEqual(self.survey.matches(), {})


if __name__ == "__main__":
    unittest.main()
