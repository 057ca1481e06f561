// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Many pairs of images in one guided call: what goes in beside what batch.hpp says.
#pragma once

#include <cstdint>

#include <serac/batch.hpp>
#include <serac/geometry.hpp>

namespace serac {

/// A non-owning view of images, where their features are, and the pairs of them to match under a geometry each.
template <class T>
struct guided_batch_view {
  batch_view<T> images;
  keypoint_view keypoints;                        ///< one for each descriptor of images.descriptors; same memory space
  const two_view_geometry* geometries = nullptr;  ///< [images.pair_count], host memory, read before the call returns
};

}  // namespace serac
