# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tiny COLMAP databases of every layout, and the tool that matches them."""
import itertools
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

ID_LIMIT = 2147483647

IMAGES = """CREATE TABLE images (
  image_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  name TEXT NOT NULL UNIQUE, camera_id INTEGER NOT NULL{priors},
  CONSTRAINT image_id_check
    CHECK(image_id >= 0 and image_id < 2147483647),
  FOREIGN KEY(camera_id) REFERENCES cameras(camera_id))"""
PRIORS = "".join(f", prior_{n} REAL"
                 for n in "qw qx qy qz tx ty tz".split())
BLOB = """CREATE TABLE {table} (
  {key} INTEGER PRIMARY KEY NOT NULL, {first}rows INTEGER NOT NULL,
  cols INTEGER NOT NULL, data BLOB{last})"""
IMAGE_KEY = ", FOREIGN KEY(image_id) REFERENCES images(image_id)" \
            " ON DELETE CASCADE"
MATRICES = ", config INTEGER NOT NULL, F BLOB, E BLOB, H BLOB," \
           " qvec BLOB, tvec BLOB"


class Layout:
    """How a version of COLMAP lays out its database."""

    def __init__(self, name, version, priors="", type_column=None,
                 geometries="two_view_geometries", matrices=MATRICES,
                 extra=(), constrained=True):
        self.name = name
        self.geometries = geometries
        first = "type INTEGER NOT NULL, " if type_column == "first" else ""
        last = ", type INTEGER NOT NULL DEFAULT 0" \
            if type_column == "last" else ""
        self.typed = type_column is not None
        images = IMAGES.format(priors=priors)
        if not constrained:
            images = images.replace(
                "image_id >= 0 and image_id < 2147483647", "1")
        self.statements = [
            "CREATE TABLE cameras (camera_id INTEGER PRIMARY KEY"
            " AUTOINCREMENT NOT NULL, model INTEGER NOT NULL,"
            " width INTEGER NOT NULL, height INTEGER NOT NULL,"
            " params BLOB, prior_focal_length INTEGER NOT NULL)",
            images,
            BLOB.format(table="keypoints", key="image_id", first="",
                        last=IMAGE_KEY),
            BLOB.format(table="descriptors", key="image_id", first=first,
                        last=last + IMAGE_KEY),
            BLOB.format(table="matches", key="pair_id", first="", last=""),
            "CREATE UNIQUE INDEX index_name ON images(name)",
            f"PRAGMA user_version = {version}", *extra]
        if geometries:
            self.statements.append(BLOB.format(
                table=geometries, key="pair_id", first="", last=matrices))


POSE_PRIORS = "CREATE TABLE pose_priors (image_id INTEGER PRIMARY KEY" \
              " NOT NULL, position BLOB, coordinate_system INTEGER NOT NULL)"
RIGS = ("CREATE TABLE rigs (rig_id INTEGER PRIMARY KEY AUTOINCREMENT"
        " NOT NULL, ref_sensor_id INTEGER NOT NULL,"
        " ref_sensor_type INTEGER NOT NULL)",
        "CREATE TABLE frames (frame_id INTEGER PRIMARY KEY AUTOINCREMENT"
        " NOT NULL, rig_id INTEGER NOT NULL)")
V38 = Layout("3.8", 3800, PRIORS)
LAYOUTS = [
    Layout("very old", 0, PRIORS, geometries="inlier_matches",
           matrices=", config INTEGER NOT NULL"),
    V38,
    Layout("3.9", 3900, extra=(POSE_PRIORS,)),
    Layout("3.12", 3900, extra=(POSE_PRIORS, *RIGS)),
    Layout("4.0", 4000000, type_column="first", extra=(POSE_PRIORS, *RIGS)),
    Layout("4.0 migrated", 4000000, PRIORS, type_column="last",
           extra=(POSE_PRIORS, *RIGS)),
    Layout("4.1", 4010100, type_column="first", extra=(POSE_PRIORS, *RIGS)),
    Layout("4.2", 4020000, type_column="first", extra=(POSE_PRIORS, *RIGS),
           matrices=MATRICES + ", camera1 BLOB, camera2 BLOB"),
    Layout("no geometries", 3800, PRIORS, geometries=None),
]


TOKENS = list(itertools.islice(itertools.combinations(range(128), 4), 20000))


def token(number):
    """A descriptor that matches only itself: two of them share at most three
    of four bytes of 255, whose angle (0.73) is above the largest distance."""
    row = bytearray(128)
    for place in TOKENS[number]:
        row[place] = 255
    return bytes(row)


def token_matches(first, second):
    """The list of two images given as lists of distinct tokens."""
    column = {t: j for j, t in enumerate(second)}
    return [(i, column[t]) for i, t in enumerate(first) if t in column]


def pair_id(a, b):
    return ID_LIMIT * min(a, b) + max(a, b)


def row_of(first, second, matches, min_num_inliers=15):
    """(rows, cols, data) as COLMAP stores the list of (first, second)."""
    if len(matches) < min_num_inliers:
        return 0, 2, None
    if first > second:
        matches = [(j, i) for i, j in matches]
    return len(matches), 2, b"".join(
        struct.pack("<2I", *m) for m in matches) or None


