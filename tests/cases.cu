// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <serac/acceptance.hpp>
#include <serac/host/workers.hpp>
#include <support/cases.hpp>
#include <support/gpu.cuh>
#include <support/policies.cuh>
#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

namespace {

// The policies that the default one may mean, so that their kernels are compiled once.
using wgmma_path = tensor_path<wgmma_policy_for<128>>;
using mma_path = tensor_path<mma_policy_for<128>>;

// The backends: each turns a case into its list.

template <class Path>
struct by_match {
  static constexpr std::int64_t edges[] = {Path::tile_rows, Path::tile_columns};
  static match_list match(const match_case& c) {
    return {match_of<Path>(c.left, c.right, c.options), c.truncated};  // device::match does not say
  }
};

template <class Policy>
struct by_matcher {
  static constexpr std::int64_t edges[] = {Policy::tile_rows, Policy::tile_columns};
  static match_list match(const match_case& c) {
    return basic_matcher<Policy>(c.options).match(c.left.view(), c.right.view());
  }
};

template <class Policy>
struct by_matcher_on_device {
  static constexpr std::int64_t edges[] = {Policy::tile_rows, Policy::tile_columns};
  static match_list match(const match_case& c) {
    const device_descriptors<> left(c.left), right(c.right);
    return basic_matcher<Policy>(c.options).match(left.view(), right.view());
  }
};

/// The cases for a tile's edges; in a tiny run a few, and none of large images.
std::vector<match_case> cases_of_run(const std::vector<std::int64_t>& edges) {
  std::vector<match_case> cases = matching_cases(edges);
  const auto large = [](const match_case& c) { return tiny_run() && c.left.count * c.right.count > 200000; };
  cases.erase(std::remove_if(cases.begin(), cases.end(), large), cases.end());
  return few_if_tiny(cases, 12);
}

/// `count` indices spread over [0, size).
std::vector<std::int64_t> sample(std::int64_t size, std::int64_t count) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < count; ++i) indices.push_back(i * size / count);
  return indices;
}

/// Requires the sampled states to be what `reference_of(index)` says; that runs on all cores.
template <class Reference>
void check_sampled(const std::vector<top2>& states, const std::vector<std::int64_t>& indices, Reference reference_of) {
  const auto count = static_cast<std::int64_t>(indices.size());
  std::vector<top2> got(indices.size()), expected(indices.size());
  host::detail::run_tasks(host::detail::worker_count(0, count), count, [&](int, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    got[at] = states[static_cast<std::size_t>(indices[at])];
    expected[at] = reference_of(indices[at]);
  });
  REQUIRE_SAME(got, expected);
}

}  // namespace

TEMPLATE_TEST_CASE("cases with a known list", "[cases]", by_match<path_of<default_policy>>, by_match<path_of<sift>>,
                   by_match<path_of<siftgpu_ties<sift>>>, by_match<path_of<tile_16x128>>, by_match<path_of<tile_48x96>>,
                   by_match<path_of<scalar>>, by_matcher<default_policy>, by_matcher_on_device<default_policy>) {
  std::vector<std::int64_t> edges(std::begin(TestType::edges), std::end(TestType::edges));
  if (small_run()) edges.pop_back();
  for (const match_case& c : cases_of_run(edges)) {
    INFO("case " << c.name);
    const match_list list = TestType::match(c);
    REQUIRE_SAME(list.pairs, c.expected);
    REQUIRE(list.truncated == c.truncated);
  }
}

TEMPLATE_TEST_CASE("cases with a known list by tensor cores, which take no max_ratio above 1", "[cases]",
                   by_match<wgmma_path>, by_match<mma_path>) {
  std::vector<std::int64_t> edges(std::begin(TestType::edges), std::end(TestType::edges));
  if (small_run()) edges.pop_back();
  for (const match_case& c : cases_of_run(edges)) {
    if (c.options.max_ratio > 1) continue;
    INFO("case " << c.name);
    REQUIRE_SAME(TestType::match(c).pairs, c.expected);
  }
}

