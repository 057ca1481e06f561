// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <serac/device/nearest.cuh>
#include <serac/host/nearest.hpp>
#include <serac/matcher.cuh>
#include <support/gpu.cuh>
#include <support/nearest_checks.hpp>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

using sift_floats = float_policy_for<512>;
/// Words alone, several tiles of no power of two, one stage.
struct odd_halves : tile<48, 96, 6, float_policy_for<100, l2<float16>>> {
  static constexpr int stages = 1;
};
struct signed_64 : signed_bytes<tile<16, 32, 8, policy_for<64>>> {};

/// The lists that the GPU makes of two images.
template <int K, class Policy>
neighbor_lists<K> nearest_of(const descriptor_view<typename Policy::element>& left,
                             const descriptor_view<typename Policy::element>& right, bool with_columns) {
  device_array<neighbors<K>> rows(static_cast<std::size_t>(left.count));
  device_array<neighbors<K>> columns(with_columns ? static_cast<std::size_t>(right.count) : 0);
  device_array<std::uint8_t> workspace(device::nearest_workspace<K, Policy>(left, right, with_columns));
  const nearest_output<K> output{rows.data(), with_columns ? columns.data() : nullptr};
  require_ok(device::nearest<K, Policy>(left, right, output, workspace.data(), workspace.size(), nullptr));
  workspace.values();
  return {rows.values(), columns.values()};
}

/// Requires the GPU's lists of a problem to be the host's.
template <int K, class Policy>
void check(input_kind kind, std::uint64_t seed, std::int64_t rows, std::int64_t columns, int gap = 0) {
  using T = typename Policy::element;
  INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", K " << K << ", gap " << gap);
  random_source random(seed);
  const auto images = random_images<T>(kind, random, rows, columns, elements_of<Policy>);
  const auto expected = host::basic_matcher<T>().template nearest<K>(images.left.view(), images.right.view(), true);
  const device_descriptors<T> left(images.left, gap), right(images.right, gap);
  const auto both = nearest_of<K, Policy>(left.view(), right.view(), true);
  REQUIRE_SAME(both.rows, expected.rows);
  REQUIRE_SAME(both.columns, expected.columns);
  REQUIRE_SAME((nearest_of<K, Policy>(left.view(), right.view(), false).rows), expected.rows);
}

template <int K_, class Policy_>
struct list_setting {
  static constexpr int K = K_;
  using Policy = Policy_;
};

}  // namespace

TEMPLATE_TEST_CASE("nearest equals the host's around the edges of tiles and on inputs of every kind", "[nearest]",
                   (list_setting<1, default_policy>), (list_setting<8, sift>), (list_setting<5, signed_64>),
                   (list_setting<3, hamming_policy_for<32>>), (list_setting<8, sift_floats>),
                   (list_setting<4, odd_halves>)) {
  using policy = typename TestType::Policy;
  constexpr int K = TestType::K;
  std::uint64_t seed = 1000;
  const auto sizes = [](std::int64_t edge) {
    if (tiny_run()) return std::vector<std::int64_t>{edge + 1};
    if (small_run()) return std::vector<std::int64_t>{1, edge + 1};
    return std::vector<std::int64_t>{0, 1, 7, edge - 1, edge, edge + 1, 3 * edge + 5};
  };
  for (const std::int64_t rows : sizes(policy::tile_rows)) {
    for (const std::int64_t columns : sizes(policy::tile_columns)) {
      check<K, policy>(input_kind::bytes, ++seed, rows, columns);
      check<K, policy>(input_kind::repeated, ++seed, rows, columns);
    }
  }
  for (const input_kind kind : kinds_of_run()) {
    check<K, policy>(kind, ++seed, 3 * policy::tile_rows + 5, 2 * policy::tile_columns + 7, 16);
  }
}

TEMPLATE_TEST_CASE("nearest equals the host's where blocks share rows and go through several", "[nearest]",
                   (list_setting<8, sift>), (list_setting<8, sift_floats>)) {
  using policy = typename TestType::Policy;
  constexpr int K = TestType::K;
  if (tiny_run()) return;
  const std::int64_t many = small_run() ? 2000 : 20000;
  for (const input_kind kind : {input_kind::planted, input_kind::repeated}) {
    check<K, policy>(kind, 5000, 3, many);
    check<K, policy>(kind, 5001, many / 3, 70);
    check<K, policy>(kind, 5002, many / 8, many / 8);
  }
}

TEST_CASE("two nearest are the states of nearest2; lists of sorted scores", "[nearest]") {
  random_source random(77);
  auto images = random_images<std::uint8_t>(input_kind::planted, random, 700, 900, 128);
  const auto states = matcher().nearest2(images.left.view(), images.right.view(), true);
  const auto two = matcher().nearest<2>(images.left.view(), images.right.view(), true);
  REQUIRE_SAME(states_of(two.rows), states.rows);
  REQUIRE_SAME(states_of(two.columns), states.columns);

  // Every column is nearer than all before it: each score enters each list.
  descriptors<> left(70), right(1000);
  for (int k = 0; k < 128; ++k) {
    for (int i = 0; i < 70; ++i) left[i][k] = 1;
    for (int j = 0; j < 1000; ++j) right[j][k] = static_cast<std::uint8_t>(1 + (j + k) / 8);
  }
  REQUIRE_SAME(matcher().nearest<8>(left.view(), right.view()).rows,
               host::matcher().nearest<8>(left.view(), right.view()).rows);
}

TEST_CASE("nearest of empty images, faults, and a graph", "[nearest]") {
  random_source random(5);
  const auto images = random_images<std::uint8_t>(input_kind::sift_like, random, 200, 300, 128);
  const device_descriptors<> left(images.left), right(images.right);
  const sift_view none(nullptr, 0);
  CHECK(nearest_of<4, sift>(left.view(), none, true).rows == std::vector<neighbors<4>>(200));
  CHECK(nearest_of<4, sift>(none, right.view(), true).columns == std::vector<neighbors<4>>(300));

  device_array<neighbors<4>> rows(200);
  device_array<std::uint8_t> workspace(device::nearest_workspace<4>(left.view(), right.view(), false));
  const auto run = [&](const nearest_output<4>& output, std::size_t bytes, cudaStream_t stream) {
    return device::nearest<4>(left.view(), right.view(), output, workspace.data(), bytes, stream);
  };
  CHECK(run({nullptr, nullptr}, workspace.size(), nullptr).code == errc::null_pointer);
  CHECK(run({rows.data(), nullptr}, workspace.size() - 1, nullptr).code == errc::workspace_too_small);

  const test_stream stream;
  captured_graph graph(stream, [&](cudaStream_t s) { require_ok(run({rows.data(), nullptr}, workspace.size(), s)); });
  for (int replay = 0; replay < 2; ++replay) {
    rows.poison();
    graph.replay();
    REQUIRE_SAME(rows.values(), host::matcher().nearest<4>(images.left.view(), images.right.view()).rows);
  }
}
