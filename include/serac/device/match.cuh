// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The match list of two images in device memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include <serac/acceptance.hpp>
#include <serac/device/list.cuh>
#include <serac/device/match_pair.cuh>
#include <serac/device/nearest2.cuh>
#include <serac/device/path.cuh>
#include <serac/device/tensor_wave.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/options.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac::device {

namespace detail {

/// What `match` keeps in its workspace.
struct match_scratch {
  top2_cells cells;
  std::uint32_t* columns;  // [rows]: the column that a row matches

  match_scratch(workspace_carver& carver, std::int64_t rows, std::int64_t column_count, bool cross_check)
      : cells(carver, rows, column_count, cross_check), columns(carver.take<std::uint32_t>(rows)) {}
};

/// The match list by the classic path, to `lists`. Arguments as device::match, already checked; both images hold
/// something.
template <class Policy, class Acceptance, class Lists>
status classic_match(const descriptor_view<typename Policy::element>& left,
                     const descriptor_view<typename Policy::element>& right, const match_options& options,
                     const Acceptance& accept, const Lists& lists, void* workspace, cudaStream_t stream) noexcept {
  using traits = policy_traits<Policy>;
  workspace_carver carver(workspace);
  const match_scratch scratch(carver, left.count, right.count, options.cross_check);
  if (auto s = fill_cells<Policy>(left, right, scratch.cells, stream); !s.ok()) return s;
  const auto mark = kernel::mark_matches<typename traits::row_tie, typename traits::column_tie, Acceptance>;
  if (auto s = launch("mark_matches", mark, dim3(blocks_for(left.count, 256)), 256, 0, stream, scratch.cells.rows,
                      left.count, scratch.cells.columns, accept, scratch.columns);
      !s.ok()) {
    return s;
  }
  return write_lists(scratch.columns, kernel::one_pair_rows{left.count}, 1, left.count, options, lists, stream);
}

}  // namespace detail

/// The path that `match` takes for these images and options on the current device. Host; no synchronisation.
template <class Policy = default_policy>
match_path path_of_match(const descriptor_view<typename Policy::element>& left,
                         const descriptor_view<typename Policy::element>& right,
                         const match_options& options) noexcept {
  return detail::choose_path<Policy>(detail::capped(left, options).count, detail::capped(right, options).count,
                                     options.max_ratio <= 1);
}

/// Bytes of workspace that `match` needs, whichever path it takes: the classic path about 20 for each left and 16 for
/// each right feature; the tensor-core paths about 30 for each left feature and 4 for each of them and 176 (wgmma) or
/// 512 (mma) columns, up to 32 MiB or 64 such values a feature. Host; pure.
template <class Policy = default_policy>
std::size_t match_workspace(const descriptor_view<typename Policy::element>& left,
                            const descriptor_view<typename Policy::element>& right,
                            const match_options& options) noexcept {
  const std::int64_t rows = detail::capped(left, options).count;
  const std::int64_t columns = detail::capped(right, options).count;
  std::size_t bytes = detail::tensor_workspace_of<Policy>(rows, columns);
  if constexpr (Policy::path == match_path::classic) {
    detail::workspace_carver carver(nullptr);
    detail::match_scratch(carver, rows, columns, options.cross_check);
    bytes = (std::max)(bytes, carver.used());
  }
  return bytes;
}

/// The ordered match list of two images, judged by `accept` (see acceptance.hpp) instead of the options' ratio and
/// distance. Otherwise as `match` below. An automatic policy takes a tensor-core path only if accept.rejects_ties().
template <class Policy = default_policy, class Acceptance>
status match(const descriptor_view<typename Policy::element>& left,
             const descriptor_view<typename Policy::element>& right, const match_options& options,
             const Acceptance& accept, const match_output& output, void* workspace, std::size_t workspace_bytes,
             cudaStream_t stream) noexcept {
  using traits = detail::traits_of<Policy>;
  if (auto s = validate(options); !s.ok()) return s;
  if (auto s = detail::check_views<traits>(left, right); !s.ok()) return s;
  const auto rows = detail::capped(left, options);
  const auto columns = detail::capped(right, options);
  if (auto s = detail::check_output(output, rows.count, options); !s.ok()) return s;
  const std::size_t needed = match_workspace<Policy>(left, right, options);
  if (auto s = detail::check_workspace(workspace, workspace_bytes, needed); !s.ok()) return s;
  if (rows.count == 0 || columns.count == 0) {
    return detail::to_status(cudaMemsetAsync(output.count, 0, sizeof *output.count, stream), "output.count");
  }

  const bool ties_are_rejected = detail::ties_rejected<Acceptance>::by(accept);
  const match_path path = detail::choose_path<Policy>(rows.count, columns.count, ties_are_rejected);
  if (path != match_path::classic && !ties_are_rejected) {
    return {errc::invalid_option, "options.max_ratio (above 1 needs the classic path)"};
  }
  if (auto s = detail::check_path<typename Policy::element>(path, rows.count, columns.count); !s.ok()) return s;
  const kernel::one_list list{output.pairs, output.count};
  return detail::take_path<Policy>(
      path,
      [&](auto tensor) {
        using policy = typename decltype(tensor)::type;
        return detail::match_pair<policy>(rows, columns, options, accept, list, workspace, stream);
      },
      [&](auto classic) {
        return detail::classic_match<typename decltype(classic)::type>(rows, columns, options, accept, list, workspace,
                                                                       stream);
      });
}

/// The ordered match list of two images: `*output.count` pairs (row, column), ascending in row, exactly those that
/// the angular ratio test, the distance limit and, if asked, the cross-check of `options` accept.
///
/// Host; asynchronous on `stream` of the current device; no allocation, no synchronisation; may be captured in a
/// graph. Views, output and workspace are device memory; the workspace is 16-byte aligned and free again when the
/// stream has passed; output.capacity is at least min(left.count, max_matches). The views' width is Policy::width;
/// data and stride are multiples of 16 bytes (of 8 or 4 where the width is not). An empty image gives an empty list.
template <class Policy = default_policy>
status match(const descriptor_view<typename Policy::element>& left,
             const descriptor_view<typename Policy::element>& right, const match_options& options,
             const match_output& output, void* workspace, std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  return match<Policy>(left, right, options, acceptance_of<typename Policy::element>(options), output, workspace,
                       workspace_bytes, stream);
}

}  // namespace serac::device

#pragma GCC visibility pop
