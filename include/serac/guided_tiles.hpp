// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How guided matching leaves out what cannot match: features are ordered so that 32 consecutive ones, a *tile*, are
/// admissible to much the same features of the other image; two tiles of which no pair can be admissible are skipped.
///
/// The order is a heuristic and may be any: with a homography a Hilbert curve over the right image, where the left
/// features stand where H takes them; with an epipolar constraint the angle around the epipole, in rings. What must be
/// right is `may_admit`, which is proven where it stands. It sees a tile through `tile_bounds` alone, so that the test
/// of all pairs of tiles costs a thousandth of the test of all pairs of features, whatever the geometry.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <math.h>
#endif

#include <serac/detail/config.hpp>
#include <serac/detail/float_rn.hpp>
#include <serac/geometry.hpp>

namespace serac::detail {

inline constexpr int guided_tile = 32;    ///< features of a tile
inline constexpr int guided_bins = 8192;  ///< that the features of an image are sorted into

inline constexpr float greatest_float = 0x1.fffffep127f;  ///< stands for infinity, which fast math does not know

/// The greater; b if a is NaN.
SERAC_HOST_DEVICE inline float greater_of(float a, float b) {
#if defined(__CUDA_ARCH__)
  return fmaxf(a, b);  // one instruction
#else
  return a > b ? a : b;
#endif
}
/// The lesser; b if a is NaN.
SERAC_HOST_DEVICE inline float lesser_of(float a, float b) {
#if defined(__CUDA_ARCH__)
  return fminf(a, b);
#else
  return a < b ? a : b;
#endif
}

/// The least axis-aligned box around points. Empty at first.
struct point_box {
  float min_x = greatest_float, min_y = greatest_float, max_x = -greatest_float, max_y = -greatest_float;

  /// Takes a point in unless a coordinate is NaN or infinite.
  SERAC_HOST_DEVICE void add(point p) {
    if (!is_finite(p.x) || !is_finite(p.y)) return;
    min_x = lesser_of(p.x, min_x), max_x = greater_of(p.x, max_x);
    min_y = lesser_of(p.y, min_y), max_y = greater_of(p.y, max_y);
  }
  SERAC_HOST_DEVICE bool empty() const { return max_x < min_x; }
  /// The greatest absolute value of a coordinate; 0 of an empty box.
  SERAC_HOST_DEVICE float reach() const {
    if (empty()) return 0;
    return greater_of(greater_of(fabsf(min_x), fabsf(max_x)), greater_of(fabsf(min_y), fabsf(max_y)));
  }
};

/// What is known of the 32 features of a tile: all lie in the convex hull of four corners.
struct alignas(16) tile_bounds {
  point corners[4];
  float squared;  ///< epipolar: the greatest row_terms::squared, or column_terms::fx^2 + fy^2
  float unused[3];
};

/// Coordinates in which the hull of a tile's features is a rectangle: along `direction` from `origin`, and across it
/// divided by the width of a beam that narrows towards the epipole.
struct tile_frame {
  point origin;
  point direction;    ///< of length 1 up to rounding
  float convergence;  ///< the beam's width is 1 - convergence * (distance along): 0: it stays
};

/// Extent of a tile's features in its frame. Empty at first; lanes of a warp may each take some points in and merge.
struct tile_extent {
  float min_along = greatest_float, max_along = -greatest_float;
  float min_across = greatest_float, max_across = -greatest_float;  ///< distances
  float min_beam = greatest_float, max_beam = -greatest_float;      ///< distances divided by the beam's width
  float squared = 0;

  SERAC_HOST_DEVICE static tile_extent of(point p, const tile_frame& frame, float squared) {
    const float x = p.x - frame.origin.x, y = p.y - frame.origin.y;
    tile_extent e;
    e.min_along = e.max_along = frame.direction.x * x + frame.direction.y * y;
    e.min_across = e.max_across = frame.direction.x * y - frame.direction.y * x;
    e.min_beam = e.max_beam = e.min_across / (1 - frame.convergence * e.min_along);
    e.squared = squared;
    return e;
  }
  SERAC_HOST_DEVICE void merge(const tile_extent& other) {
    min_along = lesser_of(other.min_along, min_along), max_along = greater_of(other.max_along, max_along);
    min_across = lesser_of(other.min_across, min_across), max_across = greater_of(other.max_across, max_across);
    min_beam = lesser_of(other.min_beam, min_beam), max_beam = greater_of(other.max_beam, max_beam);
    squared = greater_of(other.squared, squared);
  }

