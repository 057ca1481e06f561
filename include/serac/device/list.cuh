// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The last step of every path: the matched columns of the rows become ordered lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <serac/detail/launch.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/options.hpp>
#include <serac/output.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac::device::detail {

using namespace ::serac::detail;

/// How many matches of a pair are written at most. Host; pure.
inline std::uint32_t most_matches(const match_options& options) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(options.max_matches, (std::numeric_limits<std::uint32_t>::max)()));
}

/// Writes the lists of `pairs` pairs, the largest of which has `most_rows` rows; see kernel::write_lists. Host; one
/// launch.
template <class Rows, class Lists>
status write_lists(const std::uint32_t* columns, const Rows& rows, std::int64_t pairs, std::int64_t most_rows,
                   const match_options& options, const Lists& lists, cudaStream_t stream,
                   launch_order order = launch_order::after_previous) noexcept {
  return launch(order, "write_lists", kernel::write_lists<Rows, Lists>,
                dim3((std::max)(1u, blocks_for(most_rows, kernel::list_window)), static_cast<unsigned>(pairs)),
                kernel::list_threads, 0, stream, columns, rows, most_matches(options), lists);
}

}  // namespace serac::device::detail

#pragma GCC visibility pop
