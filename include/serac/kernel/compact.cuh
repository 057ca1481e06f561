// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// From top-2 states to the ordered list of matches: mark, scan, write.
#pragma once

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include <serac/detail/config.hpp>
#include <serac/output.hpp>
#include <serac/thread/top2_cell.cuh>

namespace serac::kernel {

inline constexpr int compact_threads = 256;  ///< rows that a block marks and writes
inline constexpr int scan_threads = 1024;
inline constexpr std::uint32_t no_match = 0xffffffffu;

/// Writes each state of `cells` to `states`. One thread a state, any grid.
template <class Tie>
__global__ void unpack_states(const thread::top2_cell* cells, std::int64_t count, top2* states) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) states[i] = thread::load<Tie>(cells[i]);
}

/// Every state becomes the identity. One thread a state, any grid.
template <class State = top2>
__global__ void clear_states(State* states, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) states[i] = State{};
}

/// Judges every row: `columns[row]` becomes the column it matches, or `no_match`; `block_counts[block]` the matches
/// among the block's rows. `column_cells` is null when there is no cross-check.
/// Launch: compact_threads threads, a block for every compact_threads rows.
template <class RowTie, class ColumnTie, class Acceptance>
__global__ void __launch_bounds__(compact_threads)
    mark_matches(const thread::top2_cell* row_cells, std::int64_t row_count, const thread::top2_cell* column_cells,
                 Acceptance accept, std::uint32_t* columns, std::uint32_t* block_counts) {
  const std::int64_t row = std::int64_t{blockIdx.x} * compact_threads + threadIdx.x;
  std::uint32_t match = no_match;
  if (row < row_count) {
    const top2 state = thread::load<RowTie>(row_cells[row]);
    if (state.index >= 0 && accept(state.best, state.second)) match = static_cast<std::uint32_t>(state.index);
    if (match != no_match && column_cells != nullptr) {
      const top2 column = thread::load<ColumnTie>(column_cells[match]);
      if (column.index != row || !accept(column.best, column.second)) match = no_match;
    }
    columns[row] = match;
  }

  using reduce = cub::BlockReduce<std::uint32_t, compact_threads>;
  __shared__ typename reduce::TempStorage storage;
  const std::uint32_t matches = reduce(storage).Sum(match != no_match ? 1u : 0u);
  if (threadIdx.x == 0) block_counts[blockIdx.x] = matches;
}

/// Replaces `counts[0..blocks)` by their exclusive prefix sums and writes min(total, most) to `*total`.
/// Launch: one block of Threads threads.
template <int Threads = scan_threads>
__global__ void __launch_bounds__(Threads)
    scan_counts(std::uint32_t* counts, std::int64_t blocks, std::uint32_t most, std::uint32_t* total) {
  using scan = cub::BlockScan<std::uint32_t, Threads>;
  __shared__ typename scan::TempStorage storage;
  std::uint32_t before = 0;  // matches in the chunks already scanned
  for (std::int64_t first = 0; first < blocks; first += Threads) {
    const std::int64_t i = first + threadIdx.x;
    const std::uint32_t count = i < blocks ? counts[i] : 0;
    std::uint32_t prefix, chunk;
    scan(storage).ExclusiveSum(count, prefix, chunk);
    if (i < blocks) counts[i] = before + prefix;
    before += chunk;
    __syncthreads();  // storage is used again
  }
  if (threadIdx.x == 0) *total = before < most ? before : most;
}

/// Writes the matches of `columns` in order of their rows, at most `most` of them.
/// Launch: as mark_matches; `block_offsets` are the scanned counts.
template <int Threads = compact_threads>
__global__ void __launch_bounds__(Threads)
    write_matches(const std::uint32_t* columns, std::int64_t row_count, const std::uint32_t* block_offsets,
                  std::uint32_t most, match_pair* pairs) {
  const std::int64_t row = std::int64_t{blockIdx.x} * Threads + threadIdx.x;
  const std::uint32_t match = row < row_count ? columns[row] : no_match;

  using scan = cub::BlockScan<std::uint32_t, Threads>;
  __shared__ typename scan::TempStorage storage;
  std::uint32_t prefix;
  scan(storage).ExclusiveSum(match != no_match ? 1u : 0u, prefix);
  const std::uint32_t place = block_offsets[blockIdx.x] + prefix;
  if (match != no_match && place < most) pairs[place] = {static_cast<std::uint32_t>(row), match};
}

}  // namespace serac::kernel
