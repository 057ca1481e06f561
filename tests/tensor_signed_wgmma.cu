// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>

#include <support/width_checks.cuh>

using namespace serac;
using namespace serac::test;

TEMPLATE_TEST_CASE("wgmma: signed bytes of every width equal the host", "[tensor]", (wgmma_policy_for<32, std::int8_t>),
                   (wgmma_policy_for<64, std::int8_t>), (wgmma_policy_for<128, std::int8_t>),
                   (wgmma_policy_for<256, std::int8_t>)) {
  check_width<tensor_path<TestType>>();
}
