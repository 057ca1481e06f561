#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Matches a database with pycolmap's CPU brute-force matcher and with serac,
and lists every pair of features that one has and the other has not.

    compare_pycolmap.py [--database_path FILE] [--step N] [--device DEVICE]

pycolmap skips geometric verification. A difference is explained, and does not
fail, if the features' state is exactly at a threshold: pycolmap's CPU matcher
sums up and compares floats, whose last bits are its own. Exit code 1 where
another difference is. pycolmap takes a second or two for each pair of images
of the sample.
"""
import argparse
import itertools
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

import numpy as np
import pycolmap

import serac
from conftest import SAMPLE

UNIT = 1 << 18


def lists_of(path):
    """{pair_id: matches}"""
    with sqlite3.connect(path) as db:
        return {key: np.frombuffer(data or b"", np.uint32).reshape(-1, 2)
                for key, data in db.execute("SELECT pair_id, data FROM matches ORDER BY pair_id")}


def is_at_threshold(states, row, max_ratio=0.8, max_distance=0.7, ulps=4):
    """Whether the state of a row is within a few float32 ulps of a threshold."""
    best, second = (np.arccos(min(int(states[row, k]) / UNIT, 1)) for k in (0, 2))
    return any(abs(best - limit) <= ulps * np.spacing(np.float32(limit)) for limit in (max_distance,
                                                                                       max_ratio * second))


def compare(database, step=1, device="cpu", out=sys.stdout):
    """Matches every `step`th pair both ways. Returns (pairs, matches, explained, unexplained)."""
    with sqlite3.connect(database) as db:
        names = [name for name, in db.execute("SELECT name FROM images ORDER BY image_id")]
        images = {i: np.frombuffer(data, np.uint8).reshape(-1, 128)
                  for i, data in db.execute("SELECT image_id, data FROM descriptors")}
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = (shutil.copy(database, Path(folder) / name) for name in ("theirs.db", "ours.db"))
        file = Path(folder) / "pairs.txt"
        file.write_text("".join(f"{a} {b}\n" for a, b in list(itertools.combinations(names, 2))[::step]))
        options, pairing = pycolmap.FeatureMatchingOptions(), pycolmap.ImportedPairingOptions()
        options.use_gpu = False
        options.skip_geometric_verification = True
        options.sift.cpu_brute_force_matcher = True
        pairing.match_list_path = file
        pycolmap.match_image_pairs(theirs, options, pairing, device=pycolmap.Device.cpu)
        serac.match_pairs(ours, file, device=device)
        theirs, ours = lists_of(theirs), lists_of(ours)
    explained = unexplained = 0
    for key in sorted(theirs.keys() | ours.keys()):
        first, second = divmod(key, 2147483647)
        a, b = (set(map(tuple, lists.get(key, np.zeros((0, 2))).tolist())) for lists in (theirs, ours))
        if key not in theirs or key not in ours:
            unexplained += 1
            print(f"images {first} and {second}: a row in one database only", file=out)
        if a == b:
            continue
        rows, columns = serac.nearest2(images[first], images[second], with_columns=True, device=device)
        for i, j in sorted(a ^ b):
            at_threshold = is_at_threshold(rows, i) or is_at_threshold(columns, j)
            explained, unexplained = explained + at_threshold, unexplained + (not at_threshold)
            print(f"images {first} and {second}: {i} {j} has {'pycolmap' if (i, j) in a else 'serac'} alone: row "
                  f"{rows[i].tolist()}, column {columns[j].tolist()}{' (at a threshold)' if at_threshold else ''}",
                  file=out)
    return len(ours), sum(map(len, ours.values())), explained, unexplained


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database_path", type=Path, default=SAMPLE)
    parser.add_argument("--step", type=int, default=1, help="match only every Nth pair of images")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    pairs, matches, explained, unexplained = compare(given.database_path, given.step, given.device)
    print(f"{pairs} pairs of images, {matches} matches: {explained} differences at a threshold, "
          f"{unexplained} others")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
