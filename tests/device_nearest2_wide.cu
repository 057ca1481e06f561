// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/nearest2_checks.cuh>

using namespace serac;
using namespace serac::test;

TEMPLATE_TEST_CASE("nearest2 and match equal the reference: wide descriptors", "[nearest2]", path_of<policy_for<128>>,
                   path_of<policy_for<132>>, path_of<policy_for<256>>, path_of<policy_for<508>>,
                   path_of<policy_for<512>>) {
  check_classic_width<TestType>();
}
