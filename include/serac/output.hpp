// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What matching produces, and where the entry points write it.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/top2.hpp>

namespace serac {

/// One entry of a match list: descriptor `row` of the left image matches descriptor `column` of the right one.
struct match_pair {
  std::uint32_t row;
  std::uint32_t column;

  friend SERAC_HOST_DEVICE constexpr bool operator==(match_pair a, match_pair b) {
    return a.row == b.row && a.column == b.column;
  }
  friend SERAC_HOST_DEVICE constexpr bool operator!=(match_pair a, match_pair b) { return !(a == b); }
};

/// Where `match` writes: `*count` pairs at `pairs`, ascending in `row`. Same memory space as the descriptors.
struct match_output {
  match_pair* pairs = nullptr;
  std::int64_t capacity = 0;  ///< room at `pairs`; at least min(left.count, max_matches)
  std::uint32_t* count = nullptr;
};

/// Where `nearest2` writes: a state for every row and, if `columns` is not null, for every column. Same memory space
/// as the descriptors.
struct nearest2_output {
  top2* rows = nullptr;
  top2* columns = nullptr;
};

}  // namespace serac
