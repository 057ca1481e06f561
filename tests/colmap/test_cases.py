# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Cases from the field that a COLMAP database can meet."""
import unittest

from support import (LAYOUTS, V38, Layout, ToolTest, pair_id, row_of,
                     token_matches)

EMPTY = 0, 2, None


class Features(ToolTest):

    def test_case_4_image_without_features(self):
        database = self.database()
        database.add_image(1, tokens=range(20))
        database.add_image(2, data=b"", rows=0, cols=0)
        database.add_image(3, data=b"", rows=0, cols=128)
        database.add_image(4)                       # no descriptors row
        database.add_image(5, tokens=range(20))
        result = self.run_tool("exhaustive", database)
        self.assertIn("3 images have no descriptors", result.stderr)
        stored = database.matches()
        self.assertEqual(len(stored), 10)
        self.assertEqual(stored.pop(pair_id(1, 5)),
                         row_of(1, 5, [(i, i) for i in range(20)]))
        self.assertEqual(set(stored.values()), {EMPTY})

    def test_case_4_wrong_cols(self):
        for rows, cols, data in ((0, 64, b""), (5, 64, bytes(320)),
                                 (5, 0, b""), (3, 128, bytes(383)),
                                 (3, 128, b""), (-1, 128, b""),
                                 (0, 128, bytes(128)), (0, 0, b"x")):
            with self.subTest(rows=rows, cols=cols, bytes=len(data)):
                database = self.database(name=f"{rows}{cols}{len(data)}.db")
                database.add_image(1, tokens=range(20))
                database.add_image(2, tokens=range(20))
                database.add_image(3, "odd one.jpg", data=data, rows=rows,
                                   cols=cols)
                result = self.run_tool("exhaustive", database, code=2)
                self.assertIn("image 'odd one.jpg'", result.stderr)
                self.assertEqual(database.matches(), {})

    def test_case_12_cap(self):
        """A cap of 2000 looks at 2016 features and keeps 2000 matches."""
        database = self.database()
        database.add_image(1, "small.jpg", tokens=range(2001))
        database.add_image(2, "large.jpg", tokens=range(10000))
        database.add_image(3, "late.jpg", tokens=range(2005, 2105))
        result = self.run_tool("exhaustive", database,
                               "--SiftMatching.max_num_matches", 2000,
                               "--SiftMatching.min_num_inliers", 1)
        self.assertIn("image 'large.jpg' has 10000 features; only the first "
                      "2016 are looked at", result.stderr)
        self.assertNotIn("image 'small.jpg' has", result.stderr)
        self.assertIn("images 'small.jpg' and 'large.jpg' have 2001 matches; "
                      "only the first 2000 are kept", result.stderr)
        self.assertEqual(database.matches(), {
            pair_id(1, 2): row_of(1, 2, [(i, i) for i in range(2000)]),
            pair_id(1, 3): EMPTY,
            pair_id(2, 3): row_of(2, 3, [(2005 + j, j) for j in range(11)],
                                  1)})

    def test_cap_is_the_largest_keypoint_count(self):
        """Descriptors beyond it, rounded up to 32, are not looked at."""
        database = self.database()
        for number in (1, 2):
            database.add_image(number, tokens=range(100))
        with database.open() as db:
            db.execute("UPDATE keypoints SET rows = 33, data = substr(data,"
                       " 1, 33 * 24)")
        result = self.run_tool("exhaustive", database)
        self.assertIn("only the first 64 are looked at", result.stderr)
        self.assertEqual(database.matches()[pair_id(1, 2)],
                         row_of(1, 2, [(i, i) for i in range(33)]))

    def test_case_26_fewer_than_15_matches(self):
        database = self.database()
        database.add_image(1, tokens=range(100))
        database.add_image(2, tokens=range(86, 186))    # 14 in common
        database.add_image(3, tokens=range(85, 86 + 14))
        self.run_tool("exhaustive", database)
        self.assertEqual(database.matches(), {
            pair_id(1, 2): EMPTY,
            pair_id(1, 3): row_of(1, 3, [(85 + j, j) for j in range(15)]),
            pair_id(2, 3): EMPTY})

    def test_rows_that_overflow(self):
        database = self.database()
        for number in (1, 2):
            database.add_image(number, tokens=range(20))
        with database.open() as db:
            db.execute("UPDATE descriptors SET rows = ?, data = NULL"
                       " WHERE image_id = 2", (1 << 57,))
        result = self.run_tool("exhaustive", database, code=2)
        self.assertIn("image0002.jpg", result.stderr)
        self.assertIn("damaged", result.stderr)

    def test_case_32_foreign_descriptors(self):
        for version in ("4.0", "4.0 migrated", "4.1", "4.2"):
            layout = next(each for each in LAYOUTS if each.name == version)
            for kind, cols in ((1, 512), (2, 512), (-1, 128), (1, 128)):
                with self.subTest(layout=version, kind=kind):
                    database = self.database(layout, f"{version}{kind}{cols}")
                    database.add_image(1, tokens=range(20))
                    database.add_image(2, tokens=range(20))
                    database.add_image(3, "aliked.jpg", data=bytes(5 * cols),
                                       rows=5, cols=cols, kind=kind)
                    result = self.run_tool("exhaustive", database, code=2)
                    self.assertIn("image 'aliked.jpg'", result.stderr)
                    self.assertIn(f"type {kind}", result.stderr)
                    pairs = self.list_file("image0001.jpg aliked.jpg\n")
                    result = self.run_tool("pairs", database,
                                           "--match_list_path", pairs, code=2)
                    self.assertIn("image 'aliked.jpg'", result.stderr)
                    self.assertEqual(database.matches(), {})
                    pairs.write_text("image0001.jpg image0002.jpg\n")
                    self.run_tool("pairs", database, "--match_list_path",
                                  pairs)
                    self.assertEqual(len(database.matches()), 1)

    def test_float_descriptors_without_a_type(self):
        database = self.database()
        database.add_image(1, tokens=range(20))
        database.add_image(2, "floats.jpg", data=bytes(512), rows=1, cols=512)
        result = self.run_tool("exhaustive", database, code=2)
        self.assertIn("image 'floats.jpg'", result.stderr)
        self.assertIn("1 x 512", result.stderr)


