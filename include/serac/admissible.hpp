// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Which pairs of features a guided match may score.
///
/// An *admissibility* is a callable `bool operator()(int64 row, int64 column) const` on the host or the device, where
/// the match runs; it is asked about features that exist and answers the same every time. A pair that it refuses scores
/// 0: it is neither a best nor a second. Write your own, or compose these.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/geometry.hpp>

namespace serac {

/// Every pair. A kernel that is told so at compile time asks nothing.
struct admit_all {
  SERAC_HOST_DEVICE constexpr bool operator()(std::int64_t, std::int64_t) const { return true; }
};

/// Whether an admissibility is known at compile time to admit every pair.
template <class Admissible>
inline constexpr bool admits_all = false;
template <>
inline constexpr bool admits_all<admit_all> = true;

/// Pairs whose locations meet a constraint (geometry.hpp): `homography`, `epipolar`, or `two_view_geometry`, which is
/// any of both at run time. A trivially copyable view; the match's counts say how many keypoints there must be.
template <class Constraint = two_view_geometry>
struct guided_by {
  keypoint_view left;
  keypoint_view right;
  Constraint geometry;

  SERAC_HOST_DEVICE bool operator()(std::int64_t row, std::int64_t column) const {
    return geometry.admits(geometry.row(left[row]), geometry.column(right[column]));
  }
};

/// Pairs whose bit is set: that of (row, column) is bit `column % 32` of `words[row * stride + column / 32]`.
struct admissible_bits {
  const std::uint32_t* words = nullptr;
  std::int64_t stride = 0;  ///< words from one row to the next

  SERAC_HOST_DEVICE bool operator()(std::int64_t row, std::int64_t column) const {
    return (words[row * stride + column / 32] >> (column % 32) & 1) != 0;
  }
};

/// Pairs that both admit.
template <class First, class Second>
struct admit_both {
  First first;
  Second second;

  SERAC_HOST_DEVICE bool operator()(std::int64_t row, std::int64_t column) const {
    return first(row, column) && second(row, column);
  }
};
template <class First, class Second>
admit_both(First, Second) -> admit_both<First, Second>;

}  // namespace serac
