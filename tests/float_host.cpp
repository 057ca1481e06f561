// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <serac/host/match_batch.hpp>
#include <serac/host/match_guided.hpp>
#include <serac/host/matcher.hpp>
#include <serac/host/nearest2.hpp>
#include <serac/host/reference.hpp>
#include <support/catch.hpp>
#include <support/floats.hpp>
#include <support/host_nearest2.hpp>
#include <support/random.hpp>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : reference::bits(a) == reference::bits(b); }

}  // namespace

#define FLOATS float, float16, bfloat16, l2<float>, l2<float16>, l2<bfloat16>

TEST_CASE("floats of 16 bits are widened exactly and rounded to nearest", "[float]") {
  long different = 0;
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<float16>(bits);
    const auto upper = static_cast<bfloat16>(bits);
    different += !same(to_float(half), reference::widened(half));
    different += !same(to_float(upper), reference::widened(upper));
    if (!std::isnan(to_float(half))) different += to_float16(to_float(half)) != half;
    if (!std::isnan(to_float(upper))) different += to_bfloat16(to_float(upper)) != upper;
  }
  CHECK(different == 0);
  CHECK(std::isnan(to_float(to_float16(not_a_number))));
  CHECK(std::isnan(to_float(to_bfloat16(not_a_number))));
  CHECK(to_float(to_float16(-1e6f)) == -infinity);
  CHECK(to_float(to_bfloat16(3.4e38f)) == infinity);

  // Between two neighbours: the nearer, and halfway the even one.
  random_source random(1);
  for (int n = 0; n < 200000; ++n) {
    const int bits = static_cast<int>(random.below(0x7c00 - 1));
    const double low = to_float(static_cast<float16>(bits)), high = to_float(static_cast<float16>(bits + 1));
    const double share = random.below(3) == 0 ? 0.5 : random.unit();
    const float x = static_cast<float>(low + share * (high - low));
    const double below = x - low, above = high - x;
    const int expected = below < above || (below == above && bits % 2 == 0) ? bits : bits + 1;
    different += to_float16(x) != static_cast<float16>(expected);
    different += to_float16(-x) != static_cast<float16>(expected | 0x8000);

    const int upper = static_cast<int>(random.below(0x7f7f));
    const std::int32_t middle = (upper << 16) + (random.below(3) == 0 ? 0x8000 : static_cast<int>(random.below(65536)));
    const int rest = middle & 0xffff, rounded = (middle >> 16) + (rest > 0x8000 || (rest == 0x8000 && upper % 2 == 1));
    different += to_bfloat16(float_with_bits(middle)) != static_cast<bfloat16>(rounded);
  }
  CHECK(different == 0);
}

TEST_CASE("scores keep the order of the floats that they stand for", "[float]") {
  const float values[] = {0, 1e-45f, 1e-40f, 1.17549435e-38f, 0.5f, 1, 1.0000001f, 512, 1e30f, 3.4028235e38f};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    CHECK(same(dot_of(dot_score(values[i])), values[i]));
    CHECK(same(squared_l2_of(l2_score(values[i])), values[i]));
    CHECK(l2_score(values[i]) > 0);
    CHECK((dot_score(values[i]) > 0) == (i > 0));
    if (i > 0) CHECK(dot_score(values[i]) > dot_score(values[i - 1]));
    if (i > 0) CHECK(l2_score(values[i]) < l2_score(values[i - 1]));
    CHECK(dot_score(-values[i]) == 0);
  }
  CHECK(dot_score(infinity) > dot_score(3.4028235e38f));
  CHECK(l2_score(infinity) == 0);
  CHECK(squared_l2_of(0) == infinity);
  for (const float x : {not_a_number, -not_a_number}) {
    CHECK(dot_score(x) == 0);
    CHECK(l2_score(x) == 0);
  }
  CHECK(dot_score(-infinity) == 0);
}

TEMPLATE_TEST_CASE("float nearest2 equals the reference on random problems of every kind and width", "[float]",
                   FLOATS) {
  std::uint64_t seed = 100;
  for (const input_kind kind : input_kinds) {
    for (const int width : {2, 6, 32, 34, 128}) {
      if (width * sizeof(TestType) % 4 != 0) continue;
      random_source random(++seed);
      const std::int64_t rows = 1 + random.below(90), columns = 1 + random.below(90);
      INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << width);
      const auto images = random_images<TestType>(kind, random, rows, columns, width);
      compare_nearest2(images);
      if (kind == input_kind::repeated) compare_nearest2<tie_break::siftgpu>(images);
    }
  }
  random_source random(99);
  compare_nearest2(random_images<TestType>(input_kind::planted, random, 5, 20, 512));
}

