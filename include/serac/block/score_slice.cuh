// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A block scores a slice of a tile from shared memory, register-blocked.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/policy.hpp>

namespace serac::block {

/// Scores that a thread of the fused matcher holds: `scores[r][c]` is that of the warp's row r and column
/// c * 32 + lane of the tile.
template <class Policy>
using tile_scores = std::int32_t[policy_traits<Policy>::thread_rows][policy_traits<Policy>::thread_columns];

/// What the scores are made of, likewise: the same, unless the elements are floats.
template <class Policy>
using tile_sums = typename policy_traits<Policy>::score::number[policy_traits<Policy>::thread_rows]
                                                               [policy_traits<Policy>::thread_columns];

/// The sums of a tile before any slice is scored. Thread.
template <class Policy>
SERAC_DEVICE void start_sums(tile_sums<Policy>& sums) {
  using traits = policy_traits<Policy>;
#pragma unroll
  for (int r = 0; r < traits::thread_rows; ++r) {
#pragma unroll
    for (int c = 0; c < traits::thread_columns; ++c) sums[r][c] = traits::score::start;
  }
}

/// The scores of a tile all of whose slices are scored. Thread.
template <class Policy>
SERAC_DEVICE void finish_scores(const tile_sums<Policy>& sums, tile_scores<Policy>& scores) {
  using traits = policy_traits<Policy>;
#pragma unroll
  for (int r = 0; r < traits::thread_rows; ++r) {
#pragma unroll
    for (int c = 0; c < traits::thread_columns; ++c) {
      if constexpr (traits::score::is_float) {
        scores[r][c] = traits::score::of(sums[r][c]);
      } else {
        scores[r][c] = sums[r][c];
      }
    }
  }
}

/// Sets to 0 the scores of rows from `rows` on and of columns from `columns` on, both counted from the tile's first:
/// they do not exist. Thread; nothing to do where the zeros that fill up a tile score 0, or the tile is full.
template <class Policy>
SERAC_DEVICE void clear_absent(tile_scores<Policy>& scores, std::int64_t rows, std::int64_t columns) {
  using traits = policy_traits<Policy>;
  if constexpr (traits::score::zeros_match) {
    if (rows >= traits::tile_rows && columns >= traits::tile_columns) return;
    rows -= threadIdx.x / 32 * traits::thread_rows;
    columns -= threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < traits::thread_rows; ++r) {
#pragma unroll
      for (int c = 0; c < traits::thread_columns; ++c) {
        if (r >= rows || c * 32 >= columns) scores[r][c] = 0;
      }
    }
  }
}

/// Adds to `sums` the dot products (or what stands for them, see thread/dot.cuh) over one slice of the descriptors.
///
/// All threads of the block call it, behind a barrier that made both tiles visible. `rows` is the row tile
/// [tile_rows][row_stride], advanced to the slice; `columns` is the slice of the column tile
/// [tile_columns][column_stride]. Cost: thread_rows * thread_columns * slice_bytes / 4 dot steps a thread, and
/// (thread_rows + thread_columns) * slice_bytes / load_bytes shared loads without bank conflicts.
template <class Policy>
SERAC_DEVICE void score_slice(const std::uint8_t* rows, const std::uint8_t* columns, tile_sums<Policy>& sums) {
  using traits = policy_traits<Policy>;
  constexpr int load_bytes = traits::score_bytes;
#if defined(__CUDA_ARCH__)
  static_assert(__CUDA_ARCH__ >= 10 * traits::dot::min_sm, "the policy's dot path needs a later architecture: min_sm");
#endif
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  rows += warp * traits::thread_rows * traits::row_stride;
  columns += lane * traits::column_stride;

  if constexpr (traits::scores_vectors) {  // the columns stay in registers, the rows stream through
#pragma unroll traits::score_unroll
    for (int k = 0; k < traits::slice_bytes; k += load_bytes) {
      detail::word_vector<load_bytes> column[traits::thread_columns];
#pragma unroll
      for (int c = 0; c < traits::thread_columns; ++c) {
        column[c] = detail::load_vector<load_bytes>(columns + c * 32 * traits::column_stride + k);
      }
#pragma unroll
      for (int r = 0; r < traits::thread_rows; ++r) {
        const auto row = detail::load_vector<load_bytes>(rows + r * traits::row_stride + k);
#pragma unroll
        for (int c = 0; c < traits::thread_columns; ++c) {
          sums[r][c] = traits::dot::template accumulate<typename traits::element>(row.word, column[c].word, sums[r][c]);
        }
      }
    }
  } else {
#pragma unroll traits::score_unroll
    for (int k = 0; k < traits::slice_bytes; k += load_bytes) {
      detail::word_vector<load_bytes> row[traits::thread_rows];
#pragma unroll
      for (int r = 0; r < traits::thread_rows; ++r) {
        row[r] = detail::load_vector<load_bytes>(rows + r * traits::row_stride + k);
      }
#pragma unroll
      for (int c = 0; c < traits::thread_columns; ++c) {
        const auto column = detail::load_vector<load_bytes>(columns + c * 32 * traits::column_stride + k);
#pragma unroll
        for (int w = 0; w < load_bytes / 4; ++w) {
#pragma unroll
          for (int r = 0; r < traits::thread_rows; ++r) {
            sums[r][c] =
                traits::dot::template accumulate<typename traits::element>(row[r].word[w], column.word[w], sums[r][c]);
          }
        }
      }
    }
  }
}

}  // namespace serac::block
