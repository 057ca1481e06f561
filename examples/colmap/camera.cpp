// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "camera.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string>

namespace serac_colmap {

namespace {

enum model : std::int64_t { simple_pinhole, pinhole, simple_radial, radial, opencv };

struct model_facts {
  const char* name;
  std::size_t params;  // 0: not known here
};

/// In the order of COLMAP's numbers.
constexpr model_facts models[] = {
    {"SIMPLE_PINHOLE", 3},
    {"PINHOLE", 4},
    {"SIMPLE_RADIAL", 4},
    {"RADIAL", 5},
    {"OPENCV", 8},
    {"OPENCV_FISHEYE", 0},
    {"FULL_OPENCV", 0},
    {"FOV", 0},
    {"SIMPLE_RADIAL_FISHEYE", 0},
    {"RADIAL_FISHEYE", 0},
    {"THIN_PRISM_FISHEYE", 0},
    {"RAD_TAN_THIN_PRISM_FISHEYE", 0},
};

/// A camera's parameters under one set of names; distortion that the model lacks is 0.
struct intrinsics {
  double fx, fy, cx, cy;
  double k1 = 0, k2 = 0, p1 = 0, p2 = 0;

  explicit intrinsics(const camera& given) {
    const std::vector<double>& p = given.params;
    const bool two_focals = given.model == pinhole || given.model == opencv;
    const std::size_t center = two_focals ? 2 : 1;
    fx = p[0], fy = two_focals ? p[1] : p[0];
    cx = p[center], cy = p[center + 1];
    if (given.model == simple_radial || given.model == radial || given.model == opencv) k1 = p[center + 2];
    if (given.model == radial || given.model == opencv) k2 = p[center + 3];
    if (given.model == opencv) p1 = p[6], p2 = p[7];
  }

  /// What the lens adds to (u, v), and its derivatives.
  struct distortion {
    double du, dv, uu, uv, vu, vv;
  };
  distortion at(double u, double v) const {
    const double r2 = u * u + v * v, radial = k1 * r2 + k2 * r2 * r2, slope = 2 * k1 + 4 * k2 * r2;
    return {u * radial + 2 * p1 * u * v + p2 * (r2 + 2 * u * u),
            v * radial + 2 * p2 * u * v + p1 * (r2 + 2 * v * v),
            radial + u * u * slope + 2 * p1 * v + 6 * p2 * u,
            u * v * slope + 2 * p1 * u + 2 * p2 * v,
            u * v * slope + 2 * p2 * v + 2 * p1 * u,
            radial + v * v * slope + 2 * p2 * u + 6 * p1 * v};
  }
};

}  // namespace

void check_is_known(const camera& given) {
  const bool named = given.model >= 0 && given.model < static_cast<std::int64_t>(std::size(models));
  const std::string name = named ? models[given.model].name : "number " + std::to_string(given.model);
  if (!named || models[given.model].params == 0) {
    throw std::runtime_error("the camera model " + name +
                             " is not known; SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL and OPENCV are");
  }
  if (given.params.size() != models[given.model].params) {
    throw std::runtime_error("the camera model " + name + " has " + std::to_string(models[given.model].params) +
                             " parameters, not " + std::to_string(given.params.size()));
  }
  if (!std::all_of(given.params.begin(), given.params.end(), [](double p) { return std::isfinite(p); })) {
    throw std::runtime_error("a camera parameter is not a finite number");
  }
  const intrinsics lens(given);
  if (!(lens.fx > 0 && lens.fy > 0)) throw std::runtime_error("a camera's focal length is not above 0");
}

void normalise(const camera& given, std::vector<float>& locations) {
  const intrinsics lens(given);
  for (std::size_t i = 0; i < locations.size(); i += 2) {
    const double u0 = (static_cast<double>(locations[i]) - lens.cx) / lens.fx;
    const double v0 = (static_cast<double>(locations[i + 1]) - lens.cy) / lens.fy;
    double u = u0, v = v0;
    for (int step = 0; step < 100; ++step) {  // solves (u, v) + distortion = (u0, v0)
      const intrinsics::distortion d = lens.at(u, v);
      const double fu = u + d.du - u0, fv = v + d.dv - v0;
      const double a = 1 + d.uu, b = d.uv, c = d.vu, e = 1 + d.vv, determinant = a * e - b * c;
      const double su = (e * fu - b * fv) / determinant, sv = (a * fv - c * fu) / determinant;
      u -= su, v -= sv;
      if (!(su * su + sv * sv > 1e-20)) break;  // NaN too
    }
    locations[i] = static_cast<float>(u), locations[i + 1] = static_cast<float>(v);
  }
}

double normalised_distance(const camera& given, double pixels) {
  const intrinsics lens(given);
  return pixels / ((lens.fx + lens.fy) / 2);
}

}  // namespace serac_colmap