  /// The hull; `reach`, R, is at least the greatest coordinate of a feature of the image. A trapezoid where the beam's
  /// width w stays between 1/4 and 4, the epipole is not nearer than R / 32, the features lie within R / 8 of the axis
  /// and no corner is beyond 4 R; else a rectangle, whose corners are within 2 R.
  ///
  /// With u = 2^-24: a distance along or across is computed within 16 u R, hence w within 16 u 32 + 4 u, which is
  /// 2064 u w; so a distance across that is made from a beam coordinate is off by 258 u R more. The direction's length
  /// and the corners' own roundings cost less than 64 u R. The hull is wider by 1024 u R on every side.
  SERAC_HOST_DEVICE tile_bounds bounds(const tile_frame& frame, float reach) const {
    const float slack = reach * 0x1p-14f;
    const float along[2] = {min_along - slack, max_along + slack};
    const float widths[2] = {1 - frame.convergence * along[0], 1 - frame.convergence * along[1]};
    tile_bounds made{};
    made.squared = squared;
    bool beam =
        frame.convergence != 0 && frame.convergence * reach <= 32 && greater_of(max_across, -min_across) <= reach / 8;
    for (int end = 0; end < 2; ++end) beam = beam && widths[end] >= 0.25f && widths[end] <= 4;
    for (int attempt = beam ? 0 : 1; attempt < 2; ++attempt) {
      bool all_near = true;
      for (int k = 0; k < 4; ++k) {
        const float r = attempt == 1
                            ? (k % 2 == 0 ? min_across - slack : max_across + slack)
                            : (k % 2 == 0 ? min_beam * widths[k / 2] - slack : max_beam * widths[k / 2] + slack);
        const point corner{frame.origin.x + (frame.direction.x * along[k / 2] - frame.direction.y * r),
                           frame.origin.y + (frame.direction.y * along[k / 2] + frame.direction.x * r)};
        made.corners[k] = corner;
        all_near = all_near && fabsf(corner.x) <= 4 * reach && fabsf(corner.y) <= 4 * reach;
      }
      if (all_near) break;
    }
    return made;
  }
};

/// What features are ordered by.
enum class order_kind {
  none,      ///< nothing: there is no constraint
  location,  ///< a Hilbert curve over the right image
  angle      ///< around the epipole
};

/// How the features of one image of a pair are ordered. All zero: order_kind::none.
struct feature_order {
  order_kind kind;
  point_box box;  ///< location: of all features of the right image; angle: of the image that is ordered
  float margin;   ///< location: features so far outside the box are left out

  point center;            ///< of the box
  point axis;              ///< unit vector from the center to the epipole
  float inverse_distance;  ///< of the epipole from the center; 0: at infinity
  float inverse_scale;     ///< of distances across the axis
  float first_angle, inverse_angles;
  float roundness;  ///< of y in from_epipole, against x: 1: they are scaled alike
  float farthest;   ///< at least the distance of any feature from the epipole, in that of the center

  /// Places features, in the right image, that are to be compared with locations there.
  SERAC_HOST_DEVICE static feature_order of_locations(const point_box& right, float max_squared_error) {
    feature_order order{};
    order.kind = order_kind::location;
    order.box = right;
    order.margin = location_margin(max_squared_error);
    return order;
  }

  /// Distance that no admissible pair exceeds in x or y. The rounded sum of squares is below t, so each rounded square
  /// is, and each difference below sqrt(t) but for roundings of 4 u; or it is too small for its square to count.
  SERAC_HOST_DEVICE static float location_margin(float max_squared_error) {
    return sqrtf(max_squared_error) * (1 + 0x1p-18f) + 0x1p-60f;
  }

