// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_set>

#include "descriptor_cache.hpp"

namespace serac_colmap {

namespace {

/// Refuses images that cannot be matched; returns warnings of those that are not matched wholly.
std::vector<std::string> check_images(const image_table& images, const std::unordered_set<std::uint32_t>& used,
                                      const match_limits& limits) {
  std::vector<std::string> warnings;
  std::size_t featureless = used.size();
  for (const descriptor_header& header : images.headers()) {
    const auto id = static_cast<std::uint32_t>(header.image_id);
    if (used.count(id) == 0) continue;
    check_is_sift(header, images.name(id));
    if (header.rows > 0) --featureless;
    if (header.rows > limits.features) {
      warnings.push_back("image '" + images.name(id) + "' has " + std::to_string(header.rows) +
                         " features; only the first " + std::to_string(limits.features) +
                         " are looked at (SiftMatching.max_num_matches)");
    }
  }
  if (featureless > 0) {
    warnings.push_back(std::to_string(featureless) + " images have no descriptors: their pairs are stored empty");
  }
  return warnings;
}

}  // namespace

match_limits limits_of(database& source, std::int64_t max_num_matches) {
  const std::int64_t cap = std::min(max_num_matches, source.largest_feature_count());
  return {(cap + 31) / 32 * 32, cap};
}

image_table::image_table(database& source) : images_(source.images()) {
  for (std::size_t i = 0; i < images_.size(); ++i) numbers_.emplace(static_cast<std::uint32_t>(images_[i].id), i);
  for (const descriptor_header& header : source.descriptor_headers()) {
    if (!headers_.empty() && headers_.back().image_id == header.image_id) {
      throw std::runtime_error(source.path() + ": image '" + name(static_cast<std::uint32_t>(header.image_id)) +
                               "' has more than one row of descriptors");
    }
    const bool known = header.image_id >= 0 && header.image_id < id_limit &&
                       numbers_.count(static_cast<std::uint32_t>(header.image_id)) > 0;
    if (known) headers_.push_back(header);
  }
}

bool plan::is_matched(image_pair pair) const {
  return std::binary_search(matched.begin(), matched.end(), pair_id(pair));
}

plan make_plan(database& source, const image_table& images, const pair_generator& pairs, const match_limits& limits) {
  plan work;
  work.matched = source.matched_pair_ids();
  std::unordered_set<std::uint32_t> used;
  pairs([&](const pair_block& block) {
    for (const image_pair pair : block) {
      ++work.pairs;
      if (work.is_matched(pair)) {
        ++work.skipped;
      } else {
        ++work.to_do;
        used.insert({pair.first, pair.second});
      }
    }
  });
  work.warnings = check_images(images, used, limits);
  return work;
}

}  // namespace serac_colmap
