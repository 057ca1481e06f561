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

#include <math.h>

#include <serac/detail/config.hpp>
#include <serac/detail/float_rn.hpp>
#include <serac/geometry.hpp>

namespace serac::detail {

inline constexpr int guided_tile = 32;    ///< features of a tile
inline constexpr int guided_bins = 8192;  ///< that the features of an image are sorted into

SERAC_HOST_DEVICE inline float greater_of(float a, float b) { return a > b ? a : b; }  ///< b if a is NaN
SERAC_HOST_DEVICE inline float lesser_of(float a, float b) { return a < b ? a : b; }

/// The least axis-aligned box around points. Empty at first.
struct point_box {
  float min_x = HUGE_VALF, min_y = HUGE_VALF, max_x = -HUGE_VALF, max_y = -HUGE_VALF;

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

/// What is known of the 32 features of a tile: all lie in the box {center + s a + r b : |s|, |r| <= 1}.
struct alignas(32) tile_bounds {
  point center;
  point a, b;     ///< half the box's sides
  float squared;  ///< epipolar: the greatest row_terms::squared, or column_terms::fx^2 + fy^2
  float unused;
};

/// Distances along the sides of a tile's box, from which the box is made. Empty at first; lanes of a warp may each take
/// some points in and merge.
struct tile_extent {
  float min_s = HUGE_VALF, max_s = -HUGE_VALF, min_r = HUGE_VALF, max_r = -HUGE_VALF;
  float squared = 0;

  /// `direction` is that of the first side, of length 1 up to rounding.
  SERAC_HOST_DEVICE static tile_extent of(point p, point direction, float squared) {
    tile_extent e;
    e.min_s = e.max_s = direction.x * p.x + direction.y * p.y;
    e.min_r = e.max_r = direction.x * p.y - direction.y * p.x;
    e.squared = squared;
    return e;
  }
  SERAC_HOST_DEVICE void merge(const tile_extent& other) {
    min_s = lesser_of(other.min_s, min_s), max_s = greater_of(other.max_s, max_s);
    min_r = lesser_of(other.min_r, min_r), max_r = greater_of(other.max_r, max_r);
    squared = greater_of(other.squared, squared);
  }

