// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the score of two descriptors is.
///
/// A *score* is an integer of two descriptors: the greater, the more alike. 0 stands for nothing to match, so the score
/// of two descriptors that may match is positive. The element type of a view or policy decides how descriptors are
/// scored; top-2 states, tie orders, tiles and lists are the same for all.
///
/// Floats are scored by a number that is not an integer, but whose order the score keeps exactly: positive floats are
/// ordered as their bits are. So equal scores are equal floats, and the float comes back from the score (dot_of,
/// squared_l2_of). A score is then also what a path sums up, in an order that the path documents; the host and the
/// classic path give the same bits:
///   - `float`, `float16`, `bfloat16`: the dot product, where what is not above 0 counts as 0, and so does a NaN;
///   - `l2<...>` of them: the squared Euclidean distance, the nearest having the greatest score. Infinite distances and
///     NaNs score 0.
/// Elements are widened to float, exactly. The sum starts at 0 and takes one element after the other, from the first
/// on: `sum = fma(a, b, sum)`, or `d = a - b` and `sum = fma(d, d, sum)`, each rounded to nearest; no subnormal is
/// flushed.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/float_rn.hpp>
#include <serac/element.hpp>

namespace serac {

/// The score of two equal binary descriptors, one more than the bits of the widest: a score of any two is positive,
/// whatever their width and distance.
inline constexpr std::int32_t equal_bits_score = 8 * 512 + 1;

/// The Hamming distance that a score of binary descriptors stands for. Of a score of 0, nothing, it is 4097: further
/// than any two descriptors are from each other. Any thread or host; pure.
SERAC_HOST_DEVICE constexpr std::int32_t hamming_distance(std::int32_t score) { return equal_bits_score - score; }

/// The score of a dot product of floats. Any thread or host; pure.
SERAC_HOST_DEVICE inline std::int32_t dot_score(float dot) {
  const std::uint32_t bits = detail::bits_of(dot);  // negative ones are above infinity's, NaNs too
  return bits <= detail::infinity_bits ? static_cast<std::int32_t>(bits) : 0;
}
/// The dot product that such a score stands for; of a score of 0, nothing, 0.
SERAC_HOST_DEVICE inline float dot_of(std::int32_t score) {
  return detail::float_of(static_cast<std::uint32_t>(score));
}

/// The score of a squared distance. Any thread or host; pure.
SERAC_HOST_DEVICE inline std::int32_t l2_score(float squared_l2) {
  const std::uint32_t bits = detail::bits_of(squared_l2);
  return bits < detail::infinity_bits ? static_cast<std::int32_t>(detail::infinity_bits - bits) : 0;
}
/// The squared distance that such a score stands for; of a score of 0, nothing, infinity.
SERAC_HOST_DEVICE inline float squared_l2_of(std::int32_t score) {
  return detail::float_of(detail::infinity_bits - static_cast<std::uint32_t>(score));
}

/// How descriptors of `Element`s are scored. `most(width)` is the greatest score of two of `width` bytes,
/// `least(width)` the least.
template <class Element>
struct score_traits {
  static_assert(sizeof(Element) == 0,
                "descriptor elements are bytes, signed or unsigned, bits8, or float, float16, bfloat16 or l2 of them");
};

namespace detail {

/// What the scores of integers have in common: they are added up as they are.
struct integer_score {
  using number = std::int32_t;  ///< what is added up
  static constexpr bool is_float = false;
  static constexpr bool is_dot_product = false;
  static constexpr bool has_angle = false;  ///< the score is a cosine, as match_options' angles have it: bytes
  static constexpr bool may_be_negative = false;
  static constexpr bool zeros_match = false;  ///< descriptors of zeros score above 0: what fills up tiles is taken out
  static constexpr std::int32_t start = 0;  ///< the score of two descriptors before any of their elements is looked at
  SERAC_HOST_DEVICE static constexpr std::int32_t least(int) { return 0; }
};

/// What the scores of floats have in common: `add` takes a pair of elements into the sum, `of` makes the score of it.
struct float_score : integer_score {
  using number = float;
  static constexpr bool is_float = true;
  static constexpr float start = 0;
  SERAC_HOST_DEVICE static constexpr std::uint32_t most(int) { return infinity_bits; }
};

struct float_dot_score : float_score {
  static constexpr bool is_dot_product = true;
  SERAC_HOST_DEVICE static float add(float a, float b, float sum) { return fma_rn(a, b, sum); }
  SERAC_HOST_DEVICE static std::int32_t of(float sum) { return dot_score(sum); }
};

}  // namespace detail

/// Bytes: their dot product, where below 0 (signed ones) counts as 0.
template <>
struct score_traits<std::uint8_t> : detail::integer_score {
  static constexpr bool is_dot_product = true;
  static constexpr bool has_angle = true;
  SERAC_HOST_DEVICE static constexpr std::uint32_t most(int width) { return width * 255u * 255u; }
};
template <>
struct score_traits<std::int8_t> : detail::integer_score {
  static constexpr bool is_dot_product = true;
  static constexpr bool has_angle = true;
  static constexpr bool may_be_negative = true;
  SERAC_HOST_DEVICE static constexpr std::uint32_t most(int width) { return width * 128u * 128u; }
};

/// Bits: equal_bits_score less their Hamming distance.
template <>
struct score_traits<bits8> : detail::integer_score {
  static constexpr bool zeros_match = true;
  static constexpr std::int32_t start = equal_bits_score;
  SERAC_HOST_DEVICE static constexpr std::uint32_t most(int) { return equal_bits_score; }
  SERAC_HOST_DEVICE static constexpr std::int32_t least(int width) { return equal_bits_score - 8 * width; }
};

/// Floats: their dot product.
template <>
struct score_traits<float> : detail::float_dot_score {};
template <>
struct score_traits<float16> : detail::float_dot_score {};
template <>
struct score_traits<bfloat16> : detail::float_dot_score {};

/// Floats: their squared distance.
template <class T>
struct score_traits<l2<T>> : detail::float_score {
  static constexpr bool zeros_match = true;
  SERAC_HOST_DEVICE static float add(float a, float b, float sum) {
    const float difference = detail::sub_rn(a, b);
    return detail::fma_rn(difference, difference, sum);
  }
  SERAC_HOST_DEVICE static std::int32_t of(float sum) { return l2_score(sum); }
};

}  // namespace serac
