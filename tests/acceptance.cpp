// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <serac/acceptance.hpp>
#include <support/catch.hpp>

using namespace serac;

namespace {

constexpr std::int32_t unit = 262144;

/// distance(s) as the specification has it, written out here.
float formula_distance(std::int32_t s) {
  return static_cast<float>(std::acos(std::min(static_cast<double>(static_cast<float>(s) * (1.0f / 262144.0f)), 1.0)));
}

struct formula {
  std::vector<float> distance;  // of every score to 2^18

  formula() {
    for (std::int32_t s = 0; s <= unit; ++s) distance.push_back(formula_distance(s));
  }
  bool accepts(std::int32_t best, std::int32_t second, float max_ratio, float max_distance) const {
    const float d = distance[static_cast<std::size_t>(best)];
    const float limit = distance[static_cast<std::size_t>(second)] * max_ratio;
    return d < max_distance && d < limit;
  }
};

const formula& the_formula() {
  static const formula f;
  return f;
}

}  // namespace

TEST_CASE("the distance does not increase with the score, so a threshold decides", "[acceptance]") {
  const std::vector<float>& distance = the_formula().distance;
  long rising = 0, different = 0;
  for (std::size_t s = 0; s + 1 < distance.size(); ++s) rising += distance[s] < distance[s + 1];
  for (std::size_t s = 0; s < distance.size(); ++s) {
    different += angular_distance(static_cast<std::int32_t>(s)) != distance[s];
  }
  CHECK(rising == 0);
  CHECK(different == 0);
  CHECK(distance.front() == static_cast<float>(std::acos(0.0)));
  CHECK(distance.back() == 0);
  for (const std::int32_t above : {unit + 1, 263820, 8323200, 33292800, std::numeric_limits<std::int32_t>::max()}) {
    CHECK(angular_distance(above) == 0);
  }
}

TEST_CASE("the integer thresholds are the float formula, for every best score at its boundary", "[acceptance]") {
  std::vector<std::pair<float, float>> settings{{0.8f, 0.7f}};
  for (const float ratio : {0.5f, 0.95f, 1.0f, 1.1f, 3.2f}) {
    for (const float distance : {0.25f, 0.7f, 1.5f, 3.2f}) settings.emplace_back(ratio, distance);
  }
  settings.emplace_back(0.8f, formula_distance(220000));  // a score whose distance is the limit itself is rejected
  for (const auto& [ratio, distance] : settings) {
    INFO("max_ratio " << ratio << ", max_distance " << distance);
    const formula& f = the_formula();
    const acceptance_table table(ratio, distance);
    const angular_acceptance direct{ratio, distance};
    REQUIRE(table.limits().size() == static_cast<std::size_t>(unit) + 1);
    long wrong = 0, accepted = 0, last_limit = -1, falling = 0;  // a greater best accepts what a smaller one does
    for (std::int32_t best = 0; best <= unit; ++best) {
      const std::int32_t limit = table.limits()[static_cast<std::size_t>(best)];
      falling += limit < last_limit;
      last_limit = limit;
      if (limit < -1 || limit > unit) ++wrong;
      // The formula is monotone in second (see above), so what holds at the boundary holds everywhere.
      if (limit >= 0 && !f.accepts(best, limit, ratio, distance)) ++wrong;
      if (limit < unit && f.accepts(best, limit + 1, ratio, distance)) ++wrong;
      if (limit >= 0 && (!table(best, limit) || !table(best, 0) || !direct(best, limit))) ++wrong;
      if (limit < unit && (table(best, limit + 1) || table(best, unit) || direct(best, limit + 1))) ++wrong;
      accepted += limit >= 0;
    }
    CHECK(falling == 0);
    CHECK(wrong == 0);
    CHECK(accepted > 0);
  }
}

TEST_CASE("scores above 2^18 are judged as 2^18", "[acceptance]") {
  for (const float ratio : {0.8f, 1.1f}) {
    const acceptance_table table(ratio, 0.7f);
    const angular_acceptance direct{ratio, 0.7f};
    for (const std::int32_t best : {unit, unit + 1, 263820, 33292800}) {
      for (const std::int32_t second : {0, 243252, unit - 1, unit, unit + 1, 33292800}) {
        CAPTURE(best, second);
        CHECK(table(best, second) == (second < unit));
        CHECK(direct(best, second) == (second < unit));
      }
    }
  }
}

TEST_CASE("cases 16 and 16b: the thresholds of the defaults", "[acceptance]") {
  const acceptance_table table{match_options{}};
  const angular_acceptance direct;
  CHECK(table(200499, 0));
  CHECK_FALSE(table(200498, 0));
  CHECK(table(250000, 243252));
  CHECK_FALSE(table(250000, 243253));
  CHECK(direct(200499, 0));
  CHECK_FALSE(direct(200498, 0));
  CHECK(direct(250000, 243252));
  CHECK_FALSE(direct(250000, 243253));
}
