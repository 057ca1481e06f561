// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <serac/host/match_batch.hpp>
#include <serac/host/match_guided.hpp>
#include <serac/host/matcher.hpp>
#include <serac/host/nearest2.hpp>
#include <serac/host/reference.hpp>
#include <support/binary.hpp>
#include <support/catch.hpp>
#include <support/host_nearest2.hpp>
#include <support/random.hpp>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

namespace {

constexpr int widths[] = {4, 8, 12, 32, 60, 64, 124, 128, 508};

}  // namespace

TEST_CASE("the score of binary descriptors is 4097 less their distance", "[binary]") {
  const std::uint8_t left[] = {0b1011, 0, 0, 0xff, 0, 0, 0, 0};
  const std::uint8_t right[] = {0b1001, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff};
  const auto score = [&](int width) {
    return reference::score(as_bits(left, 1, width), 0, as_bits(right, 1, width), 0);
  };
  CHECK(score(4) == 4095);
  CHECK(hamming_distance(score(4)) == 2);
  CHECK(hamming_distance(score(8)) == 34);
  CHECK(hamming_distance(equal_bits_score) == 0);
  CHECK(hamming_distance(0) == 4097);
}

TEMPLATE_TEST_CASE("binary nearest2 equals the reference on random problems of every kind and width", "[binary]",
                   tie_break::smallest_index, tie_break::siftgpu) {
  std::uint64_t seed = 100;
  for (const input_kind kind : input_kinds) {
    for (const int width : widths) {
      random_source random(++seed);
      const std::int64_t rows = 1 + random.below(150), columns = 1 + random.below(150);
      INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << width);
      compare_nearest2<TestType>(random_images<bits8>(kind, random, rows, columns, width));
    }
  }
}

TEST_CASE("binary nearest2 equals the reference around every edge of tiles, blocks, chunks and strips", "[binary]") {
  std::uint64_t seed = 1000;
  for (const input_kind kind : {input_kind::bytes, input_kind::repeated, input_kind::all_greatest}) {
    for (const std::int64_t rows : {1, 3, 5, 64, 65}) {
      for (const std::int64_t columns : {1, 15, 17, 33, 2047, 2049}) {
        random_source random(++seed);
        INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns);
        compare_nearest2(random_images<bits8>(kind, random, rows, columns, 8));
      }
    }
    random_source random(++seed);
    INFO("seed " << seed << ": " << name(kind) << ", several strips");
    compare_nearest2(random_images<bits8>(kind, random, 2, 6200, 512));
    compare_nearest2(random_images<bits8>(kind, random, 6, 16400, 4));
  }
}

TEST_CASE("descriptors that differ in every bit are neighbours", "[binary]") {
  for (const int width : {4, 64, 512}) {
    const descriptors<bits8> zeros(3, width), ones(2, width, bits8{255});
    const top2 furthest{equal_bits_score - 8 * width, 0, equal_bits_score - 8 * width};
    const auto states = host::basic_matcher<bits8>().nearest2(zeros.view(), ones.view(), true);
    CHECK(states.rows == std::vector<top2>(3, furthest));
    CHECK(states.columns == std::vector<top2>(2, furthest));
    const auto list = host::basic_matcher<bits8>().match(zeros.view(), ones.view(), accept_all());
    CHECK(list.pairs == std::vector<match_pair>{{0, 0}});
  }
}

TEST_CASE("binary descriptors may stand anywhere", "[binary]") {
  random_source random(5);
  const auto images = random_images<bits8>(input_kind::planted, random, 70, 50, 60);
  std::vector<std::uint8_t> spaced(1 + 70 * 61);
  for (int i = 0; i < 70; ++i) std::memcpy(spaced.data() + 1 + 61 * i, images.left[i], 60);
  const auto got =
      host::basic_matcher<bits8>().nearest2(as_bits(spaced.data() + 1, 70, 60, 61), images.right.view(), true);
  const auto expected = reference::nearest2(images.left.view(), images.right.view());
  REQUIRE_SAME(got.rows, expected.rows);
  REQUIRE_SAME(got.columns, expected.columns);
}

