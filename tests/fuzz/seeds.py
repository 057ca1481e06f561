# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes seeds for the fuzzers: small databases of every layout, as files and
as SQL, lists of pairs, and geometries.  Usage: seeds.py FOLDER"""
import random
import re
import sqlite3
import struct
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "colmap"))
from support import Database, LAYOUTS, pair_id  # noqa: E402

CAMERAS = [(0, (900, 500, 375)), (1, (900, 910, 500, 375)),
           (2, (900, 500, 375, .1)), (3, (900, 500, 375, .1, -.02)),
           (4, (900, 910, 500, 375, .1, -.02, .001, .002)), (5, (1,) * 8),
           (99, ())]
MATRIX = struct.pack("<9d", *range(1, 10))
SHORT = struct.pack("<d", 1)


def fill(path, layout):
    """Images of every kind, matches, and geometries."""
    database = Database(path, layout)
    database.add_image(1, tokens=range(3))
    database.add_image(2, data=bytes(256), rows=2, keypoint_cols=4)
    database.add_image(3, tokens=[0], keypoint_cols=2)
    database.add_image(4, rows=0)
    database.add_image(5)
    database.store(1, 2, [(1, 0), (2, 1)])
    database.store(1, 3, [])
    with database.open() as db:
        for number, (model, params) in enumerate(CAMERAS, 2):
            db.execute("INSERT INTO cameras VALUES(?, ?, 9, 9, ?, 0)", (
                number, model, struct.pack(f"<{len(params)}d", *params)))
            db.execute("UPDATE images SET camera_id = ? WHERE image_id = ?",
                       (number, number - 1))
        if not layout.geometries or "F BLOB" not in "".join(layout.statements):
            return
        columns = "pair_id, rows, cols, data, config, F, E, H"
        for number, (config, f, e, h) in enumerate([
                (2, None, MATRIX, None), (3, MATRIX, None, None),
                (4, bytes(72), bytes(72), MATRIX), (3, SHORT, None, None)]):
            db.execute(f"INSERT INTO {layout.geometries}({columns})"
                       " VALUES(?, 1, 2, ?, ?, ?, ?, ?)",
                       (pair_id(1, 2 + number), bytes(8), config, f, e, h))


def compact(path):
    """The same in the fewest bytes."""
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA page_size = 512; VACUUM")
    db.close()


def sql_of(path):
    """All tables that a matcher reads; long zeros are abbreviated."""
    def is_read(line):
        return any(re.match(rf'(CREATE TABLE|INSERT INTO) "?{table}\b', line)
                   for table in ("images", "cameras", "keypoints", "matches",
                                 "descriptors", "two_view_geometries",
                                 "inlier_matches"))
    with sqlite3.connect(path) as db:
        lines = [" ".join(line.split()) for line in db.iterdump()]
    return "\n".join(line.replace(f"X'{bytes(72).hex()}'", "zeroblob(72)")
                     for line in lines if is_read(line))


# What layouts never have and SQLite allows.
ODD = """PRAGMA encoding='UTF-16le';
CREATE TABLE images(image_id, name, camera_id);
CREATE TABLE cameras(camera_id, model, params);
CREATE TABLE keypoints(image_id, rows, cols, data);
CREATE TABLE descriptors(image_id, type, rows, cols, data);
CREATE TABLE matches(pair_id PRIMARY KEY, rows, cols, data);
CREATE TABLE two_view_geometries(pair_id, rows, config, data, F, E, H);
INSERT INTO images VALUES(0, 'text', NULL), (1, x'00ff', 1), (2, 1.5, 2);
INSERT INTO cameras VALUES(1, 0, 'text as long as 3 doubles'), (2, 1, 7);
INSERT INTO keypoints VALUES(0, -1, 2, 'text'), (1, 1, 4, zeroblob(16));
INSERT INTO keypoints VALUES(2, 9223372036854775807, 6, x'01');
INSERT INTO descriptors VALUES(0, 0, -1, 128, 'text'), (0, 0, 2, 128, 1.5);
INSERT INTO descriptors VALUES(1, 0, 2, 128, zeroblob(256)), (2, 0, 0, 0, '');
INSERT INTO descriptors VALUES(3, 0, 9223372036854775807, 128, x'00');
INSERT INTO descriptors VALUES(4, 0, 9223372036854775807, 128, x'00');
INSERT INTO matches VALUES(1, 1, 2, '12345678'), (2147483649, 1, 2, 'abcd');
INSERT INTO matches VALUES(-1, 0, 2, NULL), ('key', 'one', 2.0, 1);
INSERT INTO two_view_geometries VALUES(2147483649, 1, 3, 'x', '', 1, NULL);
INSERT INTO two_view_geometries VALUES(2, 1, 3, '', zeroblob(72), 1, 'text');
"""
# Two databases that differ.
TWO = """CREATE TABLE images(image_id, name);
CREATE TABLE keypoints(image_id, rows, cols, data);
CREATE TABLE descriptors(image_id, rows, cols, data);
CREATE TABLE matches(pair_id PRIMARY KEY, rows, cols, data);
INSERT INTO images VALUES(1, 'a'), (2, 'b');
INSERT INTO keypoints VALUES(1, 2, 4, zeroblob(32)), (2, 1, 6, zeroblob(24));
INSERT INTO descriptors VALUES(1, 2, 128, zeroblob(256));
INSERT INTO descriptors VALUES(2, 1, 128, zeroblob(128));
INSERT INTO matches VALUES(2147483649, {rows}, 2, {data});
"""
LISTS = [
    "1\na\nb\nc d\n\na b\nb a\n# a\n\na a\r\na c d\nc d b\n",
    "9\na\na b\nb\n\na b\n", "5\nx.jpg\ny.jpg\n\nx.jpg\ty.jpg\nx.jpg z.jpg\n",
    "7\n" + "".join(f"i{i}\n" for i in range(20)) + "\ni1 i2\ni3  i19\n",
    "a\na\na\n\na a\n", ""]


IDENTITY = (1, 0, 0, 0, 1, 0, 0, 0, 1)
GEOMETRIES = {      # flags, H, its squared error, F, its squared error
    "homography": (1, (1.1, .02, 40, -.03, .9, -30, 1e-4, -2e-4, 1), 16,
                   IDENTITY, 16),
    "horizon": (1, (1, 0, 0, 0, 1, 0, 0, .003, -1), 16, IDENTITY, 16),
    "sideways": (2, IDENTITY, 1, (0, 0, 0, 0, 0, -1, 0, 1, 0), 16),
    "inside": (2, IDENTITY, 1, (0, -1, 375, 1, 0, -500, -375, 500, 0), 4),
    "normalised": (2, IDENTITY, 1, (0, -.3, 0, .3, 0, -.8, 0, .8, 0), 2e-5),
    "both": (3, IDENTITY, 900, (0, 0, 0, 0, 0, -1, 0, 1, 0), 16),
    "none": (0, IDENTITY, 1, IDENTITY, 1),
}


def geometry(name, flags, h, h_error, f, f_error, count=100):
    """Locations near and far from meeting it; or equal, every third."""
    draw = random.Random(name)
    scale = 1000 if name != "normalised" else 1
    left = [(draw.uniform(0, scale), draw.uniform(0, scale))
            for _ in range(count)]
    right = [(x, y) if i % 3 == 0 else (x + draw.gauss(0, scale / 50),
                                        y + draw.gauss(0, scale / 200))
             for i, (x, y) in enumerate(left)]
    return struct.pack(f"<B{20 + 4 * count}f", flags, *h, h_error, *f, f_error,
                       *(value for point in left + right for value in point))


def write(folder, name, content):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def database_path(folder, name):
    path = folder / "database_file" / f"{name}.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    return path


def main(folder):
    for layout in LAYOUTS:
        name = layout.name.replace(" ", "_")
        path = database_path(folder, name)
        fill(path, layout)
        write(folder / "database", f"{name}.sql", sql_of(path).encode())
        compact(path)
    write(folder / "database", "odd.sql", ODD.encode())
    write(folder / "database", "two.sql", "\n-- other\n".join([
        TWO.format(rows=1, data="zeroblob(8)"),
        TWO.format(rows=2, data="x'01000000000000000200000009000000'")
    ]).encode())
    path = database_path(folder, "odd")
    with sqlite3.connect(path) as db:
        db.executescript(ODD)
    compact(path)
    for name, values in GEOMETRIES.items():
        write(folder / "geometry", name, geometry(name, *values))
    for number, text in enumerate(LISTS):
        write(folder / "pair_list", f"{number}.txt", text.encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
