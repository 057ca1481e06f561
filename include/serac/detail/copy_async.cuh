// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// cp.async (PTX ISA, sm_80) with zero fill; below sm_80 an ordinary copy of the same effect.
#pragma once

#include <serac/detail/config.hpp>

namespace serac::detail {

/// Words of `Bytes` (4, 8 or 16) that move in one access.
template <int Bytes>
struct word_vector {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  std::uint32_t word[Bytes / 4];
};

/// Reads `Bytes` at `source`, which is aligned to them, in one access.
template <int Bytes>
SERAC_DEVICE word_vector<Bytes> load_vector(const void* source) {
  word_vector<Bytes> v;
  if constexpr (Bytes == 16) {
    const uint4 x = *static_cast<const uint4*>(source);
    v.word[0] = x.x, v.word[1] = x.y, v.word[2] = x.z, v.word[3] = x.w;
  } else if constexpr (Bytes == 8) {
    const uint2 x = *static_cast<const uint2*>(source);
    v.word[0] = x.x, v.word[1] = x.y;
  } else {
    v.word[0] = *static_cast<const std::uint32_t*>(source);
  }
  return v;
}

/// Starts copying `Bytes` from global to shared memory, or filling them with zeros if not `valid` (nothing is read
/// then). Visible to this thread after copy_async_wait, to the block after a barrier behind it.
template <int Bytes>
SERAC_DEVICE void copy_async(void* shared, const void* global, bool valid) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto destination = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  const int source_bytes = valid ? Bytes : 0;
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(destination), "l"(global), "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(destination), "l"(global), "n"(Bytes),
                 "r"(source_bytes)
                 : "memory");
  }
#else
  word_vector<Bytes> v{};
  if (valid) v = load_vector<Bytes>(global);
#pragma unroll
  for (int i = 0; i < Bytes / 4; ++i) static_cast<std::uint32_t*>(shared)[i] = v.word[i];
#endif
}

/// Closes the group of copies started since the last call.
SERAC_DEVICE void copy_async_commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `Pending` of this thread's latest groups are unfinished.
template <int Pending>
SERAC_DEVICE void copy_async_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

}  // namespace serac::detail
