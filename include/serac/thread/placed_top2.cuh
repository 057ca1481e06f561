// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Top-2 of scores with the code of their place: in one word where it has room for both, else side by side.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/thread/packed_top2.cuh>

namespace serac::thread {

/// Running best, its place and second best of scores, where of two tied places the preferred one has the greater code.
/// Codes are below 2^Bits. A best of 0 stands for "nothing". This one is for scores that leave Bits bits of a word.
template <bool Packs, int Bits>
struct placed_top2 : packed_top2 {
  SERAC_DEVICE std::uint32_t best_score() const { return best >> Bits; }
  SERAC_DEVICE std::uint32_t second_score() const { return second >> Bits; }
  SERAC_DEVICE std::uint32_t code() const { return best & ((1u << Bits) - 1); }

  /// Takes in `count` scores, `score(i)` at the place of code `first_code - i`, two at a time. Thread; pure.
  template <int Count, class Score>
  SERAC_DEVICE void push_scores(std::uint32_t first_code, Score score) {
    const auto key = [&](int i) { return (score(i) << Bits) + (first_code - i); };
#pragma unroll
    for (int i = 0; i + 1 < Count; i += 2) push(key(i), key(i + 1));
    if (Count % 2 != 0) push(key(Count - 1));
  }
};

/// And this one for any others: codes must be pushed, and states merged, from the greatest code to the least.
template <int Bits>
struct placed_top2<false, Bits> {
  std::uint32_t best = 0;
  std::uint32_t best_code = 0;
  std::uint32_t second = 0;

  SERAC_DEVICE std::uint32_t best_score() const { return best; }
  SERAC_DEVICE std::uint32_t second_score() const { return second; }
  SERAC_DEVICE std::uint32_t code() const { return best_code; }

  /// Thread; pure.
  SERAC_DEVICE void push(std::uint32_t score, std::uint32_t code) {
    const std::uint32_t loser = score < best ? score : best;
    best_code = score > best ? code : best_code;
    best = score > best ? score : best;
    second = loser > second ? loser : second;
  }

  /// As above, one at a time.
  template <int Count, class Score>
  SERAC_DEVICE void push_scores(std::uint32_t first_code, Score score) {
#pragma unroll
    for (int i = 0; i < Count; ++i) push(score(i), first_code - i);
  }

  /// Merges the state of places of lesser codes. Thread; pure.
  SERAC_DEVICE void merge(const placed_top2& other) {
    push(other.best, other.best_code);
    second = other.second > second ? other.second : second;
  }
};

}  // namespace serac::thread
