// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>

#include <support/width_checks.cuh>

using namespace serac;
using namespace serac::test;

TEMPLATE_TEST_CASE("mma: signed bytes of every width equal the host", "[tensor]", (mma_policy_for<32, std::int8_t>),
                   (mma_policy_for<64, std::int8_t>), (mma_policy_for<128, std::int8_t>),
                   (mma_policy_for<256, std::int8_t>)) {
  check_width<tensor_path<TestType>>();
}
