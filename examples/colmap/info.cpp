// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "info.hpp"

#include <algorithm>
#include <iostream>
#include <map>

namespace serac_colmap {

void print_info(database& source) {
  std::int64_t features = 0, largest = 0, with_features = 0;
  std::map<std::int64_t, std::int64_t> images_by_type;
  for (const descriptor_header& header : source.descriptor_headers()) {
    const std::int64_t rows = std::clamp<std::int64_t>(header.rows, 0, header.bytes);  // whatever a damaged one states
    features += rows;
    largest = std::max(largest, rows);
    with_features += rows > 0;
    ++images_by_type[header.type];
  }
  const auto images = static_cast<std::int64_t>(source.images().size());
  const pair_counts matches = source.count_matches(), geometries = source.count_geometries();

  std::cout << "layout: " << source.layout() << '\n'
            << "images: " << images << ", " << with_features << " with descriptors\n"
            << "features: " << features << ", at most " << largest << " in an image\n";
  for (const auto& [type, count] : images_by_type) {
    if (type != descriptor_header::sift) std::cout << "descriptors of type " << type << ": " << count << " images\n";
  }
  std::cout << "matched pairs: " << matches.pairs << " of " << images * (images - 1) / 2 << ", " << matches.nonempty
            << " with matches, " << matches.matches << " matches\n"
            << "verified pairs: " << geometries.pairs << ", " << geometries.nonempty << " with inliers, "
            << geometries.matches << " inliers\n";
}

}  // namespace serac_colmap
