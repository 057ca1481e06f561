// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What matches two images: a GPU, or the processors of this machine.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <serac/lists.hpp>
#include <serac/options.hpp>
#include <serac/view.hpp>

namespace serac_colmap {

/// Matches images in host memory. Throws serac::error.
class backend {
 public:
  virtual ~backend() = default;
  virtual serac::match_list match(const serac::sift_view& left, const serac::sift_view& right) = 0;
  virtual std::string name() const = 0;  ///< for people
};

/// Where to match.
struct backend_choice {
  std::optional<bool> use_gpu;  ///< unset: on the GPU if one is usable
  int gpu_index = -1;           ///< -1: the one that CUDA takes
  int num_threads = -1;         ///< of the host; -1: all
};

/// Says on standard error why a GPU is not used where that was left open. Throws std::runtime_error where a GPU is
/// asked for and none is usable, serac::error for options that are out of range.
std::unique_ptr<backend> make_backend(const serac::match_options& options, const backend_choice& choice);

/// On GPU `device`, or the one that CUDA takes if negative: backend_cuda.cu, which only a build with CUDA has.
std::unique_ptr<backend> make_cuda_backend(const serac::match_options& options, int device);

}  // namespace serac_colmap
