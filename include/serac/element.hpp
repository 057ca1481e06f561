// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What descriptors are made of, beside std::uint8_t, std::int8_t and float. An element type decides how descriptors
/// are scored: see score.hpp.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/float_rn.hpp>

namespace serac {

/// Eight bits of a binary descriptor (ORB, BRIEF, BRISK, FREAK, AKAZE), which is scored by its Hamming distance from
/// others. Bits that a descriptor does not have (AKAZE's last two) are 0 in all. See binary_view and as_bits
/// (view.hpp).
enum class bits8 : std::uint8_t {};

/// Whether descriptors of `T` are binary.
template <class T>
inline constexpr bool is_binary = false;
template <>
inline constexpr bool is_binary<bits8> = true;

/// A number of IEEE 754's binary16: a sign, 5 bits of exponent, 10 of fraction. Storage alone: what CUDA calls __half,
/// NumPy float16 and PyTorch half, bit for bit.
enum class float16 : std::uint16_t {};

/// The upper half of a float: CUDA's __nv_bfloat16, PyTorch's bfloat16.
enum class bfloat16 : std::uint16_t {};

/// A float, float16 or bfloat16 of descriptors that are scored by their squared Euclidean distance, where the bare
/// types mean the dot product. The same memory: see as_l2 (view.hpp).
template <class T>
struct l2 {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "squared distances are of float, float16 or bfloat16");
  T value;
};

namespace detail {

/// A float type without what it is scored by.
template <class T>
struct number_of {
  using type = T;
};
template <class T>
struct number_of<l2<T>> {
  using type = T;
};

}  // namespace detail

/// The float of the same value: exact. Any thread or host; pure. A NaN becomes some NaN.
SERAC_HOST_DEVICE inline float to_float(float x) { return x; }
/// The same of a bfloat16.
SERAC_HOST_DEVICE inline float to_float(bfloat16 x) { return detail::float_of(static_cast<std::uint32_t>(x) << 16); }
/// The same of a float16.
SERAC_HOST_DEVICE inline float to_float(float16 x) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<std::uint16_t>(x)));
  return value;
#else
  const std::uint32_t bits = static_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, fraction = bits & 0x3ffu;
  if (exponent == 31) return detail::float_of(sign | detail::infinity_bits | fraction << 13);
  if (exponent == 0) {  // a multiple of 2^-24
    return detail::float_of(sign | detail::bits_of(static_cast<float>(fraction) * (1.0f / (1 << 24))));
  }
  return detail::float_of(sign | (exponent + 112) << 23 | fraction << 13);
#endif
}
/// The same of an element that is scored by squared distance.
template <class T>
SERAC_HOST_DEVICE float to_float(l2<T> x) {
  return to_float(x.value);
}

/// The nearest float16, ties to even; beyond its range infinity. Any thread or host; pure.
SERAC_HOST_DEVICE inline float16 to_float16(float x) {
  const std::uint32_t bits = detail::bits_of(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  std::uint32_t rounded;
  if (magnitude > detail::infinity_bits) {
    rounded = 0x7e00u;  // NaN
  } else if (magnitude >= 0x47800000u) {
    rounded = 0x7c00u;                   // 2^16 or more
  } else if (magnitude < 0x38800000u) {  // below 2^-14 a float16 is a multiple of 2^-24, as floats from 1/2 to 1 are
    rounded = detail::bits_of(detail::add_rn(detail::float_of(magnitude), 0.5f)) - detail::bits_of(0.5f);
  } else {
    rounded = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  }
  return static_cast<float16>(sign | rounded);
}

/// The nearest bfloat16, ties to even. Any thread or host; pure.
SERAC_HOST_DEVICE inline bfloat16 to_bfloat16(float x) {
  const std::uint32_t bits = detail::bits_of(x);
  if ((bits & 0x7fffffffu) > detail::infinity_bits) return static_cast<bfloat16>(bits >> 16 | 0x40u);  // NaN
  return static_cast<bfloat16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace serac
