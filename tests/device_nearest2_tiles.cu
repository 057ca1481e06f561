// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/nearest2_checks.cuh>
#include <support/policies.cuh>

using namespace serac::test;

TEMPLATE_TEST_CASE("nearest2 equals the reference: tiles", "[nearest2]", path_of<tile_16x128>, path_of<tile_32x32>,
                   path_of<tile_32x128>, path_of<tile_64x256>, path_of<tile_128x128>, path_of<tile_48x96>,
                   path_of<tile_8x64>) {
  check_nearest2_path<TestType>();
}
