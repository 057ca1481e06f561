// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <string>
#include <vector>

#include <serac/host/matcher.hpp>
#include <support/catch.hpp>
#include <support/survey8.hpp>

using namespace serac;
using namespace serac::test;

TEST_CASE("the host backend makes COLMAP's 51 guided lists of real images, bit for bit", "[survey8]") {
  if (real_data_directory() == nullptr) return skip(no_real_data);
  const std::string directory = real_data_directory();
  const auto images = read_survey8(directory);
  const auto points = read_survey8_points(directory);
  const auto cases = read_guided_cases(directory);
  const auto keypoints = [&](std::uint32_t i) { return keypoint_view(points[i].data(), images[i].count); };
  host::matcher matcher;

  SECTION("near the constraint") {
    list_file file;
    for (const guided_case& c : cases) {
      const guided_by<> guide{keypoints(c.i), keypoints(c.j), c.geometry};
      file.add(c.i, c.j, matcher.match_guided(images[c.i].view(), images[c.j].view(), guide).pairs);
    }
    CHECK(sha256(file.bytes()) == golden_sha256(directory, "guided"));
    CHECK(file.bytes() == golden_bytes(directory, "guided"));
  }

  SECTION("asking about every pair: a few cases, which takes long") {
    for (std::size_t k = 0; k < cases.size(); k += 20) {
      const guided_case& c = cases[k];
      INFO("case " << k);
      const guided_by<> guide{keypoints(c.i), keypoints(c.j), c.geometry};
      const auto admissible = [&](std::int64_t i, std::int64_t j) { return guide(i, j); };
      const auto list = matcher.match_guided(images[c.i].view(), images[c.j].view(), guide).pairs;
      REQUIRE_SAME(matcher.match_guided(images[c.i].view(), images[c.j].view(), admissible).pairs, list);
    }
  }
}
