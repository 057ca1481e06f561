#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Matches CuPy arrays by kernels that are compiled when the program runs."""
import sys

import sift_matcher


def main():
    cupy, = sift_matcher.require("cupy")
    left, right = sift_matcher.overlapping_images(3000, 2500, 700)
    left_gpu, right_gpu = cupy.asarray(left), cupy.asarray(right)

    matcher = sift_matcher.SiftMatcher()
    failures = sift_matcher.verdict(
        matcher.match(left_gpu, right_gpu).get(),
        sift_matcher.reference(left, right), "two images")
    # Every other row: a view with a stride.
    failures += sift_matcher.verdict(
        matcher.match(left_gpu[::2], right_gpu[1:]).get(),
        sift_matcher.reference(left[::2], right[1:]), "views of them")

    options = {"max_ratio": 0.9, "cross_check": False}
    failures += sift_matcher.verdict(
        sift_matcher.SiftMatcher(**options).match(left_gpu, right_gpu).get(),
        sift_matcher.reference(left, right, **options), "each row by itself")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
