// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Catch2, version 2 or 3, and what a test needs beside it.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <cstdio>
#include <ostream>

#include <serac/output.hpp>
#include <serac/top2.hpp>

namespace serac {

// How Catch2 prints the types that tests compare.
inline std::ostream& operator<<(std::ostream& out, const top2& state) {
  return out << "{best " << state.best << ", index " << state.index << ", second " << state.second << "}";
}
inline std::ostream& operator<<(std::ostream& out, const match_pair& pair) {
  return out << "(" << pair.row << ", " << pair.column << ")";
}

namespace test {

/// Whether a test case of this program could not run; its exit status is then 77, which CTest reports as skipped.
inline bool& any_skipped() {
  static bool skipped = false;
  return skipped;
}

/// Says loudly that the running test case tests nothing. Return from the test case after it.
inline void skip(const char* reason) {
  std::fprintf(stderr, "SKIPPED: %s\n", reason);
  any_skipped() = true;
}

/// The first place where two sequences differ, or -1; a length that differs is a difference at the shorter's end.
template <class Left, class Right>
long first_difference(const Left& left, const Right& right) {
  const std::size_t shorter = left.size() < right.size() ? left.size() : right.size();
  for (std::size_t i = 0; i < shorter; ++i) {
    if (!(left[i] == right[i])) return static_cast<long>(i);
  }
  return left.size() == right.size() ? -1 : static_cast<long>(shorter);
}

}  // namespace test
}  // namespace serac

/// Requires two sequences to be equal; a failure shows the first difference instead of both in full.
#define REQUIRE_SAME(left, right)                                                     \
  do {                                                                                \
    const auto& same_left = (left);                                                   \
    const auto& same_right = (right);                                                 \
    const long difference = ::serac::test::first_difference(same_left, same_right);   \
    INFO(#left " and " #right " differ first at " << difference);                     \
    CHECK(same_left.size() == same_right.size());                                     \
    if (difference >= 0 && static_cast<std::size_t>(difference) < same_left.size() && \
        static_cast<std::size_t>(difference) < same_right.size()) {                   \
      const auto at = static_cast<std::size_t>(difference);                           \
      CHECK(same_left[at] == same_right[at]);                                         \
    }                                                                                 \
    REQUIRE(difference == -1);                                                        \
  } while (false)
