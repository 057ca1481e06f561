// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "crosswise.hpp"

#include <serac/host/matcher.hpp>

serac::match_list match_c(const crosswise& images) {
  return serac::host::matcher().match(images.left_view(), images.right_view());
}