class Database:
    """A database being made, and what is in it later."""

    def __init__(self, path, layout=V38):
        self.path, self.layout = Path(path), layout
        with self.open() as db:
            for statement in layout.statements:
                db.execute(statement)
            db.execute("INSERT INTO cameras VALUES(1, 0, 1000, 750, ?, 0)",
                       (struct.pack("<3d", 900, 500, 375),))

    def open(self):
        return Session(self.path)

    def add_image(self, number, name=None, tokens=None, data=None, rows=None,
                  cols=128, kind=0, keypoint_cols=6):
        """An image with `tokens` or the raw descriptors `data`; without
        either it has no descriptors row."""
        if tokens is not None:
            data, rows = b"".join(map(token, tokens)), len(tokens)
        with self.open() as db:
            db.execute("INSERT INTO images(image_id, name, camera_id)"
                       " VALUES(?, ?, 1)",
                       (number, name or f"image{number:04}.jpg"))
            if rows is None:
                return
            db.execute("INSERT INTO keypoints VALUES(?, ?, ?, ?)",
                       (number, rows, keypoint_cols, self.keypoints(
                           number, tokens or range(rows), keypoint_cols)))
            columns, values = "image_id, rows, cols, data", \
                [number, rows, cols, data or None]
            if self.layout.typed:
                columns, values = columns + ", type", values + [kind]
            db.execute(f"INSERT INTO descriptors({columns}) VALUES"
                       f"({', '.join('?' * len(values))})", values)

    @staticmethod
    def keypoints(number, tokens, cols):
        """A token lies at its own place on a plane that images see shifted;
        its scale is 1 + token mod 20 pixels."""
        blob = b""
        for t in tokens:
            place = random.Random(t)
            x = place.uniform(50, 800) + 7 * number
            y = place.uniform(50, 600) + 3 * number
            scale = 1 + t % 20
            shape = {2: (), 4: (scale, 0), 6: (scale, 0, 0, scale)}[cols]
            blob += struct.pack(f"<{cols}f", x, y, *shape)
        return blob

    def matches(self):
        """pair_id -> (rows, cols, data)"""
        with self.open() as db:
            return {key: tuple(row) for key, *row in db.execute(
                "SELECT pair_id, rows, cols, data FROM matches")}

    def store(self, first, second, matches, table="matches"):
        with self.open() as db:
            columns = "pair_id, rows, cols, data"
            values = [pair_id(first, second),
                      *row_of(first, second, matches, 0)]
            if table != "matches":
                columns, values = columns + ", config", values + [2]
            db.execute(f"INSERT INTO {table}({columns}) VALUES"
                       f"({', '.join('?' * len(values))})", values)

    def dump(self, but=("matches",)):
        """Schema, user_version and all rows, but for those of some tables."""
        with self.open() as db:
            schema = db.execute("SELECT type, name, tbl_name, sql FROM"
                                " sqlite_master ORDER BY name").fetchall()
            return schema, db.execute("PRAGMA user_version").fetchall(), {
                name: db.execute(f"SELECT * FROM {name}").fetchall()
                for kind, name, *_ in schema
                if kind == "table" and name not in but}

    def check(self):
        """Raises unless SQLite finds the file intact."""
        with self.open() as db:
            answer = db.execute("PRAGMA integrity_check").fetchall()
        if answer != [("ok",)]:
            raise AssertionError(f"{self.path} is damaged: {answer}")


class Session:
    """A connection that commits and closes with its block."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.db = sqlite3.connect(self.path, timeout=60)
        return self.db

    def __exit__(self, kind, *_):
        if kind is None:
            self.db.commit()
        self.db.close()


class ToolTest(unittest.TestCase):
    """A test with a folder of its own and the tool at hand."""

    tool = os.environ.get("SERAC_COLMAP", "serac_colmap")
    use_gpu = os.environ.get("SERAC_COLMAP_USE_GPU", "0")

    @classmethod
    def setUpClass(cls):
        if cls.use_gpu == "0":
            return
        with tempfile.TemporaryDirectory() as folder:
            database = Database(Path(folder) / "probe.db")
            for number in (1, 2):
                database.add_image(number, tokens=range(20))
            result = subprocess.run(
                [cls.tool, "exhaustive", "--database_path", database.path,
                 "--SiftMatching.use_gpu", "1"], text=True,
                capture_output=True, check=False)
        if "no CUDA device or driver is available" in result.stderr:
            raise unittest.SkipTest("there is no GPU")

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="serac_colmap_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def database(self, layout=V38, name="test.db"):
        return Database(self.folder / name, layout)

    def command(self, command, database, *options):
        return [self.tool, command, "--database_path", str(database.path),
                "--SiftMatching.use_gpu", self.use_gpu, *map(str, options)]

    def run_tool(self, command, database, *options, code=0):
        """Runs a matching command, on the host unless the environment asks
        for the GPU."""
        return self.run_any(self.command(command, database, *options), code)

    def run_any(self, command, code=0):
        result = subprocess.run(list(map(str, command)), text=True,
                                capture_output=True, check=False)
        self.assertEqual(result.returncode, code,
                         f"{command}\n{result.stdout}{result.stderr}")
        return result

    def list_file(self, text):
        path = self.folder / "pairs.txt"
        path.write_text(text)
        return path
