# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""The guided command: which pairs it matches again, under what, and what it
stores.  SERAC_REAL_DATA_DIR is the folder that holds survey8/."""
import math
import random
import shutil
import signal
import struct
import subprocess
import time
import unittest
from pathlib import Path

from support import ID_LIMIT, LAYOUTS, Database, ToolTest, pair_id, row_of
from test_real_data import SURVEYS

CALIBRATED, UNCALIBRATED, PLANAR, PANORAMIC, EITHER = 2, 3, 4, 5, 6
IDENTITY = (1, 0, 0, 0, 1, 0, 0, 0, 1)
SHIFT = (1, 0, 40, 0, 1, -30, 0, 0, 1)      # H: x + 40, y - 30
SAME_Y = (0, 0, 0, 0, 0, -1, 0, 1, 0)       # F: y2 = y1

# model number and parameters, all of a camera of 1000 x 750
MODELS = {
    "SIMPLE_PINHOLE": (0, (900, 500, 375)),
    "PINHOLE": (1, (900, 920, 500, 375)),
    "SIMPLE_RADIAL": (2, (900, 500, 375, -0.11)),
    "RADIAL": (3, (900, 500, 375, -0.12, 0.03)),
    "OPENCV": (4, (900, 920, 500, 375, -0.12, 0.03, 0.004, -0.003)),
}


def matrix(values):
    return struct.pack("<9d", *values)


def pixel(model, params, u, v):
    """Where a camera sees the direction (u, v, 1)."""
    fx, fy = params[:2] if model in (1, 4) else params[:1] * 2
    cx, cy, *lens = params[2 if model in (1, 4) else 1:]
    k1, k2, p1, p2 = (lens + [0] * 4)[:4]
    r2 = u * u + v * v
    radial = k1 * r2 + k2 * r2 * r2
    du = u * radial + 2 * p1 * u * v + p2 * (r2 + 2 * u * u)
    dv = v * radial + 2 * p2 * u * v + p1 * (r2 + 2 * v * v)
    return fx * (u + du) + cx, fy * (v + dv) + cy


class Guided(ToolTest):

    def add(self, database, number, features, cols=6):
        """An image of features (token, x, y)."""
        database.add_image(number, tokens=[t for t, _, _ in features])
        blob = b"".join(struct.pack(f"<{cols}f", x, y, *[1] * (cols - 2))
                        for _, x, y in features)
        with database.open() as db:
            db.execute("UPDATE keypoints SET cols = ?, data = ?"
                       " WHERE image_id = ?", (cols, blob, number))

    def relate(self, database, first, second, config, **matrices):
        """A geometry with one inlier."""
        values = {"pair_id": pair_id(first, second), "rows": 1, "cols": 2,
                  "data": struct.pack("<2I", 0, 0), "config": config,
                  "qvec": bytes(32), "tvec": bytes(24),
                  **{name: matrix(m) for name, m in matrices.items()}}
        with database.open() as db:
            db.execute(
                f"INSERT INTO two_view_geometries({', '.join(values)})"
                f" VALUES({', '.join('?' * len(values))})",
                list(values.values()))

    def inliers(self, database):
        with database.open() as db:
            return {key: tuple(row) for key, *row in db.execute(
                "SELECT pair_id, rows, cols, data FROM two_view_geometries")}

    def shifted(self, count, wrong, dx=40, dy=-30, seed=1):
        """Two images of the same tokens, the right one shifted, in another
        order; `wrong` of them are 9 pixels off.  And the right list."""
        draw = random.Random(seed)
        left = [(t, draw.uniform(0, 900), draw.uniform(0, 700))
                for t in draw.sample(range(9000), count)]
        off = set(draw.sample(range(count), wrong))
        right = [(t, x + dx + 9 * (i in off), y + dy + 9 * (i in off))
                 for i, (t, x, y) in enumerate(left)]
        order = draw.sample(range(count), count)
        place = {i: j for j, i in enumerate(order)}
        return left, [right[i] for i in order], \
            [(i, place[i]) for i in range(count) if i not in off]

    def test_homography_and_fundamental_in_every_layout(self):
        for layout in LAYOUTS:
            if layout.geometries != "two_view_geometries":
                continue
            with self.subTest(layout.name):
                database = self.database(layout, f"{layout.name}.db")
                left, right, matches = self.shifted(60, 20)
                level, across, others = self.shifted(50, 10, dx=77, dy=0,
                                                     seed=2)
                self.add(database, 3, left)
                self.add(database, 5, right, cols=2)
                self.add(database, 8, level, cols=4)
                self.add(database, 9, across)
                self.relate(database, 3, 5, PLANAR, H=SHIFT, F=SAME_Y)
                self.relate(database, 8, 9, UNCALIBRATED, F=SAME_Y)
                self.relate(database, 3, 8, PANORAMIC, H=IDENTITY)
                database.store(3, 5, [(0, 0)])
                before = database.dump(but=("two_view_geometries",))
                self.run_tool("guided", database)
                self.assertEqual(
                    database.dump(but=("two_view_geometries",)), before)
                self.assertEqual(self.inliers(database), {
                    pair_id(3, 5): row_of(3, 5, matches),
                    pair_id(8, 9): row_of(8, 9, others),
                    pair_id(3, 8): (0, 2, None)})
                with database.open() as db:
                    rows = db.execute(
                        "SELECT config, F, H FROM two_view_geometries"
                        " ORDER BY pair_id").fetchall()
                self.assertEqual(rows, [
                    (PLANAR, matrix(SAME_Y), matrix(SHIFT)),
                    (0, None, None),
                    (UNCALIBRATED, matrix(SAME_Y), None)])
                database.check()
                again = self.inliers(database)
                self.run_tool("guided", database)
                self.assertEqual(self.inliers(database), again)

    def test_error_in_pixels(self):
        left, right, matches = self.shifted(60, 20)
        database = self.database()
        self.add(database, 1, left)
        self.add(database, 2, right)
        self.relate(database, 1, 2, EITHER, H=SHIFT)
        self.run_tool("guided", database, "--TwoViewGeometry.max_error", 13)
        self.assertEqual(self.inliers(database)[pair_id(1, 2)][0], 60)
        self.run_tool("guided", database, "--TwoViewGeometry.max_error", 12.6)
        self.assertEqual(self.inliers(database)[pair_id(1, 2)],
                         row_of(1, 2, matches))

    def test_calibrated_pairs_of_every_camera_model(self):
        """The right camera stands to the right and forward, turned about its
        axis; a third of its features lie 12 pixels off their lines."""
        tx, tz = 0.8, 0.3
        rotation = ((0.96, -0.28, 0), (0.28, 0.96, 0), (0, 0, 1))
        cross = ((0, -tz, 0), (tz, 0, -tx), (0, tx, 0))
        essential = [sum(a * rotation[k][c] for k, a in enumerate(row))
                     for row in cross for c in range(3)]
        for name, (model, params) in MODELS.items():
            with self.subTest(name):
                database = self.database(name=f"{name}.db")
                with database.open() as db:
                    db.execute("UPDATE cameras SET model = ?, params = ?",
                               (model, struct.pack(f"<{len(params)}d",
                                                   *params)))
                draw = random.Random(4)
                left, right, matches = [], [], []
                for i, t in enumerate(draw.sample(range(9000), 90)):
                    z = draw.uniform(2, 9)
                    u, v = draw.uniform(-0.5, 0.5), draw.uniform(-0.38, 0.38)
                    x, y, w = (sum(a * b for a, b in zip(row, (
                        u * z, v * z, z))) for row in rotation)
                    x, w = (x + tx), (w + tz)
                    left.append((t, *pixel(model, params, u, v)))
                    a, b = pixel(model, params, x / w, y / w)
                    if i % 3 == 0:      # along the normal of its line
                        f1 = [sum(m * c for m, c in zip(
                            essential[3 * r:3 * r + 3], (u, v, 1)))
                            for r in range(2)]
                        far = 12 / (f1[0] ** 2 + f1[1] ** 2) ** 0.5
                        a, b = a + f1[0] * far, b + f1[1] * far
                    else:
                        matches.append((i, i))
                    right.append((t, a, b))
                self.add(database, 1, left)
                self.add(database, 2, right)
                self.relate(database, 1, 2, CALIBRATED, E=essential,
                            F=SAME_Y, H=IDENTITY)
                self.run_tool("guided", database)
                self.assertEqual(self.inliers(database)[pair_id(1, 2)],
                                 row_of(1, 2, matches))

    def test_threshold_of_calibrated_pairs(self):
        """Half the sum of both cameras' squared normalised errors: features
        a fiftieth within it match, and those a fiftieth beyond do not."""
        focal = {1: 900, 2: 500}
        essential = (0, -0.3, 0, 0.3, 0, -0.8, 0, 0.8, 0)
        limit = sum((4 / f) ** 2 for f in focal.values()) / 2

        def sampson(u, v, x, y):
            f1 = [sum(m * c for m, c in zip(essential[3 * r:3 * r + 3],
                                            (u, v, 1))) for r in range(3)]
            f2 = [sum(essential[3 * r + k] * c for r, c in enumerate(
                (x, y, 1))) for k in range(2)]
            return (x * f1[0] + y * f1[1] + f1[2]) ** 2 / (
                f1[0] ** 2 + f1[1] ** 2 + f2[0] ** 2 + f2[1] ** 2)

        draw = random.Random(6)
        left, right, matches = [], [], []
        for i, t in enumerate(draw.sample(range(9000), 80)):
            z = draw.uniform(2, 9)
            u, v = draw.uniform(-0.5, 0.5), draw.uniform(-0.38, 0.38)
            x, y = (u * z + 0.8) / (z + 0.3), v * z / (z + 0.3)
            near, far = 0, 0.1
            for _ in range(60):     # so far off its line
                off = (near + far) / 2
                near, far = (off, far) if sampson(u, v, x, y + off) < limit * (
                    0.98 if i % 2 else 1.02) else (near, off)
            if i % 2:
                matches.append((i, i))
            left.append((t, 900 * u + 500, 900 * v + 375))
            right.append((t, 500 * x + 500, 500 * (y + near) + 375))
        database = self.database()
        self.add(database, 1, left)
        self.add(database, 2, right)
        with database.open() as db:
            db.execute("INSERT INTO cameras VALUES(2, 0, 1000, 750, ?, 0)",
                       (struct.pack("<3d", 500, 500, 375),))
            db.execute("UPDATE images SET camera_id = image_id")
        self.relate(database, 1, 2, CALIBRATED, E=essential)
        self.run_tool("guided", database)
        self.assertEqual(self.inliers(database)[pair_id(1, 2)],
                         row_of(1, 2, matches))

    def refused(self, database, *texts):
        before = database.dump(but=())
        result = self.run_tool("guided", database, code=2)
        for text in texts:
            self.assertIn(text, result.stderr)
        self.assertEqual(database.dump(but=()), before)

    def test_what_cannot_be_matched_is_named(self):
        left, right, _ = self.shifted(40, 0)

        def fresh(name, config, **matrices):
            database = self.database(name=name)
            self.add(database, 1, left)
            self.add(database, 2, right)
            self.relate(database, 1, 2, config, **matrices)
            return database

        for number, model in (
                (5, "OPENCV_FISHEYE"), (6, "FULL_OPENCV"), (7, "FOV"),
                (8, "SIMPLE_RADIAL_FISHEYE"), (9, "RADIAL_FISHEYE"),
                (10, "THIN_PRISM_FISHEYE"), (77, "number 77")):
            database = fresh(f"{number}.db", CALIBRATED, E=SAME_Y)
            with database.open() as db:
                db.execute("UPDATE cameras SET model = ?", (number,))
            self.refused(database, "image0001.jpg", model)
        database = fresh("params.db", CALIBRATED, E=SAME_Y)
        with database.open() as db:
            db.execute("UPDATE cameras SET params = ?", (bytes(16),))
        self.refused(database, "SIMPLE_PINHOLE has 3 parameters, not 2")

        for place, value in ((0, math.inf), (1, math.nan)):
            database = fresh(f"{value}.db", CALIBRATED, E=SAME_Y)
            params = [900, 500, 375]
            params[place] = value
            with database.open() as db:
                db.execute("UPDATE cameras SET params = ?",
                           (struct.pack("<3d", *params),))
            self.refused(database, "image0001.jpg", "not a finite number")

        # A model that is not known does no harm where it is not needed.
        database = fresh("unneeded.db", PLANAR, H=SHIFT)
        with database.open() as db:
            db.execute("UPDATE cameras SET model = 7")
        self.run_tool("guided", database)
        self.assertEqual(self.inliers(database)[pair_id(1, 2)][0], 40)

        for config, letter in ((CALIBRATED, "E"), (UNCALIBRATED, "F"),
                               (EITHER, "H")):
            database = fresh(f"none{letter}.db", config, **{
                name: (0,) * 9 for name in "FEH"})
            self.refused(database, "image0001.jpg", "image0002.jpg",
                         f"no matrix {letter}")

        for config, letter in ((CALIBRATED, "E"), (UNCALIBRATED, "F"),
                               (PLANAR, "H")):
            for value in (math.nan, -math.inf, 1e300):
                database = fresh(f"{letter}{value}.db", config, **{
                    letter: (*IDENTITY[:8], value)})
                self.refused(database, "image0001.jpg", "image0002.jpg",
                             f"not a finite number in its matrix {letter}")
            database = fresh(f"long{letter}.db", config, **{
                letter: IDENTITY})
            for data in (matrix(IDENTITY) + b"x", matrix(IDENTITY)[:71],
                         b"x"):
                with database.open() as db:
                    db.execute(f"UPDATE two_view_geometries SET {letter} = ?",
                               (data,))
                self.refused(database, f"pair {pair_id(1, 2)}",
                             "a matrix is not 3 x 3 doubles")
        database = fresh("long.db", CALIBRATED, E=SAME_Y)
        with database.open() as db:
            db.execute("UPDATE cameras SET params = ?", (bytes(25),))
        self.refused(database, "image 1", "not a whole number of doubles")

        # Nor does a matrix that is not needed.
        database = fresh("unneeded NaN.db", PLANAR, H=SHIFT, F=(math.nan,) * 9)
        self.run_tool("guided", database)
        self.assertEqual(self.inliers(database)[pair_id(1, 2)][0], 40)

        database = fresh("keypoints.db", PLANAR, H=SHIFT)
        with database.open() as db:
            db.execute("UPDATE keypoints SET rows = 39, data = substr(data,"
                       " 25) WHERE image_id = 2")
        self.refused(database, "image0002.jpg", "39 keypoints",
                     "40 descriptors")

        database = fresh("wide keypoints.db", PLANAR, H=SHIFT)
        with database.open() as db:
            db.execute("UPDATE keypoints SET cols = ? WHERE image_id = 2",
                       (1 << 62,))
        self.refused(database, "image 2", "keypoints are not rows x cols")

        for key, text in ((pair_id(1, 99), "image 99"),
                          (ID_LIMIT * 2 + 1, f"pair_id {ID_LIMIT * 2 + 1}"),
                          (ID_LIMIT * 2 + 2, f"pair_id {ID_LIMIT * 2 + 2}"),
                          (-7, "pair_id -7")):
            database = fresh(f"key{key}.db", PLANAR, H=SHIFT)
            with database.open() as db:
                db.execute("UPDATE two_view_geometries SET pair_id = ?",
                           (key,))
            self.refused(database, text)

        for layout in LAYOUTS:
            if layout.geometries != "two_view_geometries":
                database = self.database(layout, f"{layout.name}.db")
                self.refused(database, "no two-view geometries")

    def test_lists_before_a_fault_are_stored(self):
        left, right, matches = self.shifted(40, 0)
        database = self.database()
        for number in range(1, 5):
            self.add(database, number, right if number % 2 == 0 else left)
        self.relate(database, 1, 2, PLANAR, H=SHIFT)
        self.relate(database, 3, 4, PLANAR, H=SHIFT)
        before = self.inliers(database)
        with database.open() as db:
            db.execute("DELETE FROM keypoints WHERE image_id = 4")
        result = self.run_tool("guided", database, code=2)
        self.assertIn("image0004.jpg", result.stderr)
        self.assertEqual(self.inliers(database), {
            **before, pair_id(1, 2): row_of(1, 2, matches)})

    def test_interrupted(self):
        """What is matched until then is stored."""
        left, _, _ = self.shifted(1000, 0)
        whole = self.database(name="whole.db")
        for number in range(1, 31):
            self.add(whole, number, left)
        for first in range(1, 31):
            for second in range(first + 1, 31):
                self.relate(whole, first, second, PLANAR, H=IDENTITY)
        before = self.inliers(whole)
        untouched = self.folder / "untouched.db"
        shutil.copyfile(whole.path, untouched)
        start = time.monotonic()
        self.run_tool("guided", whole)
        duration = time.monotonic() - start
        after = self.inliers(whole)
        # Where a GPU matches, most of the time is its start: the middle is
        # searched for, and may lie elsewhere each time.
        low, high, least_step = 0.0, 1.5 * duration, 0.05 * duration
        for attempt in range(30):
            delay = (low + high) / 2
            database = Database.__new__(Database)
            database.path = self.folder / f"interrupted{attempt}.db"
            shutil.copyfile(untouched, database.path)
            process = subprocess.Popen(
                self.command("guided", database), text=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(delay)
            process.send_signal((signal.SIGINT, signal.SIGTERM)[attempt % 2])
            _, text = process.communicate(timeout=60)
            stored = self.inliers(database)
            changed = sum(stored[key] != before[key] for key in stored)
            for key, row in stored.items():
                self.assertIn(row, (before[key], after[key]))
            if "interrupted" in text:
                self.assertEqual(process.returncode, 2)
                self.assertIn(f"the {changed} pairs", text)
                if 0 < changed < len(stored):
                    break
            if changed == 0:
                low, high = delay, max(high, delay + least_step)
            else:
                low, high = max(0.0, min(low, delay - least_step)), delay
        else:
            self.fail("no interrupt between the first and the last pair")
        self.run_tool("guided", database)
        self.assertEqual(self.inliers(database), after)

    def test_pairs_without_geometry_are_left_alone(self):
        left, right, _ = self.shifted(40, 0)
        database = self.database()
        for number in range(1, 9):
            self.add(database, number, left if number % 2 else right)
        self.relate(database, 1, 2, 0, H=SHIFT)
        self.relate(database, 3, 4, 1, H=SHIFT)
        self.relate(database, 5, 6, 7, H=SHIFT)
        self.relate(database, 7, 8, PLANAR, H=SHIFT)
        with database.open() as db:
            db.execute("UPDATE two_view_geometries SET rows = 0, data = NULL"
                       " WHERE pair_id = ?", (pair_id(7, 8),))
        before = database.dump(but=())
        self.run_tool("guided", database)
        self.assertEqual(database.dump(but=()), before)

    def test_small_cache(self):
        """Images are read again, and the lists are the same; so are those of
        pairs that see an image's features in pixels and normalised."""
        left, right, matches = self.shifted(40, 10, dx=9, dy=0)
        databases = [self.database(name=f"{n}.db") for n in range(2)]
        for database in databases:
            for number in range(1, 7):
                self.add(database, number, right if number % 2 == 0 else left)
            for first in range(1, 6):
                for second in range(first + 1, 7):
                    config = (CALIBRATED, UNCALIBRATED)[first % 2]
                    self.relate(database, first, second, config, F=SAME_Y,
                                E=SAME_Y)
        self.run_tool("guided", databases[0])
        result = self.run_tool("guided", databases[1], "--cache_mib", 0)
        self.assertEqual(databases[0].dump(but=()), databases[1].dump(but=()))
        for pair in (1, 2), (2, 5):
            rows = [m if pair[0] % 2 else m[::-1] for m in matches]
            self.assertEqual(self.inliers(databases[0])[pair_id(*pair)],
                             row_of(*pair, sorted(rows)))
        for what in "matching", "reading", "writing", "in all":
            self.assertIn(what, result.stdout)

    def test_dry_run(self):
        left, right, _ = self.shifted(40, 0)
        database = self.database()
        self.add(database, 1, left)
        self.add(database, 2, right)
        self.relate(database, 1, 2, PLANAR, H=SHIFT)
        before = database.dump(but=())
        result = self.run_tool("guided", database, "--dry_run")
        self.assertIn("1 are to be matched again", result.stdout)
        self.assertEqual(database.dump(but=()), before)

    def test_limits(self):
        """A cap on features and matches, and a least number of inliers."""
        left, right, matches = self.shifted(100, 0)
        database = self.database()
        self.add(database, 1, left)
        self.add(database, 2, right)
        self.relate(database, 1, 2, PLANAR, H=SHIFT)
        self.run_tool("guided", database, "--SiftMatching.max_num_matches",
                      50, "--TwoViewGeometry.min_num_inliers", 1)
        seen = [(i, j) for i, j in matches if i < 64 and j < 64]
        self.assertEqual(self.inliers(database)[pair_id(1, 2)],
                         row_of(1, 2, seen[:50], 1))
        self.run_tool("guided", database,
                      "--TwoViewGeometry.min_num_inliers", 101)
        self.assertEqual(self.inliers(database)[pair_id(1, 2)], (0, 2, None))

        database = self.database(name="same.db")
        self.add(database, 1, left)
        self.add(database, 2, left)
        self.relate(database, 1, 2, PLANAR, H=IDENTITY)
        result = self.run_tool("guided", database,
                               "--SiftMatching.max_num_matches", 50)
        self.assertIn("have 64 matches; only the first 50 are kept",
                      result.stderr)
        self.assertEqual(self.inliers(database)[pair_id(1, 2)],
                         row_of(1, 2, [(i, i) for i in range(50)]))


