// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Reductions across the lanes of a warp.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/top2.hpp>

namespace serac::warp {

/// The merge of all 32 lanes' states, in every lane. All lanes of the warp call it together.
/// Cost: 15 shuffles.
template <class Tie>
SERAC_DEVICE top2 reduce(top2 state) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const top2 other = {__shfl_xor_sync(0xffffffffu, state.best, distance),
                        __shfl_xor_sync(0xffffffffu, state.index, distance),
                        __shfl_xor_sync(0xffffffffu, state.second, distance)};
    state = merge<Tie>(state, other);
  }
  return state;
}

}  // namespace serac::warp
