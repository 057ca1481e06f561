// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Top-2 of every row, and of every column, of two images in device memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include <serac/detail/launch.cuh>
#include <serac/detail/validate.hpp>
#include <serac/detail/workspace.hpp>
#include <serac/device/path.cuh>
#include <serac/device/tensor_wave.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/kernel/fused_top2.cuh>
#include <serac/output.hpp>
#include <serac/policy.hpp>
#include <serac/status.hpp>
#include <serac/thread/dot.cuh>
#include <serac/top2.hpp>
#include <serac/view.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac {

namespace device {

namespace detail {

using namespace ::serac::detail;

/// The cells of both images: the workspace of nearest2 and the first part of match's.
struct top2_cells {
  thread::top2_cell* rows;
  thread::top2_cell* columns;  // null if not asked for
  std::size_t bytes;           // from rows to the end of columns

  top2_cells(workspace_carver& carver, std::int64_t row_count, std::int64_t column_count, bool with_columns) {
    const std::size_t before = carver.used();
    rows = carver.take<thread::top2_cell>(row_count);
    thread::top2_cell* const second = carver.take<thread::top2_cell>(with_columns ? column_count : 0);
    columns = with_columns ? second : nullptr;
    bytes = carver.used() - before;
  }
};

/// The first fault of two images that are to be matched by a policy with these traits, if any.
template <class Traits, class T>
status check_views(const descriptor_view<T>& left, const descriptor_view<T>& right) noexcept {
  if (auto s = check_view(left, left_names, elements_of<Traits>, Traits::load_bytes); !s.ok()) return s;
  return check_view(right, right_names, elements_of<Traits>, Traits::load_bytes);
}

inline status check_workspace(const void* workspace, std::size_t bytes, std::size_t needed) noexcept {
  if (bytes < needed) return {errc::workspace_too_small, "workspace_bytes"};
  if (needed > 0 && workspace == nullptr) return {errc::null_pointer, "workspace"};
  if (!is_aligned(workspace, alignof(thread::top2_cell))) return {errc::misaligned_pointer, "workspace"};
  return {};
}

/// Fills the cells with the top-2 of left x right, neither of them empty: a memset and one kernel.
template <class Policy, bool WithColumns>
status fill_cells(const descriptor_view<typename Policy::element>& left,
                  const descriptor_view<typename Policy::element>& right, const top2_cells& cells,
                  cudaStream_t stream) noexcept {
  using traits = policy_traits<Policy>;
  if (auto s = to_status(cudaMemsetAsync(cells.rows, 0, cells.bytes, stream), "workspace"); !s.ok()) return s;

  const auto kernel = kernel::fused_top2<Policy, WithColumns>;
  std::int64_t resident = 0;
  if (auto s = resident_blocks("fused_top2", kernel, traits::threads, traits::shared_bytes, resident); !s.ok()) {
    return s;
  }
  const std::int64_t tiles = ((left.count + traits::tile_rows - 1) / traits::tile_rows) *
                             ((right.count + traits::tile_columns - 1) / traits::tile_columns);
  return launch("fused_top2", kernel, dim3(static_cast<unsigned>((std::min)(tiles, resident))), traits::threads,
                traits::shared_bytes, stream, left, right, cells.rows, cells.columns);
}

template <class Policy>
status fill_cells(const descriptor_view<typename Policy::element>& left,
                  const descriptor_view<typename Policy::element>& right, const top2_cells& cells,
                  cudaStream_t stream) noexcept {
  return cells.columns == nullptr ? fill_cells<Policy, false>(left, right, cells, stream)
                                  : fill_cells<Policy, true>(left, right, cells, stream);
}

template <class Tie>
status unpack(const thread::top2_cell* cells, std::int64_t count, top2* states, cudaStream_t stream) noexcept {
  if (count == 0) return {};
  return launch("unpack_states", kernel::unpack_states<Tie>, dim3(blocks_for(count, 256)), 256, 0, stream, cells, count,
                states);
}

}  // namespace detail

/// The path that `nearest2` takes for images of these sizes on the current device, with the states of the columns or
/// without. Host; no synchronisation.
template <class Policy = default_policy>
match_path path_of_nearest2(std::int64_t left_count, std::int64_t right_count, bool with_columns) noexcept {
  return detail::choose_path<Policy>(left_count, right_count, true, with_columns);
}

/// Bytes of workspace that `nearest2` needs, whichever path it takes: by the classic path 16 a feature. Host; pure.
template <class Policy = default_policy>
std::size_t nearest2_workspace(const descriptor_view<typename Policy::element>& left,
                               const descriptor_view<typename Policy::element>& right, bool with_columns) noexcept {
  std::size_t bytes = detail::tensor_workspace_of<Policy>(left.count, right.count);
  if (with_columns) bytes = (std::max)(bytes, detail::tensor_workspace_of<Policy>(right.count, left.count));
  if constexpr (Policy::path == match_path::classic) {
    detail::workspace_carver carver(nullptr);
    detail::top2_cells(carver, left.count, right.count, with_columns);
    bytes = (std::max)(bytes, carver.used());
  }
  return bytes;
}

namespace detail {

/// nearest2 by the classic path; arguments already checked.
template <class Policy>
status classic_nearest2(const descriptor_view<typename Policy::element>& left,
                        const descriptor_view<typename Policy::element>& right, const nearest2_output& output,
                        void* workspace, cudaStream_t stream) noexcept {
  using traits = policy_traits<Policy>;
  workspace_carver carver(workspace);
  const top2_cells cells(carver, left.count, right.count, output.columns != nullptr);
  if (auto s = fill_cells<Policy>(left, right, cells, stream); !s.ok()) return s;
  if (auto s = unpack<typename traits::row_tie>(cells.rows, left.count, output.rows, stream); !s.ok()) return s;
  if (output.columns == nullptr) return {};
  return unpack<typename traits::column_tie>(cells.columns, right.count, output.columns, stream);
}

}  // namespace detail

/// Best score, its index and second best of every row of left x right and, if asked, of every column.
///
/// Host; asynchronous on `stream` of the current device; no allocation, no synchronisation; may be captured in a
/// graph. Views, output and workspace are device memory: output.rows has left.count states, output.columns null or
/// right.count; the workspace is 16-byte aligned and free again when the stream has passed. The views' width is
/// Policy::width bytes; data and stride are multiples of 16 bytes (of 8 or 4 where the width is not).
/// Cost: one pass over the tiles; the tensor-core paths make one for the rows and one for the columns.
template <class Policy = default_policy>
status nearest2(const descriptor_view<typename Policy::element>& left,
                const descriptor_view<typename Policy::element>& right, const nearest2_output& output, void* workspace,
                std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  using traits = detail::traits_of<Policy>;
  if (auto s = detail::check_views<traits>(left, right); !s.ok()) return s;
  if (left.count > 0 && output.rows == nullptr) return {errc::null_pointer, "output.rows"};
  const std::size_t needed = nearest2_workspace<Policy>(left, right, output.columns != nullptr);
  if (auto s = detail::check_workspace(workspace, workspace_bytes, needed); !s.ok()) return s;
  if (left.count == 0 || right.count == 0) {
    if (auto s = detail::clear_states(output.rows, left.count, stream); !s.ok()) return s;
    return output.columns == nullptr ? status{} : detail::clear_states(output.columns, right.count, stream);
  }

  const match_path path = path_of_nearest2<Policy>(left.count, right.count, output.columns != nullptr);
  if (auto s = detail::check_path<typename Policy::element>(path, left.count, right.count); !s.ok()) return s;
  return detail::take_path<Policy>(
      path,
      [&](auto tensor) {  // the columns are the rows of the transposed problem
        using policy = typename decltype(tensor)::type;
        if (auto s = detail::tensor_rows<policy>(left, right, output.rows, workspace, stream); !s.ok()) return s;
        if (output.columns == nullptr) return status{};
        return detail::tensor_rows<policy>(right, left, output.columns, workspace, stream);
      },
      [&](auto classic) {
        return detail::classic_nearest2<typename decltype(classic)::type>(left, right, output, workspace, stream);
      });
}

}  // namespace device
}  // namespace serac

#pragma GCC visibility pop
