// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Random surveys on GPUs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <serac/survey/device_worker.cuh>
#include <support/gpu.cuh>
#include <support/surveys.hpp>

namespace serac::test {

inline int device_count() {
  int count = 0;
  require_cuda(cudaGetDeviceCount(&count));
  return count;
}

/// A worker on each of the first `count` GPUs, with hooks if there are any.
inline survey::worker_list<std::uint8_t> gpus(int count, const hooked_worker<>::hooks& before = {}) {
  survey::worker_list<std::uint8_t> workers;
  for (int device = 0; device < count; ++device) {
    workers.push_back(std::make_unique<hooked_worker<>>(std::make_unique<survey::device_worker<>>(device), before));
  }
  return workers;
}

inline match_options loose() {
  match_options options;
  options.max_ratio = 0.9f;
  return options;
}

/// A random survey: small images, or a few large ones.
inline image_batch<> random_survey(random_source& random, std::uint64_t seed) {
  if (!small_run() && seed % 8 == 0) return random_batch(random, 2 + random.below(4), 20000, 12);
  if (seed % 4 == 0) return random_batch(random, 1 + random.below(200), 100, by_run_size(800, 800, 40));
  return random_batch(random, 1 + random.below(20), small_run() ? 100 : 1000, by_run_size(100, 100, 20));
}

/// Random surveys on the workers give the lists made pair by pair on the host.
inline void check_random_surveys(const survey::worker_list<std::uint8_t>& workers, std::uint64_t first_seed) {
  std::int64_t matches = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + by_run_size<std::uint64_t>(24, 4, 1); ++seed) {
    random_source random(seed);
    INFO("seed " << seed);
    const auto batch = random_survey(random, seed);
    match_options match = loose();
    if (seed % 5 == 0) match.max_matches = 9;
    if (seed % 7 == 0) match.max_features = 50;
    if (seed % 3 == 0) match.cross_check = false;
    checked_survey<> survey(batch, match);
    const auto options = random_run_options(random, *workers.front(), survey.images(), match);
    matches += survey.run(workers, options, 1 + random.below(300)).matches;
  }
  if (!tiny_run()) CHECK(matches > (small_run() ? 10 : 5000));
}

}  // namespace serac::test
