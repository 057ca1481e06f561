// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/survey_checks.cuh>

using namespace serac;
using namespace serac::test;

TEST_CASE("several GPUs give the same bytes in the same order", "[survey]") {
  if (device_count() < 2) return skip("there is one GPU: nothing is shared out between GPUs");
  check_random_surveys(gpus(2), 101);
  if (device_count() > 2) check_random_surveys(gpus(device_count()), 201);
}
