#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""The matching step of a pipeline in the style of hloc: features.h5 and pairs
in, matches.h5 out, in hloc's layout, so that its other steps go on from there.

    hloc_match_features.py --features features.h5 --pairs pairs.txt --matches matches.h5

Features: NAME/descriptors, width x count, floats of norm 1 (as hloc's
extractors write them) or bytes. Matches: NAME0/NAME1/matches0, for each feature
of the first image that of the second, or -1, and matching_scores0. A name's
slashes are dashes there. Needs: pip install serac h5py
"""
import argparse
from pathlib import Path

import h5py
import numpy as np
import serac


def read_pairs(path):
    """The pairs of names of a file, without repeated ones."""
    pairs = dict.fromkeys(tuple(line.split()) for line in path.read_text().splitlines() if line.strip())
    for pair in pairs:
        if len(pair) != 2:
            raise SystemExit(f"{path}: no pair of names: {' '.join(pair)}")
    return list(pairs)


def match(features, pairs, output, device=None, **options):
    """Matches pairs of names in batches; returns how many matches there are."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    number = {name: i for i, name in enumerate(names)}
    descriptors = [np.ascontiguousarray(features[name]["descriptors"][()].T) for name in names]
    lists = serac.match_batch(descriptors, [[number[a], number[b]] for a, b in pairs], device=device, **options)
    for (a, b), matches in zip(pairs, lists):
        matches0 = np.full(len(descriptors[number[a]]), -1, np.int32)
        matches0[matches[:, 0]] = matches[:, 1]
        group = output.require_group(a.replace("/", "-")).require_group(b.replace("/", "-"))
        for name, data in (("matches0", matches0), ("matching_scores0", (matches0 >= 0).astype(np.float16))):
            if name in group:
                del group[name]
            group.create_dataset(name, data=data)
    return sum(map(len, lists))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True, help="a file with two names a line")
    parser.add_argument("--matches", type=Path, required=True)
    parser.add_argument("--max_ratio", type=float, default=0.8)
    parser.add_argument("--max_distance", type=float, default=0.7)
    parser.add_argument("--device", help="cpu, cuda, cuda:1; without it a GPU if there is one")
    given = parser.parse_args()
    pairs = read_pairs(given.pairs)
    with h5py.File(given.features, "r") as features, h5py.File(given.matches, "a") as output:
        count = match(features, pairs, output, given.device, max_ratio=given.max_ratio,
                      max_distance=given.max_distance)
    print(f"{len(pairs)} pairs: {count} matches")


if __name__ == "__main__":
    main()
