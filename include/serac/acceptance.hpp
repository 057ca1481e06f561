// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// When a top-2 state is a match: the angular ratio test, as the formula and as integer thresholds, and tests by other
/// distances.
///
/// An *acceptance* is a callable `bool operator()(int32 best, int32 second) const` on host and device. It must be
/// monotone: whatever accepts (best, second) accepts (best, less than second) as well. One that never accepts
/// second == best may say so by a member `bool rejects_ties() const`; the tensor-core paths need that, and that
/// whatever accepts (best, second) accepts (greater than best, second). It is asked only about states that have a best;
/// where they have no second, that is 0.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <math.h>

#include <algorithm>
#include <vector>

#include <serac/options.hpp>
#endif

#include <serac/detail/config.hpp>
#include <serac/score.hpp>

namespace serac {

/// The score of two descriptors of norm 512 that are equal: distance 0. Higher scores are clamped to it.
inline constexpr std::int32_t unit_score = 1 << 18;

/// Angle in radians of a score in [0, 2^31): `float(acos(min(float(score) * 2^-18, 1)))`. Does not increase with the
/// score; distance(0) = pi/2. Any thread or host; one double-precision acos.
SERAC_HOST_DEVICE inline float angular_distance(std::int32_t score) {
  const double cosine = static_cast<double>(static_cast<float>(score) * (1.0f / unit_score));
  return static_cast<float>(acos(cosine < 1.0 ? cosine : 1.0));
}

/// The acceptance test as the formula itself, both comparisons in float. Needs no table; two acos a call.
struct angular_acceptance {
  float max_ratio = 0.8f;
  float max_distance = 0.7f;

  SERAC_HOST_DEVICE bool rejects_ties() const { return max_ratio <= 1; }
  SERAC_HOST_DEVICE bool operator()(std::int32_t best, std::int32_t second) const {
    const float distance = angular_distance(best);
    return distance < max_distance && distance < angular_distance(second) * max_ratio;
  }
};

/// The same test as one comparison of integers: `limit[best]` is the largest second that is accepted with that best,
/// -1 where none is. A view of a table in the memory space of the caller; see `acceptance_table`.
struct acceptance_view {
  const std::int32_t* limit = nullptr;  ///< unit_score + 1 entries
  bool ties_rejected = false;           ///< every limit is below its best: the table was made with max_ratio <= 1

  SERAC_HOST_DEVICE bool rejects_ties() const { return ties_rejected; }

  SERAC_HOST_DEVICE bool operator()(std::int32_t best, std::int32_t second) const {
    return (second < unit_score ? second : unit_score) <= limit[best < unit_score ? best : unit_score];
  }
};

/// The cosine of two descriptors with this score: bytes of norm 512, floats of norm 1. Below 0 it is 0. Any thread or
/// host.
template <class Element>
SERAC_HOST_DEVICE float cosine(std::int32_t score) {
  static_assert(score_traits<Element>::is_dot_product, "cosines are of elements that are scored by the dot product");
  if constexpr (score_traits<Element>::is_float) {
    return dot_of(score);
  } else {
    return static_cast<float>(score) * (1.0f / unit_score);
  }
}

/// The squared Euclidean distance of two descriptors with this score. Of dot products it is that of descriptors of norm
/// 1, bytes being scaled to it: `2 - 2 min(cosine, 1)`, for bytes exact. Any thread or host.
template <class Element>
SERAC_HOST_DEVICE float squared_distance(std::int32_t score) {
  if constexpr (score_traits<Element>::is_dot_product) {
    const float cosine_of_angle = cosine<Element>(score);
    return cosine_of_angle < 1 ? 2 - 2 * cosine_of_angle : 0.0f;
  } else {
    return squared_l2_of(score);
  }
}

/// Lowe's ratio test on Euclidean distances, and a limit to them: `d(best)^2 < max_distance^2` and
/// `d(best)^2 < max_ratio^2 d(second)^2`, where d^2 is squared_distance. Beside that all that rounds, to float, are the
/// two squares of options and the product by one of them. A best without a second passes where the elements are scored
/// by squared distances; dot products have none below 0, so its second is at sqrt(2).
template <class Element>
struct basic_euclidean_acceptance {
  float max_ratio = 0.8f;
  float max_distance = 1e19f;  ///< bytes are scaled to norm 1; the default is above every distance that has a square

