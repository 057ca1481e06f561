// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The policy of COLMAP's own lists.
#pragma once

#include <serac/policy.hpp>

namespace serac_colmap {

/// Ties broken as COLMAP breaks them, which shows only in lists made with max_ratio above 1.
struct colmap_ties : serac::policy_for<128> {
  using tie = serac::tie_break::siftgpu;
};

}  // namespace serac_colmap