TEMPLATE_TEST_CASE("float nearest2 equals the reference around every edge of tiles, blocks and strips", "[float]",
                   float, l2<float16>) {
  std::uint64_t seed = 1000;
  for (const input_kind kind : {input_kind::bytes, input_kind::repeated}) {
    for (const std::int64_t rows : {1, 3, 5, 64, 65}) {
      for (const std::int64_t columns : {1, 15, 17, 33, 2049}) {
        random_source random(++seed);
        INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns);
        compare_nearest2(random_images<TestType>(kind, random, rows, columns, 2));
      }
    }
    random_source random(++seed);
    INFO("seed " << seed << ": " << name(kind) << ", several strips");
    compare_nearest2(random_images<TestType>(kind, random, 2, 2100, 512));
    compare_nearest2(random_images<TestType>(kind, random, 6, 16400, 4));
  }
}

TEMPLATE_TEST_CASE("small whole numbers give exact sums", "[float]", FLOATS) {
  random_source random(7);
  two_images<TestType> images{descriptors<TestType>(40, 128), descriptors<TestType>(50, 128)};
  for (auto* image : {&images.left, &images.right}) {
    for (TestType& x : image->data) x = number<TestType>(static_cast<double>(random.below(256)) - 40);
  }
  const auto list = host::basic_matcher<TestType>().nearest2(images.left.view(), images.right.view());
  for (std::int64_t i = 0; i < 40; ++i) {
    std::int64_t best = is_l2<TestType> ? std::numeric_limits<std::int64_t>::max() : 0, index = -1;
    for (std::int64_t j = 0; j < 50; ++j) {
      std::int64_t sum = 0;
      for (int k = 0; k < 128; ++k) {
        const auto a = static_cast<std::int64_t>(to_float(images.left[i][k]));
        const auto b = static_cast<std::int64_t>(to_float(images.right[j][k]));
        sum += is_l2<TestType> ? (a - b) * (a - b) : a * b;
      }
      if (is_l2<TestType> ? sum < best : sum > best) best = sum, index = j;
    }
    const top2& row = list.rows[static_cast<std::size_t>(i)];
    CHECK(row.index == index);
    const float value = is_l2<TestType> ? squared_l2_of(row.best) : dot_of(row.best);
    CHECK(value == static_cast<float>(best));
  }
}

TEMPLATE_TEST_CASE("infinities and NaNs match nothing that they make infinite or NaN", "[float]", float, l2<float16>) {
  random_source random(9);
  auto images = random_images<TestType>(input_kind::planted, random, 60, 70, 8);
  for (auto* image : {&images.left, &images.right}) {
    for (int n = 0; n < 40; ++n) {
      const double special[] = {infinity, -infinity, not_a_number, 3e38, -3e38};
      image->data[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(image->data.size())))] =
          number<TestType>(special[random.below(5)]);
    }
  }
  compare_nearest2(images);
  for (int k = 0; k < 8; ++k) images.left[0][k] = number<TestType>(not_a_number);
  compare_nearest2(images);
  const auto list = host::basic_matcher<TestType>().nearest2(images.left.view(), images.right.view());
  CHECK(list.rows[0] == top2{});
}

TEMPLATE_TEST_CASE("the portable tile of floats equals the machine's own", "[float]", float, l2<float>) {
  random_source random(6);
  namespace d = host::detail;
  for (const int slices : {1, 7, 256}) {
    std::vector<d::row_slice> rows(static_cast<std::size_t>(slices));
    std::vector<d::column_slice> columns(static_cast<std::size_t>(slices));
    const auto fill = [&](auto& all) {
      for (auto& slice : all) {
        for (auto& place : slice.element) {
          const auto x = static_cast<float>(2 * random.unit() - 1);
          std::memcpy(place, &x, sizeof x);
        }
      }
    };
    fill(rows), fill(columns);
    d::tile_scores portable, own;
    d::float_scores<TestType>(rows.data(), columns.data(), slices, portable);
    d::best_float_scores<TestType>()(rows.data(), columns.data(), slices, own);
    CHECK(std::memcmp(portable, own, sizeof own) == 0);
  }
}

