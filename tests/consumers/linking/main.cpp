// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Calls all three; where there is no GPU, the two that need one must say so, and nothing else.

#include <cstdio>

#include "crosswise.hpp"

#include <serac/status.hpp>

namespace {

template <class Match>
bool right(const char* name, Match match, const crosswise& images) {
  try {
    const bool equal = match(images).pairs == images.expected;
    std::printf("%s: %s\n", name, equal ? "the right matches" : "WRONG matches");
    return equal;
  } catch (const serac::error& error) {
    std::printf("%s: %s\n", name, error.what());
    return error.status().code == serac::errc::no_device;
  }
}

}  // namespace

int main() {
  const crosswise images;
  const bool host = match_c(images).pairs == images.expected;
  const bool a = right("a.cu", match_a, images);
#ifdef WITHOUT_B
  const bool b = true;
#else
  const bool b = right("b.cu", match_b, images);
#endif
  return host && a && b ? 0 : 1;
}
