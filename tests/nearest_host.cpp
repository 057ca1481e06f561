// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <vector>

#include <serac/host/matcher.hpp>
#include <serac/host/reference.hpp>
#include <serac/neighbors.hpp>
#include <support/catch.hpp>
#include <support/nearest_checks.hpp>
#include <support/random.hpp>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

namespace {

template <int K>
neighbors<K> list_of(const std::vector<neighbor>& ones) {
  neighbors<K> list;
  for (const neighbor& one : ones) insert(list, one);
  return list;
}

template <int K>
void check_monoid() {
  random_source random(static_cast<std::uint64_t>(K));
  for (int n = 0; n < 300; ++n) {
    std::vector<neighbor> ones;
    const auto count = static_cast<std::int32_t>(random.below(30));
    const std::int64_t bound = random.below(2) == 0 ? 3 : 1000;
    for (std::int32_t i = 0; i < count; ++i) {
      const auto score = static_cast<std::int32_t>(random.below(bound));
      if (score > 0) ones.push_back({score, i});
    }
    const neighbors<K> expected = reference::sorted<K>(count, [&](std::int64_t i) {
      const auto one = std::find_if(ones.begin(), ones.end(), [&](const neighbor& o) { return o.index == i; });
      return one == ones.end() ? 0 : one->score;
    });
    for (std::size_t i = ones.size(); i > 1; --i) {
      std::swap(ones[i - 1], ones[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
    }
    std::vector<neighbor> part[3];
    for (const neighbor& one : ones) part[random.below(3)].push_back(one);
    const auto a = list_of<K>(part[0]), b = list_of<K>(part[1]), c = list_of<K>(part[2]);
    REQUIRE(list_of<K>(ones) == expected);
    REQUIRE(merge(merge(a, b), c) == expected);
    REQUIRE(merge(a, merge(b, c)) == expected);
    REQUIRE(merge(c, merge(a, b)) == expected);
    REQUIRE(merge(expected, neighbors<K>{}) == expected);
    REQUIRE(merge(neighbors<K>{}, expected) == expected);
  }
}

template <int K, class T>
void compare(const two_images<T>& images) {
  const auto expected = reference::nearest<K>(images.left.view(), images.right.view());
  for (const int threads : {1, 3}) {
    const auto got =
        host::basic_matcher<T>({}, threads).template nearest<K>(images.left.view(), images.right.view(), true);
    REQUIRE_SAME(got.rows, expected.rows);
    REQUIRE_SAME(got.columns, expected.columns);
  }
}

}  // namespace

TEST_CASE("lists of nearest descriptors form a commutative monoid", "[nearest]") {
  check_monoid<1>();
  check_monoid<2>();
  check_monoid<5>();
  check_monoid<8>();
}

TEMPLATE_TEST_CASE("nearest equals the reference on random problems of every kind", "[nearest]", std::uint8_t,
                   std::int8_t, bits8, float, l2<float16>) {
  std::uint64_t seed = 100;
  for (const input_kind kind : input_kinds) {
    for (const int width : {8, 60}) {
      random_source random(++seed);
      const std::int64_t rows = 1 + random.below(150), columns = 1 + random.below(100);
      INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << width);
      const auto images = random_images<TestType>(kind, random, rows, columns, width);
      compare<1>(images);
      compare<2>(images);
      compare<3>(images);
      compare<8>(images);
      const auto states = host::basic_matcher<TestType>().nearest2(images.left.view(), images.right.view(), true);
      const auto two =
          host::basic_matcher<TestType>().template nearest<2>(images.left.view(), images.right.view(), true);
      REQUIRE_SAME(states_of(two.rows), states.rows);
      REQUIRE_SAME(states_of(two.columns), states.columns);
    }
  }
}

TEST_CASE("nearest equals the reference around the edges of tiles, blocks and strips", "[nearest]") {
  std::uint64_t seed = 1000;
  for (const std::int64_t rows : {1, 5, 65}) {
    for (const std::int64_t columns : {1, 7, 17, 2049, 16400}) {
      random_source random(++seed);
      INFO("seed " << seed << ": " << rows << " x " << columns);
      compare<5>(random_images<std::uint8_t>(input_kind::repeated, random, rows, columns, 4));
    }
  }
}

TEST_CASE("nearest of empty images, and faults of arguments", "[nearest]") {
  const descriptors<> some(3), none(0);
  const auto lists = host::matcher().nearest<4>(some.view(), none.view(), true);
  CHECK(lists.rows == std::vector<neighbors<4>>(3));
  CHECK(lists.columns.empty());
  CHECK(host::matcher().nearest<4>(none.view(), some.view()).rows.empty());

  neighbors<4> list[3];
  const auto fault = [&](const nearest_output<4>& output, int threads, int width) {
    return host::nearest<4>(sift_view(some.view().data, 3, width), some.view(), output, threads);
  };
  CHECK(fault({list, nullptr}, 1, 128).ok());
  CHECK(fault({nullptr, nullptr}, 1, 128).code == errc::null_pointer);
  CHECK(fault({list, nullptr}, -1, 128).code == errc::negative_count);
  CHECK(fault({list, nullptr}, 1, 130).code == errc::unsupported_width);
}
