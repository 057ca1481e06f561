// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What guided matching knows of two images: where their features are, and how the locations constrain each other.
///
/// A *constraint* is a type with
///   - `row_terms row(point) const`        what depends on the left feature alone;
///   - `column_terms column(point) const`  what depends on the right feature alone;
///   - `bool admits(row_terms, column_terms) const`.
/// All arithmetic is float. Sums of products run from left to right and are fused as nvcc fuses them by default: of
/// a * b + c * d the first product, of s + a * b the product. That is the specification's freedom used the way that
/// gives COLMAP's lists; every operation is named (detail/float_rn.hpp), so that hosts and devices agree about every
/// pair. NaN and infinity compare false: inadmissible.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/float_rn.hpp>

#if !defined(__CUDACC_RTC__)
#include <serac/status.hpp>
#endif

namespace serac {

/// The location of a feature, in pixels or, for an essential matrix, in normalised coordinates.
struct point {
  float x, y;
};

/// A non-owning view of the locations of `count` features: that of feature i is `data[i * stride]` and the float behind
/// it. Same memory space as the descriptors; floats need no more than their own alignment.
struct keypoint_view {
  const float* data = nullptr;
  std::int64_t count = 0;
  std::int64_t stride = 2;  ///< floats from one location to the next, at least 2: COLMAP's keypoints have 2, 4 or 6

  constexpr keypoint_view() = default;
  SERAC_HOST_DEVICE constexpr keypoint_view(const float* data_, std::int64_t count_, std::int64_t stride_ = 2)
      : data(data_), count(count_), stride(stride_) {}

  SERAC_HOST_DEVICE point operator[](std::int64_t i) const { return {data[i * stride], data[i * stride + 1]}; }
};

namespace detail {

/// a * b + c * d.
SERAC_HOST_DEVICE inline float two_products(float a, float b, float c, float d) { return fma_rn(a, b, mul_rn(c, d)); }

/// Row `row` of a row-major 3 x 3 matrix, or column `row` if `Transposed`, times (p.x, p.y, 1).
template <bool Transposed = false>
SERAC_HOST_DEVICE inline float times_point(const float (&matrix)[9], int row, point p) {
  const int first = Transposed ? row : 3 * row, step = Transposed ? 3 : 1;
  return add_rn(two_products(matrix[first], p.x, matrix[first + step], p.y), matrix[first + 2 * step]);
}

}  // namespace detail

/// Admits a pair if H takes the left location to the right one: with (u, v, w) = H (x1, y1, 1),
/// (u / w - x2)^2 + (v / w - y2)^2 < max_squared_error.
struct homography {
  float matrix[9] = {};         ///< H, row-major
  float max_squared_error = 0;  ///< above 0

  using row_terms = point;  ///< where H takes the location
  using column_terms = point;

  SERAC_HOST_DEVICE row_terms row(point p) const {
    const float w = detail::times_point(matrix, 2, p);
    return {detail::div_rn(detail::times_point(matrix, 0, p), w), detail::div_rn(detail::times_point(matrix, 1, p), w)};
  }
  SERAC_HOST_DEVICE column_terms column(point p) const { return p; }
  SERAC_HOST_DEVICE bool admits(const row_terms& row, const column_terms& column) const {
    const float dx = detail::sub_rn(row.x, column.x), dy = detail::sub_rn(row.y, column.y);
    return detail::is_less(detail::two_products(dx, dx, dy, dy), max_squared_error);
  }
};

/// Admits a pair if its Sampson error is small: with f1 = F (x1, y1, 1) and f2 = F^T (x2, y2, 1),
/// ((x2, y2, 1) f1)^2 / (f1.x^2 + f1.y^2 + f2.x^2 + f2.y^2) < max_squared_error. An essential matrix serves as well,
/// its locations and error being normalised.
struct epipolar {
  float matrix[9] = {};         ///< F, row-major
  float max_squared_error = 0;  ///< above 0

