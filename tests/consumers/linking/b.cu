// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "crosswise.hpp"

#include <serac/serac.cuh>

serac::match_list match_b(const crosswise& images) {
  return serac::matcher().match(images.left_view(), images.right_view());
}
