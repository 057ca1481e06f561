// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pass 2 of the tensor-core matcher: rows against thresholds, the winning chunks again, columns of candidates only.
///
/// `Layout` is the traits type of the pass-1 path (wgmma_traits, mma_traits): it says which columns a group has and
/// which rows a row chunk has. `Acceptance` must be monotone (acceptance.hpp) and reject a tied best, as max_ratio <= 1
/// does.
#pragma once

#include <cub/block/block_scan.cuh>

#include <serac/block/rescore.cuh>
#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/integer.hpp>
#include <serac/top2.hpp>
#include <serac/view.hpp>

namespace serac::kernel {

inline constexpr int rescore_threads = 128;
inline constexpr int column_quad = 4;  ///< row chunks that a block of test_columns works on: one load of their maxima

/// Best chunk of every row and whether the row can still match: `best` and `second` of `verdicts`, no columns yet, and
/// the candidates, sorted by chunk within each window of rows.
/// Launch: row_window threads, grid (windows of the largest pair, pairs).
template <class Acceptance>
__global__ void __launch_bounds__(row_window)
    scan_rows(const chunk_pair* pairs, chunk_maxima maxima, Acceptance accept, row_verdicts verdicts) {
  const chunk_pair& pair = pairs[blockIdx.y];
  const int window = static_cast<int>(blockIdx.x);
  if (window * row_window >= pair.left_count) return;
  const int thread = static_cast<int>(threadIdx.x);
  const int row = window * row_window + thread;
  const std::int64_t at = pair.first_row + row;

  __shared__ std::uint32_t in_bin[row_window], bin_start[row_window];  // chunks are fewer than threads
  in_bin[thread] = 0;
  __syncthreads();

  top2 chunks;  // of the chunk maxima: index is the chunk, second the greatest of the other chunks
  bool candidate = false;
  std::uint32_t place = 0;  // in its bin
  if (row < pair.left_count) {
    const std::int32_t* const of_row = maxima.rows + pair.row_maxima + row;
    const std::int64_t stride = pair.row_stride;
#pragma unroll 8
    for (int chunk = 0; chunk < pair.column_chunks; ++chunk) {
      const std::int32_t value = of_row[chunk * stride];
      const bool greater = value > chunks.best;
      chunks.second = greater ? chunks.best : max(chunks.second, value);
      chunks.index = greater ? chunk : chunks.index;
      chunks.best = greater ? value : chunks.best;
    }
    verdicts.best[at] = chunks.best;
    verdicts.second[at] = chunks.second;
    verdicts.columns[at] = row_verdicts::no_match;
    candidate = chunks.best > 0 && accept(chunks.best, chunks.second);
    if (candidate) place = atomicAdd(&in_bin[chunks.index], 1u);
  }

  if (__syncthreads_or(candidate)) {
    using scan = cub::BlockScan<std::uint32_t, row_window>;
    __shared__ typename scan::TempStorage storage;
    std::uint32_t start;
    scan(storage).ExclusiveSum(in_bin[thread], start);
    bin_start[thread] = start;
    __syncthreads();
    if (candidate) {
      verdicts.candidates[pair.first_row + window * row_window + bin_start[chunks.index] + place] =
          static_cast<std::uint8_t>(thread);
    }
  } else {
    bin_start[thread] = 0;
  }
  if (thread < pair.column_chunks) {
    verdicts.bins[pair.first_bin + std::int64_t{thread} * row_windows(pair.left_count) + window] =
        bin_start[thread] << 16 | in_bin[thread];
  }
}

/// Rescores the winning chunk of every row that can match, and hands its exact state to `judge(pair_number, row, at,
/// state)`, `at` being its place in `verdicts`. All lanes of a warp call it together, with row = -1 where a lane has
/// none. Launch: rescore_threads threads, grid (most column chunks of a pair, parts, pairs): `parts` blocks share the
/// rows of each chunk.
template <class Layout, class Judge>
__global__ void __launch_bounds__(rescore_threads)
    rescore_rows(const chunk_pair* pairs, descriptor_view<typename Layout::element> left,
                 descriptor_view<typename Layout::element> right, row_verdicts verdicts, Judge judge) {
  const chunk_pair& pair = pairs[blockIdx.z];
  const int chunk = static_cast<int>(blockIdx.x);
  if (chunk >= pair.column_chunks) return;
  const int chunk_columns = pair.chunk_tiles * Layout::tile_columns;
  const int first_column = chunk * chunk_columns;
  const auto* const queries = left.data + std::int64_t{pair.left_first} * left.stride;
  const auto* const members = right.data + (std::int64_t{pair.right_first} + first_column) * right.stride;

  constexpr int list_rows = 2048;
  __shared__ block::rescore_tiles<Layout::width> tiles;
  __shared__ std::uint32_t rows[list_rows];
  using scan = cub::BlockScan<int, rescore_threads>;
  __shared__ typename scan::TempStorage storage;

  // The chunk's candidates of as many windows as there are threads, one after the other, as many as fit the list.
  const int windows = row_windows(pair.left_count);
  for (int first_window = 0; first_window < windows; first_window += rescore_threads) {
    const int window = first_window + static_cast<int>(threadIdx.x);
    const std::uint32_t bin =
        window < windows ? verdicts.bins[pair.first_bin + std::int64_t{chunk} * windows + window] : 0;
    const int in_bin = static_cast<int>(bin & 0xffff);
    int start, total;
    scan(storage).ExclusiveSum(in_bin, start, total);
    const std::uint8_t* const candidates = verdicts.candidates + pair.first_row + window * row_window + (bin >> 16);
    for (int first = 0; first < total; first += list_rows) {
      for (int i = max(0, first - start); i < in_bin && start + i < first + list_rows; ++i) {
        rows[start + i - first] = static_cast<std::uint32_t>(window * row_window + candidates[i]);
      }
      __syncthreads();
      block::rescore<typename Layout::element, Layout::width, rescore_threads>(
          tiles, min(list_rows, total - first), static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y),
          [&](int i) { return queries + rows[i] * left.stride; }, min(chunk_columns, pair.right_count - first_column),
          [&](int m) { return members + m * right.stride; }, [&](int m) { return first_column + m; },
          [&](int i, top2 state) {
            const int row = i < 0 ? -1 : static_cast<int>(rows[i]);
            const std::int64_t at = pair.first_row + row;
            if (row >= 0) state.second = max(state.second, verdicts.second[at]);
            judge(static_cast<int>(blockIdx.z), row, at, state);
          });
      __syncthreads();  // list and tiles are written again
    }
    __syncthreads();  // as is the scan's storage
  }
}

