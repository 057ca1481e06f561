// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Binary descriptors, such as ORB's, by Hamming distance: on the host, and the same on the GPU.

#include <cstdint>
#include <random>
#include <vector>

#include <serac/host/matcher.hpp>
#include <serac/matcher.cuh>

#include "support.cuh"

constexpr int width = 32;  // bytes: 256 bits

std::vector<std::uint8_t> random_bits(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count * width));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

int main() {
  // The right image sees every second descriptor of the left one again, a bit of each byte changed.
  const std::vector<std::uint8_t> left = random_bits(1000, 1);
  std::vector<std::uint8_t> right = random_bits(800, 2);
  std::vector<serac::match_pair> expected;
  for (std::uint32_t j = 0; j < 500; ++j) {
    for (std::uint32_t k = 0; k < width; ++k) right[j * width + k] = left[2 * j * width + k] ^ 1 << (j + k) % 8;
    expected.push_back({2 * j, j});
  }
  const serac::binary_view rows = serac::as_bits(left.data(), 1000, width);  // cv::Mat: data, rows, cols, step
  const serac::binary_view columns = serac::as_bits(right.data(), 800, width);

  // Lowe's ratio test on Hamming distances, and at most 63 bits; mutual, as options.cross_check is on.
  const serac::hamming_acceptance accept{0.8f, 64};
  serac::host::basic_matcher<serac::bits8> host_matcher;
  int failures = example::verdict(host_matcher.match(rows, columns, accept).pairs, expected, "matches on the host");
  const serac::top2 nearest = host_matcher.nearest2(rows, columns).rows[0];
  std::printf("left 0 is right %d at a distance of %d bits\n", nearest.index, serac::hamming_distance(nearest.best));
  failures += nearest.index != 0 || serac::hamming_distance(nearest.best) != width;
  if (failures > 0) return 1;

  example::require_gpu();
  serac::basic_matcher<serac::automatic_policy<width, serac::bits8>> matcher;
  return example::verdict(matcher.match(rows, columns, accept).pairs, expected, "matches on the GPU");
}
