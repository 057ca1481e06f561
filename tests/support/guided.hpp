// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Problems of guided matching: features with locations, and geometries of every kind, good and degenerate.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <serac/admissible.hpp>
#include <serac/host/reference.hpp>
#include <support/descriptors.hpp>
#include <support/random.hpp>

namespace serac::test {

/// Two images whose features have locations, and what is known of them.
template <class T = std::uint8_t>
struct guided_problem {
  descriptors<T> left, right;
  std::vector<float> left_points, right_points;  ///< x, y of each feature
  two_view_geometry geometry;

  guided_by<> guide() const { return {{left_points.data(), left.count}, {right_points.data(), right.count}, geometry}; }
  /// The same for the reference.
  host::reference::guide reference() const {
    host::reference::guide g;
    g.left = left_points.data(), g.right = right_points.data();
    if (geometry.has_homography) g.homography = geometry.homography.matrix;
    if (geometry.has_epipolar) g.fundamental = geometry.epipolar.matrix;
    g.max_homography_error = geometry.homography.max_squared_error;
    g.max_sampson_error = geometry.epipolar.max_squared_error;
    return g;
  }
};

/// Names of geometries, each of which random_geometry makes. All but the last ten are of two real cameras or planes.
inline constexpr const char* geometry_kinds[] = {
    "none",
    "identity homography",
    "plane seen from above",
    "tilted plane, horizon in the image",
    "epipole far outside, to the side",
    "epipole far outside, above",
    "epipole just outside",
    "epipole inside",
    "epipole in a feature",
    "epipole at infinity",
    "epipoles of different kinds",
    "normalised coordinates",
    "homography and epipolar",
    "fundamental matrix of rank 3",
    "fundamental matrix of rank 1",
    "fundamental matrix of zeros",
    "fundamental matrix with a NaN",
    "fundamental matrix scaled by 1e-22",
    "fundamental matrix scaled by 1e+22",
    "homography nearly singular",
    "homography of zeros",
    "homography with an infinity",
    "any numbers",
};

/// Draws a geometry of a kind, and locations that half meet it. A few locations are NaN, infinite, huge, or the same.
/// Some right features that stand where a left one goes get its descriptor.
template <class T>
void random_geometry(const std::string& kind, random_source& random, guided_problem<T>& problem) {
  const auto uniform = [&](double low, double high) { return low + (high - low) * random.unit(); };
  const bool normalised = kind == "normalised coordinates";
  const double width = normalised ? 1.4 : 4000, height = normalised ? 0.9 : 2250;
  const double low_x = normalised ? -0.7 : 0, low_y = normalised ? -0.45 : 0;
  const float threshold =
      static_cast<float>((normalised ? 1e-6 : 1) * uniform(1, 120) * (random.below(4) == 0 ? 9 : 1));

  const auto scatter = [&](std::vector<float>& points, std::int64_t count) {
    points.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      points.push_back(static_cast<float>(low_x + width * random.unit()));
      points.push_back(static_cast<float>(low_y + height * random.unit()));
    }
  };
  scatter(problem.left_points, problem.left.count);
  scatter(problem.right_points, problem.right.count);

  // H = similarity, more or less perspective.
  homography h;
  h.max_squared_error = threshold;
  {
    const double angle = uniform(-3, 3), scale = uniform(0.7, 1.5);
    const double c = scale * std::cos(angle), s = scale * std::sin(angle), mx = low_x + width / 2,
                 my = low_y + height / 2;
    const double perspective = kind == "tilted plane, horizon in the image" ? uniform(0.8, 3) / width
                               : kind == "plane seen from above"            ? uniform(0, 0.1) / width
                                                                            : 0;
    const double bottom[3] = {perspective, -perspective * uniform(0, 1), 1 - perspective * mx};
    const double m[9] = {c + mx * bottom[0], -s + mx * bottom[1], mx - c * mx + s * my - mx + mx * bottom[2],
                         s + my * bottom[0], c + my * bottom[1],  my - s * mx - c * my - my + my * bottom[2],
                         bottom[0],          bottom[1],           bottom[2]};
    for (int k = 0; k < 9; ++k) h.matrix[k] = static_cast<float>(m[k]);
    if (kind == "identity homography") {
      for (int k = 0; k < 9; ++k) h.matrix[k] = k % 4 == 0 ? 1 : 0;
    }
    if (kind == "homography nearly singular") {
      for (int k = 0; k < 3; ++k) h.matrix[3 + k] = h.matrix[k] * 1.0001f;
    }
    if (kind == "homography of zeros")
      h.matrix[0] = h.matrix[1] = h.matrix[2] = h.matrix[3] = h.matrix[4] = h.matrix[5] = h.matrix[6] = h.matrix[7] =
          h.matrix[8] = 0;
    if (kind == "homography with an infinity") h.matrix[random.below(9)] = std::numeric_limits<float>::infinity();
  }

