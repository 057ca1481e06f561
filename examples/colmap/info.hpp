// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What a database holds, for people.
#pragma once

#include "database.hpp"

namespace serac_colmap {

/// Prints layout, images, features, matches and verified pairs. Reads no descriptors.
void print_info(database& source);

}  // namespace serac_colmap
