// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Owners of what the CUDA runtime lends: memory, a stream, the current device. They throw serac::error.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include <serac/detail/launch.cuh>
#include <serac/status.hpp>

namespace serac::detail {

/// Throws `error` for a failed runtime call and clears the runtime's record of it, so that nobody else meets it.
inline void check_cuda(cudaError_t code, const char* argument) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  throw error(to_status(code, argument));
}

/// Makes `device` current while it lives.
class device_scope {
 public:
  explicit device_scope(int device) {
    check_cuda(cudaGetDevice(&previous_), "device");
    check_cuda(cudaSetDevice(device), "device");
  }
  ~device_scope() { cudaSetDevice(previous_); }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int previous_ = 0;
};

/// Device memory that grows on demand and is kept between uses. A failed growth leaves it empty and usable.
class device_buffer {
 public:
  device_buffer() = default;
  device_buffer(device_buffer&& other) noexcept { swap(other); }
  device_buffer& operator=(device_buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~device_buffer() { cudaFree(data_); }

  /// At least `bytes` of memory of the current device; the contents are lost when it has to grow.
  void* reserve(std::size_t bytes, const char* name) {
    if (bytes > bytes_) {
      release();
      check_cuda(cudaMalloc(&data_, bytes), name);
      bytes_ = bytes;
    }
    return data_;
  }

  void release() noexcept {
    cudaFree(data_);
    data_ = nullptr;
    bytes_ = 0;
  }

  void* data() const noexcept { return data_; }

 private:
  void swap(device_buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A stream of the current device; it waits for work on the legacy default stream.
class owned_stream {
 public:
  owned_stream() { check_cuda(cudaStreamCreate(&stream_), "stream"); }
  owned_stream(owned_stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  owned_stream& operator=(owned_stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~owned_stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  operator cudaStream_t() const noexcept { return stream_; }
  void synchronize() const { check_cuda(cudaStreamSynchronize(stream_), "stream"); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace serac::detail
