// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Where match lists go on their way into the database.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <serac/output.hpp>

#include "database.hpp"
#include "plan.hpp"
#include "progress.hpp"

namespace serac_colmap {

/// Takes lists in the order of matching and stores them, whole pairs in one transaction: after every block, and every
/// few seconds or megabytes, so that a run that is stopped in any way loses no more than that.
class list_store {
 public:
  /// Stores lists in one transaction, such as database::store.
  using keeper = std::function<void(const std::vector<matched_pair>&)>;

  /// `shown` is told of every pair. It and `images` live longer than this.
  list_store(keeper keep, const image_table& images, const match_limits& limits, std::int64_t min_num_inliers,
             progress& shown)
      : keep_(std::move(keep)), images_(images), limits_(limits), min_num_inliers_(min_num_inliers), progress_(shown) {}

  /// The list of a pair: cut, with a warning, where it is longer than the limit, empty where it is too short.
  void add(image_pair pair, const serac::match_pair* matches, std::int64_t count);
  /// Stores what has not been stored yet.
  void store();

  std::int64_t pairs() const { return pairs_; }        ///< taken
  std::int64_t nonempty() const { return nonempty_; }  ///< of them, with matches
  std::int64_t matches() const { return matches_; }    ///< in all
  double seconds() const { return seconds_; }          ///< spent storing

 private:
  keeper keep_;
  const image_table& images_;
  match_limits limits_;
  std::int64_t min_num_inliers_;
  progress& progress_;
  std::vector<matched_pair> waiting_;
  std::int64_t waiting_matches_ = 0;
  std::int64_t pairs_ = 0, nonempty_ = 0, matches_ = 0;
  double seconds_ = 0;
  steady::time_point stored_ = steady::now();
};

}  // namespace serac_colmap
