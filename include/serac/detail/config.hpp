// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Function decorations and fixed-width integers that host compilers, nvcc and NVRTC agree on.
#pragma once

#if defined(__CUDACC_RTC__)
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
namespace serac {
namespace std = ::cuda::std;  // NVRTC has no standard library of its own; CCCL has what kernels need of one
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

/// A parameter of a kernel that is read where it lies, as the tensor copy engine needs it; a plain one below sm_70.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define SERAC_GRID_CONSTANT
#else
#define SERAC_GRID_CONSTANT __grid_constant__
#endif

/// Whether the code being compiled may use the instructions that only sm_90a has.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SERAC_HAS_WGMMA 1
#endif
