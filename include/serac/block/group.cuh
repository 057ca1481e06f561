// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Threads of a block that work together.
///
/// A *group* has `threads`, a constant; `thread()`, this thread's number among them; `sync()`, their barrier; and
/// `any(value)`, that barrier which also tells whether `value` is true in one of them. All threads of the group call
/// the last two together.
#pragma once

#include <serac/detail/config.hpp>

namespace serac::block {

/// All of a block's Threads threads.
template <int Threads>
struct whole_block {
  static constexpr int threads = Threads;

  SERAC_DEVICE static int thread() { return static_cast<int>(threadIdx.x); }
  SERAC_DEVICE static void sync() { __syncthreads(); }
  SERAC_DEVICE static bool any(bool value) { return __syncthreads_or(value) != 0; }
};

/// The Threads threads of a block from number `first` on, whole warps, which use its barrier `barrier` (1 to 15).
template <int Threads>
struct some_warps {
  static constexpr int threads = Threads;
  static_assert(Threads % 32 == 0);
  int first, barrier;

  SERAC_DEVICE int thread() const { return static_cast<int>(threadIdx.x) - first; }
  SERAC_DEVICE void sync() const { asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "n"(Threads) : "memory"); }
  SERAC_DEVICE bool any(bool value) const {
    int result;
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %1, 0;\nbarrier.red.or.pred p, %2, %3, p;\nselp.s32 %0, 1, 0, p;\n}\n"
        : "=r"(result)
        : "r"(value ? 1 : 0), "r"(barrier), "n"(Threads)
        : "memory");
    return result != 0;
  }
};

}  // namespace serac::block
