// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Checks of a tensor-core path of any width and element: the states and the lists of every kind of input.
#pragma once

#include <cstdint>

#include <support/nearest2_checks.cuh>
#include <support/tensor_checks.cuh>

namespace serac::test {

/// Requires the path's states and lists to be the host's, around its edges and over several chunks.
template <class Path>
void check_width() {
  SECTION("states around the edges of tiles") { check_tile_edges<Path>(); }
  SECTION("states of every kind of input, dense and with gaps") {
    check_kinds<Path>();
    if (small_run()) return;
    std::uint64_t seed = 8000;
    for (const input_kind kind : input_kinds) {
      check_nearest2<Path>(kind, ++seed, 1025, 1300);
      check_nearest2<Path>(kind, ++seed, 70, device::detail::most_column_chunks * Path::tile_columns + 1);
    }
  }
  SECTION("lists of every kind of input, all options") { check_list_kinds<Path, false>(); }
}

}  // namespace serac::test
