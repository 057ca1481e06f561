// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Matches pairs of a database again, under the geometries that COLMAP has found for them.
#pragma once

#include <memory>
#include <string>

#include <serac/admissible.hpp>
#include <serac/lists.hpp>
#include <serac/options.hpp>
#include <serac/view.hpp>

#include "backend.hpp"
#include "database.hpp"
#include "match_run.hpp"

namespace serac_colmap {

/// Matches two images in host memory under a geometry. Throws serac::error.
class guided_matcher {
 public:
  virtual ~guided_matcher() = default;
  virtual serac::match_list match(const serac::sift_view& left, const serac::sift_view& right,
                                  const serac::guided_by<>& guide) = 0;
  virtual std::string name() const = 0;  ///< for people
};

/// On a GPU: guided_cuda.cu, which only a build with CUDA has. Throws std::exception where it is not usable.
std::unique_ptr<guided_matcher> make_cuda_guided_matcher(const serac::match_options& options,
                                                         const backend_choice& choice);

/// Matches every pair that has a two-view geometry and inliers again, the smaller image id first, among the features
/// that meet the geometry: F for uncalibrated pairs, E for calibrated ones with the cameras' intrinsics, H for planar
/// and panoramic ones. `max_error` is in pixels. The lists become the pairs' inliers, as COLMAP's guided matching makes
/// them; where one is shorter than min_num_inliers the pair loses its geometry. The matches table is left alone.
/// With `dry_run` it only says what it would do. Throws std::runtime_error; everything is checked before all work.
void run_guided(database& target, const match_settings& settings, double max_error, bool dry_run);

}  // namespace serac_colmap
