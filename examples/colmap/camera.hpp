// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// COLMAP's camera models: from pixels to normalised coordinates.
#pragma once

#include <vector>

#include "database.hpp"

namespace serac_colmap {

/// Throws std::runtime_error that names the camera's model unless it is SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL
/// or OPENCV with as many parameters as the model has and positive focal lengths.
void check_is_known(const camera& given);

/// Takes locations, x and y in turn, from pixels to normalised coordinates: the lens distortion is undone by Newton's
/// method in double precision. The camera is a known one.
void normalise(const camera& given, std::vector<float>& locations);

/// A distance in pixels as one in normalised coordinates: divided by the mean focal length.
double normalised_distance(const camera& given, double pixels);

}  // namespace serac_colmap
