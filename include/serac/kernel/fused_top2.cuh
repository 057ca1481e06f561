// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The classic matcher kernel: scores and top-2 of all rows (and columns) in one pass; no score reaches memory.
#pragma once

#include <serac/admissible.hpp>
#include <serac/block/admit_tile.cuh>
#include <serac/block/reduce_tile.cuh>
#include <serac/block/score_slice.cuh>
#include <serac/block/score_tiles.cuh>
#include <serac/detail/config.hpp>
#include <serac/policy.hpp>
#include <serac/thread/top2_cell.cuh>
#include <serac/top2.hpp>
#include <serac/view.hpp>

namespace serac::kernel {

namespace fused {

/// Calls `merge(i, column, cell)` for each column of a tile that this thread merges, its i-th: `cell` is that of column
/// `column` of the tile, among `count` at `cells`. Thread.
template <class Traits, class Merge>
SERAC_DEVICE void for_each_merge(const block::tile_cursor& tile, thread::top2_cell* cells, std::int64_t count,
                                 Merge merge) {
  const std::int64_t first_column = std::int64_t{tile.column_tile} * Traits::tile_columns;
#pragma unroll
  for (int i = 0; i < detail::ceil_div(Traits::tile_columns, Traits::threads); ++i) {
    const int column = i * Traits::threads + threadIdx.x;
    if (column < Traits::tile_columns && first_column + column < count) {
      merge(i, column, cells + first_column + column);
    }
  }
}

/// The body of both kernels below.
template <class Policy, bool WithColumns, class Admissible>
SERAC_DEVICE void fused_top2(const descriptor_view<typename Policy::element>& left,
                             const descriptor_view<typename Policy::element>& right, thread::top2_cell* row_cells,
                             thread::top2_cell* column_cells, const Admissible& admissible) {
  using traits = policy_traits<Policy>;
  const int warp = threadIdx.x / 32;

  extern __shared__ __align__(16) std::uint8_t shared[];  // tiles; partials of columns (2, warps, tile_columns)
  auto* const partials = reinterpret_cast<block::column_partials<Policy>*>(shared + traits::tiles_bytes);

  // The columns of a tile are merged behind the next barrier that the pipeline needs anyway.
  const block::tile_share<Policy> share(left.count, right.count);
  std::uint32_t floors[detail::ceil_div(traits::tile_columns, traits::threads)] = {};
  block::tile_cursor merging(share.begin, share.column_tiles);  // the tile whose partials are to be merged
  int merge_buffer = 0;                                         // where they are; at first there are none
  if constexpr (WithColumns) block::clear_columns<Policy>(partials[0]);
  const auto merge_columns = [&] {
    if constexpr (WithColumns) {
      for_each_merge<traits>(merging, column_cells, right.count, [&](int i, int column, thread::top2_cell* cell) {
        const std::int64_t first_row = std::int64_t{merging.row_tile} * traits::tile_rows;
        thread::push<typename traits::column_tie>(
            cell, block::merge_column<Policy>(partials[merge_buffer], column, first_row), floors[i]);
      });
    }
  };

  block::row_window<Policy> window;  // top-2 of the rows since the last flush
  block::score_tiles<Policy>(
      shared, left, right, share, merge_columns,
      [&](const block::tile_cursor& tile, block::tile_scores<Policy>& scores, bool is_last) {
        const std::int64_t first_row = std::int64_t{tile.row_tile} * traits::tile_rows;
        const std::int64_t first_column = std::int64_t{tile.column_tile} * traits::tile_columns;
        if constexpr (admits_all<Admissible>) {
          block::clear_absent<Policy>(scores, left.count - first_row, right.count - first_column);
        } else {
          block::admit_tile<Policy>(scores, admissible, first_row, first_column, left.count, right.count);
        }

        window.push(scores);
        if constexpr (WithColumns) {
          merging = tile;
          merge_buffer ^= 1;
          for_each_merge<traits>(merging, column_cells, right.count,
                                 [&](int i, int, thread::top2_cell* cell) { floors[i] = thread::second_so_far(cell); });
          block::reduce_columns<Policy>(scores, partials[merge_buffer]);
        }

        // Rows that are finished, or that another window or block goes on with.
        if (is_last || window.full()) {
          window.flush(first_column + traits::tile_columns, [&](int r, const top2& state) {
            const std::int64_t row = first_row + warp * traits::thread_rows + r;
            if (row < left.count) {
              thread::push<typename traits::row_tie>(row_cells + row, state, thread::second_so_far(row_cells + row));
            }
          });
        }
      });
  __syncthreads();
  merge_columns();
}

}  // namespace fused

/// Merges the top-2 of every row of left x right into `row_cells[left.count]` and, if WithColumns, that of every
/// column into `column_cells[right.count]`. The cells are zero, or hold the states of other columns (or rows).
///
/// Launch: policy_traits<Policy>::threads threads, shared_bytes of dynamic shared memory, any grid of one dimension:
/// each block takes an equal share of consecutive tiles. Both counts are positive; the views' width is the policy's,
/// data and stride aligned to load_bytes.
template <class Policy, bool WithColumns>
__global__ void __launch_bounds__(policy_traits<Policy>::threads, Policy::min_blocks)
    fused_top2(descriptor_view<typename Policy::element> left, descriptor_view<typename Policy::element> right,
               thread::top2_cell* row_cells, thread::top2_cell* column_cells) {
  fused::fused_top2<Policy, WithColumns>(left, right, row_cells, column_cells, admit_all());
}

/// The same over the pairs that `admissible` (admissible.hpp) admits; the others score 0.
template <class Policy, bool WithColumns, class Admissible>
__global__ void __launch_bounds__(policy_traits<Policy>::threads, Policy::min_blocks)
    fused_guided_top2(descriptor_view<typename Policy::element> left, descriptor_view<typename Policy::element> right,
                      thread::top2_cell* row_cells, thread::top2_cell* column_cells, Admissible admissible) {
  fused::fused_top2<Policy, WithColumns>(left, right, row_cells, column_cells, admissible);
}

}  // namespace serac::kernel
