# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""The survey of eight photographs, against the lists of COLMAP's own GPU
matcher.  SERAC_REAL_DATA_DIR is the folder that holds survey8/."""
import os
import shutil
import struct
import unittest
from pathlib import Path

from support import Database, ToolTest, pair_id, row_of

SURVEYS = os.environ.get("SERAC_REAL_DATA_DIR")


def golden(name):
    """(i, j) -> list, images counted from 0."""
    words = iter(struct.iter_unpack(
        "<I", (Path(SURVEYS) / f"survey8/golden/{name}.bin").read_bytes()))
    lists = {}
    for (i,) in words:
        (j,), (count,) = next(words), next(words)
        lists[i, j] = [(next(words)[0], next(words)[0])
                       for _ in range(count)]
    return lists


@unittest.skipUnless(SURVEYS, "SERAC_REAL_DATA_DIR is not set")
class Survey8(ToolTest):

    def survey(self):
        database = Database.__new__(Database)
        database.path = self.folder / "survey8.db"
        shutil.copyfile(Path(SURVEYS) / "survey8/survey8.db", database.path)
        return database

    def check(self, name, least, *options, step=1):
        """All lists of a set; on the host, those of every `step`th pair."""
        if self.use_gpu == "1":
            step = 1
        database = self.survey()
        with database.open() as db:
            ids = [i for i, in db.execute("SELECT image_id FROM images"
                                          " ORDER BY image_id")]
        before = database.dump()
        wanted = {(i, j): matches for n, ((i, j), matches) in enumerate(
            golden(name).items()) if n % step == 0}
        self.assertEqual(len(wanted), -(-28 // step))
        if step > 1:
            with database.open() as db:
                names = dict(db.execute("SELECT image_id, name FROM images"))
            options = ("--match_list_path", self.list_file("".join(
                f"{names[ids[i]]} {names[ids[j]]}\n" for i, j in wanted)),
                *options)
        result = self.run_tool("pairs" if step > 1 else "exhaustive",
                               database, *options)
        print(result.stdout)
        self.assertEqual(database.dump(), before)
        expected = {pair_id(ids[i], ids[j]): row_of(ids[i], ids[j], matches,
                                                    least)
                    for (i, j), matches in wanted.items()}
        self.assertEqual(database.matches(), expected)

    def test_defaults(self):
        self.check("default", 15)

    def test_ratio_distance_and_all_lists(self):
        self.check("dist025", 0, "--SiftMatching.max_distance", 0.25,
                   "--SiftMatching.max_ratio", 0.95,
                   "--SiftMatching.min_num_inliers", 0, step=4)

    def test_no_cross_check(self):
        self.check("nocross", 15, "--SiftMatching.cross_check", 0, step=5)

    def test_ties_show(self):
        self.check("ratio110", 15, "--SiftMatching.max_ratio", 1.1)


if __name__ == "__main__":
    unittest.main()
