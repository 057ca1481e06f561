// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Policies: other tiles and another dot path, on device memory and a stream, with memory that the caller owns.

#include <serac/host/matcher.hpp>
#include <serac/serac.cuh>

#include "support.cuh"

struct tall : serac::default_policy {
  static constexpr int tile_rows = 128;
};
struct small : serac::default_policy {
  static constexpr int tile_rows = 16, tile_columns = 64, thread_rows = 4;
  using dot = serac::dot_scalar;  // no DP4A
};

template <class Policy>
int match(serac::sift_view left, serac::sift_view right, const std::vector<serac::match_pair>& expected,
          const char* what) {
  const serac::match_options options;
  const example::device_array<serac::match_pair> pairs(left.count);
  const example::device_array<std::uint32_t> count(1);
  const std::size_t bytes = serac::device::match_workspace<Policy>(left, right, options);
  const example::device_array<std::uint8_t> workspace(bytes);
  cudaStream_t stream;
  example::check(cudaStreamCreate(&stream));

  example::check(serac::device::match<Policy>(left, right, options, {pairs.data(), left.count, count.data()},
                                              workspace.data(), bytes, stream));

  const int result = example::verdict(pairs.host(count.host(1)[0]), expected, what);
  example::check(cudaStreamDestroy(stream));
  return result;
}

int main() {
  example::require_gpu();
  const example::image left = example::random_image(3000, 1);
  const example::image right = example::overlapping_image(left, 2500, 2);
  const example::device_array<std::uint8_t> left_device(left), right_device(right);
  const auto expected = serac::host::matcher().match(example::view(left), example::view(right)).pairs;

  const serac::sift_view rows{left_device.data(), 3000}, columns{right_device.data(), 2500};
  return match<serac::default_policy>(rows, columns, expected, "matches with the default tiles") +
         match<tall>(rows, columns, expected, "matches with tall tiles") +
         match<small>(rows, columns, expected, "matches with small tiles and scalar products");
}
