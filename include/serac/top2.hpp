// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The best, its index and the second best of a set of scores: a monoid, which is why any tiling of the score
/// matrix gives the same answer.
#pragma once

#include <serac/detail/config.hpp>

namespace serac {

/// Orders in which an exact tie for the best is broken. A tie order is a bijection between indices and ranks in
/// [0, 2^31); of tied indices the one of least rank is kept. Index 0 has rank 0.
namespace tie_break {

/// The smallest index wins, in rows and in columns.
struct smallest_index {
  SERAC_HOST_DEVICE static constexpr std::uint32_t rank(std::uint32_t index) { return index; }
  SERAC_HOST_DEVICE static constexpr std::uint32_t index(std::uint32_t rank) { return rank; }
  using column_order = smallest_index;  ///< how ties between the rows of one column are broken
};

/// The order of COLMAP's GPU matcher: of tied columns the one whose `column mod 32`, its five bits reversed, is
/// smallest, and among those the smallest; of tied rows the smallest. Differs from `smallest_index` only in lists
/// made with max_ratio > 1, since below that a tied best is never accepted.
struct siftgpu {
  SERAC_HOST_DEVICE static constexpr std::uint32_t reverse5(std::uint32_t v) {
    return (v & 1) << 4 | (v & 2) << 2 | (v & 4) | (v & 8) >> 2 | (v & 16) >> 4;
  }
  SERAC_HOST_DEVICE static constexpr std::uint32_t rank(std::uint32_t index) {
    return reverse5(index & 31) << 26 | index >> 5;
  }
  SERAC_HOST_DEVICE static constexpr std::uint32_t index(std::uint32_t rank) {
    return (rank & ((1u << 26) - 1)) << 5 | reverse5(rank >> 26);
  }
  using column_order = smallest_index;
};

}  // namespace tie_break

/// Top-2 state of a row (or column): the best score, the index it stands at, and the second best score.
/// A score of zero never matches: the floor is 0 and the index then stays -1. A repeated best makes second == best.
struct top2 {
  std::int32_t best = 0;
  std::int32_t index = -1;
  std::int32_t second = 0;

  friend SERAC_HOST_DEVICE constexpr bool operator==(const top2& a, const top2& b) {
    return a.best == b.best && a.index == b.index && a.second == b.second;
  }
  friend SERAC_HOST_DEVICE constexpr bool operator!=(const top2& a, const top2& b) { return !(a == b); }
};

/// Merges the states of two disjoint sets of scores, given in any order. Associative and commutative, with identity
/// `top2{}`. Any thread; pure; about 8 integer instructions.
template <class Tie = tie_break::smallest_index>
SERAC_HOST_DEVICE constexpr top2 merge(const top2& a, const top2& b) {
  // An empty state has index -1, whose rank is not one of any index; only its best (0) is compared then.
  const bool b_wins = b.best > a.best ||
                      (b.best == a.best && b.best > 0 &&
                       Tie::rank(static_cast<std::uint32_t>(b.index)) < Tie::rank(static_cast<std::uint32_t>(a.index)));
  const top2& winner = b_wins ? b : a;
  const top2& loser = b_wins ? a : b;
  return {winner.best, winner.index, winner.second > loser.best ? winner.second : loser.best};
}

}  // namespace serac