TEST_CASE("the portable tile of bits equals the machine's own", "[binary]") {
  random_source random(6);
  namespace d = host::detail;
  for (const int slices : {2, 17, 32, 33, 129}) {
    std::vector<d::row_slice> rows(static_cast<std::size_t>(slices));
    std::vector<d::column_slice> columns(static_cast<std::size_t>(slices));
    const auto fill = [&](auto& all) {
      for (auto& slice : all) {
        for (auto& pair : slice.element) {
          for (std::int16_t& x : pair) x = static_cast<std::int16_t>(random.below(3) == 0 ? -1 : random.below(65536));
        }
      }
      for (auto& pair : all[0].element) pair[0] = static_cast<std::int16_t>(random.below(4097)), pair[1] = 0;
    };
    fill(rows), fill(columns);
    d::packed_top2<d::lanes> row_states[2][d::tile_rows] = {};
    d::packed_top2<d::tile_columns> column_states[2] = {};
    d::score_bits_tile<true>(rows.data(), columns.data(), slices, 63, 60, row_states[0], 16, &column_states[0]);
    d::best_bits_tile_function<true>()(rows.data(), columns.data(), slices, 63, 60, row_states[1], 16,
                                       &column_states[1]);
    CHECK(std::memcmp(row_states[0], row_states[1], sizeof row_states[0]) == 0);
    CHECK(std::memcmp(&column_states[0], &column_states[1], sizeof column_states[0]) == 0);
  }
}

TEST_CASE("binary match equals the reference", "[binary]") {
  std::uint64_t seed = 500;
  std::size_t matches = 0;
  for (const input_kind kind : input_kinds) {
    for (const int width : {4, 60}) {
      random_source random(++seed);
      const std::int64_t rows = 1 + random.below(70), columns = 1 + random.below(70);
      INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << width);
      const auto images = random_images<bits8>(kind, random, rows, columns, width);
      for (const binary_judge& judge : binary_judges(width)) {
        for (const match_options& options : binary_options()) {
          INFO(judge << ", cross_check " << options.cross_check << ", max_matches " << options.max_matches
                     << ", max_features " << options.max_features);
          const auto expected = expected_binary_match(images, judge, options);
          const auto list =
              host::basic_matcher<bits8>(options).match(images.left.view(), images.right.view(), judge.acceptance());
          REQUIRE_SAME(list.pairs, expected);
          matches += expected.size();
        }
      }
      const auto mutual = host::basic_matcher<bits8>().match(images.left.view(), images.right.view(), accept_all());
      REQUIRE_SAME(mutual.pairs, expected_mutual(images));
    }
  }
  CHECK(matches > 500);
}

TEST_CASE("binary match among admissible pairs equals the reference", "[binary]") {
  random_source random(8);
  const auto images = random_images<bits8>(input_kind::planted, random, 90, 110, 32);
  const auto admissible = [](std::int64_t i, std::int64_t j) { return (i + j) % 3 != 0; };
  const binary_judge judge{0.9f, 200};
  const auto expected = reference::judged_match<tie_break::smallest_index>(
      images.left.view(), images.right.view(), {}, admissible, [&](const top2& s) { return judge.accepts(s); });
  std::vector<match_pair> pairs(90);
  std::uint32_t count = 0;
  REQUIRE(host::match_guided(images.left.view(), images.right.view(), admissible, {}, judge.acceptance(),
                             match_output{pairs.data(), 90, &count})
              .ok());
  pairs.resize(count);
  REQUIRE_SAME(pairs, expected.pairs);
  CHECK_FALSE(pairs.empty());
}

TEST_CASE("a batch of binary images gives each pair's list", "[binary]") {
  random_source random(9);
  const auto images = random_images<bits8>(input_kind::planted, random, 60, 80, 64);
  descriptors<bits8> both(140, 64);
  for (int i = 0; i < 60; ++i) both.assign(i, images.left, i);
  for (int j = 0; j < 80; ++j) both.assign(60 + j, images.right, j);
  const image_range ranges[] = {{0, 60}, {60, 80}};
  const image_pair pairs[] = {{0, 1}, {1, 0}};
  std::vector<match_pair> lists(140);
  std::vector<std::int64_t> offsets(3);
  const binary_judge judge{0.9f, 300};
  REQUIRE(host::match_batch(batch_view<bits8>{both.view(), ranges, 2, pairs, 2}, {}, judge.acceptance(),
                            batch_output{lists.data(), 140, offsets.data()})
              .ok());
  const std::vector<match_pair> first(lists.begin(), lists.begin() + offsets[1]);
  const std::vector<match_pair> second(lists.begin() + offsets[1], lists.begin() + offsets[2]);
  REQUIRE_SAME(first, expected_binary_match(images, judge, {}));
  REQUIRE_SAME(second, expected_binary_match({images.right, images.left}, judge, {}));
  CHECK_FALSE(first.empty());
}
