// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The match list of two images in device memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <serac/acceptance.hpp>
#include <serac/device/nearest2.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/options.hpp>

namespace serac::device {

namespace detail {

/// What `match` keeps in its workspace.
struct match_scratch {
  top2_cells cells;
  std::uint32_t* columns;       // [rows]: the column that a row matches
  std::uint32_t* block_counts;  // [blocks of compact_threads rows]

  match_scratch(workspace_carver& carver, std::int64_t rows, std::int64_t column_count, bool cross_check)
      : cells(carver, rows, column_count, cross_check),
        columns(carver.take<std::uint32_t>(rows)),
        block_counts(carver.take<std::uint32_t>(blocks_for(rows, kernel::compact_threads))) {}
};

}  // namespace detail

/// Bytes of workspace that `match` needs: about 20 for each left and 16 for each right feature. Host; pure.
template <class Policy = default_policy>
std::size_t match_workspace(const descriptor_view<typename Policy::element>& left,
                            const descriptor_view<typename Policy::element>& right,
                            const match_options& options) noexcept {
  detail::workspace_carver carver(nullptr);
  detail::match_scratch(carver, detail::capped(left, options).count, detail::capped(right, options).count,
                        options.cross_check);
  return carver.used();
}

/// The ordered match list of two images, judged by `accept` (see acceptance.hpp) instead of the options' ratio and
/// distance. Otherwise as `match` below.
template <class Policy = default_policy, class Acceptance>
status match(const descriptor_view<typename Policy::element>& left,
             const descriptor_view<typename Policy::element>& right, const match_options& options,
             const Acceptance& accept, const match_output& output, void* workspace, std::size_t workspace_bytes,
             cudaStream_t stream) noexcept {
  using traits = policy_traits<Policy>;
  if (auto s = validate(options); !s.ok()) return s;
  if (auto s = detail::check_views<Policy>(left, right); !s.ok()) return s;
  const auto rows = detail::capped(left, options);
  const auto columns = detail::capped(right, options);
  if (auto s = detail::check_output(output, rows.count, options); !s.ok()) return s;
  const std::size_t needed = match_workspace<Policy>(left, right, options);
  if (auto s = detail::check_workspace(workspace, workspace_bytes, needed); !s.ok()) return s;
  if (rows.count == 0 || columns.count == 0) {
    return detail::to_status(cudaMemsetAsync(output.count, 0, sizeof *output.count, stream), "output.count");
  }

  detail::workspace_carver carver(workspace);
  const detail::match_scratch scratch(carver, rows.count, columns.count, options.cross_check);
  if (auto s = detail::fill_cells<Policy>(rows, columns, scratch.cells, stream); !s.ok()) return s;

  const unsigned blocks = detail::blocks_for(rows.count, kernel::compact_threads);
  const auto most = static_cast<std::uint32_t>(
      std::min<std::int64_t>(options.max_matches, std::numeric_limits<std::uint32_t>::max()));
  const auto mark = kernel::mark_matches<typename traits::row_tie, typename traits::column_tie, Acceptance>;
  if (auto s =
          detail::launch("mark_matches", mark, dim3(blocks), kernel::compact_threads, 0, stream, scratch.cells.rows,
                         rows.count, scratch.cells.columns, accept, scratch.columns, scratch.block_counts);
      !s.ok()) {
    return s;
  }
  if (auto s = detail::launch("scan_counts", kernel::scan_counts<>, dim3(1), kernel::scan_threads, 0, stream,
                              scratch.block_counts, blocks, most, output.count);
      !s.ok()) {
    return s;
  }
  return detail::launch("write_matches", kernel::write_matches<>, dim3(blocks), kernel::compact_threads, 0, stream,
                        scratch.columns, rows.count, scratch.block_counts, most, output.pairs);
}

/// The ordered match list of two images: `*output.count` pairs (row, column), ascending in row, exactly those that
/// the angular ratio test, the distance limit and, if asked, the cross-check of `options` accept.
///
/// Host; asynchronous on `stream` of the current device; no allocation, no synchronisation; may be captured in a
/// graph. Views, output and workspace are device memory; the workspace is 16-byte aligned and free again when the
/// stream has passed; output.capacity is at least min(left.count, max_matches). The views' width is Policy::width;
/// data and stride are multiples of policy_traits<Policy>::load_bytes. An empty image gives an empty list.
template <class Policy = default_policy>
status match(const descriptor_view<typename Policy::element>& left,
             const descriptor_view<typename Policy::element>& right, const match_options& options,
             const match_output& output, void* workspace, std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  return match<Policy>(left, right, options, angular_acceptance{options.max_ratio, options.max_distance}, output,
                       workspace, workspace_bytes, stream);
}

}  // namespace serac::device
