// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What tests of binary descriptors share: how lists are judged, in words of their own.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include <serac/acceptance.hpp>
#include <serac/host/reference.hpp>
#include <support/random.hpp>

namespace serac::test {

/// Lowe's test and a limit on Hamming distances.
struct binary_judge {
  float ratio;
  int limit;

  hamming_acceptance acceptance() const { return {ratio, limit}; }

  /// The same as a program that uses OpenCV would write it; without a second neighbour there is no ratio to test.
  bool accepts(const top2& state) const {
    if (state.index < 0) return false;
    const float first = static_cast<float>(4097 - state.best), next = static_cast<float>(4097 - state.second);
    if (!(first < static_cast<float>(limit))) return false;
    return state.second == 0 || first < ratio * next;
  }

  friend std::ostream& operator<<(std::ostream& out, const binary_judge& judge) {
    return out << "ratio " << judge.ratio << ", limit " << judge.limit;
  }
};

inline std::vector<binary_judge> binary_judges(int width) {
  return {{0.8f, 4097}, {0.7f, 2 * width}, {1.0f, 4 * width}, {1.5f, 4097}, {100, 1}};
}

inline std::vector<match_options> binary_options() {
  std::vector<match_options> all(4);
  all[1].cross_check = false;
  all[2].max_matches = 3;
  all[3].max_features = 50;
  return all;
}

inline std::vector<match_pair> expected_binary_match(const two_images<bits8>& images, const binary_judge& judge,
                                                     const match_options& options) {
  return host::reference::judged_match<tie_break::smallest_index>(
             images.left.view(), images.right.view(), options, host::reference::all_pairs(),
             [&](const top2& state) { return judge.accepts(state); })
      .pairs;
}

/// The pairs that are mutually nearest, whatever their distance.
inline std::vector<match_pair> expected_mutual(const two_images<bits8>& images) {
  return host::reference::judged_match<tie_break::smallest_index>(images.left.view(), images.right.view(), {},
                                                                  host::reference::all_pairs(),
                                                                  [](const top2& state) { return state.index >= 0; })
      .pairs;
}

}  // namespace serac::test
