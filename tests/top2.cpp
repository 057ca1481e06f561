// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <serac/top2.hpp>
#include <support/catch.hpp>
#include <support/random.hpp>

using namespace serac;

namespace {

/// All states of scores 0..3 at indices 0..35, which hold both equal and different remainders mod 32.
std::vector<top2> small_states() {
  std::vector<top2> states{top2{}};
  for (std::int32_t best = 1; best <= 3; ++best) {
    for (const std::int32_t index : {0, 1, 2, 3, 16, 31, 32, 33, 35}) {
      for (std::int32_t second = 0; second <= best; ++second) states.push_back({best, index, second});
    }
  }
  return states;
}

/// Whether two states could come from disjoint sets of scores: their indices differ unless one is empty.
bool disjoint(const top2& a, const top2& b) { return a.index != b.index || a.index == -1; }

}  // namespace

TEMPLATE_TEST_CASE("merge is a commutative monoid with identity top2{}", "[top2]", tie_break::smallest_index,
                   tie_break::siftgpu) {
  const std::vector<top2> states = small_states();
  long wrong = 0;
  for (const top2& a : states) {
    if (merge<TestType>(a, top2{}) != a || merge<TestType>(top2{}, a) != a) ++wrong;
    for (const top2& b : states) {
      if (!disjoint(a, b)) continue;
      if (merge<TestType>(a, b) != merge<TestType>(b, a)) ++wrong;
      for (const top2& c : states) {
        if (!disjoint(a, c) || !disjoint(b, c)) continue;
        if (merge<TestType>(merge<TestType>(a, b), c) != merge<TestType>(a, merge<TestType>(b, c))) ++wrong;
      }
    }
  }
  REQUIRE(wrong == 0);
}

TEMPLATE_TEST_CASE("merging single scores in any order and grouping sorts them", "[top2]", tie_break::smallest_index,
                   tie_break::siftgpu) {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  INFO("seed " << seed);
  test::random_source random(seed);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const std::int64_t count = random.below(100);
    const std::int64_t greatest = random.below(2) == 0 ? 4 : 1 << 25;  // many ties, or few
    std::vector<top2> parts;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto score = static_cast<std::int32_t>(random.below(greatest));
      parts.push_back(score == 0 ? top2{} : top2{score, static_cast<std::int32_t>(i), 0});
    }

    // By sorting: the greatest score first, of equal ones the least rank.
    std::vector<top2> sorted;
    for (const top2& part : parts) {
      if (part.best > 0) sorted.push_back(part);
    }
    std::sort(sorted.begin(), sorted.end(), [](const top2& a, const top2& b) {
      return a.best != b.best ? a.best > b.best
                              : TestType::rank(static_cast<std::uint32_t>(a.index)) <
                                    TestType::rank(static_cast<std::uint32_t>(b.index));
    });
    top2 expected;
    if (!sorted.empty()) expected = {sorted[0].best, sorted[0].index, sorted.size() > 1 ? sorted[1].best : 0};

    while (parts.size() > 1) {  // merge any two until one is left
      const auto a = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(parts.size())));
      std::swap(parts[a], parts.back());
      const top2 taken = parts.back();
      parts.pop_back();
      top2& other = parts[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(parts.size())))];
      other = random.below(2) == 0 ? merge<TestType>(other, taken) : merge<TestType>(taken, other);
    }
    REQUIRE((parts.empty() ? top2{} : parts[0]) == expected);
  }
}

TEST_CASE("merge keeps what the specification says", "[top2]") {
  CHECK(merge(top2{5, 1, 2}, top2{7, 4, 1}) == top2{7, 4, 5});
  CHECK(merge(top2{5, 1, 2}, top2{5, 4, 1}) == top2{5, 1, 5});
  CHECK(merge(top2{5, 4, 2}, top2{5, 1, 1}) == top2{5, 1, 5});
  CHECK(merge(top2{5, 4, 2}, top2{3, 1, 3}) == top2{5, 4, 3});
  CHECK(merge(top2{}, top2{}) == top2{});
  CHECK(merge<tie_break::siftgpu>(top2{5, 1, 0}, top2{5, 16, 0}) == top2{5, 16, 5});
  CHECK(merge<tie_break::siftgpu>(top2{5, 33, 0}, top2{5, 1, 0}) == top2{5, 1, 5});
}

TEST_CASE("siftgpu ranks columns by the reversed bits of column mod 32, then by column", "[top2]") {
  const auto reversed = [](std::uint32_t value) {  // of the five binary digits, as a string
    std::string digits;
    for (; digits.size() < 5; value /= 2) digits.insert(digits.begin(), value % 2 == 1 ? '1' : '0');
    std::reverse(digits.begin(), digits.end());
    return std::stoul(digits, nullptr, 2);
  };
  CHECK(reversed(1) == 16);
  CHECK(reversed(8) == 2);
  std::vector<std::uint32_t> columns;
  for (std::uint32_t c = 0; c < 2048; ++c) columns.push_back(c);
  for (const std::uint32_t c : {65535u, 65536u, 131071u, 0x7ffffffeu, 0x7fffffffu}) columns.push_back(c);
  long wrong = 0;
  for (const std::uint32_t a : columns) {
    if (tie_break::siftgpu::index(tie_break::siftgpu::rank(a)) != a) ++wrong;
    if (tie_break::siftgpu::rank(a) >= 1u << 31) ++wrong;
    for (const std::uint32_t b : columns) {
      const bool before = reversed(a % 32) != reversed(b % 32) ? reversed(a % 32) < reversed(b % 32) : a < b;
      if ((tie_break::siftgpu::rank(a) < tie_break::siftgpu::rank(b)) != before) ++wrong;
    }
  }
  REQUIRE(wrong == 0);
  CHECK(tie_break::siftgpu::rank(0) == 0);
}

TEST_CASE("smallest_index ranks by the index", "[top2]") {
  for (const std::uint32_t i : {0u, 1u, 31u, 32u, 0x7fffffffu}) {
    CHECK(tie_break::smallest_index::rank(i) == i);
    CHECK(tie_break::smallest_index::index(i) == i);
  }
}
