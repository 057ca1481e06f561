// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Compile-time arithmetic on tile sizes.
#pragma once

#include <serac/detail/config.hpp>

namespace serac::detail {

SERAC_HOST_DEVICE constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
SERAC_HOST_DEVICE constexpr int round_up(int a, int b) { return ceil_div(a, b) * b; }
SERAC_HOST_DEVICE constexpr int log2_ceil(int n) { return n <= 1 ? 0 : 1 + log2_ceil((n + 1) / 2); }

/// The greatest power of two that is at most `n` and at most `limit`, itself a power of two.
SERAC_HOST_DEVICE constexpr int power_of_two_below(int n, int limit) {
  return limit <= n ? limit : power_of_two_below(n, limit / 2);
}

/// Least number of bytes >= `bytes` that is an odd number of `unit`s: lanes reading consecutive rows of this stride,
/// `unit` bytes each, then meet no bank conflict.
SERAC_HOST_DEVICE constexpr int odd_stride(int bytes, int unit) { return (ceil_div(bytes, unit) | 1) * unit; }

}  // namespace serac::detail