  // F = [e2]x A with an affine A, so that F^T e2 = 0 and F (A^-1 e2) = 0.
  epipolar f;
  f.max_squared_error = threshold;
  {
    double e[3] = {low_x + width * uniform(0.2, 0.8), low_y + height * uniform(0.2, 0.8), 1};
    if (kind == "epipole far outside, to the side") e[0] = 20 * width;
    if (kind == "epipole far outside, above") e[1] = -15 * height;
    if (kind == "epipole just outside") e[0] = low_x - 0.1 * width;
    if (kind == "epipole at infinity" || normalised) e[0] = uniform(-1, 1), e[1] = uniform(-1, 1), e[2] = 0;
    if (kind == "epipole in a feature" && problem.right.count > 0) {
      e[0] = static_cast<double>(problem.right_points[0]), e[1] = static_cast<double>(problem.right_points[1]);
    }
    double a[9] = {
        1, uniform(-0.1, 0.1), uniform(-0.1, 0.1) * width, uniform(-0.1, 0.1), 1, uniform(-0.1, 0.1) * height, 0, 0, 1};
    if (kind == "epipoles of different kinds") a[6] = uniform(-1, 1) / width, a[7] = uniform(-1, 1) / height;
    const double scale = std::pow(10.0, uniform(-6, 0)) / (std::fabs(e[0]) + std::fabs(e[1]) + 1);
    for (int k = 0; k < 3; ++k) {
      f.matrix[k] = static_cast<float>(scale * (e[1] * a[6 + k] - e[2] * a[3 + k]));
      f.matrix[3 + k] = static_cast<float>(scale * (e[2] * a[k] - e[0] * a[6 + k]));
      f.matrix[6 + k] = static_cast<float>(scale * (e[0] * a[3 + k] - e[1] * a[k]));
    }
    if (kind == "fundamental matrix of rank 3") f.matrix[8] += 0.05f * std::fabs(f.matrix[8]) + f.matrix[0];
    if (kind == "fundamental matrix of rank 1") {
      for (int k = 0; k < 9; ++k) f.matrix[k] = f.matrix[k / 3 * 3] * (k % 3 == 0 ? 1 : k % 3 == 1 ? 0.5f : 800.0f);
    }
    for (float& x : f.matrix) {
      if (kind == "fundamental matrix of zeros") x = 0;
      if (kind == "fundamental matrix scaled by 1e-22") x *= 1e-22f;
      if (kind == "fundamental matrix scaled by 1e+22") x *= 1e+22f;
      if (kind == "any numbers") x = static_cast<float>(uniform(-1, 1) * std::pow(10.0, uniform(-9, 3)));
    }
    if (kind == "fundamental matrix with a NaN") f.matrix[random.below(9)] = std::numeric_limits<float>::quiet_NaN();
  }

  const bool has_h = kind.find("homography") != std::string::npos || kind.find("plane") != std::string::npos;
  const bool has_f = kind == "homography and epipolar" || (!has_h && kind != "none");
  problem.geometry = has_h && has_f ? two_view_geometry(h, f)
                     : has_h        ? two_view_geometry(h)
                     : has_f        ? two_view_geometry(f)
                                    : two_view_geometry();

