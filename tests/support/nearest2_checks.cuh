// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Checks of the top-2 states of a path against the host, each over a family of problems.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <support/gpu.cuh>

namespace serac::test {

/// Requires the states of one problem, with columns and without, to be the right ones.
template <class Path>
void check_nearest2(input_kind kind, std::uint64_t seed, std::int64_t rows, std::int64_t columns, int gap = 0) {
  using T = typename Path::element;
  INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << Path::width
               << ", gap " << gap);
  random_source random(seed);
  const two_images<T> images = random_images<T>(kind, random, rows, columns, Path::width);
  const nearest2_list expected = expected_nearest2<typename Path::tie>(images.left, images.right);

  const device_descriptors<T> left(images.left, gap), right(images.right, gap);
  const nearest2_list both = nearest2_of<Path>(left.view(), right.view(), true);
  REQUIRE_SAME(both.rows, expected.rows);
  REQUIRE_SAME(both.columns, expected.columns);
  const nearest2_list rows_only = nearest2_of<Path>(left.view(), right.view(), false);
  REQUIRE_SAME(rows_only.rows, expected.rows);
}

/// Sizes around the edges of tiles, of random bytes and of rows full of ties.
template <class Path>
void check_tile_edges() {
  const auto sizes = [](std::int64_t edge) {
    if (tiny_run()) return std::vector<std::int64_t>{edge + 1};
    if (small_run()) return std::vector<std::int64_t>{1, edge + 1, 2 * edge - 1};
    return std::vector<std::int64_t>{0, 1, edge - 1, edge, edge + 1, 2 * edge - 1, 5 * edge + 3};
  };
  std::uint64_t seed = 1000;
  for (const std::int64_t rows : sizes(Path::tile_rows)) {
    for (const std::int64_t columns : sizes(Path::tile_columns)) {
      for (const input_kind kind : {input_kind::bytes, input_kind::repeated}) {
        check_nearest2<Path>(kind, ++seed, rows, columns);
      }
    }
  }
}

/// Every kind of input over several tiles, in descriptors without and with gaps between them.
template <class Path>
void check_kinds() {
  std::uint64_t seed = 2000;
  for (const input_kind kind : kinds_of_run()) {
    for (const int gap : {0, Path::load_bytes, 5 * Path::load_bytes}) {
      if (small_run() && gap == Path::load_bytes) continue;
      if (tiny_run() && gap == 0) continue;
      check_nearest2<Path>(kind, ++seed, 3 * Path::tile_rows + 5, 2 * Path::tile_columns + 7, gap);
    }
  }
}

/// So many tiles that blocks go through several rows of tiles.
template <class Path>
void check_more_tiles_than_blocks() {
  if (tiny_run() && Path::width != 64) return;  // the problem is as large as the GPU
  const double tiles = (small_run() ? 1.3 : 2.5) * static_cast<double>(Path::resident_blocks());
  const auto size = static_cast<std::int64_t>(std::sqrt(tiles * Path::tile_rows * Path::tile_columns));
  for (const input_kind kind : {input_kind::planted, input_kind::repeated}) {
    check_nearest2<Path>(kind, 3000, size + 3, size + 5);
    if (tiny_run()) break;
  }
}

/// Rows so long that a block's window of packed columns fills up before they end.
template <class Path>
void check_full_windows() {
  if (tiny_run()) return;  // the problem is larger than the GPU
  constexpr std::int64_t window = Path::window_tiles, column_tiles = 2 * window + 1;
  const std::int64_t row_tiles = Path::resident_blocks() * (window + 2) / column_tiles + 1;  // window + 2 tiles a block
  for (const input_kind kind : {input_kind::bytes, input_kind::repeated}) {
    check_nearest2<Path>(kind, 4000, row_tiles * Path::tile_rows, column_tiles * Path::tile_columns - 5);
  }
}

/// One image far larger than the other.
template <class Path>
void check_unequal_shapes() {
  const std::int64_t many = small_run() ? 3000 : 70000;
  for (const std::int64_t few : few_if_tiny<std::int64_t>({1, 3, 65}, 1)) {
    check_nearest2<Path>(input_kind::planted, 5000, few, many);
    check_nearest2<Path>(input_kind::planted, 5001, many, few);
    check_nearest2<Path>(input_kind::repeated, 5002, few, many);
    check_nearest2<Path>(input_kind::repeated, 5003, many, few);
  }
}

/// What every path must pass.
template <class Path>
void check_nearest2_path() {
  SECTION("around the edges of tiles") { check_tile_edges<Path>(); }
  SECTION("every kind of input, dense and with gaps") { check_kinds<Path>(); }
  SECTION("more tiles than blocks") { check_more_tiles_than_blocks<Path>(); }
}

/// States of a width by all families above, and a list. Inside a test case: it has sections.
template <class Path>
void check_classic_width() {
  check_nearest2_path<Path>();
  SECTION("match") {
    random_source random(6000);
    const auto images = random_images(input_kind::planted, random, 150, 290, Path::width);
    match_options options;
    options.max_ratio = 1.1f;  // narrow descriptors are all alike
    const auto expected = expected_match<typename Path::tie>(images.left, images.right, options);
    REQUIRE_SAME(match_of<Path>(images.left, images.right, options), expected);
    CHECK_FALSE(expected.empty());
  }
}

}  // namespace serac::test
