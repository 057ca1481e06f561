// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The paths that a program can take from two images to their list.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <serac/lists.hpp>
#include <serac/options.hpp>
#include <serac/view.hpp>

#include "backend.hpp"

namespace serac_exactness {

/// Matches two images in host memory. Throws serac::error.
using pair_matcher = std::function<serac::match_list(const serac::sift_view& left, const serac::sift_view& right)>;

/// One path. What it makes matches anew.
struct path {
  std::string name;
  std::string left_out;                                 ///< why it cannot be taken here; empty where it can
  std::function<serac_colmap::backend()> make_backend;  ///< for the survey engine; may be empty
  std::function<pair_matcher()> make_matcher;           ///< for one pair after the other
};

/// Those of the host, on `threads` threads, 0: all. The reference, which takes minutes for what the others do in
/// seconds, only if it is asked for.
std::vector<path> host_paths(const serac::match_options& options, int threads, bool with_reference);

/// Those of the current GPU: paths_cuda.cu, which only a build with CUDA has.
std::vector<path> cuda_paths(const serac::match_options& options);

}  // namespace serac_exactness
