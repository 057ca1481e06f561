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
#include <serac/warp/reduce.cuh>

namespace serac::block {

/// A score as the number whose order decides: negative scores (signed descriptors) are floored to 0.
template <class Policy>
SERAC_DEVICE std::uint32_t floored(std::int32_t score) {
  if constexpr (policy_traits<Policy>::score::may_be_negative) score = score > 0 ? score : 0;
  return static_cast<std::uint32_t>(score);
}

/// Pushes keys made of `count` scores, `score(i) << bits` plus `first_code - i`, two at a time. Thread; pure.
template <int Count, int Bits, class Score>
SERAC_DEVICE void push_scores(thread::packed_top2& packed, std::uint32_t first_code, Score score) {
  const auto key = [&](int i) { return (score(i) << Bits) + (first_code - i); };
#pragma unroll
  for (int i = 0; i + 1 < Count; i += 2) packed.push(key(i), key(i + 1));
  if (Count % 2 != 0) packed.push(key(Count - 1));
}

/// Top-2 of the warp's rows over the tiles of a window, spread over the lanes: keys of score and code, where the
/// lane's columns in the window have codes that fall as the column rises. A lane's columns are equal mod 32, so every
/// tie order prefers the smaller.
template <class Policy>
class row_window {
 public:
  using traits = policy_traits<Policy>;

  /// Takes in the scores of the next tile; the window must not be full. Thread.
  SERAC_DEVICE void push(const tile_scores<Policy>& scores) {
    const std::uint32_t first_code = (1u << bits) - 1 - tiles_ * traits::thread_columns;
#pragma unroll
    for (int r = 0; r < traits::thread_rows; ++r) {
      push_scores<traits::thread_columns, bits>(packed_[r], first_code,
                                                [&](int c) { return floored<Policy>(scores[r][c]); });
    }
    ++tiles_;
  }

  SERAC_DEVICE bool full() const { return tiles_ == traits::window_tiles; }

  /// Hands the state of each of the warp's rows to `consume(r, state)`, in one lane each, and empties the window.
  /// `end_column` is the column behind the last tile pushed. All lanes of the warp call it together.
  template <class Consume>
  SERAC_DEVICE void flush(std::int64_t end_column, Consume consume) {
    const std::int64_t first_column = end_column - std::int64_t{tiles_} * traits::tile_columns + threadIdx.x % 32;
    __syncwarp();
    top2 mine;
#pragma unroll
    for (int r = 0; r < traits::thread_rows; ++r) {
      const std::uint32_t place = (1u << bits) - 1 - (packed_[r].best & ((1u << bits) - 1));  // of the lane's columns
      const top2 state{static_cast<std::int32_t>(packed_[r].best >> bits),
                       static_cast<std::int32_t>(first_column + 32 * std::int64_t{place}),
                       static_cast<std::int32_t>(packed_[r].second >> bits)};
      const top2 row = warp::reduce<typename traits::row_tie>(state);
      if (threadIdx.x % 32 == r) mine = row;
      packed_[r] = {};
    }
    tiles_ = 0;
    if (threadIdx.x % 32 < traits::thread_rows) consume(threadIdx.x % 32, mine);
  }

 private:
  static constexpr int bits = traits::row_code_bits;

  thread::packed_top2 packed_[traits::thread_rows];
  int tiles_ = 0;
};

/// What reduce_columns leaves in shared memory: for every warp, the packed top-2 of each column over its rows.
template <class Policy>
using column_partials = thread::packed_top2[policy_traits<Policy>::warps][policy_traits<Policy>::tile_columns];

/// Reduces each column of the tile over the rows of each warp. All threads of the block call it; the caller owes a
/// barrier before merge_columns reads `partials`, which is shared memory.
template <class Policy>
SERAC_DEVICE void reduce_columns(const tile_scores<Policy>& scores, column_partials<Policy>& partials) {
  using traits = policy_traits<Policy>;
  const int warp = threadIdx.x / 32;
  const std::uint32_t first_code = traits::tile_rows - 1 - warp * traits::thread_rows;  // smaller rows: greater codes
#pragma unroll
  for (int c = 0; c < traits::thread_columns; ++c) {
    thread::packed_top2 packed;
    push_scores<traits::thread_rows, traits::column_code_bits>(packed, first_code,
                                                               [&](int r) { return floored<Policy>(scores[r][c]); });
    partials[warp][c * 32 + threadIdx.x % 32] = packed;
  }
}

/// Leaves partials that merge to nothing. As reduce_columns.
template <class Policy>
SERAC_DEVICE void clear_columns(column_partials<Policy>& partials) {
  using traits = policy_traits<Policy>;
#pragma unroll
  for (int c = 0; c < traits::thread_columns; ++c) partials[threadIdx.x / 32][c * 32 + threadIdx.x % 32] = {};
}

/// The top-2 of a column of the tile over all its rows, numbered from `first_row`. Thread; `partials` is visible.
template <class Policy>
SERAC_DEVICE top2 merge_column(const column_partials<Policy>& partials, int column, std::int64_t first_row) {
  using traits = policy_traits<Policy>;
  constexpr int bits = traits::column_code_bits;
  thread::packed_top2 packed = partials[0][column];
#pragma unroll
  for (int w = 1; w < traits::warps; ++w) packed.merge(partials[w][column]);
  const int row = traits::tile_rows - 1 - static_cast<int>(packed.best & ((1u << bits) - 1));
  return {static_cast<std::int32_t>(packed.best >> bits), static_cast<std::int32_t>(first_row + row),
          static_cast<std::int32_t>(packed.second >> bits)};
}

}  // namespace serac::block
