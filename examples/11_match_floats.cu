// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Descriptors of floats, such as SuperPoint's: by cosine, by squared distance, and the few nearest of each. On the
/// host, and the same on the GPU.

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <serac/host/matcher.hpp>
#include <serac/matcher.cuh>

#include "support.cuh"

constexpr int width = 256;
using by_dot_product = serac::float_policy_for<width * sizeof(float)>;  // a policy's width is in bytes
using by_distance = serac::float_policy_for<width * sizeof(float), serac::l2<float>>;

void normalise(float* descriptor) {
  float norm = 0;
  for (int k = 0; k < width; ++k) norm += descriptor[k] * descriptor[k];
  for (int k = 0; k < width; ++k) descriptor[k] /= std::sqrt(norm);
}

std::vector<float> random_descriptors(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count * width));
  for (float& value : values) value = static_cast<float>(random()) * 0x1p-32f - 0.5f;
  for (int i = 0; i < count; ++i) normalise(values.data() + i * width);
  return values;
}

int main() {
  // The right image sees every second descriptor of the left one again, a little changed.
  const std::vector<float> left = random_descriptors(600, 1), noise = random_descriptors(500, 2);
  std::vector<float> right = noise;
  std::vector<serac::match_pair> expected;
  for (std::uint32_t j = 0; j < 300; ++j) {
    for (std::uint32_t k = 0; k < width; ++k)
      right[j * width + k] = left[2 * j * width + k] + 0.3f * noise[j * width + k];
    normalise(right.data() + j * width);
    expected.push_back({2 * j, j});
  }
  const serac::descriptor_view<float> rows(left.data(), 600, width), columns(right.data(), 500, width);

  // Mutual matches of a cosine of at least 0.85, as COLMAP asks of ALIKED's; and by Lowe's ratio test on distances.
  const serac::basic_cosine_acceptance<float> least_cosine;
  const serac::basic_euclidean_acceptance<serac::l2<float>> distinct;
  serac::host::basic_matcher<float> dot_matcher;
  serac::host::basic_matcher<serac::l2<float>> distance_matcher;
  int failures = example::verdict(dot_matcher.match(rows, columns, least_cosine).pairs, expected, "matches by cosine");
  failures += example::verdict(distance_matcher.match(serac::as_l2(rows), serac::as_l2(columns), distinct).pairs,
                               expected, "matches by distance");

  // The five nearest of every left descriptor: scores are integers, of which the floats come back.
  const auto nearest = distance_matcher.nearest<5>(serac::as_l2(rows), serac::as_l2(columns)).rows;
  for (const serac::neighbor& one : nearest[0].at) {
    std::printf("left 0 is %.3f from right %d\n", std::sqrt(serac::squared_l2_of(one.score)), one.index);
  }
  failures += nearest[0].at[0].index != 0;
  if (failures > 0) return 1;

  example::require_gpu();
  serac::basic_matcher<by_dot_product> gpu_dot_matcher;
  serac::basic_matcher<by_distance> gpu_distance_matcher;
  failures += example::verdict(gpu_dot_matcher.match(rows, columns, least_cosine).pairs, expected,
                               "matches by cosine on the GPU");
  failures += example::verdict(gpu_distance_matcher.match(serac::as_l2(rows), serac::as_l2(columns), distinct).pairs,
                               expected, "matches by distance on the GPU");
  if (gpu_distance_matcher.nearest<5>(serac::as_l2(rows), serac::as_l2(columns)).rows != nearest) {
    std::printf("the GPU's nearest are others\n");
    ++failures;
  }
  return failures;
}
