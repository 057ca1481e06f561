// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <limits>
#include <string>

#include <serac/options.hpp>
#include <support/catch.hpp>

using namespace serac;

TEST_CASE("the defaults are COLMAP's, without a cap", "[options]") {
  const match_options o;
  CHECK(o.max_ratio == 0.8f);
  CHECK(o.max_distance == 0.7f);
  CHECK(o.cross_check);
  CHECK(o.max_matches == std::numeric_limits<std::int64_t>::max());
  CHECK(o.max_features == std::numeric_limits<std::int64_t>::max());
  CHECK(validate(o).ok());
}

TEST_CASE("any positive ratio and distance is legal", "[options]") {
  for (const float value : {1e-30f, 0.5f, 1.0f, 1.1f, 3.2f, 1e30f, std::numeric_limits<float>::infinity()}) {
    match_options o;
    o.max_ratio = o.max_distance = value;
    CHECK(validate(o).ok());
  }
}

TEST_CASE("an option out of its range is named", "[options]") {
  for (const float value : {0.0f, -0.0f, -0.8f, std::numeric_limits<float>::quiet_NaN()}) {
    match_options ratio, distance;
    ratio.max_ratio = value;
    distance.max_distance = value;
    CHECK(validate(ratio).code == errc::invalid_option);
    CHECK(validate(ratio).argument == std::string("options.max_ratio"));
    CHECK(validate(distance).code == errc::invalid_option);
    CHECK(validate(distance).argument == std::string("options.max_distance"));
  }
  match_options matches, features;
  matches.max_matches = features.max_features = -1;
  CHECK(validate(matches).code == errc::negative_count);
  CHECK(validate(matches).argument == std::string("options.max_matches"));
  CHECK(validate(features).code == errc::negative_count);
  CHECK(validate(features).argument == std::string("options.max_features"));
  matches.max_matches = features.max_features = 0;
  CHECK(validate(matches).ok());
  CHECK(validate(features).ok());
}
