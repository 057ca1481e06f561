// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>

#include <string>

#include <serac/serac.cuh>

#include "backend.hpp"

namespace serac_colmap {

namespace {

/// Ties broken as COLMAP breaks them, which shows only in lists made with max_ratio above 1.
struct colmap_ties : serac::policy_for<128> {
  using tie = serac::tie_break::siftgpu;
};

template <class Policy>
class cuda_backend : public backend {
 public:
  cuda_backend(const serac::match_options& options, int device) : matcher_(options, device) {
    // One small match shows now, and not at the first pair, whether this GPU can run the kernels.
    const std::uint8_t descriptor[128] = {};
    matcher_.match({descriptor, 1}, {descriptor, 1});
    cudaDeviceProp properties{};
    if (device < 0 && cudaGetDevice(&device) != cudaSuccess) device = 0;
    name_ = "GPU " + std::to_string(device);
    if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) name_ += std::string(", ") + properties.name;
  }

  serac::match_list match(const serac::sift_view& left, const serac::sift_view& right) override {
    return matcher_.match(left, right);
  }
  std::string name() const override { return name_; }

 private:
  serac::basic_matcher<Policy> matcher_;
  std::string name_;
};

}  // namespace

std::unique_ptr<backend> make_cuda_backend(const serac::match_options& options, int device) {
  if (options.max_ratio > 1) return std::make_unique<cuda_backend<colmap_ties>>(options, device);
  return std::make_unique<cuda_backend<serac::default_policy>>(options, device);
}

}  // namespace serac_colmap
