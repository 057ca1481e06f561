// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;

// (Those of several tiles are never of one launch.)
static_assert(device::detail::has_one_launch<wgmma_policy>() && !device::detail::has_one_launch<wgmma_chunks>());
static_assert(mma_traits<mma_policy>::chunk_tiles == 4 && mma_traits<mma_chunks>::chunk_tiles == 1);

TEMPLATE_TEST_CASE("tensor-core lists of other tiles equal the reference's and the classic path's", "[tensor]",
                   tensor_path<wgmma_192>, tensor_path<wgmma_128>, tensor_path<wgmma_64>, tensor_path<wgmma_chunks>,
                   tensor_path<mma_64_rows>, tensor_path<mma_chunks>) {
  using path = TestType;
  SECTION("every kind of input, all options, dense and with gaps") { check_list_kinds<path>(); }
  SECTION("sizes around the edges of the path") { check_list_shapes<path>(own_edges<path>()); }
  SECTION("large and very unequal images") { check_large_lists<path>(); }
  SECTION("hub columns") { check_hub_columns<path>(); }
  SECTION("duplicates across edges") { check_duplicates_across_edges<path>(); }
}
