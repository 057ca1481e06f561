// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "crosswise.hpp"

#include <serac/serac.cuh>

serac::match_list match_a(const crosswise& images) {
  return serac::matcher().match(images.left_view(), images.right_view());
}