  /// Places features around the epipole of their own image: the null vector of F (left image) or its transpose.
  template <bool Transposed>
  SERAC_HOST_DEVICE static feature_order around_epipole(const float (&matrix)[9], const point_box& image) {
    feature_order order{};
    order.kind = order_kind::angle;
    order.box = image;
    order.axis = {1, 0};
    order.inverse_angles = 1;
    if (image.empty()) return order;
    order.center = {image.min_x / 2 + image.max_x / 2, image.min_y / 2 + image.max_y / 2};
    const float width = image.max_x - image.min_x, height = image.max_y - image.min_y;
    const float half_diagonal = sqrtf(width * width + height * height) / 2;
    order.inverse_scale = half_diagonal > 0 ? 1 / half_diagonal : 1;

    // The cross product of those two rows (columns) that have the longest one.
    double epipole[3] = {}, longest = 0;
    for (int row = 0; row < 3; ++row) {
      const auto entry = [&](int r, int c) {
        return static_cast<double>(Transposed ? matrix[c * 3 + r % 3] : matrix[r % 3 * 3 + c]);
      };
      const double x = entry(row, 1) * entry(row + 1, 2) - entry(row, 2) * entry(row + 1, 1);
      const double y = entry(row, 2) * entry(row + 1, 0) - entry(row, 0) * entry(row + 1, 2);
      const double z = entry(row, 0) * entry(row + 1, 1) - entry(row, 1) * entry(row + 1, 0);
      const double length = x * x + y * y + z * z;
      if (length > longest) longest = length, epipole[0] = x, epipole[1] = y, epipole[2] = z;
    }
    const double sign = epipole[2] < 0 ? -1 : 1;
    const double x = sign * (epipole[0] - epipole[2] * static_cast<double>(order.center.x));
    const double y = sign * (epipole[1] - epipole[2] * static_cast<double>(order.center.y));
    const double length = sqrt(x * x + y * y);
    if (length > 0) {
      order.axis = {static_cast<float>(x / length), static_cast<float>(y / length)};
      order.inverse_distance = static_cast<float>(sign * epipole[2] / length);
    } else if (longest > 0) {
      order.inverse_distance = greatest_float;
    }
    // Beyond this the epipole is the center: nothing is nearer than a thousandth of the image.
    order.inverse_distance = lesser_of(order.inverse_distance, 1000 * order.inverse_scale);
    order.inverse_scale = greater_of(order.inverse_scale, order.inverse_distance);
    order.roundness = order.inverse_scale > 0 ? order.inverse_distance / order.inverse_scale : 0;
    order.farthest = 1 + order.inverse_distance * half_diagonal;

    // The angles there are, if the epipole lies outside; else all.
    float first = greatest_float, last = -greatest_float;
    bool outside = true;
    for (int corner = 0; corner < 4; ++corner) {
      const point p{corner % 2 == 0 ? image.min_x : image.max_x, corner / 2 == 0 ? image.min_y : image.max_y};
      const point q = order.from_epipole(p);
      outside = outside && q.x > 0;
      const float angle = atan2f(q.y, q.x);
      first = lesser_of(angle, first), last = greater_of(angle, last);
    }
    if (!outside) first = -3.1415927f, last = 3.1415927f;
    order.first_angle = first;
    order.inverse_angles = last > first ? 1 / (last - first) : 1;
    return order;
  }

  /// The bin of a feature at `p` (a left feature by location: where H takes it), or -1 if no pair with it can be
  /// admissible: a coordinate that is NaN or infinite makes the residual so. Thread; pure.
  SERAC_HOST_DEVICE int bin(point p) const {
    if (kind == order_kind::none) return 0;
    if (!is_finite(p.x) || !is_finite(p.y)) return -1;
    return kind == order_kind::location ? curve_bin(p) : angle_bin(p);
  }

  /// The greatest coordinate of a place that has a bin.
  SERAC_HOST_DEVICE float reach() const { return box.reach() + margin; }

  /// The frame of a tile that holds a feature at `p`: towards the epipole, or along the axes.
  SERAC_HOST_DEVICE tile_frame frame(point p) const {
    if (kind != order_kind::angle) return {p, {1, 0}, 0};
    const float x = axis.x - (p.x - center.x) * inverse_distance, y = axis.y - (p.y - center.y) * inverse_distance;
    const float length = sqrtf(x * x + y * y);
    if (!is_finite(length) || length < 1e-30f || length > 1e30f) return {p, {1, 0}, 0};
    return {p, {x / length, y / length}, inverse_distance / length};
  }

 private:
  /// The vector from the epipole, the axis pointing backwards, y scaled so that it is of the order of 1.
  SERAC_HOST_DEVICE point from_epipole(point p) const {
    const float x = p.x - center.x, y = p.y - center.y;
    const float along = axis.x * x + axis.y * y, across = axis.x * y - axis.y * x;
    return {1 - along * inverse_distance, across * inverse_scale};
  }

  SERAC_HOST_DEVICE int angle_bin(point p) const {
    const point q = from_epipole(p);
    // Rings: the farthest has half of the bins, the next a quarter, ... A ring begins at a third of the
    // distance of the next: measured.
    const float distance = sqrtf(q.x * q.x + q.y * q.y * roundness * roundness);
    int first_bin = 0, bins = guided_bins / 2;
    for (float edge = farthest / 3; distance < edge && bins > 32; edge *= 1.0f / 3) first_bin += bins, bins /= 2;
    const float place = (atan2f(q.y, q.x) - first_angle) * inverse_angles * static_cast<float>(bins);
    return first_bin + (place > 0 ? (place < static_cast<float>(bins - 1) ? static_cast<int>(place) : bins - 1) : 0);
  }

