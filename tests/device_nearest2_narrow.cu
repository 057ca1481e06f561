// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/nearest2_checks.cuh>

using namespace serac;
using namespace serac::test;

TEMPLATE_TEST_CASE("nearest2 and match equal the reference: narrow descriptors", "[nearest2]", path_of<policy_for<4>>,
                   path_of<policy_for<8>>, path_of<policy_for<12>>, path_of<policy_for<20>>, path_of<policy_for<32>>,
                   path_of<policy_for<60>>, path_of<policy_for<64>>, path_of<policy_for<68>>) {
  check_nearest2_path<TestType>();
  SECTION("match") {
    random_source random(6000);
    const auto images = random_images(input_kind::planted, random, 150, 290, TestType::width);
    match_options options;
    options.max_ratio = 1.1f;  // narrow descriptors are all alike
    const auto expected = expected_match<typename TestType::tie>(images.left, images.right, options);
    REQUIRE_SAME(match_of<TestType>(images.left, images.right, options), expected);
    CHECK_FALSE(expected.empty());
  }
}
