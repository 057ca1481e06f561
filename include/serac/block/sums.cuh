// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Sums over the threads of a group. (CUB's do the same, but its headers would take as long to compile as all of ours.)
#pragma once

#include <serac/block/group.cuh>
#include <serac/detail/config.hpp>

namespace serac::block {

/// Adds up an integer T of each of a group's Threads threads, whole warps. Lives in shared memory.
template <class T, int Threads, class Group = whole_block<Threads>>
class sums {
 public:
  /// The sum of `value` over the threads before this one; `total` becomes that over all. All threads of the group call
  /// it together; they owe a barrier before the object serves again, for this or for anything else.
  /// Cost: 5 shuffles, a barrier, and Threads / 32 loads.
  SERAC_DEVICE T exclusive(T value, T& total, const Group& group = {}) {
    static_assert(Threads % 32 == 0 && Threads == Group::threads);
    const int lane = group.thread() % 32, warp = group.thread() / 32;
    T sum = value;  // over this warp's lanes up to this one
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const T other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) of_warp_[warp] = sum;
    group.sync();
    T before = 0;  // over the warps before this one
    total = 0;
#pragma unroll
    for (int w = 0; w < Threads / 32; ++w) {
      if (w == warp) before = total;
      total += of_warp_[w];
    }
    return before + sum - value;
  }

  /// The sum of `value` over all threads; as `exclusive`.
  SERAC_DEVICE T total(T value, const Group& group = {}) {
    T sum;
    exclusive(value, sum, group);
    return sum;
  }

 private:
  T of_warp_[Threads / 32];
};

}  // namespace serac::block
