// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/nearest2_checks.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

TEMPLATE_TEST_CASE("nearest2 equals the reference: dot paths", "[nearest2]", path_of<scalar>, path_of<dp4a>,
                   path_of<signed_bytes<scalar>>, path_of<signed_bytes<dp4a>>) {
  check_nearest2_path<TestType>();
}
