// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Dot paths that one thread runs: how four bytes of a row and of a column become part of their score, or of the sum
/// that it is made of.
///
/// A thread-level dot path is a type with
///   - `static constexpr int k`      bytes that one step consumes: 4, or 16 where `accumulate` takes four words
///     as well;
///   - `static constexpr int min_sm` least architecture that has it, as __CUDA_ARCH__ / 10: policies that name it
///     compile for no lesser one;
///   - `static constexpr int instructions` about how many a step takes: where it is more than one, descriptors
///     are read in narrow steps, for wide ones would not fit the registers;
///   - `template <class T> static int32 accumulate(uint32 a, uint32 b, int32 sum)`, which returns `sum` plus the dot
///     product of the four T (uint8 or int8) packed in `a` and `b`, lowest address in the lowest byte; where T is
///     bits8, `sum` less the number of bits that differ; where it is a float type, `sum` is a float, and the order of
///     its terms that of score.hpp. Zeros in both must leave `sum` as it is: they fill up tiles;
///   - if k is 16, the same over `const uint32 (&a)[4]` and `b`, which widths that are a multiple of 16 are scored by.
/// Write your own and name it in a policy.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/score.hpp>

namespace serac {

/// Four 24-bit multiplications: any architecture, any byte type.
struct dot_scalar {
  static constexpr int k = 4;
  static constexpr int min_sm = 0;
  static constexpr int instructions = 12;

  template <class T>
  SERAC_DEVICE static std::int32_t accumulate(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
#pragma unroll
    for (int byte = 0; byte < 4; ++byte) {
      // __mul24 and the addition in one instruction; as C++, ptxas makes DP4A of some products of bytes.
      asm("mad24.lo.s32 %0, %1, %2, %0;"
          : "+r"(sum)
          : "r"(std::int32_t{static_cast<T>(a >> 8 * byte)}), "r"(std::int32_t{static_cast<T>(b >> 8 * byte)}));
    }
    return sum;
  }
};

/// One DP4A instruction (sm_61 and later).
struct dot_dp4a {
  static constexpr int k = 4;
  static constexpr int min_sm = 61;
  static constexpr int instructions = 1;

  template <class T>
  SERAC_DEVICE static std::int32_t accumulate(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 610
    if constexpr (score_traits<T>::may_be_negative) {
      return __dp4a(static_cast<int>(a), static_cast<int>(b), sum);
    } else {
      return static_cast<std::int32_t>(__dp4a(a, b, static_cast<unsigned>(sum)));
    }
#else
    static_assert(sizeof(T) == 0, "dot_dp4a needs sm_61 or later; use dot_scalar or dot_default");
    return 0;
#endif
  }
};

/// Hamming distance by population counts, on any architecture. Of four words three are counted, since counts are four
/// times as slow as logic: a full adder makes two of three, the sums and the carries.
struct dot_hamming {
  static constexpr int k = 16;
  static constexpr int min_sm = 0;
  static constexpr int instructions = 3;

  template <class T>
  SERAC_DEVICE static std::int32_t accumulate(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
    static_assert(sizeof(T) == 1 && score_traits<T>::start == equal_bits_score, "dot_hamming is for bits8");
    return sum - __popc(a ^ b);
  }

  template <class T>
  SERAC_DEVICE static std::int32_t accumulate(const std::uint32_t (&a)[4], const std::uint32_t (&b)[4],
                                              std::int32_t sum) {
    const std::uint32_t x = a[0] ^ b[0], y = a[1] ^ b[1], z = a[2] ^ b[2];
    std::uint32_t sums, carries;  // one instruction each; the compiler makes more of C++
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(sums) : "r"(x), "r"(y), "r"(z));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(carries) : "r"(x), "r"(y), "r"(z));
    return accumulate<T>(a[3], b[3], sum - __popc(sums) - 2 * __popc(carries));
  }
};

/// Floats, any of those of score.hpp, by one fma for each element; squared distances take a subtraction as well.
struct dot_fma {
  static constexpr int k = 16;
  static constexpr int min_sm = 0;
  static constexpr int instructions = 2;

  template <class T>
  SERAC_DEVICE static float accumulate(std::uint32_t a, std::uint32_t b, float sum) {
    static_assert(score_traits<T>::is_float, "dot_fma is for floats");
    using number = typename detail::number_of<T>::type;
    if constexpr (sizeof(T) == 4) {
      sum = score_traits<T>::add(detail::float_of(a), detail::float_of(b), sum);
    } else {
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // the lower one stands first in memory
        const auto x = static_cast<number>(a >> 16 * half & 0xffffu), y = static_cast<number>(b >> 16 * half & 0xffffu);
        sum = score_traits<T>::add(to_float(x), to_float(y), sum);
      }
    }
    return sum;
  }

  template <class T>
  SERAC_DEVICE static float accumulate(const std::uint32_t (&a)[4], const std::uint32_t (&b)[4], float sum) {
#pragma unroll
    for (int w = 0; w < 4; ++w) sum = accumulate<T>(a[w], b[w], sum);
    return sum;
  }
};

/// The fastest thread-level path for bytes of the architecture being compiled for: scalar below sm_61, DP4A from there
/// on.
struct dot_default {
  static constexpr int k = 4;
  static constexpr int min_sm = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 610
  static constexpr int instructions = dot_scalar::instructions;
#else
  static constexpr int instructions = dot_dp4a::instructions;
#endif

  template <class T>
  SERAC_DEVICE static std::int32_t accumulate(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 610
    return dot_scalar::accumulate<T>(a, b, sum);
#else
    return dot_dp4a::accumulate<T>(a, b, sum);
#endif
  }
};

}  // namespace serac
