// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Who matches: the host or a GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "backend.hpp"

namespace serac_python {

/// Whether this build has a GPU part.
bool has_cuda();
/// The GPUs that this build sees.
int gpu_count();

/// Whether to match on a GPU what lies in host memory: as asked, else if there is one that can be used (the first time,
/// it is tried). Throws serac::error where a GPU is asked for and there is none.
bool use_gpu(const device_choice& choice);

/// The backend for arrays in these places: the GPU that one of them is on; else what `use_gpu` says. ValueError where
/// they are on several GPUs, or elsewhere than `choice` asks for.
std::unique_ptr<backend> backend_for(const std::vector<place>& places, const device_choice& choice, int threads);

}  // namespace serac_python