class Databases(ToolTest):

    def test_case_13_no_images(self):
        database = self.database()
        before = database.dump(but=())
        for command in ("exhaustive", "sequential"):
            self.run_tool(command, database)
        self.assertEqual(database.dump(but=()), before)

    def test_case_13_no_features(self):
        database = self.database()
        for number in range(1, 4):
            database.add_image(number)
        database.store(1, 2, token_matches(range(20), range(20)))
        kept = database.matches()
        self.run_tool("exhaustive", database)
        self.assertEqual(database.matches(), {
            **kept, pair_id(1, 3): EMPTY, pair_id(2, 3): EMPTY})

    def test_case_13_matches_without_descriptors(self):
        database = self.database()
        for number in range(1, 4):
            database.add_image(number)
            for other in range(1, number):
                database.store(other, number, [(7, 9)] * number)
        before = database.dump(but=())
        self.run_tool("exhaustive", database)
        self.assertEqual(database.dump(but=()), before)

    def test_case_23_pair_ids(self):
        first, second = list(range(25)), list(range(24, -1, -1))
        second = second[5:] + second[:5]
        matches = token_matches(first, second)
        swapped = token_matches(second, first)
        self.assertNotEqual([(b, a) for a, b in swapped], matches)
        self.assertEqual(pair_id(1, 2), 2147483649)
        self.assertEqual(pair_id(1, 3), 2147483650)
        for names, ids, table in (
                ("A B", (1, 2), {2147483649: row_of(1, 2, matches)}),
                ("B A", (1, 2), {2147483649: row_of(2, 1, swapped)}),
                ("A B", (1, 3), {2147483650: row_of(1, 3, matches)})):
            with self.subTest(names=names, ids=ids):
                database = self.database(name=f"{names}{ids}.db")
                database.add_image(ids[0], "A", tokens=first)
                database.add_image(ids[1], "B", tokens=second)
                self.run_tool("pairs", database, "--match_list_path",
                              self.list_file(names))
                self.assertEqual(database.matches(), table)

    def test_case_23_ids_at_the_limit(self):
        layout = Layout("no check", 3800, constrained=False)
        for number, code in ((2147483646, 0), (2147483647, 2), (-1, 2)):
            with self.subTest(id=number):
                database = self.database(layout, f"{number}.db")
                database.add_image(1, tokens=range(20))
                database.add_image(number, "edge.jpg", tokens=range(20))
                result = self.run_tool("exhaustive", database, code=code)
                if code:
                    self.assertIn("image 'edge.jpg'", result.stderr)
                    self.assertIn(str(number), result.stderr)
                    self.assertEqual(database.matches(), {})
                else:
                    self.assertEqual(
                        database.matches(),
                        {2147483647 + 2147483646: row_of(
                            1, 2, [(i, i) for i in range(20)])})

    def test_case_31_layouts(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout.name):
                database = self.database(layout, f"{layout.name}.db")
                for number in range(1, 5):
                    database.add_image(number, tokens=range(number, 30),
                                       keypoint_cols=(2, 4, 6, 6)[number - 1])
                database.store(1, 2, [(5, 6)])
                table = layout.geometries
                if table:
                    database.store(1, 2, [(5, 6)], table)
                    database.store(3, 4, [], table)
                before = database.dump(but=("matches", table))
                self.run_tool("exhaustive", database)
                after = database.dump(but=("matches", table))
                self.assertEqual(after, before)
                self.assertEqual(database.matches(), {
                    pair_id(1, 2): row_of(1, 2, [(5, 6)], 0),
                    **{pair_id(a, b): row_of(a, b, token_matches(
                        range(a, 30), range(b, 30)))
                       for a, b in ((1, 3), (1, 4), (2, 3), (2, 4), (3, 4))}})
                if table:   # (3, 4) was verified without matches: stale
                    with database.open() as db:
                        left = db.execute(f"SELECT pair_id FROM {table}")
                        self.assertEqual(left.fetchall(), [(pair_id(1, 2),)])
                info = self.run_any([self.tool, "info", "--database_path",
                                     database.path]).stdout
                self.assertIn(f"geometries in {table or 'no table'}", info)
                self.assertIn("images: 4, 4 with descriptors", info)
                self.assertIn("matched pairs: 6 of 6, 6 with matches", info)

    def test_not_a_database(self):
        text = self.folder / "text.db"
        text.write_text("this is no database, but it is long enough" * 99)
        for path, message in ((text, "not a database"),
                              (self.folder / "none.db", "unable to open")):
            result = self.run_any([self.tool, "exhaustive", "--database_path",
                                   path], 2)
            self.assertIn(str(path), result.stderr)
            self.assertIn(message, result.stderr)
        self.assertFalse((self.folder / "none.db").exists())
        database = self.database()
        with database.open() as db:
            db.execute("DROP TABLE descriptors")
        result = self.run_tool("exhaustive", database, code=2)
        self.assertIn("no table 'descriptors'", result.stderr)
        database = self.database(name="columns.db")
        with database.open() as db:
            db.execute("ALTER TABLE matches RENAME COLUMN cols TO columns")
        result = self.run_tool("exhaustive", database, code=2)
        self.assertIn("its table 'matches' has no column 'cols'",
                      result.stderr)


if __name__ == "__main__":
    unittest.main()