TEMPLATE_TEST_CASE("float match, guided match and batches equal the reference", "[float]", float, l2<bfloat16>) {
  std::uint64_t seed = 500;
  std::size_t matches = 0;
  for (const input_kind kind : {input_kind::planted, input_kind::repeated, input_kind::sparse}) {
    random_source random(++seed);
    const auto images = random_images<TestType>(kind, random, 60, 50, 32);
    const auto left = images.left.view(), right = images.right.view();
    for (const float_judge& judge : float_judges) {
      INFO("seed " << seed << ": " << name(kind) << ", " << judge);
      const auto accept = judge.template acceptance<TestType>();
      const auto accepts = [&](const top2& state) { return judge.template accepts<TestType>(state); };
      for (const bool cross_check : {true, false}) {
        match_options options;
        options.cross_check = cross_check;
        const auto expected = expected_float_match(images, options, accepts);
        matches += expected.size();
        REQUIRE_SAME(host::basic_matcher<TestType>(options).match(left, right, accept).pairs, expected);
      }

      const auto admissible = [](std::int64_t i, std::int64_t j) { return (i + 2 * j) % 3 != 0; };
      const auto guided = reference::judged_match<tie_break::smallest_index>(left, right, {}, admissible, accepts);
      std::vector<match_pair> pairs(60);
      std::uint32_t count = 0;
      REQUIRE(host::match_guided(left, right, admissible, {}, accept, {pairs.data(), 60, &count}).ok());
      pairs.resize(count);
      REQUIRE_SAME(pairs, guided.pairs);

      const image_range ranges[] = {{0, 60}, {20, 40}};
      const image_pair both[] = {{0, 1}};
      std::vector<match_pair> lists(60);
      std::int64_t offsets[2];
      const batch_view<TestType> batch{left, ranges, 2, both, 1};
      REQUIRE(host::match_batch(batch, {}, accept, {lists.data(), 60, offsets}).ok());
      lists.resize(static_cast<std::size_t>(offsets[1]));
      two_images<TestType> parts{images.left, descriptors<TestType>(40, 32)};
      for (int j = 0; j < 40; ++j) parts.right.assign(j, images.left, 20 + j);
      REQUIRE_SAME(lists, expected_float_match(parts, {}, accepts));
    }
    const auto mutual = expected_float_match(images, {}, [](const top2& state) { return state.index >= 0; });
    REQUIRE_SAME(host::basic_matcher<TestType>().match(left, right, accept_all()).pairs, mutual);
  }
  CHECK(matches > 50);
}

TEST_CASE("a least cosine is of the dot product of floats", "[float]") {
  const basic_cosine_acceptance<float> accept;
  CHECK(accept(dot_score(std::nextafter(0.85f, 1.0f)), 0));
  CHECK_FALSE(accept(dot_score(0.85f), 0));
  CHECK_FALSE(basic_cosine_acceptance<float16>{0.5f}(dot_score(0.25f), 0));
}

TEST_CASE("faults of views of floats are named", "[float]") {
  std::vector<float> memory(100);
  top2 states[2];
  const auto fault = [&](const auto& view) { return host::nearest2(view, view, {states, nullptr}); };
  CHECK(fault(descriptor_view<float>(memory.data(), 2, 3)).ok());
  CHECK(fault(descriptor_view<float>(memory.data(), 0, 513)).ok());
  CHECK(fault(descriptor_view<float>(memory.data(), 2, 513)).code == errc::unsupported_width);
  CHECK(fault(descriptor_view<float>(memory.data(), 2, 0)).code == errc::unsupported_width);
  const auto* const halves = reinterpret_cast<const float16*>(memory.data());
  CHECK(fault(descriptor_view<float16>(halves, 2, 6)).ok());
  CHECK(fault(descriptor_view<float16>(halves, 2, 7)).code == errc::unsupported_width);
  const auto* const odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(memory.data()) + 2);
  CHECK(fault(descriptor_view<float>(odd, 2, 4)).code == errc::misaligned_pointer);
  CHECK(fault(descriptor_view<l2<float>>(as_l2(descriptor_view<float>(odd, 2, 4)))).code == errc::misaligned_pointer);
}