  /// The box. With u = 2^-24 and R the greatest coordinate of a point, the distances are within 5 u R of the true ones,
  /// a point differs from what its true distances say by at most 4 u |p| (the direction's length) and the center is
  /// rounded: less than 30 u R together. R is at most twice the greatest distance, and each half side is that much
  /// longer: 128 u times it.
  SERAC_HOST_DEVICE tile_bounds bounds(point direction) const {
    const float greatest = greater_of(greater_of(fabsf(min_s), fabsf(max_s)), greater_of(fabsf(min_r), fabsf(max_r)));
    const float slack = greatest * 0x1p-17f;
    const float s = min_s / 2 + max_s / 2, half_s = (max_s / 2 - min_s / 2) + slack;
    const float r = min_r / 2 + max_r / 2, half_r = (max_r / 2 - min_r / 2) + slack;
    return {{direction.x * s - direction.y * r, direction.y * s + direction.x * r},
            {direction.x * half_s, direction.y * half_s},
            {-direction.y * half_r, direction.x * half_r},
            squared,
            0};
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
    if (length > 0 && length < HUGE_VAL) {
      order.axis = {static_cast<float>(x / length), static_cast<float>(y / length)};
      order.inverse_distance = static_cast<float>(sign * epipole[2] / length);
    } else if (longest > 0) {
      order.inverse_distance = HUGE_VALF;
    }
    // Beyond this the epipole is the center: nothing is nearer than a thousandth of the image.
    order.inverse_distance = lesser_of(order.inverse_distance, 1000 * order.inverse_scale);
    order.inverse_scale = greater_of(order.inverse_scale, order.inverse_distance);

    // The angles there are, if the epipole lies outside; else all.
    float first = HUGE_VALF, last = -HUGE_VALF;
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

  /// The direction of the first side of the box of a tile that holds a feature at `p`.
  SERAC_HOST_DEVICE point direction(point p) const {
    if (kind != order_kind::angle) return {1, 0};
    const float x = axis.x - (p.x - center.x) * inverse_distance, y = axis.y - (p.y - center.y) * inverse_distance;
    const float length = sqrtf(x * x + y * y);
    if (!is_finite(length) || length < 1e-30f || length > 1e30f) return {1, 0};
    return {x / length, y / length};
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
    // Rings: the farthest has half of the bins, the next a quarter, ... A ring begins at half the distance of the next.
    const float ratio = inverse_scale > 0 ? inverse_distance / inverse_scale : 0;  // 1: y is scaled like x
    const float distance = sqrtf(q.x * q.x + q.y * q.y * ratio * ratio);
    const float farthest = 1 + inverse_distance *
                                   sqrtf((box.max_x - box.min_x) * (box.max_x - box.min_x) +
                                         (box.max_y - box.min_y) * (box.max_y - box.min_y)) /
                                   2;
    int first_bin = 0, bins = guided_bins / 2;
    for (float edge = farthest / 2; distance < edge && bins > 32; edge /= 2) first_bin += bins, bins /= 2;
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

  /// False only if no pair of features of the two boxes, both in the right image, is admissible: then their centers
  /// differ, in x or in y, by more than both half sides and the margin. Rounding is within the slack of the half sides
  /// (128 u times the coordinates) and that of the margin (64 u times it). NaN and infinity give true.
  SERAC_HOST_DEVICE bool may_admit(const tile_bounds& row, const tile_bounds& column) const {
    return !is_less(row.a.x + column.a.x + margin, fabsf(row.center.x - column.center.x)) &&
           !is_less(row.b.y + column.b.y + margin, fabsf(row.center.y - column.center.y));
  }
};

/// What the epipolar test of a tile of rows against tiles of columns needs.
///
/// Claim: where `may_admit` is false, no pair of the tiles is admissible. Let x1, x2 be locations of a pair
/// (homogeneous), f1 its computed row terms, u = 2^-24, R1 and R2 the greatest coordinates of both images (at least 1),
/// and A = sum |F_ij| R2_i R1_j, with R = (R, R, 1). The pair is admissible only if n < t d for the computed square n
/// of the error and the computed scale d (a quotient of at least t is not rounded below t), so only if |error| <
/// sqrt((t d + 2^-150) (1 + 2 u)), and d is at most (row.squared + column.squared) (1 + 4 u): `limit` is greater. The
/// error computed differs from x2^T F x1 by at most 8 u A for its own roundings and those of f1. x2^T F x1 is affine in
/// x1 and in x2, and they lie in boxes: with x1 = c1 + s a1 + r b1 and x2 = c2 + s' a2 + r' b2 it differs from c2^T F
/// c1 by at most the sum of the eight other products, `radius`. Half sides are at most sqrt(2) R long, so the nine
/// products together are at most 15 A; computing them and their sum is wrong by less than 300 u A. Numbers too small
/// for relative rounding (below 2^-126) add less than 100 * 2^-150 (1 + R2). `rounding` is 512 u (A + 2^-100 (1 + R2)),
/// more than all that. Overflow and NaN give true.
struct epipolar_test {
  float center[3], a[3], b[3];  ///< F times the parts of the rows' box: its center, and half its sides as directions
  float squared;
  float max_squared_error;
  float rounding;

  /// `left_reach` and `right_reach` are the greatest coordinates of both images (point_box::reach).
  SERAC_HOST_DEVICE epipolar_test(const epipolar& constraint, const tile_bounds& row, float left_reach,
                                  float right_reach)
      : squared(row.squared), max_squared_error(constraint.max_squared_error) {
    const float left = greater_of(left_reach, 1), right = greater_of(right_reach, 1);
    float sum = 0;
    for (int i = 0; i < 3; ++i) {
      const float* const f = constraint.matrix + 3 * i;
      center[i] = f[0] * row.center.x + f[1] * row.center.y + f[2];
      a[i] = f[0] * row.a.x + f[1] * row.a.y;
      b[i] = f[0] * row.b.x + f[1] * row.b.y;
      sum += ((fabsf(f[0]) + fabsf(f[1])) * left + fabsf(f[2])) * (i < 2 ? right : 1);
    }
    rounding = 0x1p-15f * (sum + 0x1p-100f * (1 + right));
  }

  SERAC_HOST_DEVICE bool may_admit(const tile_bounds& column) const {
    const auto at_center = [&](const float(&line)[3]) {
      return line[0] * column.center.x + line[1] * column.center.y + line[2];
    };
    const auto along = [](const float(&line)[3], point side) { return fabsf(line[0] * side.x + line[1] * side.y); };
    const float radius = along(center, column.a) + along(center, column.b) + fabsf(at_center(a)) + along(a, column.a) +
                         along(a, column.b) + fabsf(at_center(b)) + along(b, column.a) + along(b, column.b);
    const float limit = sqrtf(max_squared_error * (1 + 0x1p-18f) * (squared + column.squared) + 0x1p-120f);
    const float most = radius + limit * (1 + 0x1p-18f) + rounding;
    const float least = fabsf(at_center(center));
    return !is_finite(least) || !is_less(most, least);
  }
};

}  // namespace serac::detail
