// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A fingerprint of all matches of a database.
#pragma once

#include <string>

#include "database.hpp"

namespace serac_colmap {

/// SHA-256 over the data of all rows of the matches table in order of pair_id, one after the other, as 64 hexadecimal
/// digits. Empty rows add nothing.
std::string matches_sha256(database& source);

}  // namespace serac_colmap
