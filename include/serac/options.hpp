// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What a caller may ask of a match.
#pragma once

#include <cstdint>
#include <limits>

#include <serac/status.hpp>

namespace serac {

/// How matches are accepted and how many. The defaults are COLMAP's, without its cap on features.
struct match_options {
  static constexpr std::int64_t unlimited = (std::numeric_limits<std::int64_t>::max)();

  float max_ratio = 0.8f;     ///< distance(best) must be below max_ratio * distance(second); any positive number
  float max_distance = 0.7f;  ///< distance(best), in radians, must be below this; any positive number
  bool cross_check = true;    ///< a match must be the best of its row and of its column
  std::int64_t max_matches = unlimited;   ///< the list ends after this many pairs
  std::int64_t max_features = unlimited;  ///< only the first features of each image are looked at
};

/// Checks the ranges of all options; the status names the first that is out of range. Host; pure.
inline status validate(const match_options& options) noexcept {
  if (!(options.max_ratio > 0)) return {errc::invalid_option, "options.max_ratio"};
  if (!(options.max_distance > 0)) return {errc::invalid_option, "options.max_distance"};
  if (options.max_matches < 0) return {errc::negative_count, "options.max_matches"};
  if (options.max_features < 0) return {errc::negative_count, "options.max_features"};
  return {};
}

}  // namespace serac
