// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The input is two geometries and keypoints, as floats with any bits: a byte that says which geometries there are, H
/// and its error, F and its error, then locations, half of them of each image. Guided matching must visit exactly the
/// pairs that the geometry admits, whichever tiles it leaves out.
#include <cstdint>
#include <cstring>
#include <vector>

#include <serac/admissible.hpp>
#include <serac/host/match_guided.hpp>

#include "fuzz.hpp"

namespace {

using namespace serac_fuzz;

constexpr std::size_t floats_of_geometry = 10;

void read(const std::uint8_t*& data, float (&matrix)[9], float& max_squared_error) {
  std::memcpy(matrix, data, sizeof matrix);
  std::memcpy(&max_squared_error, data + sizeof matrix, sizeof max_squared_error);
  data += floats_of_geometry * sizeof(float);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 + 2 * floats_of_geometry * sizeof(float)) return 0;
  const std::uint8_t* const end = data + size;
  serac::two_view_geometry geometry;
  geometry.has_homography = (*data & 1) != 0;
  geometry.has_epipolar = (*data & 2) != 0;
  ++data;
  read(data, geometry.homography.matrix, geometry.homography.max_squared_error);
  read(data, geometry.epipolar.matrix, geometry.epipolar.max_squared_error);
  std::vector<float> points(static_cast<std::size_t>(end - data) / sizeof(float));
  if (!points.empty()) std::memcpy(points.data(), data, points.size() * sizeof(float));
  const auto count = static_cast<std::int64_t>(points.size() / 4);  // of an image

  const serac::guided_by<> guide{{points.data(), count}, {points.data() + 2 * count, count}, geometry};
  if (!serac::detail::check_admissible(guide, count, count).ok()) return 0;
  std::vector<std::uint8_t> visited(static_cast<std::size_t>(count * count));
  const serac::host::detail::admissible_pairs<serac::guided_by<>> pairs(guide, count, count);
  for (std::int64_t task = 0; task < pairs.tasks(); ++task) {
    pairs.visit(task, [&](std::int64_t i, std::int64_t j) { ++visited[static_cast<std::size_t>(i * count + j)]; });
  }
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      require(visited[static_cast<std::size_t>(i * count + j)] == (guide(i, j) ? 1 : 0),
              "the pairs that are visited are those that are admitted");
    }
  }
  return 0;
}
