// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The classic matcher kernel: scores and top-2 of all rows (and columns) in one pass; no score reaches memory.
#pragma once

#include <serac/admissible.hpp>
#include <serac/block/admit_tile.cuh>
#include <serac/block/load_tile.cuh>
#include <serac/block/reduce_tile.cuh>
#include <serac/block/score_slice.cuh>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/policy.hpp>
#include <serac/thread/top2_cell.cuh>
#include <serac/top2.hpp>
#include <serac/view.hpp>

namespace serac::kernel {

/// A tile of the score matrix: tiles are numbered row of tiles by row of tiles.
struct tile_cursor {
  int row_tile;
  int column_tile;

  SERAC_DEVICE tile_cursor(std::int64_t tile, int column_tiles)
      : row_tile(static_cast<int>(tile / column_tiles)), column_tile(static_cast<int>(tile % column_tiles)) {}

  /// Moves to the next tile; true if that begins a new row of tiles.
  SERAC_DEVICE bool advance(int column_tiles) {
    if (++column_tile < column_tiles) return false;
    column_tile = 0;
    ++row_tile;
    return true;
  }
};

namespace fused {

/// Calls `merge(i, column, cell)` for each column of a tile that this thread merges, its i-th: `cell` is that of column
/// `column` of the tile, among `count` at `cells`. Thread.
template <class Traits, class Merge>
SERAC_DEVICE void for_each_merge(const tile_cursor& tile, thread::top2_cell* cells, std::int64_t count, Merge merge) {
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

  // Shared memory.
  extern __shared__ __align__(16) std::uint8_t shared[];
  std::uint8_t* const rows = shared;                        // (tile_rows, row_stride)
  std::uint8_t* const columns = rows + traits::rows_bytes;  // (stages, tile_columns, column_stride)
  auto* const partials = reinterpret_cast<block::column_partials<Policy>*>(
      columns + traits::stages * traits::stage_bytes);  // (2, warps, tile_columns)

  // This block's share of the tiles.
  const std::int64_t row_tiles = (left.count + traits::tile_rows - 1) / traits::tile_rows;
  const int column_tiles = static_cast<int>((right.count + traits::tile_columns - 1) / traits::tile_columns);
  const std::int64_t tiles = row_tiles * column_tiles;
  const std::int64_t begin = tiles * blockIdx.x / gridDim.x;
  const std::int64_t end = tiles * (blockIdx.x + 1) / gridDim.x;

  // Slices of column tiles stream through the stages, one ahead of the one being scored.
  tile_cursor ahead(begin, column_tiles);
  int ahead_slice = 0;
  std::int64_t slices_ahead = (end - begin) * traits::slices;
  const auto load_next_slice = [&](int stage) {
    if (slices_ahead == 0) return;
    --slices_ahead;
    block::load_tile<traits::tile_columns, traits::slice_bytes, traits::column_stride, traits::load_bytes,
                     traits::threads>(columns + stage * traits::stage_bytes, right,
                                      std::int64_t{ahead.column_tile} * traits::tile_columns,
                                      ahead_slice * traits::slice_bytes);
    detail::copy_async_commit();
    if (++ahead_slice == traits::slices) {
      ahead_slice = 0;
      ahead.advance(column_tiles);
    }
  };

  // The columns of a tile are merged behind the next barrier that the pipeline needs anyway.
  std::uint32_t floors[detail::ceil_div(traits::tile_columns, traits::threads)] = {};
  tile_cursor merging = ahead;  // the tile whose partials are to be merged
  int merge_buffer = 0;         // where they are; at first there are none
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
  bool new_rows = true;
  int stage = 0;
  if constexpr (traits::stages == 2) load_next_slice(stage);

  tile_cursor now(begin, column_tiles);
  for (std::int64_t tile = begin; tile < end; ++tile) {
    const std::int64_t first_row = std::int64_t{now.row_tile} * traits::tile_rows;
    if (new_rows) {
      __syncthreads();  // the last tile's rows have been read
      block::load_tile<traits::tile_rows, traits::padded_width, traits::row_stride, traits::load_bytes,
                       traits::threads>(rows, left, first_row, 0);
      detail::copy_async_commit();
    }

    // Scores.
    block::tile_scores<Policy> scores;
    block::start_scores<Policy>(scores);
    for (int slice = 0; slice < traits::slices; ++slice) {
      if constexpr (traits::stages == 1) {
        __syncthreads();  // the last slice has been read
        load_next_slice(0);
      }
      detail::copy_async_wait<0>();
      __syncthreads();  // this slice and the last tile's partials are there for all; the other stage has been read
      if constexpr (traits::stages == 2) load_next_slice(stage ^ 1);
      if (slice == 0) merge_columns();
      block::score_slice<Policy>(rows + slice * traits::slice_bytes, columns + stage * traits::stage_bytes, scores);
      if constexpr (traits::stages == 2) stage ^= 1;
    }

    const std::int64_t first_column = std::int64_t{now.column_tile} * traits::tile_columns;
    if constexpr (admits_all<Admissible>) {
      block::clear_absent<Policy>(scores, left.count - first_row, right.count - first_column);
    } else {
      block::admit_tile<Policy>(scores, admissible, first_row, first_column, left.count, right.count);
    }

    // Top-2.
    window.push(scores);
    if constexpr (WithColumns) {
      merging = now;
      merge_buffer ^= 1;
      for_each_merge<traits>(merging, column_cells, right.count,
                             [&](int i, int, thread::top2_cell* cell) { floors[i] = thread::second_so_far(cell); });
      block::reduce_columns<Policy>(scores, partials[merge_buffer]);
    }

    // Rows that are finished, or that another window or block goes on with.
    const tile_cursor last = now;
    new_rows = now.advance(column_tiles);
    if (new_rows || window.full() || tile + 1 == end) {
      window.flush((std::int64_t{last.column_tile} + 1) * traits::tile_columns, [&](int r, const top2& state) {
        const std::int64_t row = first_row + warp * traits::thread_rows + r;
        if (row < left.count) {
          thread::push<typename traits::row_tie>(row_cells + row, state, thread::second_so_far(row_cells + row));
        }
      });
    }
  }
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