@unittest.skipUnless(SURVEYS, "SERAC_REAL_DATA_DIR is not set")
class Survey8(ToolTest):

    def test_lists_of_real_images(self):
        folder = Path(SURVEYS) / "survey8"
        words = iter(struct.iter_unpack(
            "<I", (folder / "golden/guided.bin").read_bytes()))
        cases = []
        for line in (folder / "golden/guided.txt").read_text().splitlines():
            i, j, has_f, has_h, error, *entries = map(float, line.split())
            (a,), (b,), (count,) = next(words), next(words), next(words)
            self.assertEqual((a, b), (i, j))
            cases.append((int(i), int(j), has_f, has_h, error, entries[:9],
                          entries[9:], [(next(words)[0], next(words)[0])
                                        for _ in range(count)]))
        self.assertEqual(len(cases), 51)
        for by_homography in (False, True):
            database = Database.__new__(Database)
            database.path = self.folder / "survey8.db"
            shutil.copyfile(folder / "survey8.db", database.path)
            with database.open() as db:
                ids = [i for i, in db.execute(
                    "SELECT image_id FROM images ORDER BY image_id")]
                expected = {}
                for i, j, has_f, has_h, error, f, h, matches in cases:
                    if has_f == has_h or has_h != by_homography:
                        continue
                    self.assertEqual(error, 16)
                    key = pair_id(ids[i], ids[j])
                    db.execute(
                        "INSERT INTO two_view_geometries(pair_id, rows, cols,"
                        " data, config, F, H) VALUES(?, 1, 2, ?, ?, ?, ?)",
                        (key, bytes(8), PLANAR if by_homography else
                         UNCALIBRATED, matrix(f), matrix(h)))
                    expected[key] = row_of(ids[i], ids[j], matches)
            self.assertEqual(len(expected), 17)
            result = self.run_tool("guided", database)
            print(result.stdout)
            with database.open() as db:
                self.assertEqual({key: tuple(row) for key, *row in db.execute(
                    "SELECT pair_id, rows, cols, data"
                    " FROM two_view_geometries")}, expected)


if __name__ == "__main__":
    unittest.main()
