// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A dot path of one's own, named in a policy: products of two bytes at a time (the protocol is in thread/dot.cuh).

#include <type_traits>

#include <serac/host/matcher.hpp>
#include <serac/serac.cuh>

#include "support.cuh"

struct dot_dp2a {
  static constexpr int k = 4;
  static constexpr int min_sm = 61;
  static constexpr int instructions = 4;

  template <class T>
  __device__ __forceinline__ static std::int32_t accumulate(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
    static_assert(std::is_same_v<T, std::uint8_t>, "this path is for unsigned bytes");
    const unsigned low = __byte_perm(a, 0, 0x4140), high = __byte_perm(a, 0, 0x4342);  // two 16-bit numbers each
    const unsigned half = __dp2a_lo(low, b, static_cast<unsigned>(sum));
    return static_cast<std::int32_t>(__dp2a_hi(high, b, half));
  }
};

struct by_halves : serac::default_policy {
  using dot = dot_dp2a;
};

int main() {
  example::require_gpu();
  const example::image left = example::random_image(2000, 1);
  const example::image right = example::overlapping_image(left, 2000, 2);

  const auto found = serac::basic_matcher<by_halves>().match(example::view(left), example::view(right));
  const auto expected = serac::host::matcher().match(example::view(left), example::view(right));
  return example::verdict(found.pairs, expected.pairs, "matches by DP2A");
}
