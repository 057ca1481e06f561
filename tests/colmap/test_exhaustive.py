# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which pairs the exhaustive command matches, and the rows it stores."""
import random
import struct
import unittest

import reference
from support import ToolTest, pair_id, row_of, token_matches


class Exhaustive(ToolTest):

    def survey(self, count, pool=48, features=(22, 40)):
        """Images with gaps between their ids, some without features; pairs
        share more and fewer than 15 tokens."""
        draw = random.Random(count)
        database = self.database()
        images = {}
        for k in range(count):
            number = 3 + 2 * k + (k > 20) * 5
            tokens = draw.sample(range(pool), draw.randint(*features))
            if k == 7:
                database.add_image(number)
                tokens = []
            elif k == 11:
                tokens = []
                database.add_image(number, tokens=tokens)
            else:
                database.add_image(number, tokens=tokens)
            images[number] = tokens
        return database, images

    def expected(self, images, block_size):
        return {pair_id(a, b): row_of(a, b, token_matches(images[a],
                                                          images[b]))
                for a, b in reference.exhaustive(images, block_size)}

    def test_order_of_51_images(self):
        database, images = self.survey(51)
        tables = []
        for block_size in (1, 2, 7, 25, 50, 51, 100):
            with database.open() as db:
                db.execute("DELETE FROM matches")
            self.run_tool("exhaustive", database,
                          "--ExhaustiveMatching.block_size", block_size)
            expected = self.expected(images, block_size)
            self.assertEqual(len(expected), 51 * 50 // 2)
            self.assertEqual(database.matches(), expected)
            tables.append(expected)
        empty = sum(rows == 0 for rows, _, _ in tables[0].values())
        self.assertGreater(empty, 99)       # lists of both kinds occur
        self.assertLess(empty, 51 * 50 // 2 - 99)
        self.assertNotEqual(tables[1], tables[4])   # the order can be seen

    def test_case_24_image_51_comes_first(self):
        database = self.database()
        images = {}
        for number in range(1, 52):
            images[number] = list(range(30))
            random.Random(number).shuffle(images[number])
            database.add_image(number, tokens=images[number])
        self.run_tool("exhaustive", database)
        stored = database.matches()
        for number in range(1, 51):
            rows, cols, data = stored[pair_id(number, 51)]
            self.assertEqual((rows, cols), (30, 2))
            pairs = list(struct.iter_unpack("<2I", data))
            second = [b for _, b in pairs]
            self.assertEqual(second, list(range(30)))
            self.assertNotEqual([a for a, _ in pairs], second)
            for a, b in pairs:
                self.assertEqual(images[number][a], images[51][b])
        rows, _, data = stored[pair_id(3, 7)]
        self.assertEqual([a for a, _ in struct.iter_unpack("<2I", data)],
                         list(range(30)))

    def test_small_cache(self):
        """None or two of the images fit."""
        draw = random.Random(2)
        database, images = self.database(), {}
        for number in range(1, 8):
            images[number] = draw.sample(range(6000), 3000)
            database.add_image(number, tokens=images[number])
        for cache_mib in (0, 1):
            with database.open() as db:
                db.execute("DELETE FROM matches")
            self.run_tool("exhaustive", database, "--cache_mib", cache_mib,
                          "--ExhaustiveMatching.block_size", 3)
            self.assertEqual(database.matches(), self.expected(images, 3))

    def test_memory_budget(self):
        """At 4 MiB not all images fit beside the rest; 2 MiB are too few."""
        draw = random.Random(3)
        database, images = self.database(), {}
        for number in range(1, 12):
            images[number] = draw.sample(range(6000), 1500 + 100 * number)
            database.add_image(number, tokens=images[number])
        for budget in (4, 6, 64):
            with database.open() as db:
                db.execute("DELETE FROM matches")
            self.run_tool("exhaustive", database, "--memory_budget",
                          budget + (40 if self.use_gpu == "1" else 0),
                          "--ExhaustiveMatching.block_size", 3)
            self.assertEqual(database.matches(), self.expected(images, 3))
        with database.open() as db:
            db.execute("DELETE FROM matches")
        result = self.run_tool("exhaustive", database, "--memory_budget", 2,
                               code=2)
        self.assertIn("the largest pair of images needs", result.stderr)
        self.assertEqual(database.matches(), {})

    def test_random_descriptors(self):
        """Real numbers: scores near the limits, ties, and a ratio above 1,
        where ties show."""
        draw = random.Random(5)
        database = self.database()
        base = [bytes(min(255, int(draw.expovariate(1 / 40)))
                      for _ in range(128)) for _ in range(40)]
        images = {}
        for number in range(1, 5):
            rows = [bytes(max(0, min(255, v + draw.randint(-20, 20)))
                          for v in row) for row in draw.sample(base, 30)]
            rows += [rows[3], rows[8], bytes(128)]      # ties, zeros
            images[number] = rows
            database.add_image(number, data=b"".join(rows), rows=len(rows))
        for ratio, limit, cross in ((0.8, 0.7, 1), (0.95, 0.5, 0),
                                    (1.1, 3.2, 0), (1.1, 0.9, 1)):
            with database.open() as db:
                db.execute("DELETE FROM matches")
            self.run_tool("exhaustive", database,
                          "--SiftMatching.max_ratio", ratio,
                          "--FeatureMatching.max_distance", limit,
                          "--SiftMatching.cross_check", cross,
                          "--TwoViewGeometry.min_num_inliers", 1)
            self.assertEqual(database.matches(), {
                pair_id(a, b): row_of(a, b, reference.match(
                    images[a], images[b], ratio, limit, bool(cross)), 1)
                for a, b in reference.exhaustive(images, 50)})


if __name__ == "__main__":
    unittest.main()
