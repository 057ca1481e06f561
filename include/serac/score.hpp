// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the elements of descriptors are, and what their score is.
///
/// A *score* is an integer of two descriptors: the greater, the more alike. 0 stands for nothing to match, so the score
/// of two descriptors that may match is positive. The element type of a view or policy decides how descriptors are
/// scored; top-2 states, tie orders, tiles and lists are the same for all.
#pragma once

#include <serac/detail/config.hpp>

namespace serac {

/// Eight bits of a binary descriptor (ORB, BRIEF, BRISK, FREAK, AKAZE), which is scored by its Hamming distance from
/// others. Bits that a descriptor does not have (AKAZE's last two) are 0 in all. See binary_view and as_bits
/// (view.hpp).
enum class bits8 : std::uint8_t {};

/// The score of two equal binary descriptors, one more than the bits of the widest: a score of any two is positive,
/// whatever their width and distance.
inline constexpr std::int32_t equal_bits_score = 8 * 512 + 1;

/// The Hamming distance that a score of binary descriptors stands for. Of a score of 0, nothing, it is 4097: further
/// than any two descriptors are from each other. Any thread or host; pure.
SERAC_HOST_DEVICE constexpr std::int32_t hamming_distance(std::int32_t score) { return equal_bits_score - score; }

/// How descriptors of `Element`s are scored.
template <class Element>
struct score_traits {
  static_assert(sizeof(Element) == 0, "descriptor elements are bytes, signed or unsigned, or bits8");
};

/// Bytes: their dot product, where below 0 (signed ones) counts as 0.
template <>
struct score_traits<std::uint8_t> {
  static constexpr bool may_be_negative = false;
  static constexpr bool has_angle = true;   ///< the score is a cosine, as acceptance.hpp has it
  static constexpr std::int32_t start = 0;  ///< the score of two descriptors before any of their bytes is looked at
  SERAC_HOST_DEVICE static constexpr std::uint32_t most(int width) { return width * 255u * 255u; }
};
template <>
struct score_traits<std::int8_t> {
  static constexpr bool may_be_negative = true;
  static constexpr bool has_angle = true;
  static constexpr std::int32_t start = 0;
  SERAC_HOST_DEVICE static constexpr std::uint32_t most(int width) { return width * 128u * 128u; }
};

/// Bits: equal_bits_score less their Hamming distance.
template <>
struct score_traits<bits8> {
  static constexpr bool may_be_negative = false;
  static constexpr bool has_angle = false;
  static constexpr std::int32_t start = equal_bits_score;
  SERAC_HOST_DEVICE static constexpr std::uint32_t most(int) { return equal_bits_score; }
};

}  // namespace serac
