// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A block turns the scores of a tile into top-2 states of its rows and columns.
#pragma once

#include <serac/block/score_slice.cuh>
#include <serac/detail/config.hpp>
#include <serac/policy.hpp>
#include <serac/thread/packed_top2.cuh>
#include <serac/top2.hpp>

namespace serac::block {

/// A score as the number whose order decides: negative scores (signed descriptors) are floored to 0.
template <class Policy>
SERAC_DEVICE std::uint32_t floored(std::int32_t score) {
  if constexpr (policy_traits<Policy>::is_signed) score = score > 0 ? score : 0;
  return static_cast<std::uint32_t>(score);
}

/// Merges the thread's scores of each of its warp's rows into `states[r]`; `first_column` is the tile's.
/// Thread; the states of a row stay spread over the lanes of the warp until warp::reduce.
template <class Policy>
SERAC_DEVICE void reduce_rows(const tile_scores<Policy>& scores, std::int64_t first_column,
                              top2 (&states)[policy_traits<Policy>::thread_rows]) {
  using traits = policy_traits<Policy>;
  constexpr int bits = traits::row_code_bits;
#pragma unroll
  for (int r = 0; r < traits::thread_rows; ++r) {
    thread::packed_top2 packed;
#pragma unroll
    for (int c = 0; c < traits::thread_columns; ++c) {
      // A lane's columns ascend with c and are equal mod 32, so every tie order prefers the smaller c.
      packed.push((floored<Policy>(scores[r][c]) << bits) + ((1 << bits) - 1 - c));
    }
    const int c = (1 << bits) - 1 - static_cast<int>(packed.best & ((1 << bits) - 1));
    const auto column = static_cast<std::int32_t>(first_column + c * 32 + threadIdx.x % 32);
    states[r] = merge<typename traits::row_tie>(states[r], {static_cast<std::int32_t>(packed.best >> bits), column,
                                                            static_cast<std::int32_t>(packed.second >> bits)});
  }
}

/// Merges all scores of each column of the tile and hands each to `consume(column, state)`: columns are numbered from
/// 0 in the tile, rows from `first_row`.
///
/// All threads of the block call it. `partials` is shared memory [warps][tile_columns]. The caller owes a barrier
/// between the return of all threads and the next write to `partials`. One barrier inside.
template <class Policy, class Consume>
SERAC_DEVICE void reduce_columns(const tile_scores<Policy>& scores, std::int64_t first_row,
                                 thread::packed_top2* partials, Consume consume) {
  using traits = policy_traits<Policy>;
  constexpr int bits = traits::column_code_bits;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;

  const std::uint32_t first_code = traits::tile_rows - 1 - warp * traits::thread_rows;  // smaller rows: greater codes
#pragma unroll
  for (int c = 0; c < traits::thread_columns; ++c) {
    thread::packed_top2 packed;
#pragma unroll
    for (int r = 0; r < traits::thread_rows; ++r) {
      packed.push((floored<Policy>(scores[r][c]) << bits) + (first_code - r));
    }
    partials[warp * traits::tile_columns + c * 32 + lane] = packed;
  }
  __syncthreads();

  for (int column = threadIdx.x; column < traits::tile_columns; column += traits::threads) {
    thread::packed_top2 packed = partials[column];
#pragma unroll
    for (int w = 1; w < traits::warps; ++w) packed.merge(partials[w * traits::tile_columns + column]);
    const int row = traits::tile_rows - 1 - static_cast<int>(packed.best & ((1u << bits) - 1));
    consume(column, top2{static_cast<std::int32_t>(packed.best >> bits), static_cast<std::int32_t>(first_row + row),
                         static_cast<std::int32_t>(packed.second >> bits)});
  }
}

}  // namespace serac::block
