// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The shortest way: descriptors in host memory in, matches out.

#include <vector>

#include <serac/host/matcher.hpp>
#include <serac/serac.cuh>

#include "support.cuh"

int main() {
  example::require_gpu();
  const std::vector<std::uint8_t> left = example::random_image(3000, 1);  // 128 bytes a descriptor
  const std::vector<std::uint8_t> right = example::overlapping_image(left, 2500, 2);

  // [readme]
  serac::match_options options;  // COLMAP's defaults: max_ratio 0.8, max_distance 0.7, cross_check
  options.max_ratio = 0.85f;
  serac::matcher matcher(options);  // on the current GPU; serac::host::matcher is the same without one

  serac::match_list list = matcher.match({left.data(), 3000}, {right.data(), 2500});
  for (serac::match_pair match : list.pairs) {
    if (match.row < 10) std::printf("left %u is right %u\n", match.row, match.column);
  }
  // [readme]

  const auto expected = serac::host::matcher(options).match(example::view(left), example::view(right));
  return example::verdict(list.pairs, expected.pairs, "matches");
}
