# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Guided matching where the geometry is plain to see."""
import numpy as np
import pytest

import serac
from test_match import SEED, descriptors, expected, relatives

SHIFT = np.array([[1, 0, 40], [0, 1, -25], [0, 0, 1]], np.float32)  # b lies 40, -25 from a
SIDEWAYS = np.array([[0, 0, 0], [0, 0, -1], [0, 1, 0]], np.float32)  # equal y


@pytest.fixture
def scene():
    """Descriptors of two images in which all are each other's likes, and where they are."""
    rng = np.random.default_rng(SEED)
    a = descriptors(400, 128, np.uint8, SEED)
    a[200:] = a[:200]  # each twice: only the place tells them apart
    b = a.copy()
    at = rng.uniform(0, 1000, (400, 2)).astype(np.float32)
    return a, b, at, at + np.array([40, -25], np.float32)


def test_homography_tells_twins_apart(arrays, scene):
    a, b, at, there = map(arrays.make, scene)
    assert len(serac.match(a, b, device=arrays.device)) == 0
    got = serac.match_guided(a, b, at, there, H=SHIFT, device=arrays.device)
    np.testing.assert_array_equal(got, np.repeat(np.arange(400, dtype=np.uint32)[:, None], 2, axis=1))


def test_f_and_h_must_both_be_met(arrays, scene):
    a, b, at, there = map(arrays.make, scene)
    assert len(serac.match_guided(a, b, at, there, F=SIDEWAYS, H=SHIFT, device=arrays.device)) == 0


@pytest.mark.parametrize("score", ["dot", "hamming"])
def test_wide_open_is_plain(arrays, score):
    a = descriptors(150, 64, np.uint8, SEED)
    b = relatives(a, 130, SEED)
    at = np.random.default_rng(SEED).uniform(0, 100, (150, 6)).astype(np.float32)
    got = serac.match_guided(arrays.make(a), arrays.make(b), arrays.make(at), arrays.make(at[:130, :2].copy()),
                             H=np.eye(3), max_error=1e6, score=score, device=arrays.device)
    np.testing.assert_array_equal(got, expected(a, b, score))


def test_faults(scene):
    a, b, at, there = scene
    for arguments, options, error, text in [
            ((a, b, at, there), {}, ValueError, "F, H: one of them must be given"),
            ((a, b, at[:5], there), {"H": SHIFT}, ValueError, "keypoints_a: has 5 locations for 400 descriptors"),
            ((a, b, at, there.astype(np.float64)), {"H": SHIFT}, TypeError, "keypoints_b: dtype float64"),
            ((a, b, at, there[:, :1].copy()), {"H": SHIFT}, ValueError, "keypoints_b: is no array of locations"),
            ((a, b, at, there), {"H": np.eye(4)}, ValueError, "H: is no 3 x 3 matrix"),
            ((a, b, at, there), {"F": "F"}, TypeError, "F: is no matrix"),
            ((a, b, at, there), {"F": SIDEWAYS, "max_error": 0}, ValueError, "max_error: must be above 0")]:
        with pytest.raises(error, match=text):
            serac.match_guided(*arguments, device="cpu", **options)