TEMPLATE_TEST_CASE("case 7: N = 256, 512 and 131072 equal the reference on 1000 rows", "[cases]",
                   path_of<default_policy>, path_of<siftgpu_ties<sift>>, path_of<tile_48x96>, wgmma_path, mma_path) {
  using tie = typename TestType::tie;
  const std::int64_t rows = small_run() ? 100 : 1000;
  for (const std::int64_t columns : few_if_tiny<std::int64_t>({256, 512, small_run() ? 13107 : 131072}, 2)) {
    CAPTURE(columns);
    random_source random(7);
    const descriptors<> left = sift_like(random, rows);
    descriptors<> right = sift_like(random, columns);
    plant_matches(random, left, right, 10);
    const device_descriptors<> rows_on_device(left), columns_on_device(right);
    const auto states = nearest2_of<TestType>(rows_on_device.view(), columns_on_device.view(), true);
    check_sampled(states.rows, sample(rows, rows),
                  [&](std::int64_t i) { return reference::row_top2<tie>(left.view(), right.view(), i); });
    check_sampled(states.columns, sample(columns, std::min<std::int64_t>(columns, 1000)),
                  [&](std::int64_t j) { return reference::column_top2(left.view(), right.view(), j); });
  }
}

TEST_CASE("case 9: 125,000 x 125,000 with little scratch", "[cases]") {
  using path = path_of<default_policy>;
  const auto count = by_run_size<std::int64_t>(125000, 2000, 500);
  random_source random(9);
  const descriptors<> left = sift_like(random, count);
  descriptors<> right = sift_like(random, count);
  plant_matches(random, left, right);
  const device_descriptors<> rows(left), columns(right);
  match_of<path>(random_bytes(random, 10), random_bytes(random, 10));  // what the runtime loads is loaded

  // The list. All that is allocated from here on is what a match needs.
  const std::size_t free_before = free_device_memory();
  match_run<path> run(rows.view(), columns.view());
  run.launch();
  const auto list = run.list();
  const std::size_t free_after = free_device_memory();
  constexpr std::size_t limit = std::size_t{64} << 20;
  CHECK(path::match_workspace(rows.view(), columns.view(), {}) < limit);
  CHECK(path::nearest2_workspace(rows.view(), columns.view(), true) < limit);
  if (!small_run()) CHECK(free_before - std::min(free_before, free_after) < limit);  // a sanitizer takes memory too

  // The states: sampled ones equal the reference's.
  const auto states = nearest2_of<path>(rows.view(), columns.view(), true);
  const auto indices = sample(count, small_run() ? 100 : 1000);
  check_sampled(states.rows, indices,
                [&](std::int64_t i) { return reference::row_top2(left.view(), right.view(), i); });
  check_sampled(states.columns, indices,
                [&](std::int64_t j) { return reference::column_top2(left.view(), right.view(), j); });

  // The list is the one that follows from the states.
  std::vector<match_pair> expected;
  const match_options options;
  for (std::uint32_t i = 0; i < states.rows.size(); ++i) {
    const top2& row = states.rows[i];
    if (!reference::accepted(row, options)) continue;
    const top2& column = states.columns[static_cast<std::size_t>(row.index)];
    if (!reference::accepted(column, options) || column.index != static_cast<std::int32_t>(i)) continue;
    expected.push_back({i, static_cast<std::uint32_t>(row.index)});
  }
  REQUIRE_SAME(list, expected);
  CHECK(static_cast<std::int64_t>(list.size()) > count / 10);
}

TEMPLATE_TEST_CASE("case 18: the states of rows of 255", "[cases]", path_of<default_policy>,
                   path_of<siftgpu_ties<sift>>, path_of<scalar>, wgmma_path, mma_path) {
  const match_case c = rows_of_255(70, 300);
  const device_descriptors<> left(c.left), right(c.right);
  const auto states = nearest2_of<TestType>(left.view(), right.view(), true);
  REQUIRE_SAME(states.rows, std::vector<top2>(70, top2{8323200, 0, 8323200}));
  REQUIRE_SAME(states.columns, std::vector<top2>(300, top2{8323200, 0, 8323200}));
}
