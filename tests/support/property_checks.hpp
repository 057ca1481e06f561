// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Properties that the lists and states of every path have by what they mean, whatever computes them: no reference is
/// asked. `Path` has `element`, `tie`, `width`, `load_bytes`, and
///   - `static std::vector<match_pair> match(left, right, options, gap)`;
///   - `static nearest2_list nearest2(left, right)`
/// of descriptors in host memory; `gap` elements stand between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <serac/lists.hpp>
#include <serac/options.hpp>
#include <support/catch.hpp>
#include <support/options.hpp>
#include <support/random.hpp>

namespace serac::test {

/// The numbers below `count` in random order.
inline std::vector<std::int64_t> random_order(random_source& random, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  return order;
}

/// Descriptor i of the result is descriptor order[i] of `image`.
template <class T>
descriptors<T> reordered(const descriptors<T>& image, const std::vector<std::int64_t>& order) {
  descriptors<T> result(static_cast<std::int64_t>(order.size()), image.width);
  for (std::size_t i = 0; i < order.size(); ++i) result.assign(static_cast<std::int64_t>(i), image, order[i]);
  return result;
}

/// The image with `count` descriptors that score 0 with everything behind its own.
template <class T>
descriptors<T> with_zero_rows(const descriptors<T>& image, std::int64_t count) {
  descriptors<T> result(image.count + count, image.width);
  std::copy(image.data.begin(), image.data.end(), result.data.begin());
  return result;
}

/// Sorted by row, then by column.
inline std::vector<match_pair> sorted(std::vector<match_pair> list) {
  std::sort(list.begin(), list.end(),
            [](match_pair a, match_pair b) { return a.row != b.row ? a.row < b.row : a.column < b.column; });
  return list;
}

/// Each match with row and column exchanged, in order.
inline std::vector<match_pair> transposed(std::vector<match_pair> list) {
  for (match_pair& match : list) std::swap(match.row, match.column);
  return sorted(std::move(list));
}

/// Ratio, distance and cross-check under which ties are rejected, so that no order of indices shows.
inline std::vector<match_options> tieless_options() { return all_options({0.8f, 1.0f}, {0.7f, 3.2f}); }

/// All properties on images of one kind and shape, by options under which ties are rejected. Returns the matches in all
/// lists.
template <class Path>
std::size_t check_properties(input_kind kind, std::uint64_t seed, std::int64_t rows, std::int64_t columns,
                             const std::vector<match_options>& grid = tieless_options()) {
  using T = typename Path::element;
  INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << Path::width);
  random_source random(seed);
  const two_images<T> images = random_images<T>(kind, random, rows, columns, Path::width);
  const descriptors<T>&left = images.left, &right = images.right;
  const auto row_order = random_order(random, rows), column_order = random_order(random, columns);
  const descriptors<T> mixed_left = reordered(left, row_order), mixed_right = reordered(right, column_order);
  const std::int64_t zeros = 1 + random.below(70);

  std::size_t matches = 0;
  for (const match_options& o : grid) {
    INFO("max_ratio " << o.max_ratio << ", max_distance " << o.max_distance << ", cross_check " << o.cross_check);
    const std::vector<match_pair> list = Path::match(left, right, o, 0);
    matches += list.size();

    // A permutation of rows and columns permutes the list.
    std::vector<match_pair> permuted = Path::match(mixed_left, mixed_right, o, 0);
    for (match_pair& match : permuted) {
      match.row = static_cast<std::uint32_t>(row_order[match.row]);
      match.column = static_cast<std::uint32_t>(column_order[match.column]);
    }
    REQUIRE_SAME(sorted(permuted), list);

    // Neither gaps between descriptors nor descriptors of zeros change it.
    REQUIRE_SAME(Path::match(left, right, o, 3 * Path::load_bytes), list);
    REQUIRE_SAME(Path::match(with_zero_rows(left, zeros), with_zero_rows(right, 71 - zeros), o, 0), list);

    // With the cross-check it is that of the images exchanged.
    if (o.cross_check) REQUIRE_SAME(transposed(Path::match(right, left, o, 0)), list);

    // A smaller cap keeps the first matches.
    match_options few = o;
    few.max_matches = static_cast<std::int64_t>(list.size()) / 2;
    const std::vector<match_pair> first_half(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(few.max_matches));
    REQUIRE_SAME(Path::match(left, right, few, 0), first_half);
  }
  return matches;
}

/// Properties of states, on images of one kind and shape.
template <class Path>
void check_state_properties(input_kind kind, std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  using T = typename Path::element;
  INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << Path::width);
  random_source random(seed);
  const two_images<T> images = random_images<T>(kind, random, rows, columns, Path::width);
  const nearest2_list states = Path::nearest2(images.left, images.right);

  // Scores do not depend on the order of columns; the index does only where the best is tied.
  const auto order = random_order(random, columns);
  const nearest2_list mixed = Path::nearest2(images.left, reordered(images.right, order));
  for (std::size_t i = 0; i < states.rows.size(); ++i) {
    const top2 &state = states.rows[i], &other = mixed.rows[i];
    CAPTURE(i, state, other);
    REQUIRE(other.best == state.best);
    REQUIRE(other.second == state.second);
    REQUIRE((other.index == -1) == (state.index == -1));
    if (state.best > state.second) REQUIRE(order[static_cast<std::size_t>(other.index)] == state.index);
  }

  // The states of the parts of an image, merged, are those of the whole. (COLMAP's order of ties begins again
  // every 32.)
  const std::int64_t step = Path::tie::rank(1) == 1 ? 1 : 32, cut = random.below(columns / step + 1) * step;
  std::vector<std::int64_t> places(static_cast<std::size_t>(columns));
  std::iota(places.begin(), places.end(), 0);
  const auto middle = places.begin() + static_cast<std::ptrdiff_t>(cut);
  const nearest2_list first = Path::nearest2(images.left, reordered(images.right, {places.begin(), middle}));
  const nearest2_list last = Path::nearest2(images.left, reordered(images.right, {middle, places.end()}));
  std::vector<top2> merged;
  for (std::size_t i = 0; i < states.rows.size(); ++i) {
    top2 state = last.rows[i];
    if (state.index >= 0) state.index += static_cast<std::int32_t>(cut);
    merged.push_back(merge<typename Path::tie>(first.rows[i], state));
  }
  REQUIRE_SAME(merged, states.rows);
}

/// An image without repeated or nearly repeated descriptors matches itself, whatever its size.
template <class Path>
void check_self_match(std::uint64_t seed, std::int64_t count) {
  INFO("seed " << seed << ", " << count << " descriptors, width " << Path::width);
  random_source random(seed);
  const auto image = sift_like<typename Path::element>(random, count, Path::width);
  const std::vector<match_pair> list = Path::match(image, image, {}, 0);
  std::vector<match_pair> identity;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) identity.push_back({i, i});
  REQUIRE_SAME(list, identity);
}

}  // namespace serac::test
