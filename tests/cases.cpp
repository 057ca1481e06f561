// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <type_traits>
#include <vector>

#include <serac/host/matcher.hpp>
#include <serac/host/reference.hpp>
#include <support/cases.hpp>
#include <support/catch.hpp>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

namespace {

// The backends: each turns a case into its list.

template <class Tie>
struct by_reference {
  using tie = Tie;
  static match_list match(const match_case& c) {
    return reference::match<Tie>(c.left.view(), c.right.view(), c.options);
  }
};

template <class Tie, int Threads>
struct by_match {
  using tie = Tie;
  static match_list match(const match_case& c) {
    match_list list;
    list.truncated = c.truncated;  // host::match does not say
    std::uint32_t count = 0;
    list.pairs.resize(static_cast<std::size_t>(c.left.count));
    throw_on_error(host::match<Tie>(c.left.view(), c.right.view(), c.options,
                                    match_output{list.pairs.data(), c.left.count, &count}, Threads));
    list.pairs.resize(count);
    return list;
  }
};

template <class Tie, int Threads>
struct by_matcher {
  using tie = Tie;
  static match_list match(const match_case& c) {
    return host::basic_matcher<std::uint8_t, Tie>(c.options, Threads).match(c.left.view(), c.right.view());
  }
};

using smallest = tie_break::smallest_index;
using siftgpu = tie_break::siftgpu;

template <class Backend>
void check(const match_case& c) {
  INFO("case " << c.name);
  const match_list list = Backend::match(c);
  REQUIRE_SAME(list.pairs, c.expected);
  REQUIRE(list.truncated == c.truncated);
}

/// Every `step`-th of the rows' states is the reference's.
template <class Tie>
void check_sampled_rows(const descriptors<>& left, const descriptors<>& right, const std::vector<top2>& rows,
                        std::int64_t step) {
  for (std::int64_t i = 0; i < left.count; i += step) {
    CAPTURE(i);
    REQUIRE(rows[static_cast<std::size_t>(i)] == reference::row_top2<Tie>(left.view(), right.view(), i));
  }
}

}  // namespace

#define SERAC_HOST_BACKENDS                                                                            \
  (by_match<smallest, 1>), (by_match<siftgpu, 2>), (by_match<smallest, 3>), (by_matcher<smallest, 2>), \
      (by_matcher<siftgpu, 1>)
#define SERAC_ALL_BACKENDS (by_reference<smallest>), (by_reference<siftgpu>), SERAC_HOST_BACKENDS

TEMPLATE_TEST_CASE("case 1: only the last row and column match", "[cases]", SERAC_ALL_BACKENDS) {
  for (const match_case& c : tile_edge_cases({4, 16, 32, 64})) check<TestType>(c);
}

TEMPLATE_TEST_CASE("case 1: only the last row and column match, large tiles", "[cases]", SERAC_HOST_BACKENDS) {
  for (const std::int64_t columns : {2047, 2048, 2049, 4095}) {
    for (const std::int64_t rows : {1, 63, 65}) check<TestType>(last_row_and_column(rows, columns));
  }
}

TEMPLATE_TEST_CASE("case 3: five rows and one column", "[cases]", SERAC_ALL_BACKENDS) {
  check<TestType>(five_by_one(true));
  check<TestType>(five_by_one(false));
}

TEMPLATE_TEST_CASE("case 4: an image without features", "[cases]", SERAC_ALL_BACKENDS) {
  for (const int width : {0, 128}) {
    check<TestType>(empty_image(true, false, width));
    check<TestType>(empty_image(false, true, width));
    check<TestType>(empty_image(true, true, width));
  }
}

TEMPLATE_TEST_CASE("case 6: a hundred rows, three unmatched", "[cases]", SERAC_ALL_BACKENDS) {
  const match_case c = three_unmatched_rows();
  REQUIRE(c.expected.size() == 97);
  check<TestType>(c);
}

