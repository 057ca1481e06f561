# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""COLMAP itself (3.8 is Debian's), on the host: it agrees about the pairs, and
goes on with a database that the tool has matched by verifying it only."""
import os
import random
import shutil
import struct
import subprocess
import unittest

import reference
from support import ToolTest, pair_id


def colmap_is_old():
    """3.x: the options below are spelled as this test spells them."""
    if shutil.which("colmap") is None:
        return False
    text = subprocess.run(["colmap", "help"], capture_output=True, text=True,
                          check=False).stdout
    return "COLMAP 3." in text


@unittest.skipUnless(colmap_is_old(), "there is no colmap 3.x")
class Colmap(ToolTest):

    def colmap(self, command, database, *options):
        result = subprocess.run(
            ["colmap", command, "--database_path", str(database.path),
             "--SiftMatching.use_gpu", "0", *map(str, options)],
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def survey(self, images, features=30, name="survey.db"):
        """Names in another order than ids."""
        draw = random.Random(images)
        database = self.database(name=name)
        names = draw.sample(range(1000), images)
        for number in range(1, images + 1):
            database.add_image(number, f"frame{names[number - 1]:04}.jpg",
                               tokens=draw.sample(range(60), features))
        return database

    def test_it_only_verifies(self):
        database = self.survey(12, 40)
        self.run_tool("exhaustive", database)
        before = database.matches()
        nonempty = {key for key, (rows, _, _) in before.items() if rows}
        self.assertGreater(len(nonempty), 50)
        self.colmap("exhaustive_matcher", database)
        self.assertEqual(database.matches(), before)
        with database.open() as db:
            verified = dict(db.execute(
                "SELECT pair_id, rows FROM two_view_geometries"))
        self.assertEqual(set(verified), set(before))
        for key in nonempty:
            self.assertGreaterEqual(verified[key], 15)

    def test_same_rows_as_its_own_matcher(self):
        """On features without any doubt COLMAP's CPU matcher finds the same.
        Version 3.8 goes through the images in the order of a hash table,
        which for ids 1, 2, ... n is n, ... 2, 1; later ones sort them.  In
        the same order whole rows are equal."""
        ids = range(51, 0, -1)
        for block_size in (50, 7):
            ours = self.survey(51, name=f"ours{block_size}.db")
            theirs = self.survey(51, name=f"theirs{block_size}.db")
            with ours.open() as db:
                names = dict(db.execute("SELECT image_id, name FROM images"))
            pairs = self.list_file("".join(
                f"{names[a]} {names[b]}\n"
                for a, b in reference.exhaustive_order(ids, block_size)))
            self.run_tool("pairs", ours, "--match_list_path", pairs)
            self.colmap("exhaustive_matcher", theirs,
                        "--ExhaustiveMatching.block_size", block_size)
            self.assertEqual(len(theirs.matches()), 51 * 50 // 2)
            self.assertEqual(ours.matches(), theirs.matches())

    def test_same_sequences(self):
        for overlap, quadratic in ((1, 0), (6, 0), (1, 1), (3, 1), (10, 1)):
            ours = self.survey(25, name=f"ours{overlap}{quadratic}.db")
            theirs = self.survey(25, name=f"theirs{overlap}{quadratic}.db")
            options = ("--SequentialMatching.overlap", overlap,
                       "--SequentialMatching.quadratic_overlap", quadratic)
            self.run_tool("sequential", ours, *options)
            self.colmap("sequential_matcher", theirs, *options)
            self.assertEqual(ours.matches(), theirs.matches(),
                             (overlap, quadratic))

    def test_same_pair_list(self):
        ours, theirs = (self.survey(9, name=n) for n in ("a.db", "b.db"))
        with ours.open() as db:
            names = [n for n, in db.execute("SELECT name FROM images")]
        draw = random.Random(3)
        pairs = self.list_file("# some\n\n" + "".join(
            f"{draw.choice(names)} {draw.choice(names)}\n"
            for _ in range(30)))
        self.run_tool("pairs", ours, "--match_list_path", pairs)
        self.colmap("matches_importer", theirs, "--match_list_path", pairs)
        self.assertGreater(len(ours.matches()), 9)
        self.assertEqual(ours.matches(), theirs.matches())

    def sets(self, database):
        """Matches without the order of rows, which 3.8 chooses otherwise."""
        return {key: sorted(struct.iter_unpack("<2I", data or b""))
                for key, (_, _, data) in database.matches().items()}

    def test_same_pairs_and_matches(self):
        """Exhaustively, an image without features and a verified pair
        without matches included: that one is matched and verified again."""
        ours, theirs = (self.survey(6, name=n) for n in ("a.db", "b.db"))
        for database in (ours, theirs):
            database.add_image(7, "empty.jpg", data=b"", rows=0)
            database.store(1, 2, [(0, 0)], "two_view_geometries")
        self.run_tool("exhaustive", ours)
        for database in (ours, theirs):
            self.colmap("exhaustive_matcher", database)
            with database.open() as db:
                rows, = db.execute(
                    "SELECT rows FROM two_view_geometries WHERE pair_id = ?",
                    (pair_id(1, 2),)).fetchone()
            self.assertGreaterEqual(rows, 15)
        self.assertEqual(len(self.sets(ours)), 21)
        self.assertEqual(self.sets(ours), self.sets(theirs))


if __name__ == "__main__":
    unittest.main()
