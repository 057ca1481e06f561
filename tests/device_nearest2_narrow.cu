// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/nearest2_checks.cuh>

using namespace serac;
using namespace serac::test;

TEMPLATE_TEST_CASE("nearest2 and match equal the reference: narrow descriptors", "[nearest2]", path_of<policy_for<4>>,
                   path_of<policy_for<8>>, path_of<policy_for<12>>, path_of<policy_for<20>>, path_of<policy_for<32>>,
                   path_of<policy_for<60>>, path_of<policy_for<64>>, path_of<policy_for<68>>) {
  check_classic_width<TestType>();
}
