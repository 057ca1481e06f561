// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What matches the pairs of a survey: GPUs, or the processors of this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <serac/options.hpp>
#include <serac/survey/survey.hpp>

namespace serac_colmap {

using worker_list = serac::survey::worker_list<std::uint8_t>;

/// Where to match.
struct backend_choice {
  std::optional<bool> use_gpu;        ///< unset: on GPUs if one is usable
  std::vector<int> gpu_index = {-1};  ///< -1 alone: all of them
  int num_threads = -1;               ///< of the host; -1: all
  std::size_t memory_budget = 0;      ///< bytes on each GPU, or for descriptors on the host; 0: a default
  int place = 0, of = 1;              ///< of the processes on this machine that share it
};

/// Workers, and what each may use.
struct backend {
  worker_list workers;
  std::size_t memory_budget = 0;

  std::string name() const;  ///< for people
};

/// Says on standard error why a GPU is not used where that was left open. Throws std::runtime_error where a GPU is
/// asked for and none is usable, serac::error for options that are out of range.
backend make_backend(const serac::match_options& options, const backend_choice& choice);

/// Workers on GPUs: backend_cuda.cu, which only a build with CUDA has. Throws std::exception where one of those that
/// are asked for, or all, are unusable.
backend make_cuda_backend(const serac::match_options& options, const backend_choice& choice);

}  // namespace serac_colmap
