// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <serac/host/reference.hpp>
#include <support/catch.hpp>
#include <support/descriptors.hpp>
#include <support/random.hpp>

using namespace serac;
namespace reference = serac::host::reference;

namespace {

/// Columns whose scores with the row (1, 0, 0, 0) are `scores`.
test::descriptors<> columns_of(const std::vector<std::uint8_t>& scores) {
  test::descriptors<> d(static_cast<std::int64_t>(scores.size()), 4);
  for (std::int64_t j = 0; j < d.count; ++j) d[j][0] = scores[static_cast<std::size_t>(j)];
  return d;
}

test::descriptors<> one_row() {
  test::descriptors<> d(1, 4);
  d[0][0] = 1;
  return d;
}

template <class Tie = tie_break::smallest_index>
top2 of(const std::vector<std::uint8_t>& scores) {
  return reference::row_top2<Tie>(one_row().view(), columns_of(scores).view(), 0);
}

}  // namespace

TEST_CASE("the reference scans as the specification says", "[reference]") {
  CHECK(of({}) == top2{0, -1, 0});
  CHECK(of({0, 0}) == top2{0, -1, 0});
  CHECK(of({7}) == top2{7, 0, 0});
  CHECK(of({3, 7}) == top2{7, 1, 3});
  CHECK(of({7, 3}) == top2{7, 0, 3});
  CHECK(of({7, 3, 7}) == top2{7, 0, 7});
  CHECK(of({3, 7, 5, 9, 8}) == top2{9, 3, 8});
}

TEST_CASE("the reference keeps the tied column that each order prefers", "[reference]") {
  std::vector<std::uint8_t> scores(64, 5);
  CHECK(of(scores) == top2{5, 0, 5});
  CHECK(of<tie_break::siftgpu>(scores) == top2{5, 0, 5});
  scores[0] = scores[32] = 0;
  CHECK(of(scores) == top2{5, 1, 5});
  CHECK(of<tie_break::siftgpu>(scores) == top2{5, 16, 5});  // the order is 0, 16, 8, 24, 4, ...
  scores[16] = 0;
  CHECK(of<tie_break::siftgpu>(scores) == top2{5, 48, 5});
  scores[48] = 0;
  CHECK(of<tie_break::siftgpu>(scores) == top2{5, 8, 5});
  scores[8] = scores[40] = 0;
  CHECK(of<tie_break::siftgpu>(scores) == top2{5, 24, 5});
  scores[24] = scores[56] = 0;
  CHECK(of<tie_break::siftgpu>(scores) == top2{5, 4, 5});
}

TEST_CASE("the reference keeps the smallest row of a column", "[reference]") {
  const auto rows = columns_of({1, 9, 3, 9, 9});
  CHECK(reference::column_top2(rows.view(), one_row().view(), 0) == top2{9, 1, 9});
}

TEST_CASE("the reference floors negative scores at zero", "[reference]") {
  test::descriptors<std::int8_t> left(1, 4), right(3, 4);
  left[0][0] = -128;
  right[0][0] = 127;   // -16256
  right[1][0] = -128;  // 16384
  right[2][0] = 1;     // -128
  CHECK(reference::row_top2(left.view(), right.view(), 0) == top2{16384, 1, 0});
  right[1][0] = 2;
  CHECK(reference::row_top2(left.view(), right.view(), 0) == top2{0, -1, 0});
  match_options all;
  all.max_ratio = all.max_distance = 100;
  CHECK(reference::match(left.view(), right.view(), all).pairs.empty());
}

TEST_CASE("the reference accepts by the float formula", "[reference]") {
  CHECK(reference::accepted({200499, 0, 0}, {}));
  CHECK_FALSE(reference::accepted({200498, 0, 0}, {}));
  CHECK(reference::accepted({250000, 0, 243252}, {}));
  CHECK_FALSE(reference::accepted({250000, 0, 243253}, {}));
  CHECK_FALSE(reference::accepted({0, -1, 0}, {}));
}

TEST_CASE("the reference's list: order, cross-check, lengths", "[reference]") {
  test::random_source random(1);
  auto left = test::ten_of_162(random, 4);
  test::descriptors<> right(3);
  right.assign(0, left, 2);
  right.assign(1, left, 0);
  left.assign(3, left, 2);  // rows 2 and 3 tie in column 0
  match_options options;
  const auto pairs = [&] { return reference::match(left.view(), right.view(), options).pairs; };
  CHECK(pairs() == std::vector<match_pair>{{0, 1}});
  options.cross_check = false;
  CHECK(pairs() == std::vector<match_pair>{{0, 1}, {2, 0}, {3, 0}});
  options.max_matches = 2;
  CHECK(pairs() == std::vector<match_pair>{{0, 1}, {2, 0}});
  options.max_matches = 0;
  CHECK(pairs().empty());
  options = {};
  options.max_features = 3;
  CHECK(pairs() == std::vector<match_pair>{{0, 1}, {2, 0}});
  CHECK(reference::match(left.view(), right.view(), options).truncated);
  options.max_features = 4;
  CHECK_FALSE(reference::match(left.view(), right.view(), options).truncated);
}
