// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Single float operations, each rounded to nearest once: the same bits on the host and on the device, whatever the
/// compiler is told about contraction, fast math or flushing subnormal numbers.
///
/// On the device an operation is one PTX instruction with its rounding named, which is never fused with another (PTX
/// ISA, floating-point instructions). On the host its operands and its result pass through an empty assembler
/// statement, so that the compiler sees single operations of unknown numbers and can neither contract nor reorder them.
/// (Host code obeys the rounding mode of its thread, and the flush mode that a program linked with -ffast-math may
/// start in.)
#pragma once

#if !defined(__CUDACC_RTC__)
#include <math.h>

#include <cstring>
#endif

#include <serac/detail/config.hpp>

namespace serac::detail {

#if !defined(__CUDA_ARCH__)

/// `x`, of which the compiler knows nothing any more.
inline float opaque(float x) noexcept {
#if defined(__SSE__) && defined(__GNUC__)
  asm("" : "+x"(x));
  return x;
#elif defined(__aarch64__) && defined(__GNUC__)
  asm("" : "+w"(x));
  return x;
#else
  volatile float kept = x;
  return kept;
#endif
}

inline float mul_rn(float a, float b) noexcept { return opaque(opaque(a) * opaque(b)); }
inline float add_rn(float a, float b) noexcept { return opaque(opaque(a) + opaque(b)); }
inline float sub_rn(float a, float b) noexcept { return opaque(opaque(a) - opaque(b)); }
inline float div_rn(float a, float b) noexcept { return opaque(opaque(a) / opaque(b)); }
/// a * b + c, rounded once. One instruction where the compiler may use it, else the C library's function.
inline float fma_rn(float a, float b, float c) noexcept { return opaque(fmaf(opaque(a), opaque(b), opaque(c))); }

inline std::uint32_t bits_of(float x) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float float_of(std::uint32_t bits) noexcept {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

#else

SERAC_DEVICE float mul_rn(float a, float b) {
  float r;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
SERAC_DEVICE float add_rn(float a, float b) {
  float r;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
SERAC_DEVICE float sub_rn(float a, float b) {
  float r;
  asm("sub.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
SERAC_DEVICE float div_rn(float a, float b) {
  float r;
  asm("div.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
SERAC_DEVICE float fma_rn(float a, float b, float c) {
  float r;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  return r;
}
SERAC_DEVICE std::uint32_t bits_of(float x) { return __float_as_uint(x); }
SERAC_DEVICE float float_of(std::uint32_t bits) { return __uint_as_float(bits); }

#endif

inline constexpr std::uint32_t infinity_bits = 0x7f800000u;

/// Whether `x` is a number below infinity. Bits are compared here and below, since fast math knows no NaN.
SERAC_HOST_DEVICE inline bool is_finite(float x) { return (bits_of(x) & 0x7fffffffu) < infinity_bits; }

/// a < b where neither is below zero (or -0); false if either is NaN.
SERAC_HOST_DEVICE inline bool is_less(float a, float b) {
  return bits_of(a) < bits_of(b) && bits_of(b) <= infinity_bits;
}

}  // namespace serac::detail
