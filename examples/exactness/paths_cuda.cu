// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <serac/detail/device_memory.cuh>
#include <serac/matcher.cuh>
#include <serac/mma_policy.hpp>
#include <serac/policy.hpp>
#include <serac/survey/device_worker.cuh>
#include <serac/thread/dot.cuh>
#include <serac/wgmma_policy.hpp>

#include "colmap_ties.cuh"
#include "paths.hpp"

namespace serac_exactness {

namespace {

struct scalar : serac_colmap::colmap_ties {
  using dot = serac::dot_scalar;
};
struct dp4a : serac_colmap::colmap_ties {
  using dot = serac::dot_dp4a;
};

/// The path of a policy, left out where the GPU, the program or the options do not allow it.
template <class Policy>
path path_of(const std::string& name, const serac::match_options& options) {
  path made{name, "", {}, {}};
  made.make_backend = [] {
    int device = 0;
    std::size_t free = 0, total = 0;
    serac::detail::check_cuda(cudaGetDevice(&device), "device");
    serac_colmap::backend gpu;
    gpu.workers.push_back(std::make_unique<serac::survey::device_worker<Policy>>(device));
    serac::detail::check_cuda(cudaMemGetInfo(&free, &total), "device");
    gpu.memory_budget = free / 10 * 8;
    return gpu;
  };
  made.make_matcher = [options] {
    const auto matcher = std::make_shared<serac::basic_matcher<Policy>>(options);
    return [matcher](const auto& left, const auto& right) { return matcher->match(left, right); };
  };
  try {
    const std::uint8_t descriptor[128] = {};
    made.make_matcher()({descriptor, 1}, {descriptor, 1});
  } catch (const std::exception& error) {
    made.left_out = error.what();
  }
  return made;
}

}  // namespace

std::vector<path> cuda_paths(const serac::match_options& options) {
  std::vector<path> paths{path_of<scalar>("classic, scalar", options), path_of<dp4a>("classic, DP4A", options),
                          path_of<serac::mma_policy>("mma", options), path_of<serac::wgmma_policy>("wgmma", options)};
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    for (path& each : paths) each.left_out = std::string("there is no usable GPU: ") + cudaGetErrorString(error);
  }
  return paths;
}

}  // namespace serac_exactness
