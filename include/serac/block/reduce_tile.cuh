// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A block turns the scores of a tile into top-2 states of its rows and columns.
#pragma once

#include <serac/block/score_slice.cuh>
#include <serac/detail/config.hpp>
#include <serac/policy.hpp>
#include <serac/thread/placed_top2.cuh>
#include <serac/top2.hpp>
#include <serac/warp/reduce.cuh>

namespace serac::block {

/// A score as the number whose order decides: negative scores (signed descriptors) are floored to 0.
template <class Policy>
SERAC_DEVICE std::uint32_t floored(std::int32_t score) {
  if constexpr (policy_traits<Policy>::score::may_be_negative) score = score > 0 ? score : 0;
  return static_cast<std::uint32_t>(score);
}

/// Top-2 of the warp's rows over the tiles of a window, spread over the lanes: the lane's columns in the window have
/// codes that fall as the column rises. A lane's columns are equal mod 32, so every
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
      states_[r].template push_scores<traits::thread_columns>(first_code,
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
      const std::uint32_t place = (1u << bits) - 1 - states_[r].code();  // among the lane's columns
      const top2 state{static_cast<std::int32_t>(states_[r].best_score()),
                       static_cast<std::int32_t>(first_column + 32 * std::int64_t{place}),
                       static_cast<std::int32_t>(states_[r].second_score())};
      const top2 row = warp::reduce<typename traits::row_tie>(state);
      if (threadIdx.x % 32 == r) mine = row;
      states_[r] = {};
    }
    tiles_ = 0;
    if (threadIdx.x % 32 < traits::thread_rows) consume(threadIdx.x % 32, mine);
  }

 private:
  static constexpr int bits = traits::row_code_bits;

  thread::placed_top2<traits::packs_codes, bits> states_[traits::thread_rows];
  int tiles_ = 0;
};

/// The top-2 of a column over rows of a tile.
template <class Policy>
using column_state = thread::placed_top2<policy_traits<Policy>::packs_codes, policy_traits<Policy>::column_code_bits>;

/// What reduce_columns leaves in shared memory: for every warp, the top-2 of each column over its rows.
template <class Policy>
using column_partials = column_state<Policy>[policy_traits<Policy>::warps][policy_traits<Policy>::tile_columns];

/// Reduces each column of the tile over the rows of each warp. All threads of the block call it; the caller owes a
/// barrier before merge_columns reads `partials`, which is shared memory.
template <class Policy>
SERAC_DEVICE void reduce_columns(const tile_scores<Policy>& scores, column_partials<Policy>& partials) {
  using traits = policy_traits<Policy>;
  const int warp = threadIdx.x / 32;
  const std::uint32_t first_code = traits::tile_rows - 1 - warp * traits::thread_rows;  // smaller rows: greater codes
#pragma unroll
  for (int c = 0; c < traits::thread_columns; ++c) {
    column_state<Policy> state;
    state.template push_scores<traits::thread_rows>(first_code, [&](int r) { return floored<Policy>(scores[r][c]); });
    partials[warp][c * 32 + threadIdx.x % 32] = state;
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
  column_state<Policy> state = partials[0][column];
#pragma unroll
  for (int w = 1; w < traits::warps; ++w) state.merge(partials[w][column]);
  const int row = traits::tile_rows - 1 - static_cast<int>(state.code());
  return {static_cast<std::int32_t>(state.best_score()), static_cast<std::int32_t>(first_row + row),
          static_cast<std::int32_t>(state.second_score())};
}

}  // namespace serac::block
