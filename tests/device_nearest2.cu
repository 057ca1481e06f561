// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <limits>
#include <vector>

#include <support/nearest2_checks.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// A tile of whose windows few fill a row.
struct short_windows : policy_for<512> {
  static constexpr int tile_rows = 8;
  static constexpr int tile_columns = 256;
};
static_assert(path_of<short_windows>::window_tiles == 16);

}  // namespace

TEST_CASE("nearest2 equals the reference: the classic path with its default tile", "[nearest2]") {
  check_nearest2_path<path_of<sift>>();
  SECTION("one image far larger than the other") { check_unequal_shapes<path_of<sift>>(); }
}

TEST_CASE("nearest2 equals the reference: rows longer than a window", "[nearest2]") {
  check_full_windows<path_of<short_windows>>();
  if (!small_run()) check_full_windows<path_of<sift>>();
}

TEST_CASE("nearest2 of an empty image leaves initial states", "[nearest2]") {
  using path = path_of<sift>;
  random_source random(1);
  const device_descriptors<> some(random_bytes(random, 5));
  const nearest2_list rows = nearest2_of<path>(some.view(), {}, true);
  CHECK(rows.rows == std::vector<top2>(5));
  CHECK(rows.columns.empty());
  const nearest2_list columns = nearest2_of<path>({nullptr, 0, 0, 0}, some.view(), true);
  CHECK(columns.rows.empty());
  CHECK(columns.columns == std::vector<top2>(5));
  CHECK(nearest2_of<path>(some.view(), {}, false).rows == std::vector<top2>(5));
  CHECK(device::nearest2({}, {}, {}, nullptr, 0, nullptr).ok());
}

TEST_CASE("the widest range of scores is exact", "[nearest2]") {
  const device_descriptors<> greatest(descriptors<>(300, 512, 255));
  const nearest2_list states = nearest2_of<path_of<short_windows>>(greatest.view(), greatest.view(), true);
  const std::vector<top2> expected(300, top2{33292800, 0, 33292800});
  CHECK(states.rows == expected);
  CHECK(states.columns == expected);
}

TEST_CASE("workspace sizes are 16 bytes a feature and do not overflow", "[nearest2]") {
  const sift_view most(nullptr, std::numeric_limits<std::int32_t>::max());
  constexpr std::size_t bytes = std::size_t{1} << 35;  // (2^31 - 1) * 16, rounded up to 256
  CHECK(device::nearest2_workspace<sift>(most, most, true) == 2 * bytes);
  CHECK(device::nearest2_workspace<sift>(most, most, false) == bytes);
  CHECK(device::nearest2_workspace<sift>(most, {}, true) == bytes);
  CHECK(device::nearest2_workspace(most, most, true) == 2 * bytes);  // no tensor-core path numbers so many
  CHECK(device::nearest2_workspace({}, {}, true) == 0);
}