TEMPLATE_TEST_CASE("case 7: N = 256, 512 and 131072 equal the reference on sampled rows", "[cases]", smallest,
                   siftgpu) {
  for (const std::int64_t columns : {256, 512, 131072}) {
    CAPTURE(columns);
    random_source random(7);
    const descriptors<> left = sift_like(random, 1000);
    descriptors<> right = sift_like(random, columns);
    plant_matches(random, left, right, 10);
    std::vector<top2> rows(1000);
    REQUIRE(host::nearest2<TestType>(left.view(), right.view(), nearest2_output{rows.data(), nullptr}).ok());
    check_sampled_rows<TestType>(left, right, rows, columns > 1000 ? 50 : 1);
  }
}

TEST_CASE("case 9: many features, sampled rows and columns exact", "[cases]") {
  random_source random(9);
  constexpr std::int64_t count = 60000;  // at width 8 a matter of seconds
  const descriptors<> left = random_bytes(random, count, 8), right = random_bytes(random, count, 8);
  std::vector<top2> rows(count), columns(count);
  REQUIRE(host::nearest2(left.view(), right.view(), nearest2_output{rows.data(), columns.data()}).ok());
  check_sampled_rows<smallest>(left, right, rows, 499);
  check_sampled_rows<smallest>(right, left, columns, 499);
}

TEMPLATE_TEST_CASE("case 12: a cap on features", "[cases]", SERAC_HOST_BACKENDS) {
  check<TestType>(capped_features(2001));
  check<TestType>(capped_features(10000));
}

TEMPLATE_TEST_CASE("case 14: identical rows of norm 255 are rejected", "[cases]", SERAC_ALL_BACKENDS) {
  check<TestType>(short_rows());
}

TEMPLATE_TEST_CASE("case 16: the distance threshold", "[cases]", SERAC_ALL_BACKENDS) {
  check<TestType>(threshold({200499}, true));
  check<TestType>(threshold({200498}, false));
}

TEMPLATE_TEST_CASE("case 16b: the ratio threshold", "[cases]", SERAC_ALL_BACKENDS) {
  check<TestType>(threshold({250000, 243252}, true));
  check<TestType>(threshold({250000, 243253}, false));
}

TEMPLATE_TEST_CASE("case 17: a tie for the best, a hundred times", "[cases]", SERAC_ALL_BACKENDS) {
  for (int repeat = 0; repeat < (std::is_same_v<TestType, by_match<smallest, 3>> ? 100 : 1); ++repeat) {
    for (const bool in_row : {true, false}) {
      for (const float ratio : {0.8f, 1.0f, 1.01f}) check<TestType>(tied_best(ratio, in_row));
    }
  }
}

TEMPLATE_TEST_CASE("case 18: distinct rows find themselves, rows of 255 do not overflow", "[cases]",
                   SERAC_HOST_BACKENDS) {
  check<TestType>(distinct_rows());
  check<TestType>(rows_of_255(1, 1));
  check<TestType>(rows_of_255(70, 300));
}

TEMPLATE_TEST_CASE("case 18: the states of rows of 255", "[cases]", smallest, siftgpu) {
  const match_case c = rows_of_255(70, 300);
  std::vector<top2> rows(70), columns(300);
  REQUIRE(host::nearest2<TestType>(c.left.view(), c.right.view(), nearest2_output{rows.data(), columns.data()}).ok());
  REQUIRE_SAME(rows, std::vector<top2>(70, top2{8323200, 0, 8323200}));
  REQUIRE_SAME(columns, std::vector<top2>(300, top2{8323200, 0, 8323200}));
}

TEMPLATE_TEST_CASE("case 20: three rows share a column", "[cases]", SERAC_ALL_BACKENDS) {
  check<TestType>(shared_column());
}

TEMPLATE_TEST_CASE("case s1: norms above 512 are clamped", "[cases]", SERAC_ALL_BACKENDS) {
  check<TestType>(norms_above_512());
}

TEMPLATE_TEST_CASE("case s2: a repeated query row", "[cases]", SERAC_ALL_BACKENDS) {
  REQUIRE(repeated_query(false).expected.size() == 50);
  REQUIRE(repeated_query(true).expected.size() == 48);
  check<TestType>(repeated_query(false));
  check<TestType>(repeated_query(true));
}
