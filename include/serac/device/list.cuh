// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The last step of every path: the matched columns of the rows become the ordered list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <serac/detail/launch.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/options.hpp>
#include <serac/output.hpp>

namespace serac::device::detail {

using namespace ::serac::detail;

/// Writes the list of `columns[rows]`, at most options.max_matches long; `block_counts` are the matches in each run of
/// compact_threads rows, and scratch afterwards. Host; two launches.
inline status write_list(const std::uint32_t* columns, std::int64_t rows, std::uint32_t* block_counts,
                         const match_options& options, const match_output& output, cudaStream_t stream) noexcept {
  const unsigned blocks = blocks_for(rows, kernel::compact_threads);
  const auto most = static_cast<std::uint32_t>(
      std::min<std::int64_t>(options.max_matches, std::numeric_limits<std::uint32_t>::max()));
  if (auto s = launch("scan_counts", kernel::scan_counts<>, dim3(1), kernel::scan_threads, 0, stream, block_counts,
                      blocks, most, output.count);
      !s.ok()) {
    return s;
  }
  return launch("write_matches", kernel::write_matches<>, dim3(blocks), kernel::compact_threads, 0, stream, columns,
                rows, block_counts, most, output.pairs);
}

}  // namespace serac::device::detail
