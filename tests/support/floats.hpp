// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How tests of floats judge matches.
#pragma once

#include <cstring>
#include <ostream>
#include <vector>

#include <serac/acceptance.hpp>
#include <serac/host/reference.hpp>
#include <support/random.hpp>

namespace serac::test {

/// Whether elements are scored by their squared distance.
template <class T>
inline constexpr bool is_l2 = false;
template <class T>
inline constexpr bool is_l2<l2<T>> = true;

inline float float_with_bits(std::int32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// The squared distance of descriptors with a score, those of dot products having norm 1.
template <class T>
double plain_squared_distance(std::int32_t score) {
  if (is_l2<T>) return score == 0 ? INFINITY : static_cast<double>(float_with_bits(0x7f800000 - score));
  const double distance = 2 - 2 * static_cast<double>(float_with_bits(score));
  return distance < 0 ? 0 : distance;
}

/// The ratio test and a limit, with options of which the squares are exact.
struct float_judge {
  float ratio;
  float limit;

  template <class T>
  basic_euclidean_acceptance<T> acceptance() const {
    return {ratio, limit};
  }

  template <class T>
  bool accepts(const top2& state) const {
    if (state.index < 0) return false;
    const auto first = static_cast<float>(plain_squared_distance<T>(state.best));
    const auto next = static_cast<float>(plain_squared_distance<T>(state.second));
    const float allowed = ratio * ratio * next;
    return first < limit * limit && first < allowed;
  }

  friend std::ostream& operator<<(std::ostream& out, const float_judge& judge) {
    return out << "ratio " << judge.ratio << ", limit " << judge.limit;
  }
};

inline constexpr float_judge float_judges[] = {{0.75f, 1e19f}, {1, 0.5f}, {1.25f, 1e19f}, {0.5f, 0.25f}};

template <class T, class Accepts>
std::vector<match_pair> expected_float_match(const two_images<T>& images, const match_options& options,
                                             Accepts accepts) {
  return host::reference::judged_match<tie_break::smallest_index>(images.left.view(), images.right.view(), options,
                                                                  host::reference::all_pairs(), accepts)
      .pairs;
}

}  // namespace serac::test
