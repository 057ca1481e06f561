// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/width_checks.cuh>

using namespace serac;
using namespace serac::test;

TEMPLATE_TEST_CASE("wgmma: other widths equal the host", "[tensor]", wgmma_policy_for<32>, wgmma_policy_for<64>,
                   wgmma_policy_for<256>) {
  check_width<tensor_path<TestType>>();
}