  SERAC_HOST_DEVICE int curve_bin(point p) const {
    if (p.x < box.min_x - margin || p.x > box.max_x + margin || p.y < box.min_y - margin || p.y > box.max_y + margin) {
      return -1;
    }
    constexpr int cells = 64;
    const auto cell = [](float x, float low, float high) {
      const float place = (x - low) / (high - low) * cells;
      return place > 0 ? (place < cells - 1 ? static_cast<int>(place) : cells - 1) : 0;  // NaN: 0
    };
    int x = cell(p.x, box.min_x, box.max_x), y = cell(p.y, box.min_y, box.max_y);
    int distance = 0;  // along a Hilbert curve
    for (int side = cells / 2; side > 0; side /= 2) {
      const int right = (x & side) != 0, upper = (y & side) != 0;
      distance += side * side * ((3 * right) ^ upper);
      if (upper == 0) {
        if (right == 1) x = cells - 1 - x, y = cells - 1 - y;
        const int swapped = x;
        x = y, y = swapped;
      }
    }
    return distance;
  }
};

/// What the homography test of two tiles needs.
struct location_test {
  float margin;  ///< feature_order::location_margin

  /// False only if no pair of features of the two tiles, both in the right image, is admissible: then their rectangles,
  /// along the axes, lie farther apart in x or in y than the margin. Rounding is within the slack of the rectangles and
  /// that of the margin. NaN and infinity give true.
  SERAC_HOST_DEVICE bool may_admit(const tile_bounds& row, const tile_bounds& column) const {
    const auto apart = [&](float low, float high, float other_low, float other_high) {
      const float gap = greater_of(low - other_high, other_low - high);
      return gap > 0 && is_less(margin, gap);
    };
    const point &low = row.corners[0], &high = row.corners[3];
    const point &other_low = column.corners[0], &other_high = column.corners[3];
    return !apart(low.x, high.x, other_low.x, other_high.x) && !apart(low.y, high.y, other_low.y, other_high.y);
  }
};

/// What the epipolar test of a tile of rows against tiles of columns needs.
///
/// Claim: where `may_admit` is false, no pair of the tiles is admissible. Let x1, x2 be locations of a pair
/// (homogeneous), f1 its computed row terms, u = 2^-24, R1 and R2 the reaches of both images (at least 1), and A = sum
/// |F_ij| R2_i R1_j, with R = (R, R, 1). The pair is admissible only if n < t d for the computed square n of the error
/// and the computed scale d (a quotient of at least t is not rounded below t), so only if error^2 < (t d + 2^-150)
/// (1 + 2 u), and d is at most (row.squared + column.squared) (1 + 4 u): `limit` is greater by 2^-18. The error
/// computed differs from x2^T F x1 by at most 8 u A for its own roundings and those of f1. x2^T F x1 is affine in x1
/// and in x2, which lie in the hulls of four corners each, so it lies between the least and the greatest of its values
/// at the 16 pairs of corners. Corners are within 4 R, so each value is computed within 6 u 16 A, and numbers too small
/// for relative rounding (below 2^-126) add less than 100 * 2^-150 (1 + R2). `rounding` is 256 u (A + 2^-100 (1 + R2)),
/// more than all that together. No value is NaN or overflows while 64 A is finite and R1 and R2 are below 2^100
/// (corners are finite then); where they are not, all is visited.
struct epipolar_test {
  float lines[4][3];  ///< F times the corners of the rows' hull
  float squared;
  float max_squared_error;
  float rounding;
  bool usable;

  /// `left_reach` and `right_reach` are those of both images (point_box::reach).
  SERAC_HOST_DEVICE epipolar_test(const epipolar& constraint, const tile_bounds& row, float left_reach,
                                  float right_reach)
      : squared(row.squared), max_squared_error(constraint.max_squared_error) {
    const float left = greater_of(left_reach, 1), right = greater_of(right_reach, 1);
    float sum = 0;
    for (int i = 0; i < 3; ++i) {
      const float* const f = constraint.matrix + 3 * i;
      for (int k = 0; k < 4; ++k) lines[k][i] = f[0] * row.corners[k].x + f[1] * row.corners[k].y + f[2];
      sum += ((fabsf(f[0]) + fabsf(f[1])) * left + fabsf(f[2])) * (i < 2 ? right : 1);
    }
    usable = is_finite(64 * sum) && left < 0x1p100f && right < 0x1p100f;
    rounding = 0x1p-16f * (sum + 0x1p-100f * (1 + right));
  }

