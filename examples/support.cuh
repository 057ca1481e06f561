// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the examples on device memory share.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <serac/status.hpp>

#include "support.hpp"

namespace example {

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

inline void check(const serac::status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

/// Ends the program with 77, "skipped", where there is no GPU.
inline void require_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return;
  std::fprintf(stderr, "SKIPPED: there is no usable CUDA device\n");
  std::exit(77);
}

/// Device memory of `count` T.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T))); }
  explicit device_array(const std::vector<T>& values) : device_array(values.size()) {
    check(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;
  ~device_array() { cudaFree(data_); }

  T* data() const { return data_; }

  /// The first `count` of them, once the device is done.
  std::vector<T> host(std::size_t count) const {
    std::vector<T> values(count);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

inline serac::sift_view view(const device_array<std::uint8_t>& descriptors, std::int64_t count) {
  return {descriptors.data(), count};
}

}  // namespace example
