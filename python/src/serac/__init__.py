# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Exact matching of local image descriptors, on CUDA GPUs or without one.

match, match_guided and nearest2 take two images; match_batch takes many pairs
of them; match_exhaustive and match_pairs take a COLMAP database. Lists of SIFT
are those of COLMAP's GPU matcher, bit for bit, wherever they are made.
"""
from ._core import (Error, MatchSummary, __version__, gpu_count, has_cuda,
                    match, match_batch, match_exhaustive, match_guided,
                    match_pairs, nearest2)

Error.__module__ = __name__

__all__ = ["Error", "MatchSummary", "__version__", "gpu_count", "has_cuda",
           "match", "match_batch", "match_exhaustive", "match_guided",
           "match_pairs", "nearest2"]
