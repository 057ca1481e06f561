// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A block scores a run of tiles, loading the next columns while it scores these.
#pragma once

#include <serac/block/load_tile.cuh>
#include <serac/block/score_slice.cuh>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/policy.hpp>
#include <serac/view.hpp>

namespace serac::block {

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

/// The tiles of left x right, and the equal share of them that each block of a grid of one dimension takes.
template <class Policy>
struct tile_share {
  int column_tiles;
  std::int64_t begin, end;

  SERAC_DEVICE tile_share(std::int64_t rows, std::int64_t columns) {
    using traits = policy_traits<Policy>;
    const std::int64_t row_tiles = (rows + traits::tile_rows - 1) / traits::tile_rows;
    column_tiles = static_cast<int>((columns + traits::tile_columns - 1) / traits::tile_columns);
    const std::int64_t tiles = row_tiles * column_tiles;
    begin = tiles * blockIdx.x / gridDim.x;
    end = tiles * (blockIdx.x + 1) / gridDim.x;
  }
};

/// Scores the tiles of the block's share, one after the other.
///
/// All policy_traits<Policy>::threads threads of the block call it. `shared` is traits::tiles_bytes of shared memory,
/// aligned to 16. Of each tile every thread gets its part of the scores: `consume(tile, scores, is_last)`, where
/// `is_last` says that the next tile is of other rows, or that there is none. Before it scores the next one it calls
/// `between()`, behind a barrier that made visible what consume left in shared memory, and before the next consume.
/// Scores of rows and columns beyond the views are those of zeros: see clear_absent.
/// Cost: each slice of columns is loaded once, behind the scoring of the one before where there are two stages.
template <class Policy, class Between, class Consume>
SERAC_DEVICE void score_tiles(std::uint8_t* shared, const descriptor_view<typename Policy::element>& left,
                              const descriptor_view<typename Policy::element>& right, const tile_share<Policy>& share,
                              Between between, Consume consume) {
  using traits = policy_traits<Policy>;
  std::uint8_t* const rows = shared;                        // (tile_rows, row_stride)
  std::uint8_t* const columns = rows + traits::rows_bytes;  // (stages, tile_columns, column_stride)

  // Slices of column tiles stream through the stages, one ahead of the one being scored.
  tile_cursor ahead(share.begin, share.column_tiles);
  int ahead_slice = 0;
  std::int64_t slices_ahead = (share.end - share.begin) * traits::slices;
  const auto load_next_slice = [&](int stage) {
    if (slices_ahead == 0) return;
    --slices_ahead;
    load_tile<traits::tile_columns, traits::slice_bytes, traits::column_stride, traits::load_bytes, traits::threads>(
        columns + stage * traits::stage_bytes, right, std::int64_t{ahead.column_tile} * traits::tile_columns,
        ahead_slice * traits::slice_bytes);
    detail::copy_async_commit();
    if (++ahead_slice == traits::slices) {
      ahead_slice = 0;
      ahead.advance(share.column_tiles);
    }
  };

  bool new_rows = true;
  int stage = 0;
  if constexpr (traits::stages == 2) load_next_slice(stage);

  tile_cursor now(share.begin, share.column_tiles);
  for (std::int64_t tile = share.begin; tile < share.end; ++tile) {
    if (new_rows) {
      __syncthreads();  // the last tile's rows have been read
      load_tile<traits::tile_rows, traits::padded_width, traits::row_stride, traits::load_bytes, traits::threads>(
          rows, left, std::int64_t{now.row_tile} * traits::tile_rows, 0);
      detail::copy_async_commit();
    }

    tile_sums<Policy> sums;
    start_sums<Policy>(sums);
    for (int slice = 0; slice < traits::slices; ++slice) {
      if constexpr (traits::stages == 1) {
        __syncthreads();  // the last slice has been read
        load_next_slice(0);
      }
      detail::copy_async_wait<0>();
      __syncthreads();  // this slice and what consume left are there for all; the other stage has been read
      if constexpr (traits::stages == 2) load_next_slice(stage ^ 1);
      if (slice == 0) between();
      score_slice<Policy>(rows + slice * traits::slice_bytes, columns + stage * traits::stage_bytes, sums);
      if constexpr (traits::stages == 2) stage ^= 1;
    }

    tile_scores<Policy> scores;
    finish_scores<Policy>(sums, scores);
    const tile_cursor scored = now;
    new_rows = now.advance(share.column_tiles);
    consume(scored, scores, new_rows || tile + 1 == share.end);
  }
}

}  // namespace serac::block
