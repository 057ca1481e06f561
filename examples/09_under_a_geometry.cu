// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Matches two images under a known geometry, and among pairs that a test of one's own admits.
#include <serac/serac.cuh>

#include "support.cuh"

/// Features may match where the right one is not above the left one. The matcher calls it on the device.
struct not_above {
  serac::keypoint_view left, right;

  __host__ __device__ bool operator()(std::int64_t row, std::int64_t column) const {
    return right[column].y >= left[row].y;
  }
};

int main() {
  example::require_gpu();
  const example::image left = example::random_image(3000, 1);
  const example::image right = example::overlapping_image(left, 2500, 2);

  // Where the features are: a feature seen again stands 40 pixels to the right, but every third one somewhere else.
  std::vector<float> left_points, right_points(2 * 2500, 5000.0f);
  for (int i = 0; i < 3000; ++i) {
    left_points.push_back(static_cast<float>(i * 7919 % 4000));
    left_points.push_back(static_cast<float>(i * 104729 % 2250));
  }
  std::vector<serac::match_pair> seen_again, not_higher;
  for (unsigned i = 0; i < 3000; i += 2) {
    const unsigned j = 1499 - i / 2;  // see overlapping_image
    const bool elsewhere = i % 3 == 0;
    right_points[2 * j] = left_points[2 * i] + 40;
    right_points[2 * j + 1] = left_points[2 * i + 1] + (elsewhere ? 30.0f : 0.0f) - (i % 4 == 0 ? 60.0f : 0.0f);
    if (!elsewhere && i % 4 != 0) seen_again.push_back({i, j});
    if (i % 4 != 0) not_higher.push_back({i, j});
  }

  const serac::homography shift{{1, 0, 40, 0, 1, 0, 0, 0, 1}, 4.0f * 4.0f};  // within 4 pixels
  const serac::guided_by<> guide{{left_points.data(), 3000}, {right_points.data(), 2500}, shift};
  serac::matcher matcher;
  const serac::match_list guided = matcher.match_guided(example::view(left), example::view(right), guide);

  const example::device_array<float> left_there(left_points), right_there(right_points);
  const not_above lower{{left_there.data(), 3000}, {right_there.data(), 2500}};
  const serac::match_list own = matcher.match_guided(example::view(left), example::view(right), lower);

  return example::verdict(guided.pairs, seen_again, "matches under the homography") |
         example::verdict(own.pairs, not_higher, "matches that are not above");
}
