// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/nearest2_checks.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

TEMPLATE_TEST_CASE("nearest2 equals the reference: stages and slices", "[nearest2]", path_of<one_stage>,
                   path_of<sliced<16>>, path_of<sliced<32>>, path_of<sliced<64>>, (path_of<sliced<32, 1>>)) {
  check_nearest2_path<TestType>();
}

TEMPLATE_TEST_CASE("nearest2 equals the reference: COLMAP's tie order", "[nearest2]", path_of<siftgpu_ties<sift>>,
                   path_of<siftgpu_ties<tile_48x96>>, path_of<siftgpu_ties<signed_bytes<tile_32x32>>>) {
  check_nearest2_path<TestType>();
}
