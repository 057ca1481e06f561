// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What tests of float16 and bfloat16 by mma.sync share: the policies, shapes, and lists by several judges.
#pragma once

#include <cstdint>
#include <vector>

#include <support/floats.hpp>
#include <support/tensor_checks.cuh>

namespace serac::test {

using half_64 = mma_policy_for<128, float16>;
using half_128 = mma_policy_for<256, float16>;
using half_256 = mma_policy_for<512, float16>;
using bfloat_128 = mma_policy_for<256, bfloat16>;
/// 128 halves in tiles of another size.
struct small_tiles : half_128 {
  static constexpr int warp_rows = 16;
  static constexpr int tile_columns = 64;
};

/// The judges that reject ties, without which there are no tensor cores.
inline constexpr float_judge untied_judges[] = {{0.75f, 1e19f}, {1, 0.5f}, {1, 1e19f}};

/// The lists by mma.sync for all judges; with cross-check, then without.
template <class Policy>
std::vector<std::vector<match_pair>> lists_of(const descriptor_view<typename Policy::element>& left,
                                              const descriptor_view<typename Policy::element>& right) {
  std::vector<std::vector<match_pair>> lists;
  for (const float_judge& judge : untied_judges) {
    match_options options;
    const auto accept = judge.acceptance<typename Policy::element>();
    lists.push_back(judged_list<Policy>(left, right, accept, options));
    options.cross_check = false;
    lists.push_back(judged_list<Policy>(left, right, accept, options));
  }
  return lists;
}

struct shape {
  std::int64_t rows, columns;
};

/// Around the edges of tiles, windows and chunks, and over several.
template <class Policy>
std::vector<shape> shapes_of_run() {
  constexpr int tile = mma_traits<Policy>::tile_columns, rows = mma_traits<Policy>::tile_rows;
  if (tiny_run()) return {{rows + 1, tile + 1}};
  if (small_run()) return {{1, 1}, {rows + 1, 2 * tile - 1}};
  return {{1, 1}, {1, 700}, {700, 1}, {17, tile}, {rows - 1, tile - 1}, {rows + 1, tile + 1}, {600, 513}, {1030, 1290}};
}

}  // namespace serac::test
