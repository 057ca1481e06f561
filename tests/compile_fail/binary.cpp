// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A match of binary descriptors, judged by what -DACCEPT=... inserts behind the options.

#include <serac/host/match.hpp>

int main() {
  const serac::binary_view image;
  std::uint32_t count = 0;
  return static_cast<int>(
      serac::host::match(image, image, serac::match_options() ACCEPT, serac::match_output{nullptr, 0, &count}).code);
}