/// Takes a row's match back where its column prefers another row or fails the test itself.
///
/// For each row chunk: a column that a matched row of this chunk points to is scored again there and must have that row
/// as its best; a column that a row of another chunk points to only where the chunk's maximum of the column's group, an
/// upper bound of what this chunk holds for it, does not already pass. Both must be accepted with the row's score as
/// best. Launch: rescore_threads threads, grid (a quarter of the most row chunks of a pair, parts, pairs): `parts`
/// blocks share the matched rows.
template <class Layout, class Acceptance>
__global__ void __launch_bounds__(rescore_threads)
    test_columns(const chunk_pair* pairs, descriptor_view<typename Layout::element> left,
                 descriptor_view<typename Layout::element> right, chunk_maxima maxima, Acceptance accept,
                 row_verdicts verdicts) {
  const chunk_pair& pair = pairs[blockIdx.z];
  const int first_chunk = static_cast<int>(blockIdx.x) * column_quad;
  if (first_chunk >= pair.row_chunks) return;
  const auto* const queries = right.data + std::int64_t{pair.right_first} * right.stride;
  const auto* const members = left.data + std::int64_t{pair.left_first} * left.stride;
  const std::int32_t* const bounds = maxima.columns + pair.column_maxima + first_chunk;
  const std::uint32_t* const matched = verdicts.matched + pair.first_row;
  const std::uint32_t* const columns = verdicts.columns + pair.first_row;
  const std::int32_t* const bests = verdicts.best + pair.first_row;
  const int matched_count = static_cast<int>(verdicts.matched_count[blockIdx.z]);

  constexpr int list_rows = 1024;
  __shared__ block::rescore_tiles<Layout::width> tiles;
  __shared__ std::uint16_t lists[column_quad][list_rows];  // of each chunk: places behind `first`
  __shared__ int counts[column_quad];

  // Other blocks take matches back at the same time. Whether this one sees that, and whether all lanes of a query do,
  // does not matter: it can only take back once more what is taken back already.
  for (int first = static_cast<int>(blockIdx.y) * list_rows; first < matched_count;
       first += static_cast<int>(gridDim.y) * list_rows) {
    if (threadIdx.x < column_quad) counts[threadIdx.x] = 0;
    __syncthreads();
    const int end = min(list_rows, matched_count - first);
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < end; i += rescore_threads) {
      const int row = static_cast<int>(matched[first + i]);
      const std::uint32_t column = columns[row];
      if (column == row_verdicts::no_match) continue;
      const std::int32_t best = bests[row];
      const int of_tile = static_cast<int>(column) % Layout::tile_columns;
      const int group =
          static_cast<int>(column) / Layout::tile_columns * Layout::tile_groups + Layout::group_of(of_tile);
      const auto bound = detail::load_vector<16>(bounds + std::int64_t{group} * pair.row_chunks);
      const int own = Layout::chunk_of_row(pair, row) - first_chunk;
#pragma unroll
      for (int c = 0; c < column_quad; ++c) {
        if (c == own || !accept(best, static_cast<std::int32_t>(bound.word[c]))) {
          lists[c][atomicAdd(&counts[c], 1)] = static_cast<std::uint16_t>(i);
        }
      }
    }
    __syncthreads();

#pragma unroll 1
    for (int c = 0; c < column_quad; ++c) {
      const int chunk = first_chunk + c;
      const auto row_of = [&](int m) { return Layout::row_of(pair, chunk, m); };
      block::rescore<typename Layout::element, Layout::width, rescore_threads>(
          tiles, counts[c], 0, 1,
          [&](int i) {
            const std::uint32_t column = columns[matched[first + lists[c][i]]];
            return column == row_verdicts::no_match ? nullptr : queries + column * right.stride;
          },
          Layout::chunk_rows(pair),
          [&](int m) {
            const int row = row_of(m);
            return row < pair.left_count ? members + row * left.stride : nullptr;
          },
          row_of,
          [&](int i, const top2& state) {
            if (i < 0) return;
            const int row = static_cast<int>(matched[first + lists[c][i]]);
            const bool own = Layout::chunk_of_row(pair, row) == chunk;
            const bool passes =
                own ? state.index == row && accept(bests[row], state.second) : accept(bests[row], state.best);
            if (!passes &&
                atomicExch(&verdicts.columns[pair.first_row + row], row_verdicts::no_match) != row_verdicts::no_match) {
              atomicAdd(&verdicts.taken_back[blockIdx.z], 1u);
            }
          });
      __syncthreads();  // tiles, and in the end the lists, are written again
    }
  }
}

