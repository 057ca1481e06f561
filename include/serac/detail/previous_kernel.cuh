// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Kernels that follow one another closely (PTX ISA, sm_90: griddepcontrol).
#pragma once

#include <serac/detail/config.hpp>

namespace serac::detail {

/// Lets the next kernel of the stream be brought to the device, and returns when all memory operations of the one
/// before are done and seen. A kernel that may be launched with launch_order::overlapping, before it touches memory;
/// every thread. Otherwise, and below sm_90, it does nothing.
SERAC_DEVICE void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace serac::detail
