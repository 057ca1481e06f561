# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""The rules of a match list and of COLMAP's exhaustive order, written down
once more, word by word and without haste."""
import math
import struct

ONE = 1 << 18


def distance(score):
    return to_float(math.acos(min(score / ONE, 1.0)))


def to_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def top2(scores, order):
    best, index, second = 0, -1, 0
    for k in sorted(range(len(scores)), key=order):
        if scores[k] > best:
            best, index, second = scores[k], k, best
        else:
            second = max(second, scores[k])
    return best, index, second


def reversed_lane(column):
    return int(f"{column % 32:05b}"[::-1], 2), column


def accepted(state, max_ratio, max_distance):
    best, index, second = state
    return index >= 0 and distance(best) < to_float(max_distance) and \
        distance(best) < to_float(distance(second) * to_float(max_ratio))


def match(first, second, max_ratio=0.8, max_distance=0.7, cross_check=True):
    """The list of two images, each a list of descriptors of 128 bytes."""
    scores = [[sum(map(int.__mul__, a, b)) for b in second] for a in first]
    columns = [top2(column, lambda i: i) for column in zip(*scores)]
    pairs = []
    for i, row in enumerate(scores):
        state = top2(row, reversed_lane)
        if not accepted(state, max_ratio, max_distance):
            continue
        j = state[1]
        if cross_check and (columns[j][1] != i or not accepted(
                columns[j], max_ratio, max_distance)):
            continue
        pairs.append((i, j))
    return pairs


def exhaustive(ids, block_size):
    """(first, second) of all pairs, in COLMAP's order."""
    return exhaustive_order(sorted(ids), block_size)


def exhaustive_order(ids, block_size):
    """The same for images in a given order."""
    blocks = [range(s, min(s + block_size, len(ids)))
              for s in range(0, len(ids), block_size)]
    for block1 in blocks:
        for block2 in blocks:
            for i in block1:
                for j in block2:
                    at_i, at_j = i % block_size, j % block_size
                    if i > j and at_i <= at_j or i < j and at_i < at_j:
                        yield ids[i], ids[j]