/// A judge that keeps the column of an accepted row, and lists the row as matched.
template <class Acceptance>
struct keep_accepted {
  Acceptance accept;
  row_verdicts verdicts;

  SERAC_DEVICE void operator()(int pair, int row, std::int64_t at, const top2& state) const {
    const bool accepted = row >= 0 && accept(state.best, state.second);
    const unsigned lanes = __ballot_sync(0xffffffffu, accepted);
    if (lanes == 0) return;
    const int lane = static_cast<int>(threadIdx.x) % 32, leader = __ffs(static_cast<int>(lanes)) - 1;
    std::uint32_t place = 0;
    if (lane == leader) place = atomicAdd(&verdicts.matched_count[pair], static_cast<std::uint32_t>(__popc(lanes)));
    place = __shfl_sync(0xffffffffu, place, leader) + __popc(lanes & ((1u << lane) - 1));
    if (accepted) {
      verdicts.columns[at] = static_cast<std::uint32_t>(state.index);
      verdicts.matched[at - row + place] = static_cast<std::uint32_t>(row);
    }
  }
};

/// An acceptance that leaves everything to be rescored.
struct accept_all {
  SERAC_HOST_DEVICE bool operator()(std::int32_t, std::int32_t) const { return true; }
};

/// A judge that keeps every state, for one pair.
struct keep_state {
  top2* states;

  SERAC_DEVICE void operator()(int, int row, std::int64_t, const top2& state) const {
    if (row >= 0) states[row] = state;
  }
};

}  // namespace serac::kernel
