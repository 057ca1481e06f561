// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The K nearest of every row, and of every column, of two images in device memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <serac/detail/launch.cuh>
#include <serac/detail/workspace.hpp>
#include <serac/device/nearest2.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/kernel/nearest.cuh>
#include <serac/neighbors.hpp>
#include <serac/policy.hpp>
#include <serac/status.hpp>
#include <serac/thread/dot.cuh>
#include <serac/view.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac::device {

namespace detail {

/// Blocks beyond which a pass of `nearest` takes no more: enough for any GPU, and the bound of its workspace.
inline constexpr std::int64_t most_nearest_blocks = 1024;

/// The lists of a pass over the rows of one image.
template <class Policy, int K>
std::size_t nearest_rows_workspace(std::int64_t rows, std::int64_t columns) noexcept {
  workspace_carver carver(nullptr);
  carver.take<neighbors<K>>(kernel::nearest_runs<Policy>(rows, columns, most_nearest_blocks).lists());
  return carver.used();
}

/// The K nearest of all rows, by two kernels; neither image is empty.
template <class Policy, int K>
status nearest_rows(const descriptor_view<typename Policy::element>& left,
                    const descriptor_view<typename Policy::element>& right, neighbors<K>* output, void* workspace,
                    cudaStream_t stream) noexcept {
  using traits = policy_traits<Policy>;
  const auto kernel = kernel::nearest_lists<Policy, K>;
  std::int64_t resident = 0;
  if (auto s = resident_blocks("nearest_lists", kernel, traits::threads, traits::tiles_bytes, resident); !s.ok()) {
    return s;
  }
  const kernel::nearest_runs<Policy> runs(left.count, right.count, (std::min)(resident, most_nearest_blocks));
  auto* const lists = static_cast<neighbors<K>*>(workspace);
  if (auto s = launch("nearest_lists", kernel, dim3(static_cast<unsigned>(runs.blocks)), traits::threads,
                      traits::tiles_bytes, stream, left, right, lists);
      !s.ok()) {
    return s;
  }
  return launch("merge_nearest", kernel::merge_nearest<Policy, K>, dim3(blocks_for(left.count, 128)), 128, 0, stream,
                lists, runs, left.count, output);
}

}  // namespace detail

/// Bytes of workspace that `nearest` needs: about 8 K for each of the features of the larger image and of 1,024 tiles
/// of rows more. Host; pure.
template <int K, class Policy = default_policy>
std::size_t nearest_workspace(const descriptor_view<typename Policy::element>& left,
                              const descriptor_view<typename Policy::element>& right, bool with_columns) noexcept {
  const std::size_t rows = detail::nearest_rows_workspace<Policy, K>(left.count, right.count);
  return with_columns ? (std::max)(rows, detail::nearest_rows_workspace<Policy, K>(right.count, left.count)) : rows;
}

/// The K nearest descriptors of every row of left x right and, if asked, of every column, the nearest first: those of
/// greatest score, of equal scores those of smallest index. K is 1 to 8.
///
/// Host; asynchronous on `stream` of the current device; no allocation, no synchronisation; may be captured in a
/// graph. Views, output and workspace are device memory: output.rows has left.count lists, output.columns null or
/// right.count; the workspace is 16-byte aligned and free again when the stream has passed. The views' width is
/// Policy::width bytes; data and stride are multiples of 16 bytes (of 8 or 4 where the width is not).
/// The policy is taken as one of the classic path, whose tie order is that of smallest indices.
/// Cost: one pass over the scores for the rows, and one for the columns.
template <int K, class Policy = default_policy>
status nearest(const descriptor_view<typename Policy::element>& left,
               const descriptor_view<typename Policy::element>& right, const nearest_output<K>& output, void* workspace,
               std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  static_assert(Policy::path == match_path::classic, "nearest takes policies of the classic path");
  static_assert(std::is_same_v<typename Policy::tie, tie_break::smallest_index>, "nearest breaks ties by index");
  if (auto s = detail::check_views<policy_traits<Policy>>(left, right); !s.ok()) return s;
  if (left.count > 0 && output.rows == nullptr) return {errc::null_pointer, "output.rows"};
  const bool with_columns = output.columns != nullptr;
  const std::size_t needed = nearest_workspace<K, Policy>(left, right, with_columns);
  if (auto s = detail::check_workspace(workspace, workspace_bytes, needed); !s.ok()) return s;
  if (left.count == 0 || right.count == 0) {
    if (auto s = detail::clear_states(output.rows, left.count, stream); !s.ok()) return s;
    return with_columns ? detail::clear_states(output.columns, right.count, stream) : status{};
  }
  if (auto s = detail::nearest_rows<Policy, K>(left, right, output.rows, workspace, stream); !s.ok()) return s;
  return with_columns ? detail::nearest_rows<Policy, K>(right, left, output.columns, workspace, stream) : status{};
}

}  // namespace serac::device

#pragma GCC visibility pop
