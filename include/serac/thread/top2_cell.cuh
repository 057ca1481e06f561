// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Top-2 states in memory that many blocks merge into, whatever their order: scratch linear in features.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/top2.hpp>

namespace serac::thread {

/// A top-2 state in global memory. All-zero bytes are the identity.
struct alignas(16) top2_cell {
  unsigned long long best = 0;  ///< score << 32 | ~rank: of equal scores the lesser rank is the greater number
  std::uint32_t second = 0;
  std::uint32_t unused = 0;
};

/// A lower bound of the second best that `*cell` ends with: a state whose best is below it changes nothing. Thread;
/// may be read long before `push` and while others push, since a cell's values only grow.
SERAC_DEVICE std::uint32_t second_so_far(const top2_cell* cell) {
  return *static_cast<volatile const std::uint32_t*>(&cell->second);
}

/// Merges `state` into `*cell`, together with any number of other threads doing the same.
///
/// Thread; `floor` is what second_so_far returned earlier, or 0. At most two atomics. The result does not depend on the
/// order: every best pushed but the greatest loses exactly one comparison of the atomic maximum's history, and its
/// score then counts as a second.
template <class Tie>
SERAC_DEVICE void push(top2_cell* cell, const top2& state, std::uint32_t floor) {
  const auto score = static_cast<std::uint32_t>(state.best);
  if (score == 0 || score < floor) return;
  const unsigned long long key =
      static_cast<unsigned long long>(score) << 32 | static_cast<std::uint32_t>(~Tie::rank(state.index));
  const unsigned long long before = atomicMax(&cell->best, key);
  const auto loser = static_cast<std::uint32_t>((before < key ? before : key) >> 32);
  const std::uint32_t second = loser > static_cast<std::uint32_t>(state.second) ? loser : state.second;
  if (second > floor) atomicMax(&cell->second, second);
}

/// The state that a cell holds once every push has finished (in a later kernel, say). Thread.
template <class Tie>
SERAC_DEVICE top2 load(const top2_cell& cell) {
  const auto best = static_cast<std::int32_t>(cell.best >> 32);
  if (best == 0) return {};
  const auto rank = ~static_cast<std::uint32_t>(cell.best);
  return {best, static_cast<std::int32_t>(Tie::index(rank)), static_cast<std::int32_t>(cell.second)};
}

}  // namespace serac::thread
