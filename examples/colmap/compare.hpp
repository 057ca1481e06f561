// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How the matches of two databases of the same images differ.
#pragma once

#include "database.hpp"

namespace serac_colmap {

/// Compares the matches rows of two databases and prints what differs: which pairs (the first `listed` of them), and
/// the lost (in `a` only) and gained (in `b` only) matches by the smaller keypoint scale of the two features and by
/// their score, so that a loss confined to weak features shows. Returns true if all rows are equal, order included.
/// Throws std::runtime_error if an id means different images in the two, or a row is not a list of matches.
/// Cost: two passes over the rows and, if they differ, over the descriptors.
bool compare(database& a, database& b, std::size_t listed);

}  // namespace serac_colmap