  // Half of the right features stand near a place that the geometry allows some left one.
  for (std::int64_t j = 0; j < problem.right.count && problem.left.count > 0; ++j) {
    if (random.below(2) == 0) continue;
    const std::int64_t i = random.below(problem.left.count);
    const double x = static_cast<double>(problem.left_points[2 * i]),
                 y = static_cast<double>(problem.left_points[2 * i + 1]);
    const double reach = 1.2 * std::sqrt(static_cast<double>(threshold));
    double px = static_cast<double>(problem.right_points[2 * j]),
           py = static_cast<double>(problem.right_points[2 * j + 1]);
    if (has_h) {
      const double w = static_cast<double>(h.matrix[6]) * x + static_cast<double>(h.matrix[7]) * y +
                       static_cast<double>(h.matrix[8]);
      px = (static_cast<double>(h.matrix[0]) * x + static_cast<double>(h.matrix[1]) * y +
            static_cast<double>(h.matrix[2])) /
           w;
      py = (static_cast<double>(h.matrix[3]) * x + static_cast<double>(h.matrix[4]) * y +
            static_cast<double>(h.matrix[5])) /
           w;
      px += uniform(-reach, reach), py += uniform(-reach, reach);
    } else if (has_f) {
      const double a = static_cast<double>(f.matrix[0]) * x + static_cast<double>(f.matrix[1]) * y +
                       static_cast<double>(f.matrix[2]);
      const double b = static_cast<double>(f.matrix[3]) * x + static_cast<double>(f.matrix[4]) * y +
                       static_cast<double>(f.matrix[5]);
      const double c = static_cast<double>(f.matrix[6]) * x + static_cast<double>(f.matrix[7]) * y +
                       static_cast<double>(f.matrix[8]);
      const double distance =
          (a * px + b * py + c) / (a * a + b * b) + uniform(-reach, reach) * 1.5 / std::sqrt(a * a + b * b);
      px -= a * distance, py -= b * distance;
    }
    if (std::fabs(px) > 5 * width || std::fabs(py) > 5 * height) continue;  // NaN is let through
    problem.right_points[2 * j] = static_cast<float>(px), problem.right_points[2 * j + 1] = static_cast<float>(py);
    if (random.below(2) == 0) problem.right.assign(j, problem.left, i);
  }
  for (std::vector<float>* points : {&problem.left_points, &problem.right_points}) {
    if (points->size() < 40 || random.below(2) == 0) continue;
    const auto any = [&]() -> float& {
      return (*points)[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(points->size())))];
    };
    any() = std::numeric_limits<float>::quiet_NaN();
    any() = std::numeric_limits<float>::infinity();
    any() = -std::numeric_limits<float>::infinity();
    if (random.below(2) == 0) any() = 3e38f, any() = -3e38f, any() = 1e20f;
    for (int k = 0; k < 10; ++k) any() = any();
  }
}

/// A problem of a kind and shape. Descriptors that match have locations that mostly do as well.
template <class T = std::uint8_t>
guided_problem<T> random_guided(const std::string& kind, random_source& random, std::int64_t rows, std::int64_t columns,
                                int width = 128, input_kind input = input_kind::planted) {
  guided_problem<T> problem;
  auto images = random_images<T>(input, random, rows, columns, width);
  problem.left = std::move(images.left), problem.right = std::move(images.right);
  random_geometry(kind, random, problem);
  return problem;
}

/// COLMAP's own test: two features a side, the second image's descriptors those of the first in reverse.
inline guided_problem<> two_features(float first_x) {
  guided_problem<> problem;
  random_source random(7);
  problem.left = ten_of_162(random, 2), problem.right = descriptors<>(2);
  problem.right.assign(0, problem.left, 1), problem.right.assign(1, problem.left, 0);
  problem.left_points = {first_x, 0, first_x == 1 ? 2.0f : 1.0f, 0}, problem.right_points = {2, 0, 1, 0};
  problem.geometry = two_view_geometry(homography{{1, 0, 0, 0, 1, 0, 0, 0, 1}, 16});
  return problem;
}

}  // namespace serac::test
