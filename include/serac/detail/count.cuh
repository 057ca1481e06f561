// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Counts in device memory by which threads of different blocks tell one another what is done (PTX ISA, memory
/// consistency model).
#pragma once

#include <serac/detail/config.hpp>

namespace serac::detail {

/// Adds 1. Whoever waits for the sum sees what this thread wrote before, and what it has seen by barriers of its block.
/// Thread.
SERAC_DEVICE void release_count(std::uint32_t* count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(__cvta_generic_to_global(count)) : "memory");
#else
  __threadfence();
  atomicAdd(count, 1u);
#endif
}

/// Waits until the count is `wanted`; this thread, and those that it meets at a barrier after that, see what was
/// written before. Thread.
SERAC_DEVICE void wait_for_count(const std::uint32_t* count, std::uint32_t wanted) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  for (std::uint32_t value;;) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(count)) : "memory");
    if (value == wanted) return;
    __nanosleep(500);
  }
#else
  while (*static_cast<const volatile std::uint32_t*>(count) != wanted) {
  }
  __threadfence();
#endif
}

}  // namespace serac::detail
