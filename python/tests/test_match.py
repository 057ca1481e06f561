# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Lists and states against a few lines of NumPy that share nothing with the
library but the definition of a match."""
import numpy as np
import pytest

import serac

HAMMING_BASE = 4097
INFINITY = 0x7f800000  # its bits as a float32
SEED = 20261130


def scores_of(a, b, score="dot"):
    """What the library's scores stand for, the greater the more alike; exact."""
    if score == "hamming":
        bits = np.unpackbits(a[:, None, :] ^ b[None, :, :], axis=2).sum(axis=2, dtype=np.int64)
        return HAMMING_BASE - bits
    dots = a.astype(np.float64) @ b.astype(np.float64).T
    if score == "l2":
        return (a.astype(np.float64) ** 2).sum(1)[:, None] + (b.astype(np.float64) ** 2).sum(1)[None, :] - 2 * dots
    return np.maximum(dots, 0)


def states_of(scores, score="dot", floats=False):
    """(best, index, second) of every row as the library has them; ties go to the smallest index."""
    if score == "l2":
        scores = INFINITY - scores.astype(np.float32).view(np.int32).astype(np.int64)
    elif floats:
        scores = scores.astype(np.float32).view(np.int32)
    count = scores.shape[0]
    states = np.zeros((count, 3), np.int32)
    states[:, 1] = -1
    if scores.shape[1] == 0:
        return states
    index = scores.argmax(axis=1)
    best = scores[np.arange(count), index]
    rest = scores.copy()
    rest[np.arange(count), index] = 0
    states[:] = np.stack([best, np.where(best > 0, index, -1), rest.max(axis=1)], axis=1)
    return states


def accepted(states, score, floats, max_ratio, limit):
    best, second = states[:, 0], states[:, 2]
    ratio, limit = np.float32(max_ratio), np.float32(limit)
    if score == "hamming":
        d1, d2 = HAMMING_BASE - best, HAMMING_BASE - second
        close = (d1 < limit) & ((second == 0) | (d1.astype(np.float32) < ratio * d2.astype(np.float32)))
    elif floats:
        def squared(s):
            if score == "l2":
                return (INFINITY - s).astype(np.int32).view(np.float32)
            cosine = s.view(np.float32)
            return np.where(cosine < 1, 2 - 2 * cosine, np.float32(0))
        best, second = np.ascontiguousarray(best), np.ascontiguousarray(second)
        close = (squared(best) < limit * limit) & (squared(best) < ratio * ratio * squared(second))
    else:
        def angle(s):
            cosine = (s.astype(np.float32) * np.float32(2.0 ** -18)).astype(np.float64)
            return np.arccos(np.minimum(cosine, 1)).astype(np.float32)
        close = (angle(best) < limit) & (angle(best) < angle(second) * ratio)
    return (states[:, 1] >= 0) & close


def expected(a, b, score="dot", max_ratio=0.8, limit=None, cross_check=True):
    if limit is None:
        limit = HAMMING_BASE if score == "hamming" else 0.7
    floats = a.dtype.kind == "f"
    scores = scores_of(a, b, score)
    rows, columns = states_of(scores, score, floats), states_of(scores.T, score, floats)
    keep = accepted(rows, score, floats, max_ratio, limit)
    if cross_check and len(columns):
        index = np.maximum(rows[:, 1], 0)
        keep &= accepted(columns, score, floats, max_ratio, limit)[index] & (columns[index, 1] == np.arange(len(rows)))
    found = np.flatnonzero(keep)
    return np.stack([found, rows[found, 1]], axis=1).astype(np.uint32)


def descriptors(count, width, dtype, seed):
    """Random descriptors: bytes of norm about 512; floats of norm about 1 whose products have no need to be rounded."""
    x = np.random.default_rng(seed).standard_normal((count, width))
    x = np.sign(x) * np.abs(x) ** 1.5
    x = np.rint(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1) * 512)
    if dtype == np.uint8:
        return np.minimum(np.abs(x), 255).astype(dtype)
    if dtype == np.int8:
        return np.clip(x, -128, 127).astype(dtype)
    return (x / 512).astype(dtype)


