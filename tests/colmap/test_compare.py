# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""What `compare` says, and that a loss of weak features shows."""
import math
import shutil
import struct
import unittest

from support import Database, ToolTest, pair_id, row_of

MATCHES = [(i, i) for i in range(40)]


class Compare(ToolTest):

    def setUp(self):
        super().setUp()
        self.a = self.database(name="a.db")
        for number in range(1, 5):
            self.a.add_image(number, tokens=range(40))
        for first, second in ((1, 2), (1, 3), (2, 3), (3, 4)):
            self.a.store(first, second, MATCHES)
        self.a.store(1, 4, [])
        shutil.copy(self.a.path, self.folder / "b.db")
        self.b = Database.__new__(Database)
        self.b.path, self.b.layout = self.folder / "b.db", self.a.layout

    def compare(self, code, *options):
        before = [d.path.read_bytes() for d in (self.a, self.b)]
        result = self.run_any([self.tool, "compare", self.a.path, self.b.path,
                               *options], code)
        self.assertEqual(before, [d.path.read_bytes()
                                  for d in (self.a, self.b)])
        return result.stdout + result.stderr

    def replace(self, first, second, matches):
        with self.b.open() as db:
            db.execute("UPDATE matches SET rows = ?, cols = ?, data = ?"
                       " WHERE pair_id = ?", (
                           *row_of(first, second, matches, 0),
                           pair_id(first, second)))

    def strata(self, output, title):
        """label -> [in A, in B, in both, lost, gained] of one table."""
        lines = output.split(title, 1)[1].splitlines()[1:]
        table = {}
        for line in lines:
            if not line.startswith("  "):
                break
            *label, a, b, both, lost, gained, _ = line.split()
            table[" ".join(label)] = list(map(int, (a, b, both, lost,
                                                    gained)))
        return table

    def test_equal(self):
        self.assertIn("5 equal, 0 in another order, 0 different, 0 only in A,"
                      " 0 only in B", self.compare(0))

    def test_every_kind_of_difference(self):
        self.replace(1, 2, MATCHES[::-1])
        self.replace(1, 3, MATCHES[:35] + [(35, 36), (36, 35)])
        with self.b.open() as db:
            db.execute("DELETE FROM matches WHERE pair_id = ?",
                       (pair_id(2, 3),))
        self.b.store(2, 4, MATCHES[:20])
        output = self.compare(1)
        self.assertIn("2 equal, 1 in another order, 1 different, 1 only in A,"
                      " 1 only in B", output)
        self.assertIn("in another order: image0001.jpg image0002.jpg",
                      output)
        self.assertIn("different: image0001.jpg image0003.jpg: 40 matches in"
                      " A, 37 in B, 5 lost, 2 gained", output)
        self.assertIn("only in A: image0002.jpg image0003.jpg", output)
        self.assertIn("only in B: image0002.jpg image0004.jpg", output)
        self.assertEqual(self.strata(output, "matches   ")["all"],
                         [160, 137, 115, 45, 22])

    def test_an_empty_row_is_not_a_missing_one(self):
        with self.b.open() as db:
            db.execute("DELETE FROM matches WHERE pair_id = ?",
                       (pair_id(1, 4),))
        self.assertIn("1 only in A", self.compare(1))

    def test_loss_by_scale(self):
        """Token t has scale 1 + t mod 20: those of scale 1 get lost."""
        self.replace(3, 4, [m for m in MATCHES if m[0] % 20 != 0])
        table = self.strata(self.compare(1), "by smaller scale, pixels")
        self.assertEqual(table, {
            "from 0 to below 2": [8, 6, 6, 2, 0],           # scale 1
            "from 2 to below 4": [16, 16, 16, 0, 0],        # 2, 3
            "from 4 to below 8": [32, 32, 32, 0, 0],
            "from 8 to below 16": [64, 64, 64, 0, 0],
            "from 16": [40, 40, 40, 0, 0]})

    def test_scales_that_are_no_numbers(self):
        with self.a.open() as db:
            db.execute("UPDATE keypoints SET data = ? WHERE image_id = 4",
                       (struct.pack("<240f", *[math.nan] * 240),))
        self.replace(3, 4, MATCHES[10:])
        table = self.strata(self.compare(1), "by smaller scale, pixels")
        self.assertEqual(table.pop("unknown"), [40, 30, 30, 10, 0])
        self.assertEqual(sum(row[0] for row in table.values()), 120)

    def test_loss_by_score(self):
        """Weak features are 3/4 as long: a score of 0.744 of the unit."""
        with self.a.open() as db, self.b.open() as other:
            data = db.execute("SELECT data FROM descriptors"
                              " WHERE image_id = 4").fetchone()[0]
            weak = data[:10 * 128].replace(b"\xff", b"\xbf") + data[1280:]
            for each in (db, other):
                each.execute("UPDATE descriptors SET data = ?"
                             " WHERE image_id = 4", (weak,))
        self.replace(3, 4, MATCHES[4:])
        table = self.strata(self.compare(1), "by score / 2^18")
        self.assertEqual(table, {
            "from 0 to below 0.8": [10, 6, 6, 4, 0],
            "from 0.95 to below 1": [150, 150, 150, 0, 0]})

    def test_features_of_either_database(self):
        """One of the two may have been stripped of its features."""
        with self.a.open() as db:
            db.execute("DELETE FROM descriptors")
            db.execute("DELETE FROM keypoints")
        self.replace(3, 4, MATCHES[4:] + [(99, 0)])
        output = self.compare(1)
        self.assertEqual(self.strata(output, "by score / 2^18"), {
            "unknown": [0, 1, 0, 0, 1],
            "from 0.95 to below 1": [160, 156, 156, 4, 0]})

    def test_counts_that_lie(self):
        """rows x cols overflows to the length of no data; a match of such a
        feature has no score and no scale."""
        for table, rows in (("descriptors", 1 << 57), ("keypoints", 1 << 60)):
            with self.subTest(table=table):
                with self.a.open() as each, self.b.open() as other:
                    for db in (each, other):
                        db.execute(f"UPDATE {table} SET rows = ?, data = NULL"
                                   " WHERE image_id = 4", (rows,))
                self.replace(3, 4, MATCHES[4:])
                if table == "descriptors":
                    table = self.strata(self.compare(1), "by score / 2^18")
                    self.assertEqual(table["unknown"], [40, 36, 36, 4, 0])
                else:
                    output = self.compare(2)
                    self.assertIn("image 4: its keypoints", output)

    def test_long_lists_are_cut(self):
        for first, second in ((1, 2), (1, 3), (2, 3), (3, 4)):
            self.replace(first, second, MATCHES[1:])
        output = self.compare(1, "--list", 1)
        self.assertIn("different: 3 more pairs", output)
        self.assertEqual(output.count("different: image"), 1)

    def test_errors(self):
        with self.b.open() as db:
            db.execute("UPDATE matches SET rows = 39 WHERE pair_id = ?",
                       (pair_id(1, 2),))
        self.assertIn(str(pair_id(1, 2)), self.compare(2))
        with self.b.open() as db:
            db.execute("UPDATE images SET name = 'other' WHERE image_id = 3")
        output = self.compare(2)
        self.assertIn("id 3 is 'image0003.jpg'", output)
        self.assertIn("'other'", output)
        self.run_any([self.tool, "compare", self.a.path,
                      self.folder / "none.db"], 2)
        result = self.run_any([self.tool, "compare", self.a.path, self.a.path,
                               "--list", "-1"], 2)
        self.assertIn("--list: Value -1 not in range 0 to", result.stderr)


if __name__ == "__main__":
    unittest.main()
