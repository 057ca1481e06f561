// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A warp keeps the nearest descriptors of a row.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/neighbors.hpp>

namespace serac::warp {

/// The K nearest of a row so far, spread over the warp: the registers that a list takes do not grow with K.
/// All lanes of the warp call its members together.
template <int K>
class nearest_list {
 public:
  /// Whether a score in any lane would enter the list, at an index behind all those seen.
  SERAC_DEVICE bool takes(std::int32_t score) const { return __any_sync(0xffffffffu, score > least_); }

  /// Takes in a score of each lane, that of lane l at index `first_index + l`, behind all those seen. Scores not above
  /// 0 match nothing. Cost: one vote, and about 20 instructions for each score that enters.
  SERAC_DEVICE void push(std::int32_t score, std::int32_t first_index) {
    const int lane = threadIdx.x % 32;
    for (unsigned entering = __ballot_sync(0xffffffffu, score > least_); entering != 0; entering &= entering - 1) {
      const int from = __ffs(static_cast<int>(entering)) - 1;
      const neighbor one{__shfl_sync(0xffffffffu, score, from), first_index + from};
      if (one.score <= least_) continue;  // an earlier one of the same scores has raised it
      const int place = __popc(__ballot_sync(0xffffffffu, entry_.score >= one.score));
      const neighbor before{__shfl_up_sync(0xffffffffu, entry_.score, 1), __shfl_up_sync(0xffffffffu, entry_.index, 1)};
      if (lane > place) entry_ = before;
      if (lane == place) entry_ = one;
      least_ = __shfl_sync(0xffffffffu, entry_.score, K - 1);
    }
  }

  /// Entry `lane` of the list, in lanes below K.
  SERAC_DEVICE neighbor entry() const { return entry_; }

 private:
  neighbor entry_;          // of the list, and behind its end what has left it
  std::int32_t least_ = 0;  // the list's last score, in all lanes: to enter is to be above it
};

}  // namespace serac::warp
