// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the examples share: two made-up images, and the verdict.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <serac/lists.hpp>
#include <serac/view.hpp>

namespace example {

using image = std::vector<std::uint8_t>;  // descriptors of 128 bytes

inline serac::sift_view view(const image& descriptors) {
  return {descriptors.data(), static_cast<std::int64_t>(descriptors.size() / 128)};
}

/// `count` random descriptors of about the norm that SIFT's have, 512.
inline image random_image(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0, 1);
  image descriptors;
  for (int i = 0; i < count; ++i) {
    float entries[128], square = 0;
    for (float& entry : entries) entry = uniform(random), entry *= entry, square += entry * entry;
    for (const float entry : entries) {
      descriptors.push_back(static_cast<std::uint8_t>(entry * 512 / std::sqrt(square)));
    }
  }
  return descriptors;
}

/// An image that sees every second descriptor of `other` again, last first and a little changed, among new ones.
inline image overlapping_image(const image& other, int count, unsigned seed) {
  std::mt19937 random(seed);
  image descriptors = random_image(count, seed);
  const std::size_t seen = other.size() / 256;
  for (std::size_t i = 0; i < seen && (i + 1) * 128 <= descriptors.size(); ++i) {
    for (std::size_t k = 0; k < 128; ++k) {
      descriptors[i * 128 + k] = static_cast<std::uint8_t>(other[(seen - 1 - i) * 256 + k] + random() % 8);
    }
  }
  return descriptors;
}

/// Says whether two lists (or states) are the same and not empty; what main returns.
template <class T>
int verdict(const std::vector<T>& found, const std::vector<T>& expected, const char* what) {
  const bool right = !expected.empty() && found == expected;
  std::printf("%zu %s: %s\n", found.size(), what, right ? "as expected" : "NOT as expected");
  return right ? 0 : 1;
}

}  // namespace example
