// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// CUDA runtime calls that report a serac::status.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include <serac/status.hpp>

// What launches kernels is hidden, here and wherever this pragma stands: no shared library takes it from another, where
// the kernels may be for other GPUs.
#pragma GCC visibility push(hidden)
namespace serac::detail {

/// The status of a runtime call about `argument`.
inline status to_status(cudaError_t code, const char* argument) noexcept {
  switch (code) {
    case cudaSuccess:
      return {};
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidKernelImage:
      return {errc::no_kernel_image, argument, static_cast<int>(code)};
    case cudaErrorMemoryAllocation:
      return {errc::out_of_memory, argument, static_cast<int>(code)};
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
      return {errc::no_device, argument, static_cast<int>(code)};
    default:
      return {errc::device_failure, argument, static_cast<int>(code)};
  }
}

/// How a kernel follows the one before it in the stream: after it; `overlapping`, brought to the device while that is
/// still running (it calls wait_for_previous_kernel before it touches memory); or `together`, after it, with all blocks
/// on the device at the same time, so that they may wait for one another.
enum class launch_order { after_previous, overlapping, together };

/// Launches `kernel`; the status is the launch call's own, never a pending error of somebody else's.
template <class... Parameters, class... Arguments>
status launch(launch_order order, const char* name, void (*kernel)(Parameters...), dim3 grid, int threads,
              std::size_t shared_bytes, cudaStream_t stream, Arguments&&... arguments) noexcept {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  if (order == launch_order::together) {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
#if CUDART_VERSION >= 12030  // graphs know this order from there on
  if (order == launch_order::overlapping) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
#endif
  return to_status(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name);
}

/// The same, after the kernel before it.
template <class... Parameters, class... Arguments>
status launch(const char* name, void (*kernel)(Parameters...), dim3 grid, int threads, std::size_t shared_bytes,
              cudaStream_t stream, Arguments&&... arguments) noexcept {
  return launch(launch_order::after_previous, name, kernel, grid, threads, shared_bytes, stream,
                std::forward<Arguments>(arguments)...);
}

/// Blocks of `threads` that cover `items`.
inline unsigned blocks_for(std::int64_t items, int threads) noexcept {
  return static_cast<unsigned>((items + threads - 1) / threads);
}

/// Multiprocessors of the current device.
inline status multiprocessor_count(int& count) noexcept {
  int device = 0;
  if (auto s = to_status(cudaGetDevice(&device), "device"); !s.ok()) return s;
  return to_status(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "device");
}

/// Lets `kernel` use `shared_bytes` of dynamic shared memory on the current device.
template <class Kernel>
status grant_shared(const char* name, Kernel kernel, std::size_t shared_bytes) noexcept {
  constexpr std::size_t granted_to_all = 48 * 1024;
  if (shared_bytes <= granted_to_all) return {};
  int device = 0, most = 0;
  if (auto s = to_status(cudaGetDevice(&device), "device"); !s.ok()) return s;
  const cudaError_t code = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (auto s = to_status(code, "device"); !s.ok()) return s;
  if (shared_bytes > static_cast<std::size_t>(most)) return {errc::unsupported_device, "policy: shared memory"};
  return to_status(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)), name);
}

/// Blocks of `kernel` that the current device runs at a time; also lets it use `shared_bytes` of dynamic shared memory.
/// Synchronises nothing and may be called while a stream is being captured.
template <class Kernel>
status resident_blocks(const char* name, Kernel kernel, int threads, std::size_t shared_bytes,
                       std::int64_t& blocks) noexcept {
  int multiprocessors = 0, per_multiprocessor = 0;
  if (auto s = multiprocessor_count(multiprocessors); !s.ok()) return s;
  if (auto s = grant_shared(name, kernel, shared_bytes); !s.ok()) return s;
  const cudaError_t code =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, shared_bytes);
  if (auto s = to_status(code, name); !s.ok()) return s;
  if (per_multiprocessor == 0) return {errc::unsupported_device, name};
  blocks = std::int64_t{multiprocessors} * per_multiprocessor;
  return {};
}

}  // namespace serac::detail

#pragma GCC visibility pop
