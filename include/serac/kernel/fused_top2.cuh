// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The classic matcher kernel: scores and top-2 of all rows (and columns) in one pass; no score reaches memory.
#pragma once

#include <serac/block/load_tile.cuh>
#include <serac/block/reduce_tile.cuh>
#include <serac/block/score_slice.cuh>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/policy.hpp>
#include <serac/thread/top2_cell.cuh>
#include <serac/top2.hpp>
#include <serac/view.hpp>
#include <serac/warp/reduce.cuh>

namespace serac::kernel {

/// A tile of the score matrix: tiles are numbered row of tiles by row of tiles.
struct tile_cursor {
  std::int64_t row_tile;
  std::int64_t column_tile;
  std::int64_t column_tiles;

  SERAC_DEVICE tile_cursor(std::int64_t tile, std::int64_t column_tiles_)
      : row_tile(tile / column_tiles_), column_tile(tile % column_tiles_), column_tiles(column_tiles_) {}

  /// Moves to the next tile; true if that begins a new row of tiles.
  SERAC_DEVICE bool advance() {
    if (++column_tile < column_tiles) return false;
    column_tile = 0;
    ++row_tile;
    return true;
  }
};

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
  using traits = policy_traits<Policy>;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;

  // Shared memory.
  extern __shared__ __align__(16) std::uint8_t shared[];
  std::uint8_t* const rows = shared;                        // (tile_rows, row_stride)
  std::uint8_t* const columns = rows + traits::rows_bytes;  // (stages, tile_columns, column_stride)
  auto* const partials =
      reinterpret_cast<thread::packed_top2*>(columns + traits::stages * traits::stage_bytes);  // (warps, tile_columns)

  // This block's share of the tiles.
  const std::int64_t row_tiles = (left.count + traits::tile_rows - 1) / traits::tile_rows;
  const std::int64_t column_tiles = (right.count + traits::tile_columns - 1) / traits::tile_columns;
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
                                      ahead.column_tile * traits::tile_columns, ahead_slice * traits::slice_bytes);
    detail::copy_async_commit();
    if (++ahead_slice == traits::slices) {
      ahead_slice = 0;
      ahead.advance();
    }
  };

  top2 row_states[traits::thread_rows];  // of the warp's rows, over the columns that this lane has seen
  bool new_rows = true;
  int stage = 0;
  if constexpr (traits::stages == 2) load_next_slice(stage);

  tile_cursor now(begin, column_tiles);
  for (std::int64_t tile = begin; tile < end; ++tile) {
    const std::int64_t first_row = now.row_tile * traits::tile_rows;
    const std::int64_t first_column = now.column_tile * traits::tile_columns;

    if (new_rows) {
      __syncthreads();  // the last tile's rows have been read
      block::load_tile<traits::tile_rows, traits::padded_width, traits::row_stride, traits::load_bytes,
                       traits::threads>(rows, left, first_row, 0);
      detail::copy_async_commit();
    }

    // Scores.
    std::int32_t scores[traits::thread_rows][traits::thread_columns] = {};
    for (int slice = 0; slice < traits::slices; ++slice) {
      if constexpr (traits::stages == 1) {
        __syncthreads();  // the last slice has been read
        load_next_slice(0);
      }
      detail::copy_async_wait<0>();
      __syncthreads();  // this slice is there for all, and the other stage has been read
      if constexpr (traits::stages == 2) load_next_slice(stage ^ 1);
      block::score_slice<Policy>(rows + slice * traits::slice_bytes, columns + stage * traits::stage_bytes, scores);
      if constexpr (traits::stages == 2) stage ^= 1;
    }

    // Top-2.
    block::reduce_rows<Policy>(scores, first_column, row_states);
    if constexpr (WithColumns) {
      block::reduce_columns<Policy>(scores, first_row, partials, [&](int column, const top2& state) {
        if (first_column + column < right.count) {
          thread::push<typename traits::column_tie>(column_cells + first_column + column, state);
        }
      });
    }

    // Rows that are finished, or that another block goes on with.
    new_rows = now.advance();
    if (new_rows || tile + 1 == end) {
      top2 mine;
#pragma unroll
      for (int r = 0; r < traits::thread_rows; ++r) {
        const top2 whole = warp::reduce<typename traits::row_tie>(row_states[r]);
        if (lane == r) mine = whole;
        row_states[r] = top2{};
      }
      const std::int64_t row = first_row + warp * traits::thread_rows + lane;
      if (lane < traits::thread_rows && row < left.count) {
        thread::push<typename traits::row_tie>(row_cells + row, mine);
      }
    }
  }
}

}  // namespace serac::kernel
