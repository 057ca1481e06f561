// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Tensor maps for the copy engine, made by the driver without linking it.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <serac/detail/launch.cuh>
#include <serac/view.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac::detail {

/// Describes a view's bytes for boxes of [box_rows][swizzle] in the swizzle of that width (32, 64 or 128); what lies
/// beyond the view reads as zero. The data is 16-byte aligned, the stride a multiple of 16. Host; about a microsecond.
template <class T>
status make_tensor_map(const descriptor_view<T>& view, int box_rows, int swizzle, CUtensorMap& map) noexcept {
  static_assert(sizeof(T) == 1);
  using encode_function = decltype(&cuTensorMapEncodeTiled);
  static const encode_function encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
    const cudaError_t code =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t code = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    return code == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<encode_function>(function)
                                                                       : nullptr;
  }();
  if (encode == nullptr) return {errc::unsupported_device, "driver: cuTensorMapEncodeTiled"};

  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(view.width), static_cast<cuuint64_t>(view.count)};
  const cuuint64_t strides[1] = {static_cast<cuuint64_t>(view.stride)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(swizzle), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  const CUtensorMapSwizzle mode = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                  : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                  : CU_TENSOR_MAP_SWIZZLE_32B;
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<T*>(view.data), sizes, strides, box,
                                 steps, CU_TENSOR_MAP_INTERLEAVE_NONE, mode, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) return {errc::device_failure, "cuTensorMapEncodeTiled", static_cast<int>(result)};
  return {};
}

}  // namespace serac::detail

#pragma GCC visibility pop
