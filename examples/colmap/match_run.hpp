// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Matches pairs of images of a database and stores the lists as COLMAP would.
#pragma once

#include <cstdint>

#include <serac/options.hpp>

#include "backend.hpp"
#include "database.hpp"
#include "pair_generator.hpp"

namespace serac_colmap {

/// COLMAP's options of matching, with its defaults, and what this tool adds.
struct match_settings {
  float max_ratio = 0.8f;
  float max_distance = 0.7f;
  bool cross_check = true;
  std::int64_t max_num_matches = 32768;  ///< limits the features looked at and the matches of a pair
  std::int64_t min_num_inliers = 15;     ///< a shorter list is stored empty
  backend_choice where;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< of descriptors kept: 100 images of 80,000 features
};

/// What COLMAP makes of max_num_matches in a database.
struct match_limits {
  std::int64_t features;  ///< of an image that are looked at: its cap rounded up to a multiple of 32
  std::int64_t matches;   ///< of a pair that are kept
};
match_limits limits_of(database& source, std::int64_t max_num_matches);

/// Matches all pairs that have no matches row yet and prints a summary. Lists are stored after every block of pairs
/// and every few seconds, so that a run that is stopped in any way loses no more than that; the next one goes on there.
/// With `dry_run` it only says what it would do. Throws std::runtime_error; descriptors are checked before all work.
void run(database& target, const pair_generator& pairs, const match_settings& settings, bool dry_run);

}  // namespace serac_colmap
