// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Calls all three; where there is no GPU, the two that need one must say so, and nothing else; where a.cu has no code
/// for the GPU, it must say that.

#include <cstdio>

#include "crosswise.hpp"

#include <serac/status.hpp>

namespace {

template <class Match>
bool right(const char* name, Match match, const crosswise& images, serac::errc expected = serac::errc::ok) {
  try {
    const bool equal = match(images).pairs == images.expected;
    std::printf("%s: %s\n", name, equal ? "the right matches" : "WRONG matches");
    return equal && expected == serac::errc::ok;
  } catch (const serac::error& error) {
    std::printf("%s: %s\n", name, error.what());
    return error.status().code == serac::errc::no_device || error.status().code == expected;
  }
}

#ifdef A_IS_FOR_OTHER_GPUS
constexpr serac::errc of_a = serac::errc::no_kernel_image;
#else
constexpr serac::errc of_a = serac::errc::ok;
#endif

}  // namespace

int main() {
  const crosswise images;
  const bool host = match_c(images).pairs == images.expected;
  const bool a = right("a.cu", match_a, images, of_a);
#ifdef WITHOUT_B
  const bool b = true;
#else
  const bool b = right("b.cu", match_b, images);
#endif
  return host && a && b ? 0 : 1;
}
