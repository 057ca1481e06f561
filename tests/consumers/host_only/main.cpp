// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "../linking/crosswise.hpp"

int main() {
  const crosswise images;
  return match_c(images).pairs == images.expected ? 0 : 1;
}
