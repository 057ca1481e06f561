// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <support/nearest2_checks.cuh>
#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// Shapes over several chunks and segments, and with chunks of several tiles, of each kind.
template <class Path>
void check_large_states(std::int64_t chunked) {
  std::uint64_t seed = 7000;
  for (const input_kind kind : kinds_of_run()) {
    check_nearest2<Path>(kind, ++seed, 600, 700, 16);
    if (small_run()) continue;
    check_nearest2<Path>(kind, ++seed, 1025, 2049);
    check_nearest2<Path>(kind, ++seed, 5000, 333);
    check_nearest2<Path>(kind, ++seed, 100, 2 * chunked + 1);
    check_nearest2<Path>(kind, ++seed, chunked + 1, 100);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("nearest2 by tensor cores equals the host", "[nearest2]", tensor_path<wgmma_policy>,
                   tensor_path<mma_policy>) {
  using path = TestType;
  SECTION("around the edges of tiles") { check_tile_edges<path>(); }
  SECTION("every kind of input, dense and with gaps") { check_kinds<path>(); }
  SECTION("several chunks and segments") {
    check_large_states<path>(std::int64_t{device::detail::most_column_chunks} * path::tile_columns);
  }
  SECTION("one image far larger than the other") { check_unequal_shapes<path>(); }
}

TEST_CASE("nearest2 by the default policy equals the host by whichever path", "[nearest2]") {
  using path = path_of<default_policy>;
  CHECK((device::path_of_nearest2(2950, 3000, false) == device::detail::best_path()));
  CHECK((device::path_of_nearest2(2950, 3000, true) == match_path::classic));
  CHECK((device::path_of_nearest2(5100, 5200, true) == device::detail::best_path()));
  CHECK((device::path_of_nearest2(60, 70, false) == match_path::classic));
  SECTION("large enough for tensor cores, both ways") {
    if (!small_run()) check_nearest2<path>(input_kind::planted, 7100, 4900, 4950);
  }
  SECTION("several chunks and segments") { check_large_states<path>(10240); }
  SECTION("small images") { check_kinds<path>(); }
  SECTION("one image far larger than the other") { check_unequal_shapes<path>(); }
}

TEMPLATE_TEST_CASE("nearest2 by tensor cores of rows that score nothing", "[nearest2]", tensor_path<wgmma_policy>,
                   tensor_path<mma_policy>) {
  using path = TestType;
  // Rows use the first half of a descriptor and columns the second, but for row 70 and columns 170, 300 and 301.
  descriptors<> left(200), right(400);
  for (std::int64_t i = 0; i < left.count; ++i) left[i][i % 64] = 200;
  for (std::int64_t j = 0; j < right.count; ++j) right[j][64 + j % 64] = 200;
  left[70][127] = 3;
  for (std::int64_t k = 0; k < 64; ++k) right[170][64 + k] = 0, right[300][64 + k] = 0, right[301][64 + k] = 0;
  for (std::int64_t j = 0; j < right.count; ++j) right[j][127] = 0;
  right[170][127] = 1, right[300][127] = 2, right[301][127] = 2;

  std::vector<top2> rows(200), columns(400);
  rows[70] = {6, 300, 6};  // the smaller of two tied columns
  columns[170] = {3, 70, 0};
  columns[300] = columns[301] = {6, 70, 0};
  const device_descriptors<> on_left(left), on_right(right);
  for (const bool with_columns : {true, false}) {
    const nearest2_list states = nearest2_of<path>(on_left.view(), on_right.view(), with_columns);
    REQUIRE_SAME(states.rows, rows);
    if (with_columns) REQUIRE_SAME(states.columns, columns);
  }
}

TEMPLATE_TEST_CASE("nearest2 by tensor cores of an empty image leaves initial states", "[nearest2]",
                   tensor_path<wgmma_policy>, tensor_path<mma_policy>) {
  using path = TestType;
  random_source random(1);
  const device_descriptors<> some(random_bytes(random, 5));
  CHECK(nearest2_of<path>(some.view(), {}, true).rows == std::vector<top2>(5));
  CHECK(nearest2_of<path>(some.view(), {}, false).rows == std::vector<top2>(5));
  const nearest2_list states = nearest2_of<path>({nullptr, 0, 0, 0}, some.view(), true);
  CHECK(states.rows.empty());
  CHECK(states.columns == std::vector<top2>(5));
}
