// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <serac/detail/device_memory.cuh>
#include <serac/matcher.cuh>
#include <serac/survey/device_worker.cuh>

#include "backend.hpp"
#include "colmap_ties.cuh"

namespace serac_colmap {

namespace {

/// A worker on a GPU that has just matched something: whether this program has code for it shows now.
template <class Policy>
std::unique_ptr<serac::survey::worker<std::uint8_t>> make_worker(const serac::match_options& options, int device) {
  const std::uint8_t descriptor[128] = {};
  serac::basic_matcher<Policy>(options, device).match({descriptor, 1}, {descriptor, 1});
  return std::make_unique<serac::survey::device_worker<Policy>>(device);
}

/// The GPUs that this process takes. Of all of them, where several processes share the machine, its part.
std::vector<int> devices_of(const backend_choice& choice) {
  if (choice.gpu_index != std::vector<int>{-1}) return choice.gpu_index;
  int count = 0;
  serac::detail::check_cuda(cudaGetDeviceCount(&count), "device");
  std::vector<int> mine;
  for (int device = choice.place % std::max(count, 1); device < count; device += choice.of) mine.push_back(device);
  return mine;
}

}  // namespace

backend make_cuda_backend(const serac::match_options& options, const backend_choice& choice) {
  backend gpus;
  std::size_t least_free = std::numeric_limits<std::size_t>::max();
  for (const int device : devices_of(choice)) {
    gpus.workers.push_back(options.max_ratio > 1 ? make_worker<colmap_ties>(options, device)
                                                 : make_worker<serac::default_policy>(options, device));
    const serac::detail::device_scope scope(device);
    std::size_t free = 0, total = 0;
    serac::detail::check_cuda(cudaMemGetInfo(&free, &total), "device");
    least_free = std::min(least_free, free);
  }
  if (gpus.workers.empty()) throw serac::error({serac::errc::no_device, "device"});
  // Other processes of this survey may be on the same GPU, and others as well.
  gpus.memory_budget =
      choice.memory_budget > 0 ? choice.memory_budget : least_free / 10 * 8 / static_cast<std::size_t>(choice.of);
  return gpus;
}

}  // namespace serac_colmap
