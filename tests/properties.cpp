// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <serac/host/match.hpp>
#include <serac/host/nearest2.hpp>
#include <support/property_checks.hpp>

using namespace serac;
using namespace serac::test;

namespace {

/// An image in memory with poisoned gaps.
template <class T>
std::vector<T> laid_out(const descriptors<T>& image, std::int64_t stride) {
  std::vector<T> values(static_cast<std::size_t>(image.count * stride), static_cast<T>(0xCD));
  for (std::int64_t i = 0; i < image.count; ++i) std::copy_n(image[i], image.width, values.begin() + i * stride);
  return values;
}

template <class T, class Tie, int Width>
struct host_path {
  using element = T;
  using tie = Tie;
  static constexpr int width = Width;
  static constexpr int load_bytes = 1;

  static std::vector<match_pair> match(const descriptors<T>& left, const descriptors<T>& right,
                                       const match_options& options, int gap) {
    const std::int64_t stride = Width + gap;
    const std::vector<T> rows = laid_out(left, stride), columns = laid_out(right, stride);
    std::vector<match_pair> pairs(static_cast<std::size_t>(left.count));
    std::uint32_t count = 0;
    throw_on_error(host::match<Tie>(descriptor_view<T>{rows.data(), left.count, Width, stride},
                                    descriptor_view<T>{columns.data(), right.count, Width, stride}, options,
                                    match_output{pairs.data(), left.count, &count}, 2));
    pairs.resize(count);
    return pairs;
  }

  static nearest2_list nearest2(const descriptors<T>& left, const descriptors<T>& right) {
    nearest2_list list;
    list.rows.resize(static_cast<std::size_t>(left.count));
    list.columns.resize(static_cast<std::size_t>(right.count));
    throw_on_error(host::nearest2<Tie>(left.view(), right.view(), {list.rows.data(), list.columns.data()}, 2));
    return list;
  }
};

using smallest = host_path<std::uint8_t, tie_break::smallest_index, 128>;
using colmap = host_path<std::uint8_t, tie_break::siftgpu, 128>;
using signed_narrow = host_path<std::int8_t, tie_break::smallest_index, 64>;

}  // namespace

TEMPLATE_TEST_CASE("lists have the properties of lists", "[properties]", smallest, colmap, signed_narrow) {
  std::uint64_t seed = 7000;
  std::size_t matches = 0;
  for (const input_kind kind : input_kinds) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      random_source random(++seed);
      matches += check_properties<TestType>(kind, seed, 1 + random.below(150), 1 + random.below(150));
    }
  }
  CHECK(matches > 1000);  // the inputs do hold matches
}

TEMPLATE_TEST_CASE("states have the properties of states", "[properties]", smallest, colmap, signed_narrow) {
  std::uint64_t seed = 7100;
  for (const input_kind kind : input_kinds) {
    for (const std::int64_t columns : {1, 64, 100, 3000}) check_state_properties<TestType>(kind, ++seed, 60, columns);
  }
}

TEMPLATE_TEST_CASE("distinct descriptors match themselves", "[properties]", smallest, colmap) {
  for (const std::int64_t count : {1, 2, 65, 700}) check_self_match<TestType>(7200, count);
}
