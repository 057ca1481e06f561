// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Where the images lie that a worker keeps, and which go when there is no room.
#pragma once

#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>

#include <serac/batch.hpp>

namespace serac::survey {

/// Gives images places among a number of descriptors. Images that batches use are pinned; of the others the one used
/// longest ago goes first. Host; one thread at a time. Costs a few look-ups a call, and a walk over the gaps where an
/// image comes in.
class image_arena {
 public:
  explicit image_arena(std::int64_t descriptors) { gaps_.emplace(0, descriptors); }

  /// Pins an image and tells its place, if it is here.
  std::optional<image_range> pin(std::int32_t image) {
    const auto found = images_.find(image);
    if (found == images_.end()) return std::nullopt;
    entry& kept = found->second;
    if (kept.pins++ == 0) idle_.erase(kept.idle);
    return kept.place;
  }

  /// Takes back one pin.
  void unpin(std::int32_t image) {
    entry& kept = images_.at(image);
    if (--kept.pins == 0) kept.idle = idle_.insert(idle_.end(), image);
  }

  /// Gives a place to an image that is not here, pinned; images without pins go as needed. Nothing if what is pinned
  /// leaves no gap of `count` descriptors, at least 1.
  std::optional<image_range> insert(std::int32_t image, std::int64_t count) {
    for (;;) {
      for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
        if (gap->second < count) continue;
        const image_range place{gap->first, count};
        images_.emplace(image, entry{place, 1, {}});
        if (gap->second > count) gaps_.emplace(place.first + count, gap->second - count);
        gaps_.erase(gap);
        return place;
      }
      if (idle_.empty()) return std::nullopt;
      erase(idle_.front());
    }
  }

  /// Forgets an image, pinned or not.
  void erase(std::int32_t image) {
    const auto found = images_.find(image);
    const entry kept = found->second;
    auto gap = gaps_.emplace(kept.place.first, kept.place.count).first;
    if (kept.pins == 0) idle_.erase(kept.idle);
    images_.erase(found);
    const auto join = [&](auto first, auto second) {
      if (first->first + first->second != second->first) return;
      first->second += second->second;
      gaps_.erase(second);
    };
    if (const auto next = std::next(gap); next != gaps_.end()) join(gap, next);
    if (gap != gaps_.begin()) join(std::prev(gap), gap);
  }

 private:
  struct entry {
    image_range place;
    int pins;
    std::list<std::int32_t>::iterator idle;  // its place in idle_, if it has no pins
  };

  std::unordered_map<std::int32_t, entry> images_;
  std::map<std::int64_t, std::int64_t> gaps_;  // count by first; no two touch
  std::list<std::int32_t> idle_;               // images without pins, used longest ago first
};

}  // namespace serac::survey