  SERAC_HOST_DEVICE bool may_admit(const tile_bounds& column) const {
    float least = greatest_float, greatest = -greatest_float;
    for (int k = 0; k < 4; ++k) {
      for (int c = 0; c < 4; ++c) {
        const float error = lines[k][0] * column.corners[c].x + (lines[k][1] * column.corners[c].y + lines[k][2]);
        least = lesser_of(error, least), greatest = greater_of(error, greatest);
      }
    }
    const float limit = max_squared_error * (1 + 0x1p-17f) * (squared + column.squared) + 0x1p-120f;
    const float away = greater_of(least, -greatest) - rounding;  // all errors from 0, if they are on one side of it
    return !usable || !(away > 0) || !is_less(limit, away * away);
  }
};

/// Which tiles of columns may hold a feature that is admissible to one of a tile of rows.
class tile_test {
 public:
  /// `left_reach` and `right_reach` are those of both images (point_box::reach).
  SERAC_HOST_DEVICE tile_test(const two_view_geometry& geometry, const tile_bounds& row, float left_reach,
                              float right_reach)
      : has_homography_(geometry.has_homography),
        has_epipolar_(geometry.has_epipolar),
        row_(row),
        near_{feature_order::location_margin(geometry.homography.max_squared_error)},
        along_(geometry.epipolar, row, left_reach, right_reach) {}

  /// False only if no pair of features of the two tiles is admissible. With both constraints the homography decides.
  SERAC_HOST_DEVICE bool may_admit(const tile_bounds& column) const {
    return has_homography_ ? near_.may_admit(row_, column) : !has_epipolar_ || along_.may_admit(column);
  }

 private:
  bool has_homography_, has_epipolar_;
  tile_bounds row_;
  location_test near_;
  epipolar_test along_;
};

/// Decides about most pairs of a tile of rows without the division of `epipolar::admits`.
///
/// Claim: where `excess` is farther from 0 than the column's margin, epipolar::admits is true if it is negative, else
/// false. Let t be the constraint's error, s the computed row_terms::squared, e the computed error of the pair, u =
/// 2^-24, and L = t (s + fx^2 + fy^2) in real numbers. `suits` sees to 2^-40 < t < 2^40, s < 2^100 and 2^-60 < t (fx^2
/// + fy^2) < 2^60, so that no rounding of L's parts is worse than relative, but for 2^-124. `excess` is within 16 u
/// (e^2 + L) of e^2 - L, fused or not, and the margin is at least 2^-16 (1 - 16 u) L. So beyond the margin e^2 < (1 -
/// 2^-17) L or e^2 > (1 + 2^-17) L. admits() computes e^2 within u, the scale L / t within 3 u and rounds their
/// quotient, which lies off t by more than 2^-18 t: to a float below t in the first case, to t at least in the second.
/// Where e^2 is below 2^-126, it is below 2^-60 L all the same; where it overflows, so does the quotient. NaN is beyond
/// no margin.
struct epipolar_screen {
  /// A column in the form that `excess` takes.
  struct alignas(16) column {
    float x, y;
    float limit;   ///< t (fx^2 + fy^2)
    float margin;  ///< 2^-16 of the greatest L that it has with a row of the tile
  };

  float max_squared_error;
  float greatest_squared;  ///< of the rows: tile_bounds::squared

  SERAC_HOST_DEVICE column of(const epipolar::column_terms& terms) const {
    const float limit = max_squared_error * (terms.fx * terms.fx + terms.fy * terms.fy);
    return {terms.x, terms.y, limit, 0x1p-16f * (max_squared_error * greatest_squared + limit)};
  }
  /// Whether the claim holds of a column.
  SERAC_HOST_DEVICE bool suits(const column& c) const {
    return is_less(0x1p-40f, max_squared_error) && is_less(max_squared_error, 0x1p40f) &&
           is_less(greatest_squared, 0x1p100f) && is_less(0x1p-60f, c.limit) && is_less(c.limit, 0x1p60f);
  }
  /// Nearly the pair's squared error less the greatest that is admissible.
  SERAC_HOST_DEVICE float excess(const epipolar::row_terms& row, const column& c) const {
    const float error = epipolar::error(row, c.x, c.y);
    return error * error - (max_squared_error * row.squared + c.limit);
  }
  /// Whether the sign of `excess` decides.
  SERAC_HOST_DEVICE static bool decides(float excess, const column& c) {
#if defined(__CUDA_ARCH__)
    return fabsf(excess) > c.margin;  // no option of nvcc makes it forget NaN
#else
    return is_less(c.margin, fabsf(excess));
#endif
  }
};

}  // namespace serac::detail