  SERAC_HOST_DEVICE bool rejects_ties() const { return max_ratio <= 1; }
  SERAC_HOST_DEVICE bool operator()(std::int32_t best, std::int32_t second) const {
    const float squared = squared_distance<Element>(best);
    return squared < max_distance * max_distance && squared < max_ratio * max_ratio * squared_distance<Element>(second);
  }
};

/// For bytes of norm 512.
using euclidean_acceptance = basic_euclidean_acceptance<std::uint8_t>;

/// A least cosine, whatever the second: `cosine > min_cosine`. The default, with cross_check, is what COLMAP asks of
/// ALIKED's descriptors.
template <class Element>
struct basic_cosine_acceptance {
  float min_cosine = 0.85f;

  SERAC_HOST_DEVICE bool operator()(std::int32_t best, std::int32_t) const {
    return cosine<Element>(best) > min_cosine;
  }
};

/// For bytes of norm 512.
using cosine_acceptance = basic_cosine_acceptance<std::uint8_t>;

/// Accepts every best: with cross_check, the pairs that are mutually the nearest.
struct accept_all {
  SERAC_HOST_DEVICE bool operator()(std::int32_t, std::int32_t) const { return true; }
};

/// Lowe's ratio test on Hamming distances, and a limit to them: a best is accepted when its distance is below
/// max_distance, and below max_ratio times the second's, in float, as programs that use OpenCV write
/// `m[0].distance < 0.75f * m[1].distance`. A best without a second passes the ratio test. For scores of bits8.
struct hamming_acceptance {
  float max_ratio = 0.8f;
  std::int32_t max_distance = equal_bits_score;  ///< bits; the default is above every distance

  SERAC_HOST_DEVICE bool rejects_ties() const { return max_ratio <= 1; }
  SERAC_HOST_DEVICE bool operator()(std::int32_t best, std::int32_t second) const {
    const std::int32_t distance = hamming_distance(best);
    return distance < max_distance &&
           (second == 0 || static_cast<float>(distance) < max_ratio * static_cast<float>(hamming_distance(second)));
  }
};

#if !defined(__CUDACC_RTC__)

/// The acceptance that options stand for. Host; pure.
template <class Element>
angular_acceptance acceptance_of(const match_options& options) noexcept {
  static_assert(score_traits<Element>::has_angle,
                "options' ratio and distance are of angles: judge other descriptors than bytes, binary ones say, by an "
                "acceptance passed beside them");
  return {options.max_ratio, options.max_distance};
}

/// Integer thresholds equivalent to `angular_acceptance` for every (best, second), built on the host.
/// Construction: 262,145 acos the first time in a process, about a millisecond after that; 1 MiB.
class acceptance_table {
 public:
  acceptance_table(float max_ratio, float max_distance) : limit_(unit_score + 1, -1), ties_rejected_(max_ratio <= 1) {
    const std::vector<float>& distance = distances();
    // distance() falls and the limit rises with best, so one pointer sweeps over the seconds.
    std::int32_t accepted = -1;  // the seconds 0..accepted pass the ratio test at this best
    for (std::int32_t best = 0; best <= unit_score; ++best) {
      while (accepted < unit_score && distance[best] < distance[accepted + 1] * max_ratio) ++accepted;
      limit_[best] = distance[best] < max_distance ? accepted : -1;
    }
  }
  explicit acceptance_table(const match_options& options) : acceptance_table(options.max_ratio, options.max_distance) {}

  acceptance_view view() const noexcept { return {limit_.data(), ties_rejected_}; }
  const std::vector<std::int32_t>& limits() const noexcept { return limit_; }
  bool operator()(std::int32_t best, std::int32_t second) const noexcept { return view()(best, second); }

 private:
  static const std::vector<float>& distances() {
    static const std::vector<float> table = [] {
      std::vector<float> values(unit_score + 1);
      for (std::int32_t score = 0; score <= unit_score; ++score) values[score] = angular_distance(score);
      return values;
    }();
    return table;
  }

  std::vector<std::int32_t> limit_;
  bool ties_rejected_;
};

#endif  // !__CUDACC_RTC__

}  // namespace serac