  /// The epipolar line f1 in the right image.
  struct row_terms {
    float x, y, z;
    float squared;  ///< x^2 + y^2
  };
  struct column_terms {
    float x, y;    ///< the location
    float fx, fy;  ///< the normal of the epipolar line in the left image: f2.x and f2.y
  };

  SERAC_HOST_DEVICE row_terms row(point p) const {
    const float x = detail::times_point(matrix, 0, p), y = detail::times_point(matrix, 1, p);
    return {x, y, detail::times_point(matrix, 2, p), detail::two_products(x, x, y, y)};
  }
  SERAC_HOST_DEVICE column_terms column(point p) const {
    return {p.x, p.y, detail::times_point<true>(matrix, 0, p), detail::times_point<true>(matrix, 1, p)};
  }
  /// (x2, y2, 1) f1.
  SERAC_HOST_DEVICE static float error(const row_terms& row, float x, float y) {
    return detail::add_rn(detail::two_products(x, row.x, y, row.y), row.z);
  }
  SERAC_HOST_DEVICE bool admits(const row_terms& row, const column_terms& column) const {
    const float error = epipolar::error(row, column.x, column.y);
    const float scale = detail::fma_rn(column.fy, column.fy, detail::fma_rn(column.fx, column.fx, row.squared));
    return detail::is_less(detail::div_rn(detail::mul_rn(error, error), scale), max_squared_error);
  }
};

/// Any of both constraints, decided when the program runs. A pair must meet all that are given; with none, every pair
/// is admissible.
struct two_view_geometry {
  bool has_homography = false;
  bool has_epipolar = false;
  serac::homography homography;
  serac::epipolar epipolar;

  struct row_terms {
    serac::homography::row_terms of_homography;
    serac::epipolar::row_terms of_epipolar;
  };
  struct column_terms {
    serac::homography::column_terms of_homography;
    serac::epipolar::column_terms of_epipolar;
  };

  constexpr two_view_geometry() = default;
  SERAC_HOST_DEVICE constexpr two_view_geometry(const serac::homography& h) : has_homography(true), homography(h) {}
  SERAC_HOST_DEVICE constexpr two_view_geometry(const serac::epipolar& f) : has_epipolar(true), epipolar(f) {}
  SERAC_HOST_DEVICE constexpr two_view_geometry(const serac::homography& h, const serac::epipolar& f)
      : has_homography(true), has_epipolar(true), homography(h), epipolar(f) {}

  SERAC_HOST_DEVICE row_terms row(point p) const {
    row_terms terms{};
    if (has_homography) terms.of_homography = homography.row(p);
    if (has_epipolar) terms.of_epipolar = epipolar.row(p);
    return terms;
  }
  SERAC_HOST_DEVICE column_terms column(point p) const {
    column_terms terms{};
    if (has_homography) terms.of_homography = homography.column(p);
    if (has_epipolar) terms.of_epipolar = epipolar.column(p);
    return terms;
  }
  SERAC_HOST_DEVICE bool admits(const row_terms& row, const column_terms& column) const {
    return (!has_homography || homography.admits(row.of_homography, column.of_homography)) &&
           (!has_epipolar || epipolar.admits(row.of_epipolar, column.of_epipolar));
  }
};

#if !defined(__CUDACC_RTC__)

/// Checks that the error of every constraint given is above 0 (infinity is); a matrix may hold anything. Host; pure.
inline status validate(const two_view_geometry& geometry) noexcept {
  const auto positive = [](float x) { return detail::is_less(0.0f, x); };
  if (geometry.has_homography && !positive(geometry.homography.max_squared_error)) {
    return {errc::invalid_option, "admissible.geometry.homography.max_squared_error"};
  }
  if (geometry.has_epipolar && !positive(geometry.epipolar.max_squared_error)) {
    return {errc::invalid_option, "admissible.geometry.epipolar.max_squared_error"};
  }
  return {};
}

#endif  // !__CUDACC_RTC__

}  // namespace serac
