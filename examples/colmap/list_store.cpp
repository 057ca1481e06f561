// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "list_store.hpp"

#include <string>
#include <utility>
#include <vector>

namespace serac_colmap {

namespace {

constexpr double store_interval = 5;                          // seconds
constexpr std::int64_t most_waiting = std::int64_t{8} << 20;  // matches

}  // namespace

void list_store::add(image_pair pair, const serac::match_pair* matches, std::int64_t count) {
  if (count > limits_.matches) {
    progress_.note("warning: images '" + images_.name(pair.first) + "' and '" + images_.name(pair.second) + "' have " +
                   std::to_string(count) + " matches; only the first " + std::to_string(limits_.matches) +
                   " are kept (SiftMatching.max_num_matches)");
    count = limits_.matches;
  }
  if (count < min_num_inliers_) count = 0;
  waiting_.push_back({pair, {matches, matches + count}});
  waiting_matches_ += count;
  pairs_ += 1;
  nonempty_ += count > 0;
  matches_ += count;
  progress_.advance();
  if (waiting_matches_ > most_waiting || seconds_since(stored_) > store_interval) store();
}

void list_store::store() {
  const std::vector<matched_pair> lists = std::exchange(waiting_, {});  // not tried again if it fails
  waiting_matches_ = 0;
  if (!lists.empty()) {
    timed(seconds_, [&] { keep_(lists); });
  }
  stored_ = steady::now();
}

}  // namespace serac_colmap
