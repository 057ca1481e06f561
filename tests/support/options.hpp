// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Options that lists are made by.
#pragma once

#include <vector>

#include <serac/options.hpp>

namespace serac::test {

/// Every ratio with every distance, with the cross-check and without.
inline std::vector<match_options> all_options(const std::vector<float>& ratios, const std::vector<float>& distances) {
  std::vector<match_options> grid;
  for (const float ratio : ratios) {
    for (const float distance : distances) {
      for (const bool cross_check : {true, false}) {
        match_options o;
        o.max_ratio = ratio, o.max_distance = distance, o.cross_check = cross_check;
        grid.push_back(o);
      }
    }
  }
  return grid;
}

}  // namespace serac::test
