// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What there is to match in a database, known before anything is matched.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <serac/batch.hpp>

#include "database.hpp"
#include "pair_generator.hpp"

namespace serac_colmap {

/// What COLMAP makes of max_num_matches in a database.
struct match_limits {
  std::int64_t features;  ///< of an image that are looked at: its cap rounded up to a multiple of 32
  std::int64_t matches;   ///< of a pair that are kept
};
match_limits limits_of(database& source, std::int64_t max_num_matches);

/// The images of a database. The engine knows an image by its number, its place in order of id.
class image_table {
 public:
  explicit image_table(database& source);

  std::int64_t size() const { return static_cast<std::int64_t>(images_.size()); }
  const std::string& name(std::uint32_t id) const { return images_[number(id)].name; }
  std::uint32_t id(std::int32_t number) const {
    return static_cast<std::uint32_t>(images_[static_cast<std::size_t>(number)].id);
  }
  /// The number of an image.
  std::size_t number(std::uint32_t id) const { return numbers_.at(id); }

  /// Of the images that have descriptors, in order of id.
  const std::vector<descriptor_header>& headers() const { return headers_; }

  serac::image_pair numbers(image_pair pair) const {
    return {static_cast<std::int32_t>(number(pair.first)), static_cast<std::int32_t>(number(pair.second))};
  }
  image_pair ids(serac::image_pair pair) const { return {id(pair.left), id(pair.right)}; }

 private:
  std::vector<image> images_;
  std::unordered_map<std::uint32_t, std::size_t> numbers_;
  std::vector<descriptor_header> headers_;
};

/// The pairs that are left to match.
struct plan {
  std::vector<std::int64_t> matched;  ///< pairs that have a row, ascending
  std::int64_t pairs = 0, skipped = 0, to_do = 0;
  std::vector<std::string> warnings;  ///< of images that are not matched wholly, for people

  bool is_matched(image_pair pair) const;
};

/// Counts the pairs. Refuses images that cannot be matched, by std::runtime_error.
plan make_plan(database& source, const image_table& images, const pair_generator& pairs, const match_limits& limits);

}  // namespace serac_colmap
