// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the fuzzers of the database reader do with a database, and what they hold it to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "camera.hpp"
#include "database.hpp"
#include "descriptor_cache.hpp"
#include "fuzz.hpp"
#include "info.hpp"
#include "pair_generator.hpp"
#include "plan.hpp"

namespace serac_fuzz {

using namespace serac_colmap;

/// Everything that the tool reads of a database that it opens.
inline void read_everything(database& source) {
  const std::string& path = source.path();
  std::vector<image> images;
  std::vector<std::int64_t> pairs;
  attempt(path, [&] { source.layout(); });
  attempt(path, [&] { images = source.images(); });
  attempt(path, [&] { source.largest_feature_count(); });
  attempt(path, [&] { pairs = source.matched_pair_ids(); });
  attempt(path, [&] { print_info(source); });
  for (const image& each : images) {
    attempt(path, [&] { source.descriptors(each.id); });
    attempt(path, [&] { source.scales(each.id); });
    std::vector<float> points;
    attempt(path, [&] { points = source.locations(each.id); });
    require(points.size() % 2 == 0, "a location is two numbers");
    attempt("", [&] {
      const camera lens = source.camera_of(each.id);
      check_is_known(lens);
      normalise(lens, points);
      require(normalised_distance(lens, 4) >= 0, "a distance is not below 0");
    });
  }
  attempt(path, [&] {
    source.visit_matches([](const match_row& row) {
      require(row.data != nullptr || row.bytes == 0, "there is data");
      volatile unsigned sum = 0;
      for (std::size_t i = 0; i < row.bytes; ++i) sum = sum + row.data[i];
    });
  });
  for (const std::int64_t pair : pairs) {
    attempt(path, [&] { source.matches(pair); });
  }
  attempt(path, [&] {
    for (const pair_geometry& geometry : source.geometries()) {
      for (const auto* matrix : {&geometry.fundamental, &geometry.essential, &geometry.homography}) {
        require(matrix->empty() || matrix->size() == 9, "a matrix is 3 x 3 or unset");
      }
      pair_of(geometry.pair_id);
    }
  });

  // As a dry run does, and then the descriptors of all images that it lets pass.
  attempt("", [&] {
    const image_table table(source);
    const match_limits limits = limits_of(source, 32768);
    make_plan(source, table, exhaustive_pairs(source.images(), 50), limits);
    descriptor_cache cache(source, table.headers(), 1024);
    for (const descriptor_header& header : table.headers()) {
      if (!attempt("", [&] { check_is_sift(header, table.name(static_cast<std::uint32_t>(header.image_id))); }))
        continue;
      const auto read = cache.get(static_cast<std::uint32_t>(header.image_id));
      require(static_cast<std::int64_t>(read->data.size()) == read->header.bytes, "descriptors have the length stated");
    }
  });
}

/// Stores lists and requires them to be there, as stored, and no other to have changed.
inline void store_and_read(database& target) {
  const std::string& path = target.path();
  std::vector<std::int64_t> before;
  if (!attempt(path, [&] { before = target.matched_pair_ids(); })) return;
  const image_pair pair{2147483646, 2147483640};
  const std::vector<serac::match_pair> list{{0, 3}, {1, 2}}, swapped{{3, 0}, {2, 1}};
  const bool was_there = std::find(before.begin(), before.end(), pair_id(pair)) != before.end();
  if (attempt(path, [&] { target.store({{pair, list}, {{5, 6}, {}}}); })) {
    std::vector<std::int64_t> after;
    require(attempt(path, [&] { after = target.matched_pair_ids(); }), "what was stored can be listed");
    require(after.size() >= before.size(), "no row goes");
    if (!was_there) {
      std::vector<serac::match_pair> stored;
      require(attempt(path, [&] { stored = target.matches(pair_id(pair)); }), "what was stored can be read");
      require(stored == swapped, "what was stored is read");
    }
  }
  std::vector<pair_geometry> geometries;
  if (!attempt(path, [&] { geometries = target.geometries(); })) return;
  std::vector<matched_pair> inliers;
  for (const pair_geometry& geometry : geometries) {
    const image_pair key = pair_of(geometry.pair_id);
    inliers.push_back({key, key.first % 2 == 0 ? list : std::vector<serac::match_pair>()});
  }
  attempt(path, [&] { target.store_inliers(inliers); });
}

}  // namespace serac_fuzz
