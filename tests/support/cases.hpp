// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Small inputs behind faults that matchers of this kind have had, each with the right result. Every backend runs them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <serac/options.hpp>
#include <serac/output.hpp>
#include <support/descriptors.hpp>
#include <support/random.hpp>

namespace serac::test {

struct match_case {
  std::string name;
  descriptors<> left;
  descriptors<> right;
  match_options options;
  std::vector<match_pair> expected;
  bool truncated = false;
};

/// 127 entries of 255 and a last one of 1: with `descriptor_of_score(s)` it scores s.
inline descriptors<> probe() {
  descriptors<> d(1, 128, 255);
  d[0][127] = 1;
  return d;
}

/// Rows whose scores with `probe()` are `scores`, each in [0, 127 * 255 * 255].
inline descriptors<> descriptors_of_scores(const std::vector<std::int32_t>& scores) {
  descriptors<> d(static_cast<std::int64_t>(scores.size()));
  for (std::int64_t row = 0; row < d.count; ++row) {
    std::int32_t rest = scores[static_cast<std::size_t>(row)] / 255;
    d[row][127] = static_cast<std::uint8_t>(scores[static_cast<std::size_t>(row)] % 255);
    for (int k = 0; k < 127; ++k) {
      d[row][k] = static_cast<std::uint8_t>(std::min(rest, 255));
      rest -= d[row][k];
    }
  }
  return d;
}

/// (i, i) for i in [0, count).
inline std::vector<match_pair> diagonal(std::uint32_t count) {
  std::vector<match_pair> pairs;
  for (std::uint32_t i = 0; i < count; ++i) pairs.push_back({i, i});
  return pairs;
}

/// Case 1: the only true match stands in the last row and column.
inline match_case last_row_and_column(std::int64_t rows, std::int64_t columns) {
  random_source random(1);
  match_case c{"1: only the last row and column match, " + std::to_string(rows) + " x " + std::to_string(columns),
               ten_of_162(random, rows),
               ten_of_162(random, columns),
               {},
               {}};
  c.right.assign(columns - 1, c.left, rows - 1);
  c.expected = {{static_cast<std::uint32_t>(rows - 1), static_cast<std::uint32_t>(columns - 1)}};
  return c;
}

/// Case 1 for all pairs of sizes around each edge of a tile.
inline std::vector<match_case> tile_edge_cases(const std::vector<std::int64_t>& edges) {
  std::vector<std::int64_t> sizes{1};
  for (const std::int64_t t : edges) {
    for (const std::int64_t size : {t - 1, t, t + 1, 2 * t - 1}) {
      if (size >= 1) sizes.push_back(size);
    }
  }
  std::vector<match_case> cases;
  for (const std::int64_t rows : sizes) {
    for (const std::int64_t columns : sizes) cases.push_back(last_row_and_column(rows, columns));
  }
  return cases;
}

/// Case 3: five rows and one column, which is an exact copy of row 2, or orthogonal to all.
inline match_case five_by_one(bool copy) {
  random_source random(3);
  match_case c{
      copy ? "3: 5 x 1, one exact copy" : "3: 5 x 1, all orthogonal", ten_of_162(random, 5), descriptors<>(1), {}, {}};
  if (copy) {
    c.right.assign(0, c.left, 2);
    c.expected = {{2, 0}};
  } else {
    for (int k = 0; k < 128; ++k) {
      bool used = false;
      for (std::int64_t i = 0; i < 5; ++i) used = used || c.left[i][k] != 0;
      c.right[0][k] = used ? 0 : 58;
    }
  }
  return c;
}

/// Case 4: images without features.
inline match_case empty_image(bool left_empty, bool right_empty, int empty_width) {
  random_source random(4);
  match_case c{"4: an image without features", ten_of_162(random, 7), ten_of_162(random, 9), {}, {}};
  if (left_empty) c.left = descriptors<>(0, empty_width);
  if (right_empty) c.right = descriptors<>(0, empty_width);
  return c;
}

/// Case 6: a hundred rows, of which 0, 17 and 99 have no match; the columns are in another order.
inline match_case three_unmatched_rows() {
  random_source random(6);
  match_case c{"6: 100 rows, three unmatched", ten_of_162(random, 100), ten_of_162(random, 100), {}, {}};
  for (std::uint32_t row = 0; row < 100; ++row) {
    if (row == 0 || row == 17 || row == 99) continue;
    const std::uint32_t column = row * 37 % 100;
    c.right.assign(column, c.left, row);
    c.expected.push_back({row, column});
  }
  return c;
}

/// Case 12: more features than the caller's cap; the first 2000 match themselves, and so would the others.
inline match_case capped_features(std::int64_t count) {
  random_source random(12);
  match_case c{"12: a cap of 2000 on " + std::to_string(count) + " features",
               ten_of_162(random, count),
               {},
               {},
               diagonal(2000),
               true};
  c.right = c.left;
  c.options.max_features = 2000;
  return c;
}

/// Case 14: identical rows of norm 255, whose score 65,025 is an angle of 1.32.
inline match_case short_rows() {
  match_case c{"14: identical rows of norm 255", descriptors<>(2), {}, {}, {}};
  c.left[0][3] = 255;
  c.left[1][90] = 255;
  c.right = c.left;
  return c;
}

/// Cases 16 and 16b: one row, columns with the given scores, of which the first matches or not.
inline match_case threshold(const std::vector<std::int32_t>& scores, bool accepted) {
  match_case c{"16: scores", probe(), descriptors_of_scores(scores), {}, {}};
  for (const std::int32_t score : scores) c.name += " " + std::to_string(score);
  if (accepted) c.expected = {{0, 0}};
  return c;
}

/// Case 17: places 3 and 7 tie for the best of ten, in a row or in a column.
inline match_case tied_best(float max_ratio, bool in_row) {
  const descriptors<> ten = descriptors_of_scores({100, 2000, 0, 230000, 150000, 180000, 99, 230000, 229000, 1});
  match_case c{
      "17: a tie in a " + std::string(in_row ? "row" : "column") + " at max_ratio " + std::to_string(max_ratio),
      in_row ? probe() : ten,
      in_row ? ten : probe(),
      {},
      {}};
  c.options.max_ratio = max_ratio;
  if (max_ratio > 1) c.expected = {in_row ? match_pair{0, 3} : match_pair{3, 0}};
  return c;
}

/// Case 18: many distinct rows matched to themselves.
inline match_case distinct_rows(std::uint32_t count = 4096) {
  random_source random(18);
  match_case c{"18: distinct rows match themselves", ten_of_162(random, count), {}, {}, diagonal(count)};
  c.right = c.left;
  return c;
}

/// Case 18: rows of 255 (score 8,323,200 with each other), whose distance is clamped to 0: one alone matches, any more
/// tie.
inline match_case rows_of_255(std::int64_t rows, std::int64_t columns) {
  match_case c{"18: rows of 255, " + std::to_string(rows) + " x " + std::to_string(columns),
               descriptors<>(rows, 128, 255),
               descriptors<>(columns, 128, 255),
               {},
               {}};
  if (rows == 1 && columns == 1) c.expected = {{0, 0}};
  return c;
}

/// Case 20: three rows whose nearest is the same column.
inline match_case shared_column() {
  random_source random(20);
  match_case c{"20: three rows share a column", ten_of_162(random, 3), ten_of_162(random, 5), {}, {}};
  for (std::int64_t row = 0; row < 3; ++row) c.left.assign(row, c.right, 4);
  c.options.cross_check = false;
  c.expected = {{0, 4}, {1, 4}, {2, 4}};
  return c;
}

/// Case s1: norms above 512, the columns reversed.
inline match_case norms_above_512() {
  match_case c{"s1: norm^2 262,440 is clamped", descriptors<>(2), descriptors<>(2), {}, {{0, 1}, {1, 0}}};
  for (int k = 0; k < 10; ++k) c.left[0][k] = c.left[1][64 + k] = 162;
  c.right.assign(0, c.left, 1);
  c.right.assign(1, c.left, 0);
  return c;
}

/// Case s2: 50 unit rows against themselves, row 0 of the query being row 1.
inline match_case repeated_query(bool cross_check) {
  random_source random(2);
  match_case c{"s2: a repeated query row, cross-check " + std::string(cross_check ? "on" : "off"),
               {},
               sift_like(random, 50),
               {},
               {}};
  c.left = c.right;
  c.left.assign(0, c.right, 1);
  c.options.cross_check = cross_check;
  if (!cross_check) c.expected = {{0, 1}, {1, 1}};
  for (std::uint32_t i = 2; i < 50; ++i) c.expected.push_back({i, i});
  return c;
}

/// All of the above with a list as their result; tile edges are the caller's.
inline std::vector<match_case> matching_cases(const std::vector<std::int64_t>& tile_edges) {
  std::vector<match_case> cases = tile_edge_cases(tile_edges);
  for (const bool copy : {true, false}) cases.push_back(five_by_one(copy));
  for (const int width : {0, 128}) {
    cases.push_back(empty_image(true, false, width));
    cases.push_back(empty_image(false, true, width));
    cases.push_back(empty_image(true, true, width));
  }
  cases.push_back(three_unmatched_rows());
  for (const std::int64_t count : {2001, 10000}) cases.push_back(capped_features(count));
  cases.push_back(short_rows());
  cases.push_back(threshold({200499}, true));
  cases.push_back(threshold({200498}, false));
  cases.push_back(threshold({250000, 243252}, true));
  cases.push_back(threshold({250000, 243253}, false));
  for (const bool in_row : {true, false}) {
    for (const float ratio : {0.8f, 1.0f, 1.01f}) cases.push_back(tied_best(ratio, in_row));
  }
  cases.push_back(distinct_rows());
  cases.push_back(rows_of_255(1, 1));
  cases.push_back(rows_of_255(70, 300));
  cases.push_back(shared_column());
  cases.push_back(norms_above_512());
  for (const bool cross_check : {false, true}) cases.push_back(repeated_query(cross_check));
  return cases;
}

}  // namespace serac::test
