// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <string>
#include <vector>

#include <serac/host/matcher.hpp>
#include <serac/host/reference.hpp>
#include <support/catch.hpp>
#include <support/random.hpp>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

TEMPLATE_TEST_CASE("one matcher serves images of changing size, kind and width", "[matcher]", std::uint8_t,
                   std::int8_t) {
  match_options options;
  options.max_ratio = 1.1f;
  host::basic_matcher<TestType, tie_break::siftgpu> matcher(options, 3);
  std::uint64_t seed = 40;
  for (const input_kind kind : input_kinds) {
    for (const auto& [rows, columns, width] :
         {std::tuple{200, 3000, 8}, std::tuple{5, 7, 128}, std::tuple{0, 4, 64}, std::tuple{130, 65, 512}}) {
      random_source random(++seed);
      INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << width);
      const auto images = random_images<TestType>(kind, random, rows, columns, width);
      const auto left = images.left.view(), right = images.right.view();
      REQUIRE_SAME(matcher.match(left, right).pairs,
                   (reference::match<tie_break::siftgpu>(left, right, options).pairs));
      const auto expected = reference::nearest2<tie_break::siftgpu>(left, right);
      const auto got = matcher.nearest2(left, right, true);
      REQUIRE_SAME(got.rows, expected.rows);
      REQUIRE_SAME(got.columns, expected.columns);
      const auto rows_only = matcher.nearest2(left, right);
      REQUIRE_SAME(rows_only.rows, expected.rows);
      CHECK(rows_only.columns.empty());
    }
  }
}

TEST_CASE("a matcher throws serac::error that names the fault, and goes on", "[matcher]") {
  random_source random(1);
  const auto image = ten_of_162(random, 3);
  host::matcher matcher;
  const auto argument_of = [](auto call) {
    try {
      call();
    } catch (const error& e) {
      return std::string(e.status().argument);
    }
    return std::string("nothing was thrown");
  };
  CHECK(argument_of([&] { matcher.match({nullptr, 3}, image.view()); }) == "left.data");
  CHECK(argument_of([&] { matcher.match(image.view(), {image.data.data(), 3, 64}); }) == "right.width");
  CHECK(argument_of([&] { matcher.nearest2(image.view(), {image.data.data(), -1}); }) == "right.count");
  match_options bad;
  bad.max_distance = -1;
  CHECK(argument_of([&] { matcher.set_options(bad); }) == "options.max_distance");
  CHECK(argument_of([&] { host::matcher{bad}; }) == "options.max_distance");
  CHECK(argument_of([&] { host::matcher(match_options{}, -1); }) == "threads");
  CHECK(matcher.options().max_distance == 0.7f);
  CHECK(matcher.match(image.view(), image.view()).pairs == std::vector<match_pair>{{0, 0}, {1, 1}, {2, 2}});
}

TEST_CASE("set_options takes effect on the next match", "[matcher]") {
  random_source random(2);
  const auto image = ten_of_162(random, 4);
  host::matcher matcher;
  CHECK(matcher.match(image.view(), image.view()).pairs.size() == 4);
  match_options options;
  options.max_matches = 2;
  matcher.set_options(options);
  CHECK(matcher.match(image.view(), image.view()).pairs == std::vector<match_pair>{{0, 0}, {1, 1}});
  options = {};
  options.max_features = 3;
  matcher.set_options(options);
  const match_list cut = matcher.match(image.view(), image.view());
  CHECK(cut.pairs.size() == 3);
  CHECK(cut.truncated);
  CHECK(matcher.nearest2(image.view(), image.view()).rows.size() == 4);
  options.max_features = 4;
  options.max_ratio = 1e-30f;
  matcher.set_options(options);
  const descriptors<> slightly_off(1, 128, 44);
  CHECK(matcher.match(slightly_off.view(), slightly_off.view()).pairs.empty());
  CHECK_FALSE(matcher.match(image.view(), image.view()).truncated);
}
