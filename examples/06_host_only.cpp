// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Without a GPU, a driver or nvcc: the same calls, the same lists.

#include <serac/host/matcher.hpp>

#include "support.hpp"

int main() {
  const example::image left = example::random_image(1000, 1);
  const example::image right = example::overlapping_image(left, 1200, 2);

  serac::match_options options;
  options.max_distance = 0.4f;
  serac::host::matcher matcher(options);
  const serac::match_list list = matcher.match(example::view(left), example::view(right));

  // Of the left descriptors 0, 2, 4, ... the right image sees the last first.
  std::vector<serac::match_pair> expected;
  for (std::uint32_t i = 0; i < 1000; i += 2) expected.push_back({i, 499 - i / 2});
  return example::verdict(list.pairs, expected, "matches");
}
