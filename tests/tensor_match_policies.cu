// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/tensor_checks.cuh>

using namespace serac::test;

TEMPLATE_TEST_CASE("tensor-core lists of other tiles equal the reference's and the classic path's", "[tensor]",
                   tensor_path<wgmma_192>, tensor_path<wgmma_128>, tensor_path<wgmma_64>, tensor_path<mma_64_rows>) {
  using path = TestType;
  SECTION("every kind of input, all options, dense and with gaps") { check_list_kinds<path>(); }
  SECTION("sizes around the edges of the path") { check_list_shapes<path>(own_edges<path>()); }
  SECTION("large and very unequal images") { check_large_lists<path>(); }
  SECTION("hub columns") { check_hub_columns<path>(); }
  SECTION("duplicates across edges") { check_duplicates_across_edges<path>(); }
}
