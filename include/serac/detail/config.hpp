// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Function decorations and fixed-width integers that host compilers, nvcc and NVRTC agree on.
#pragma once

#if defined(__CUDACC_RTC__)
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
namespace serac::detail {
using namespace ::cuda::std;  // NVRTC has no <cstdint> of its own
}
#else
#include <cstddef>
#include <cstdint>
#endif

#if defined(__CUDACC__)
#define SERAC_HOST_DEVICE __host__ __device__
#define SERAC_DEVICE __device__ __forceinline__
#else
#define SERAC_HOST_DEVICE
#endif

/// Whether the code being compiled may use the instructions that only sm_90a has.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SERAC_HAS_WGMMA 1
#endif
