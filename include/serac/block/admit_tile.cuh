// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A block takes out of a tile the scores of pairs that are not admissible.
#pragma once

#include <serac/block/score_slice.cuh>
#include <serac/detail/config.hpp>
#include <serac/policy.hpp>

namespace serac::block {

/// Sets to 0 the scores of pairs that `admissible(row, column)` refuses; features from `rows` and `columns` on do not
/// exist and are not asked about. Thread; `first_row` and `first_column` are the tile's.
template <class Policy, class Admissible>
SERAC_DEVICE void admit_tile(tile_scores<Policy>& scores, const Admissible& admissible, std::int64_t first_row,
                             std::int64_t first_column, std::int64_t rows, std::int64_t columns) {
  using traits = policy_traits<Policy>;
  static_assert(traits::thread_columns <= 32, "a bit for each column");
  const std::int64_t row = first_row + threadIdx.x / 32 * traits::thread_rows;
  const std::int64_t column = first_column + threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < traits::thread_rows; ++r) {
    std::uint32_t admits = 0;
    if (row + r < rows) {
#pragma unroll 1  // the test is long, and asked once a score
      for (int c = 0; c < traits::thread_columns && column + c * 32 < columns; ++c) {
        admits |= (admissible(row + r, column + c * 32) ? 1u : 0u) << c;
      }
    }
#pragma unroll
    for (int c = 0; c < traits::thread_columns; ++c) {
      if ((admits >> c & 1) == 0) scores[r][c] = 0;
    }
  }
}

}  // namespace serac::block
