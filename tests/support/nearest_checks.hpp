// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How tests look at lists of nearest descriptors.
#pragma once

#include <ostream>
#include <vector>

#include <serac/neighbors.hpp>
#include <serac/top2.hpp>
#include <support/catch.hpp>

namespace serac {

template <int K>
std::ostream& operator<<(std::ostream& out, const neighbors<K>& list) {
  for (const neighbor& one : list.at) out << "{score " << one.score << ", index " << one.index << "}";
  return out;
}

namespace test {

/// The states that lists of two stand for.
inline std::vector<top2> states_of(const std::vector<neighbors<2>>& lists) {
  std::vector<top2> states;
  for (const neighbors<2>& list : lists) states.push_back({list.at[0].score, list.at[0].index, list.at[1].score});
  return states;
}

}  // namespace test
}  // namespace serac