def relatives(a, count, seed):
    """`count` descriptors: those of `a` in another order, a little changed, and strangers if there are not enough."""
    rng = np.random.default_rng(seed)
    both = np.concatenate([a, descriptors(max(count - len(a), 0), a.shape[1], a.dtype, seed)])
    b = both[rng.permutation(len(both))[:count]].astype(np.float64)
    noise = rng.integers(-6, 7, b.shape)
    if a.dtype.kind == "f":
        return (b + noise / 512).astype(a.dtype)
    info = np.iinfo(a.dtype)
    return np.clip(b + noise, info.min, info.max).astype(a.dtype)


SIZES = [(0, 0), (0, 5), (5, 0), (1, 1), (5, 1), (63, 65), (64, 128), (130, 257), (700, 500)]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("m, n", SIZES)
def test_bytes(arrays, dtype, m, n):
    a = descriptors(m, 128, dtype, SEED + m)
    b = relatives(a, n, SEED + n) if m else descriptors(n, 128, dtype, SEED)
    x, y = arrays.make(a), arrays.make(b)
    for cross_check in (True, False):
        got = serac.match(x, y, max_ratio=0.9, cross_check=cross_check, device=arrays.device)
        assert got.dtype == np.uint32 and got.shape[1] == 2
        np.testing.assert_array_equal(got, expected(a, b, max_ratio=0.9, cross_check=cross_check))
    if min(m, n) > 60:
        assert len(got) > 30
    scores = scores_of(a, b)
    rows, columns = serac.nearest2(x, y, with_columns=True, device=arrays.device)
    np.testing.assert_array_equal(rows, states_of(scores))
    np.testing.assert_array_equal(columns, states_of(scores.T))
    np.testing.assert_array_equal(serac.nearest2(x, y, device=arrays.device), rows)


@pytest.mark.parametrize("score", ["dot", "l2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("m, n, width", [(0, 5, 128), (5, 0, 256), (1, 1, 128), (65, 130, 256), (300, 200, 128),
                                         (90, 70, 30), (70, 90, 200)])
def test_floats(arrays, dtype, score, m, n, width):
    a = descriptors(m, width, dtype, SEED + m)
    b = relatives(a, n, SEED + n) if m else descriptors(n, width, dtype, SEED)
    x, y = arrays.make(a), arrays.make(b)
    for options in ({}, {"max_ratio": 0.95, "cross_check": False}):
        got = serac.match(x, y, score=score, device=arrays.device, **options)
        np.testing.assert_array_equal(got, expected(a, b, score, **options))
        if min(m, n) > 60:
            assert len(got) > 30
    scores = scores_of(a, b, score)
    rows, columns = serac.nearest2(x, y, with_columns=True, score=score, device=arrays.device)
    np.testing.assert_array_equal(rows, states_of(scores, score, True))
    np.testing.assert_array_equal(columns, states_of(scores.T, score, True))
    lists = serac.match_batch([x, y], [(0, 1), (1, 0)], score=score, device=arrays.device)
    np.testing.assert_array_equal(lists[0], expected(a, b, score))
    np.testing.assert_array_equal(lists[1], expected(b, a, score))


@pytest.mark.parametrize("width", [32, 61, 64, 7])
def test_binary(arrays, width):
    rng = np.random.default_rng(SEED + width)
    a = rng.integers(0, 256, (300, width), dtype=np.uint8)
    b = a[rng.permutation(300)[:250]] ^ (rng.integers(0, 256, (250, width)) & rng.integers(0, 256, (250, width)) &
                                         rng.integers(0, 256, (250, width))).astype(np.uint8)
    x, y = arrays.make(a), arrays.make(b)
    for options in ({}, {"max_ratio": 0.95, "cross_check": False}):
        got = serac.match(x, y, score="hamming", device=arrays.device, **options)
        np.testing.assert_array_equal(got, expected(a, b, "hamming", **options))
        assert len(got) > 20
    limit = width  # bits
    got = serac.match(x, y, score="hamming", max_bits=limit, device=arrays.device)
    np.testing.assert_array_equal(got, expected(a, b, "hamming", limit=limit))
    np.testing.assert_array_equal(serac.nearest2(x, y, score="hamming", device=arrays.device),
                                  states_of(scores_of(a, b, "hamming"), "hamming"))
    lists = serac.match_batch([x, y], [(0, 1), (1, 0)], score="hamming", device=arrays.device)
    np.testing.assert_array_equal(lists[0], expected(a, b, "hamming"))
    np.testing.assert_array_equal(lists[1], expected(b, a, "hamming"))


