// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Python's arguments as the backends take them. Everything that is wrong with one is a ValueError or a TypeError that
/// names it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend.hpp"

namespace serac_python {

/// Arrays of the caller, alive while this is. To be destroyed with the GIL.
using kept_arrays = std::vector<nanobind::object>;

/// How descriptors are scored.
enum class score_kind { dot, hamming, l2 };
score_kind score_of(const std::string& score);

/// Descriptors (count, width) in an array of any kind. No copy is made.
image image_of(nanobind::handle array, const std::string& name, score_kind score, kept_arrays& kept);
/// Images to be matched with each other: of one type and width, where they have descriptors.
std::vector<image> images_of(const std::vector<std::pair<std::string, nanobind::handle>>& named, score_kind score,
                             kept_arrays& kept);
/// Locations (count, 2 or more), one for each descriptor. No copy is made.
locations locations_of(nanobind::handle array, const std::string& name, const image& of, kept_arrays& kept);
/// Pairs (count, 2) of numbers below `image_count`.
std::vector<serac::image_pair> pairs_of(nanobind::handle pairs, std::size_t image_count);

/// The constraints that are given; at least one is.
serac::two_view_geometry geometry_of(nanobind::handle fundamental, nanobind::handle homography, double max_error);

judgement judgement_of(score_kind score, float max_ratio, float max_distance, bool cross_check,
                       std::optional<int> max_bits);

/// What `device` asks for.
struct device_choice {
  std::optional<bool> gpu;  ///< unset: as it suits
  int index = -1;           ///< -1: any
};
device_choice device_of(nanobind::handle device);

/// `num_threads` as COLMAP has it: -1 is all. 0 is returned for all.
int threads_of(int num_threads);

/// A path, as os.fspath takes it.
std::string path_of(nanobind::handle path);

}  // namespace serac_python
