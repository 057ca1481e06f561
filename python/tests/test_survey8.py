# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""The lists that COLMAP's own GPU matcher made of eight real photographs, bit
for bit, plain and guided."""
import numpy as np
import pytest

import serac
from conftest import read_images

SETS = {
    "default": {},
    "ratio090": {"max_ratio": 0.9},
    "nocross": {"cross_check": False},
    "dist025": {"max_distance": 0.25, "max_ratio": 0.95},
    "ratio110": {"max_ratio": 1.1},  # ties show
}


def golden(path):
    """[(i, j, list)]"""
    words, cases, at = np.fromfile(path, "<u4"), [], 0
    while at < len(words):
        i, j, count = (int(word) for word in words[at:at + 3])
        cases.append((i, j, words[at + 3:at + 3 + 2 * count].reshape(-1, 2)))
        at += 3 + 2 * count
    return cases


@pytest.fixture(scope="module")
def images(survey8):
    return read_images(survey8 / "survey8.db")


@pytest.mark.parametrize("name", SETS)
def test_plain(arrays, survey8, images, name):
    """All 28 pairs on a GPU; on the host, some of most sets."""
    cases = golden(survey8 / f"golden/{name}.bin")
    assert len(cases) == 28
    on_host = arrays.device == "cpu"
    given = [arrays.make(each) for each in images[0]]
    for i, j, wanted in cases[::7] if on_host else cases:
        np.testing.assert_array_equal(serac.match(given[i], given[j], device=arrays.device, **SETS[name]), wanted)


def test_batch(arrays, survey8, images):
    cases = golden(survey8 / "golden/default.bin")
    given = [arrays.make(each) for each in images[0]]
    lists = serac.match_batch(given, [(i, j) for i, j, _ in cases], device=arrays.device)
    for got, (_, _, wanted) in zip(lists, cases, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_guided(arrays, survey8, images):
    cases = golden(survey8 / "golden/guided.bin")
    descriptors, keypoints = ([arrays.make(each) for each in part] for part in images)
    lines = (survey8 / "golden/guided.txt").read_text().splitlines()
    assert len(cases) == len(lines) == 51
    for (i, j, wanted), line in zip(cases, lines):
        numbers = line.split()
        assert [i, j] == [int(number) for number in numbers[:2]]
        has_f, has_h, threshold = int(numbers[2]), int(numbers[3]), float(numbers[4])
        f, h = (np.array(numbers[at:at + 9], np.float32).reshape(3, 3) for at in (5, 14))
        got = serac.match_guided(descriptors[i], descriptors[j], keypoints[i], keypoints[j], F=f if has_f else None,
                                 H=h if has_h else None, max_error=threshold ** 0.5, device=arrays.device)
        np.testing.assert_array_equal(got, wanted)
