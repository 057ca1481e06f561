// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// mma.sync for bytes (PTX ISA, sm_80): a warp's 16 x 8 products, 32 bytes deep.
#pragma once

#include <serac/detail/config.hpp>

namespace serac::detail {

/// sums += A x B^T: A is 16 rows, B 8 rows of 32 bytes of T (uint8 or int8). All lanes of the warp.
/// With r = lane / 4 and q = lane % 4, words of 4 bytes: a[0] = A[r][q], a[1] = A[r + 8][q], a[2] = A[r][q + 4],
/// a[3] = A[r + 8][q + 4]; b[0] = B[r][q], b[1] = B[r][q + 4]; sums[0], [1] = columns 2q, 2q + 1 of row r, sums[2], [3]
/// of row r + 8. Any permutation of the words applied to A and B alike gives the same sums.
template <class T>
SERAC_DEVICE void mma_16x8x32(std::int32_t (&sums)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                              std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (static_cast<T>(-1) < 0) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
#endif
}

}  // namespace serac::detail
