// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Top-k of all rows: scores and lists in one pass, then the lists of the blocks that shared a row are merged.
#pragma once

#include <serac/block/score_slice.cuh>
#include <serac/block/score_tiles.cuh>
#include <serac/detail/config.hpp>
#include <serac/neighbors.hpp>
#include <serac/policy.hpp>
#include <serac/view.hpp>
#include <serac/warp/nearest_list.cuh>

namespace serac::kernel {

/// Where the lists lie that nearest_lists leaves: a block and a row of tiles that it scores make a *run*. Runs are
/// numbered block + row of tiles: from one to the next it is the one or the other that goes on.
template <class Policy>
struct nearest_runs {
  std::int64_t row_tiles, column_tiles, blocks;

  SERAC_HOST_DEVICE nearest_runs(std::int64_t rows, std::int64_t columns, std::int64_t most_blocks) {
    using traits = policy_traits<Policy>;
    row_tiles = (rows + traits::tile_rows - 1) / traits::tile_rows;
    column_tiles = (columns + traits::tile_columns - 1) / traits::tile_columns;
    blocks = row_tiles * column_tiles < most_blocks ? row_tiles * column_tiles : most_blocks;
  }

  /// Lists of all runs; none if there are no tiles.
  SERAC_HOST_DEVICE std::int64_t lists() const {
    return blocks == 0 ? 0 : (row_tiles + blocks - 1) * policy_traits<Policy>::tile_rows;
  }
  /// The list of row `row` of a row of tiles.
  SERAC_HOST_DEVICE static std::int64_t list(std::int64_t block, std::int64_t row_tile, int row) {
    return (block + row_tile) * policy_traits<Policy>::tile_rows + row;
  }
  /// The block that scores a tile: see block::tile_share.
  SERAC_HOST_DEVICE std::int64_t block_of(std::int64_t tile) const {
    return ((tile + 1) * blocks - 1) / (row_tiles * column_tiles);
  }
};

/// The K nearest of every row of left x right over the tiles of each block, as nearest_runs numbers them.
///
/// Launch: nearest_runs::blocks blocks of policy_traits<Policy>::threads threads, tiles_bytes of dynamic shared memory.
/// Both counts are positive; the views' width is the policy's, data and stride aligned to load_bytes.
/// Cost: that of the scores, about one instruction a score, and what nearest_list::push says of those that enter.
template <class Policy, int K>
__global__ void __launch_bounds__(policy_traits<Policy>::threads, Policy::min_blocks)
    nearest_lists(descriptor_view<typename Policy::element> left, descriptor_view<typename Policy::element> right,
                  neighbors<K>* lists) {
  using traits = policy_traits<Policy>;
  extern __shared__ __align__(16) std::uint8_t shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  warp::nearest_list<K> nearest[traits::thread_rows];
  block::score_tiles<Policy>(
      shared, left, right, block::tile_share<Policy>(left.count, right.count), [] {},
      [&](const block::tile_cursor& tile, block::tile_scores<Policy>& scores, bool is_last) {
        const std::int64_t first_row = std::int64_t{tile.row_tile} * traits::tile_rows;
        const std::int64_t first_column = std::int64_t{tile.column_tile} * traits::tile_columns;
        block::clear_absent<Policy>(scores, left.count - first_row, right.count - first_column);
#pragma unroll
        for (int r = 0; r < traits::thread_rows; ++r) {
          std::int32_t greatest = scores[r][0];
#pragma unroll
          for (int c = 1; c < traits::thread_columns; ++c) {
            greatest = scores[r][c] > greatest ? scores[r][c] : greatest;
          }
          if (nearest[r].takes(greatest)) {
#pragma unroll
            for (int c = 0; c < traits::thread_columns; ++c) {
              nearest[r].push(scores[r][c], static_cast<std::int32_t>(first_column) + c * 32);
            }
          }
        }
        if (is_last) {
#pragma unroll
          for (int r = 0; r < traits::thread_rows; ++r) {
            const int row = warp * traits::thread_rows + r;
            if (lane < K)
              lists[nearest_runs<Policy>::list(blockIdx.x, tile.row_tile, row)].at[lane] = nearest[r].entry();
            nearest[r] = {};
          }
        }
      });
}

/// Merges the lists of each row. One thread a row, any grid.
template <class Policy, int K>
__global__ void merge_nearest(const neighbors<K>* lists, nearest_runs<Policy> runs, std::int64_t rows,
                              neighbors<K>* merged) {
  using traits = policy_traits<Policy>;
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const std::int64_t row_tile = row / traits::tile_rows, first_tile = row_tile * runs.column_tiles;
  const std::int64_t last = runs.block_of(first_tile + runs.column_tiles - 1);
  neighbors<K> all;
  for (std::int64_t block = runs.block_of(first_tile); block <= last; ++block) {
    all = merge(all, lists[runs.list(block, row_tile, static_cast<int>(row % traits::tile_rows))]);
  }
  merged[row] = all;
}

}  // namespace serac::kernel
