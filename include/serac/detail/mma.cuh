// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// mma.sync (PTX ISA, sm_80): a warp's 16 x 8 products, 32 bytes deep.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/element.hpp>
#include <serac/score.hpp>

namespace serac::detail {

/// Whether an element is binary16.
template <class T>
inline constexpr bool is_half = false;
template <>
inline constexpr bool is_half<float16> = true;

/// A word of A as mma_16x8x32 takes it: as it is, but of bits, where the GPU has an exclusive or of them, complemented.
template <class T>
SERAC_DEVICE std::uint32_t mma_row_word(std::uint32_t word) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  if constexpr (is_binary<T>) return ~word;
#endif
  return word;
}

/// sums += A x B^T: A is 16 rows, B 8 rows of 32 bytes of T. Of bytes (uint8 or int8) it adds the products, of bits
/// (bits8) the number of bits that are equal; of float16 and bfloat16, sums are the bits of floats, to which it adds
/// the products as the tensor core rounds. All lanes of the warp. With r = lane / 4 and q = lane % 4, words of 4 bytes:
/// a[0] = A[r][q], a[1] = A[r + 8][q], a[2] = A[r][q + 4], a[3] = A[r + 8][q + 4]; b[0] = B[r][q], b[1] = B[r][q + 4];
/// sums[0], [1] = columns 2q, 2q + 1 of row r, sums[2], [3] of row r + 8; a after mma_row_word. Any permutation of the
/// words applied to A and B alike gives the same sums of integers; of floats, those of that order.
template <class T>
SERAC_DEVICE void mma_16x8x32(std::int32_t (&sums)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                              std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define SERAC_MMA_SYNC(kind, type, sums, a0, a1, a2, a3, b0, b1)                                           \
  asm volatile("mma.sync.aligned." kind " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+" type(sums[0]), "+" type(sums[1]), "+" type(sums[2]), "+" type(sums[3])                \
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))
  if constexpr (is_binary<T>) {
#if __CUDA_ARCH__ < 900
    SERAC_MMA_SYNC("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "r", sums, a0, a1, a2, a3, b0, b1);
#elif __CUDA_ARCH__ < 1000  // there is no exclusive or: the ones of both, then the zeros of both
    SERAC_MMA_SYNC("m16n8k256.row.col.s32.b1.b1.s32.and.popc", "r", sums, a0, a1, a2, a3, b0, b1);
    SERAC_MMA_SYNC("m16n8k256.row.col.s32.b1.b1.s32.and.popc", "r", sums, ~a0, ~a1, ~a2, ~a3, ~b0, ~b1);
#else  // nor products of bits, but what makes them of eight times as many of bytes: slower than counting
    __trap();
#endif
  } else if constexpr (score_traits<T>::is_float) {
    float floats[4] = {__int_as_float(sums[0]), __int_as_float(sums[1]), __int_as_float(sums[2]),
                       __int_as_float(sums[3])};
    if constexpr (is_half<T>) {
      SERAC_MMA_SYNC("m16n8k16.row.col.f32.f16.f16.f32", "f", floats, a0, a1, a2, a3, b0, b1);
    } else {
      SERAC_MMA_SYNC("m16n8k16.row.col.f32.bf16.bf16.f32", "f", floats, a0, a1, a2, a3, b0, b1);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[i] = __float_as_int(floats[i]);
  } else if constexpr (static_cast<T>(-1) < 0) {
    SERAC_MMA_SYNC("m16n8k32.row.col.s32.s8.s8.s32", "r", sums, a0, a1, a2, a3, b0, b1);
  } else {
    SERAC_MMA_SYNC("m16n8k32.row.col.s32.u8.u8.s32", "r", sums, a0, a1, a2, a3, b0, b1);
  }
#undef SERAC_MMA_SYNC
#endif
}

}  // namespace serac::detail
