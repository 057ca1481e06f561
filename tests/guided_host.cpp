// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <serac/host/match_guided.hpp>
#include <serac/host/matcher.hpp>
#include <serac/host/reference.hpp>
#include <support/catch.hpp>
#include <support/guided.hpp>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

namespace {

/// The list by host::match_guided; nothing is written behind its end.
template <class Tie, class T, class Admissible>
std::vector<match_pair> guided_of(const guided_problem<T>& problem, const Admissible& admissible,
                                  const match_options& options, int threads = 1) {
  constexpr match_pair poison{0xdeadbeefu, 0xdeadbeefu};
  std::vector<match_pair> pairs(static_cast<std::size_t>(problem.left.count) + 1, poison);
  std::uint32_t count = 0;
  throw_on_error(host::match_guided<Tie>(problem.left.view(), problem.right.view(), admissible, options,
                                         match_output{pairs.data(), problem.left.count, &count}, threads));
  for (std::size_t k = count; k < pairs.size(); ++k) REQUIRE(pairs[k] == poison);
  pairs.resize(count);
  return pairs;
}

/// An environment variable makes the random tests longer.
int repeats() {
  const char* const value = std::getenv("SERAC_TEST_REPEATS");
  return value == nullptr ? 1 : std::atoi(value);
}

}  // namespace

TEMPLATE_TEST_CASE("guided lists equal the reference's under every kind of geometry", "[guided]",
                   (setting<std::uint8_t, tie_break::smallest_index>), (setting<std::uint8_t, tie_break::siftgpu>),
                   (setting<std::int8_t, tie_break::smallest_index>)) {
  using T = typename TestType::T;
  using Tie = typename TestType::Tie;
  std::uint64_t seed = 900;
  for (const std::string kind : geometry_kinds) {
    std::size_t matches = 0;
    for (int repeat = 0; repeat < 12 * repeats(); ++repeat) {
      random_source random(++seed);
      const std::int64_t rows = 1 + random.below(300), columns = 1 + random.below(300);
      const int width = repeat % 2 == 0 ? 32 : 128;
      const input_kind input = input_kinds[repeat % 4 + 1];
      INFO("seed " << seed << ": " << kind << ", " << name(input) << ", " << rows << " x " << columns);
      const auto problem = random_guided<T>(kind, random, rows, columns, width, input);
      match_options options;
      options.cross_check = repeat % 3 != 0;
      if (repeat % 5 == 0) options.max_ratio = 1.1f, options.max_distance = 3.2f;
      if (repeat == 7) options.max_features = 100;
      if (repeat == 8) options.max_matches = 3;
      const auto expected =
          reference::match<Tie>(problem.left.view(), problem.right.view(), options, problem.reference()).pairs;
      REQUIRE_SAME(guided_of<Tie>(problem, problem.guide(), options), expected);
      REQUIRE_SAME(guided_of<Tie>(problem, problem.guide(), options, 3), expected);
      // The same as a callable of which nothing is known.
      const auto admissible = [&](std::int64_t i, std::int64_t j) { return problem.guide()(i, j); };
      REQUIRE_SAME(guided_of<Tie>(problem, admissible, options, 2), expected);
      matches += expected.size();
    }
    INFO(kind);
    const bool hopeless = kind.find("zeros") != std::string::npos || kind.find("NaN") != std::string::npos ||
                          kind.find("infinity") != std::string::npos;
    if (!hopeless || kind == "epipole at infinity") CHECK(matches > 0);
  }
}

TEST_CASE("every pair that a geometry admits is visited, once", "[guided]") {
  std::uint64_t seed = 5000;
  std::int64_t visited = 0;
  for (int repeat = 0; repeat < 30 * repeats(); ++repeat) {
    for (const std::string kind : geometry_kinds) {
      random_source random(++seed);
      const std::int64_t most = repeat % 4 == 0 ? 900 : 150;
      const std::int64_t rows = 1 + random.below(most), columns = 1 + random.below(most);
      INFO("seed " << seed << ": " << kind << ", " << rows << " x " << columns);
      guided_problem<> problem;
      problem.left = descriptors<>(rows, 4), problem.right = descriptors<>(columns, 4);
      random_geometry(kind, random, problem);
      const auto admissible = problem.reference();
      std::vector<std::pair<std::int64_t, std::int64_t>> expected, found;
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          if (admissible(i, j)) expected.push_back({i, j});
        }
      }
      const host::detail::admissible_pairs<guided_by<>> pairs(problem.guide(), rows, columns);
      for (std::int64_t task = 0; task < pairs.tasks(); ++task) {
        pairs.visit(task, [&](std::int64_t i, std::int64_t j) { found.push_back({i, j}); });
      }
      std::sort(found.begin(), found.end());
      CHECK(found.size() == expected.size());
      const bool same = found == expected;
      REQUIRE(same);
      visited += static_cast<std::int64_t>(found.size());
    }
  }
  CHECK(visited > 100000);
}

