// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Top-2 of scores packed with their place: two to three integer instructions a score.
#pragma once

#include <serac/detail/config.hpp>

namespace serac::thread {

/// Running best and second best of keys `score << bits | code`, where of two tied places the preferred one has the
/// greater code. Two equal scores have different keys, so a repeated best leaves its score in `second` as well.
/// A key whose score is zero stands for "nothing".
struct packed_top2 {
  std::uint32_t best = 0;
  std::uint32_t second = 0;

  /// Thread; pure.
  SERAC_DEVICE void push(std::uint32_t key) {
    const std::uint32_t loser = key < best ? key : best;
    best = key > best ? key : best;
    second = loser > second ? loser : second;
  }

  /// Takes two keys at once, in five instructions instead of six. Thread; pure.
  SERAC_DEVICE void push(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t winner = a > b ? a : b;
    const std::uint32_t loser = a > b ? b : a;
    push(winner);
    second = loser > second ? loser : second;
  }

  /// Merges the state of other places. Thread; pure.
  SERAC_DEVICE void merge(const packed_top2& other) {
    push(other.best);
    second = other.second > second ? other.second : second;
  }
};

}  // namespace serac::thread