@pytest.mark.parametrize("width", [4, 30, 36, 64, 100, 128])
def test_widths(arrays, width):
    a = descriptors(90, width, np.uint8, SEED)
    b = relatives(a, 70, SEED)
    got = serac.match(arrays.make(a), arrays.make(b), max_ratio=0.95, device=arrays.device)
    np.testing.assert_array_equal(got, expected(a, b, max_ratio=0.95))


def test_width_of_256(arrays):
    a = descriptors(90, 256, np.uint8, SEED)
    if arrays.in_gpu_memory or arrays.device == "cuda:0":
        with pytest.raises(ValueError, match="a: a width of 256 is above 128"):
            serac.match(arrays.make(a), arrays.make(a), device=arrays.device)
    else:
        got = serac.match(arrays.make(a), arrays.make(a), device=arrays.device)
        np.testing.assert_array_equal(got, expected(a, a))


def test_large_enough_for_tensor_cores(arrays):
    a = descriptors(3000, 128, np.uint8, SEED)
    b = relatives(a, 2900, SEED)
    x, y = arrays.make(a), arrays.make(b)
    for options in ({}, {"max_ratio": 1.0, "max_distance": 3.2, "cross_check": False}, {"max_distance": 0.25}):
        limit = options.get("max_distance", 0.7)
        wanted = expected(a, b, limit=limit, **{k: v for k, v in options.items() if k != "max_distance"})
        np.testing.assert_array_equal(serac.match(x, y, device=arrays.device, **options), wanted)
    np.testing.assert_array_equal(serac.nearest2(x, y, device=arrays.device), states_of(scores_of(a, b)))


def test_views(arrays):
    """Rows with gaps, rows from the middle, and rows that are not aligned."""
    a = descriptors(200, 128, np.uint8, SEED)
    b = relatives(a, 150, SEED)
    wide = np.zeros((2 * 200 + 3, 128 + 16), np.uint8)
    wide[2:402:2, :128] = a
    odd = np.zeros(150 * 131 + 1, np.uint8)
    odd[1:].reshape(150, 131)[:, :128] = b
    x, y = arrays.make(wide), arrays.make(odd)
    if hasattr(x, "array"):
        pytest.skip("an array interface has no slices")
    got = serac.match(x[2:402:2, :128], y[1:].reshape(150, 131)[:, :128], device=arrays.device)
    np.testing.assert_array_equal(got, expected(a, b))


def test_batch_is_match(arrays, sample):
    images = [arrays.make(each) for each in sample[:5]] + [arrays.make(np.zeros((0, 128), np.uint8))]
    pairs = [(0, 1), (4, 2), (1, 1), (5, 0), (0, 5), (0, 1), (3, 4)]
    lists = serac.match_batch(images, np.array(pairs), device=arrays.device)
    assert len(lists) == len(pairs)
    for (i, j), got in zip(pairs, lists):
        np.testing.assert_array_equal(got, serac.match(images[i], images[j], device=arrays.device))
    assert sum(map(len, lists)) > 2000
    assert serac.match_batch(images, [], device=arrays.device) == []
    assert serac.match_batch([], [], device=None) == []


def test_batch_of_other_widths(device):
    images = [descriptors(120, 100, np.int8, SEED + i) for i in range(2)]
    images.append(relatives(images[0], 100, SEED))
    got = serac.match_batch(images, [(0, 2), (0, 1)], device=device)
    np.testing.assert_array_equal(got[0], expected(images[0], images[2]))
    np.testing.assert_array_equal(got[1], expected(images[0], images[1]))


def test_threads_and_read_only(sample):
    a = sample[0]
    assert not a.flags.writeable
    wanted = serac.match(a, sample[1], device="cpu")
    for num_threads in (1, 2, 7):
        np.testing.assert_array_equal(serac.match(a, sample[1], device="cpu", num_threads=num_threads), wanted)
