// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Checks of the lists of a forced tensor-core path against the reference and the classic path, each over a family of
/// problems. All keep max_ratio <= 1, which these paths need.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include <support/gpu.cuh>
#include <support/policies.cuh>

namespace serac::test {

/// The entry points with a wgmma or mma policy.
template <class Policy>
struct tensor_path : entry_points<Policy> {
  using traits = device::detail::traits_of<Policy>;
  using tie = tie_break::smallest_index;
  static constexpr int tile_rows = traits::tile_rows;        ///< edges at which sizes are tested
  static constexpr int tile_columns = traits::tile_columns;  //
  static constexpr int load_bytes = traits::load_bytes;      ///< strides are multiples of it
};

template <int Width>
using bits_path = tensor_path<bits_policy<Width>>;

/// The classic path of the same descriptors.
template <class Path>
using classic_of = path_of<std::conditional_t<std::is_signed_v<typename Path::element>,
                                              signed_bytes<policy_for<Path::width>>, policy_for<Path::width>>>;

/// Ratios, distances and cross-check; then limits, where nearly everything that is not tied is accepted.
inline std::vector<match_options> tensor_option_grid() {
  std::vector<match_options> grid;
  for (const bool cross_check : {true, false}) {
    match_options o;
    o.cross_check = cross_check;
    for (const float ratio : {0.5f, 0.8f, 0.95f, 1.0f}) {
      for (const float distance : {0.25f, 0.7f, 3.2f}) {
        o.max_ratio = ratio, o.max_distance = distance;
        grid.push_back(o);
      }
    }
    for (const std::int64_t limit : {0, 1, 60, 129}) {
      match_options matches = o, features = o;
      matches.max_matches = limit, features.max_features = limit;
      grid.push_back(matches);
      grid.push_back(features);
    }
  }
  return grid;
}

/// Everything but ties passes, with cross-check and without; and COLMAP's defaults.
inline std::vector<match_options> few_options() {
  match_options defaults, all;
  all.max_ratio = 1, all.max_distance = 3.2f;
  match_options rows = all;
  rows.cross_check = false;
  return {defaults, all, rows};
}

/// What the tests of special inputs go through.
inline std::vector<match_options> options_of_run() { return tiny_run() ? few_options() : tensor_option_grid(); }

/// The list that a path makes of two images in device memory.
template <class Path>
std::vector<match_pair> list_of(const typename Path::view& left, const typename Path::view& right,
                                const match_options& options) {
  match_run<Path> run(left, right, options);
  run.launch();
  return run.list();
}

/// The list that a policy makes of two images in device memory, judged by an acceptance.
template <class Policy, class Acceptance>
std::vector<match_pair> judged_list(const descriptor_view<typename Policy::element>& left,
                                    const descriptor_view<typename Policy::element>& right, const Acceptance& accept,
                                    const match_options& options) {
  match_run<entry_points<Policy>> run(left, right, options);
  run.launch(nullptr, [&](const auto& rows, const auto& columns, const auto& asked, const auto& output, auto... rest) {
    return device::match<Policy>(rows, columns, asked, accept, output, rest...);
  });
  return run.list();
}

/// Requires the lists of one problem to be the reference's or, where that takes long, those of the classic path (of
/// the host backend unless `Classic`, which saves its kernels). Returns the matches in all lists.
template <class Path, bool Classic = true>
std::size_t check_lists(const two_images<typename Path::element>& images, const std::vector<match_options>& grid,
                        int gap = 0) {
  using T = typename Path::element;
  const device_descriptors<T> left(images.left, gap), right(images.right, gap);
  std::size_t matches = 0;
  for (const match_options& o : grid) {
    INFO(images.left.count << " x " << images.right.count << ", width " << Path::width << ", gap " << gap
                           << ", max_ratio " << o.max_ratio << ", max_distance " << o.max_distance << ", cross_check "
                           << o.cross_check << ", max_matches " << o.max_matches << ", max_features "
                           << o.max_features);
    const auto expected = [&] {
      if constexpr (Classic) {
        if (!is_small(images.left, images.right)) return list_of<classic_of<Path>>(left.view(), right.view(), o);
      }
      return expected_match<tie_break::smallest_index>(images.left, images.right, o);
    }();
    REQUIRE_SAME(list_of<Path>(left.view(), right.view(), o), expected);
    matches += expected.size();
  }
  return matches;
}

/// The same for images of a kind and shape.
template <class Path, bool Classic = true>
std::size_t check_lists(input_kind kind, std::uint64_t seed, std::int64_t rows, std::int64_t columns,
                        const std::vector<match_options>& grid, int gap = 0) {
  INFO("seed " << seed << ": " << name(kind));
  random_source random(seed);
  return check_lists<Path, Classic>(random_images<typename Path::element>(kind, random, rows, columns, Path::width),
                                    grid, gap);
}

/// Every kind of input, dense and with gaps, with all options (a few in a small run, since a sanitizer makes every
/// launch slow): small images, and over several chunks and segments.
template <class Path, bool Classic = true>
void check_list_kinds() {
  const auto grid = small_run() ? few_options() : tensor_option_grid();
  std::uint64_t seed = 100;
  std::size_t matches = 0;
  for (const input_kind kind : kinds_of_run()) {
    for (const int gap : {0, 16, 80}) {
      if (small_run() && gap == 80) continue;
      if (tiny_run() && gap == 0) continue;
      matches += check_lists<Path, Classic>(kind, ++seed, 150, 200, grid, gap);
      if (!small_run()) matches += check_lists<Path, Classic>(kind, ++seed, 777, 1001, few_options(), gap);
    }
  }
  if (!tiny_run()) CHECK(matches > (small_run() ? 100 : 1000));  // the inputs do hold matches
}

/// All pairs of `sizes`, each of planted matches and of one of the other kinds.
template <class Path>
void check_list_shapes(const std::vector<std::int64_t>& sizes) {
  std::uint64_t seed = 1000;
  std::size_t matches = 0;
  for (const std::int64_t rows : sizes) {
    for (const std::int64_t columns : sizes) {
      ++seed;
      matches += check_lists<Path>(input_kind::planted, seed, rows, columns, few_options());
      matches += check_lists<Path>(input_kinds[seed % std::size(input_kinds)], seed, rows, columns, few_options());
    }
  }
  CHECK(matches > 100);
}

/// Sizes around the edges of the path's own tiles, the rows of a warp, and whole runs of four tiles of rows.
template <class Path>
std::vector<std::int64_t> own_edges() {
  std::vector<std::int64_t> sizes{1, 17};
  for (const std::int64_t edge : {Path::tile_rows, 4 * Path::tile_rows, Path::tile_columns, 2 * Path::tile_columns}) {
    for (const std::int64_t size : {edge - 1, edge, edge + 1}) sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (tiny_run()) return {2 * Path::tile_columns - 1};
  if (small_run()) return {1, Path::tile_rows + 1, Path::tile_columns + 1, 2 * Path::tile_columns - 1};
  return sizes;
}

/// So many columns that chunks have several tiles, and so many rows that segments are long; and very unequal images.
template <class Path>
void check_large_lists() {
  const std::int64_t chunked = std::int64_t{device::detail::most_column_chunks} * Path::tile_columns;
  struct shape {
    std::int64_t rows, columns;
  };
  std::vector<shape> shapes{{300, chunked + 1}, {chunked + 1, 300}};
  if (!small_run()) {
    for (const std::int64_t columns : {chunked - 1, chunked, chunked + Path::tile_columns, 2 * chunked + 1}) {
      shapes.push_back({300, columns});
    }
    for (const std::int64_t rows : {4096, 4097, 10000}) shapes.push_back({rows, 333});
    for (const std::int64_t few : {1, 3, 65}) {
      shapes.push_back({few, 70000});
      shapes.push_back({70000, few});
    }
    shapes.push_back({20000, 20000});
  }
  std::uint64_t seed = 3000;
  std::size_t matches = 0;
  for (const shape& s : shapes) {
    for (const input_kind kind : {input_kind::planted, input_kind::repeated}) {
      matches += check_lists<Path>(kind, ++seed, s.rows, s.columns, few_if_tiny(few_options(), 1));
      if (tiny_run()) break;
    }
  }
  CHECK(matches > (tiny_run() ? 20 : 1000));
}

/// Half of the rows are noisy copies of three columns that stand at edges of tiles; other tiles have no matches.
template <class Path>
void check_hub_columns() {
  const std::int64_t rows = small_run() ? 400 : 2000, columns = 5 * Path::tile_columns + 30;
  const std::int64_t hub_columns[] = {2 * Path::tile_columns - 1, 2 * Path::tile_columns, columns - 1};
  random_source random(7);
  two_images<> images{sift_like(random, rows), sift_like(random, columns)};
  descriptors<> hubs(3);
  for (int hub = 0; hub < 3; ++hub) hubs.assign(hub, images.right, hub_columns[hub]);
  plant_matches(random, hubs, images.left, 2);
  CHECK(check_lists<Path>(images, options_of_run()) > (tiny_run() ? 400 : 1000));

  match_options one_to_one;
  one_to_one.max_ratio = 0.95f;
  const auto hub_rows = [&](bool cross_check) {
    one_to_one.cross_check = cross_check;
    std::int64_t count = 0;
    for (const match_pair& pair : match_of<Path>(images.left, images.right, one_to_one)) {
      count += std::count(std::begin(hub_columns), std::end(hub_columns), pair.column);
    }
    return count;
  };
  CHECK(hub_rows(false) > rows / 4);
  CHECK(hub_rows(true) <= 3);
}

/// Two places of an image that hold the same descriptor, or nearly.
struct twins {
  std::int64_t first, second;
};

/// The image with each second twin a copy of the first one, where `apart` less one in its first entry that is not 0.
inline descriptors<> with_twins(descriptors<> image, const std::vector<twins>& all, bool apart) {
  for (const twins& t : all) {
    image.assign(t.second, image, t.first);
    std::uint8_t* const row = image[t.second];
    if (apart) --*std::find_if(row, row + image.width, [](std::uint8_t x) { return x > 0; });
  }
  return image;
}

/// Images whose rows match themselves, but for pairs of equal or nearly equal descriptors on both sides of an edge.
template <class Path>
void check_duplicates_across_edges() {
  constexpr std::int64_t count = 700, tile = Path::tile_columns;
  // Tiles of columns; groups and lanes within a tile.
  const std::vector<twins> of_columns{{tile - 1, tile}, {2 * tile - 1, 2 * tile},
                                      {0, tile + 2},    {5, 2 * tile + 5},
                                      {8, 9},           {10, 11},
                                      {16, 24},         {40, 42},
                                      {2, 50},          {32, 33},
                                      {698, 20}};
  // Rows of a warp, tiles, runs of tiles, and far apart.
  const std::vector<twins> of_rows{{15, 16},   {63, 64},   {79, 80}, {127, 128}, {159, 160}, {255, 256},
                                   {319, 320}, {511, 512}, {3, 11},  {20, 84},   {1, 600},   {35, 355},
                                   {100, 101}, {208, 464}, {7, 699}, {250, 270}, {400, 403}, {500, 650}};
  random_source random(8);
  const descriptors<> distinct = sift_like(random, count);
  for (const bool apart : {true, false}) {
    CAPTURE(apart);
    CHECK(check_lists<Path>({distinct, with_twins(distinct, of_columns, apart)}, options_of_run()) > 1000);
    CHECK(check_lists<Path>({with_twins(distinct, of_rows, apart), distinct}, options_of_run()) > 1000);
  }

  // What ties matches nothing: a row with twin columns by its own test, twin rows by the cross-check.
  const auto has_row = [](const std::vector<match_pair>& list, std::int64_t row) {
    return std::any_of(list.begin(), list.end(), [&](const match_pair& pair) { return pair.row == row; });
  };
  match_options options;
  const auto column_list = match_of<Path>(distinct, with_twins(distinct, of_columns, false), options);
  CHECK(column_list.size() == count - 2 * of_columns.size());
  for (const twins& t : of_columns) CHECK_FALSE(has_row(column_list, t.first));

  const descriptors<> twin_rows = with_twins(distinct, of_rows, false);
  const auto row_list = match_of<Path>(twin_rows, distinct, options);
  CHECK(row_list.size() == count - 2 * of_rows.size());
  options.cross_check = false;
  const auto unchecked = match_of<Path>(twin_rows, distinct, options);
  CHECK(unchecked.size() == count);
  for (const twins& t : of_rows) {
    for (const std::int64_t row : {t.first, t.second}) {
      CHECK_FALSE(has_row(row_list, row));
      CHECK(has_row(unchecked, row));
    }
  }
}

}  // namespace serac::test
