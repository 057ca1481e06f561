// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How much the tests do, by SERAC_TEST_SMALL.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

namespace serac::test {

enum class run_size {
  full,   ///< everything
  small,  ///< SERAC_TEST_SMALL=1: the same checks on fewer and smaller problems, for runs under a sanitizer
  tiny    ///< SERAC_TEST_SMALL=2: every kernel on a handful of problems, for the sanitizer that makes launches slow
};

inline run_size size_of_run() {
  const char* const value = std::getenv("SERAC_TEST_SMALL");
  const std::string size = value == nullptr ? "" : value;
  return size == "2" ? run_size::tiny : size == "1" ? run_size::small : run_size::full;
}

/// Whether the run is small or tiny.
inline bool small_run() { return size_of_run() != run_size::full; }

inline bool tiny_run() { return size_of_run() == run_size::tiny; }

/// The value for the run at hand.
template <class T>
T by_run_size(T full, T small, T tiny) {
  return tiny_run() ? tiny : small_run() ? small : full;
}

/// All values; in a tiny run `count` of them, evenly spread.
template <class T>
std::vector<T> few_if_tiny(const std::vector<T>& values, std::size_t count) {
  if (!tiny_run() || values.size() <= count) return values;
  std::vector<T> few;
  for (std::size_t i = 0; i < count; ++i) few.push_back(values[i * values.size() / count]);
  return few;
}

}  // namespace serac::test