TEST_CASE("COLMAP's own guided cases", "[guided]") {
  for (const bool by_epipolar : {false, true}) {
    auto both = two_features(1), second = two_features(100);
    if (by_epipolar) {  // x1 = x2: the same distances along x
      both.geometry = second.geometry = two_view_geometry(epipolar{{0, 0, 1, 0, 0, 0, -1, 0, 0}, 16});
    }
    using tie = tie_break::smallest_index;
    CHECK(guided_of<tie>(both, both.guide(), {}) == std::vector<match_pair>{{0, 1}, {1, 0}});
    CHECK(guided_of<tie>(second, second.guide(), {}) == std::vector<match_pair>{{1, 0}});
    host::matcher matcher;
    CHECK(matcher.match_guided(second.left.view(), second.right.view(), second.guide()).pairs ==
          std::vector<match_pair>{{1, 0}});

    for (guided_problem<>* problem : {&both, &second}) {
      guided_problem<> none = *problem;
      none.left = descriptors<>(0);
      CHECK(guided_of<tie>(none, none.guide(), {}).empty());
      none = *problem;
      none.right = descriptors<>(0);
      CHECK(guided_of<tie>(none, none.guide(), {}).empty());
    }
  }
}

TEST_CASE("nothing is admissible under zeros, NaN and w = 0", "[guided]") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const two_view_geometry geometries[] = {
      two_view_geometry(epipolar{{}, 1e30f}),
      two_view_geometry(epipolar{{0, 0, 1, 0, 0, nan, -1, 0, 0}, infinity}),
      two_view_geometry(homography{{1, 0, 0, 0, 1, 0, 0, 0, 0}, infinity}),
      two_view_geometry(homography{{1, 0, 0, 0, 1, 0, nan, 0, 1}, 1e30f}),
  };
  for (const two_view_geometry& geometry : geometries) {
    auto problem = two_features(1);
    problem.geometry = geometry;
    CHECK(guided_of<tie_break::smallest_index>(problem, problem.guide(), {}).empty());
  }
}

TEST_CASE("admissibilities compose", "[guided]") {
  random_source random(12);
  const auto problem = random_guided("plane seen from above", random, 200, 180);
  const std::int64_t stride = 6;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(200 * stride));
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.below(std::int64_t{1} << 32));
  const admissible_bits bits{words.data(), stride};
  const auto bit = [&](std::int64_t i, std::int64_t j) {
    return (words[static_cast<std::size_t>(i * stride + j / 32)] >> j % 32 & 1) != 0;
  };
  const auto expect = [&](auto admissible, const auto& mirrored) {
    const auto expected = reference::match(problem.left.view(), problem.right.view(), {}, mirrored).pairs;
    REQUIRE_SAME(guided_of<tie_break::smallest_index>(problem, admissible, {}, 2), expected);
    CHECK(expected.size() > 2);
  };
  const auto near = problem.reference();
  expect(admit_all(), [](std::int64_t, std::int64_t) { return true; });
  expect(bits, bit);
  expect(admit_both{bits, problem.guide()}, [&](std::int64_t i, std::int64_t j) { return bit(i, j) && near(i, j); });
  expect(guided_by<homography>{problem.guide().left, problem.guide().right, problem.geometry.homography}, near);
}

TEST_CASE("a guided match names what is wrong with its arguments", "[guided]") {
  const auto problem = two_features(1);
  std::vector<match_pair> pairs(2, match_pair{7, 7});
  std::uint32_t count = 77;
  const auto fault = [&](const guided_by<>& guide, errc code, const std::string& argument) {
    const status s = host::match_guided(problem.left.view(), problem.right.view(), guide, match_options(),
                                        match_output{pairs.data(), 2, &count});
    INFO(s.message());
    CHECK(s.code == code);
    CHECK(s.argument == argument);
    CHECK(count == 77);
    CHECK(pairs == std::vector<match_pair>(2, match_pair{7, 7}));
    host::matcher matcher;
    CHECK_THROWS_AS(matcher.match_guided(problem.left.view(), problem.right.view(), guide), error);
  };
  auto guide = problem.guide();
  guide.left.count = 3;
  fault(guide, errc::count_mismatch, "admissible.left.count");
  guide = problem.guide();
  guide.right.data = nullptr;
  fault(guide, errc::null_pointer, "admissible.right.data");
  guide = problem.guide();
  guide.right.stride = 1;
  fault(guide, errc::invalid_option, "admissible.right.stride");
  guide = problem.guide();
  guide.geometry.homography.max_squared_error = 0;
  fault(guide, errc::invalid_option, "admissible.geometry.homography.max_squared_error");
  guide = problem.guide();
  guide.geometry = two_view_geometry(epipolar{{1}, std::numeric_limits<float>::quiet_NaN()});
  fault(guide, errc::invalid_option, "admissible.geometry.epipolar.max_squared_error");
}

TEST_CASE("features beyond the caller's cap are not looked at in a guided match either", "[guided]") {
  for (const std::int64_t count : {2001, 10000}) {
    random_source random(3);
    const auto problem = random_guided("epipole far outside, to the side", random, count, count, 32);
    match_options options;
    options.max_features = 2000;
    host::matcher matcher(options);
    const match_list list = matcher.match_guided(problem.left.view(), problem.right.view(), problem.guide());
    CHECK(list.truncated);
    guided_problem<> cut = problem;
    cut.left.count = cut.right.count = 2000;
    const auto admissible = [&](std::int64_t i, std::int64_t j) { return problem.guide()(i, j); };
    REQUIRE_SAME(list.pairs, guided_of<tie_break::smallest_index>(cut, admissible, match_options()));
    CHECK(list.pairs.size() > 10);
  }
}
