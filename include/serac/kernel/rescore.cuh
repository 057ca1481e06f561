// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pass 2 of the tensor-core matcher: rows against thresholds, the winning chunks again, columns of candidates only.
///
/// `Layout` is the traits type of the pass-1 path (wgmma_traits, mma_traits): it says which columns a group has and
/// which rows a row chunk has. `Acceptance` must be monotone (acceptance.hpp) and reject a tied best, as max_ratio <= 1
/// does.
#pragma once

#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/integer.hpp>
#include <serac/kernel/compact.cuh>
#include <serac/top2.hpp>
#include <serac/view.hpp>
#include <serac/warp/rescore.cuh>

namespace serac::kernel {

inline constexpr int scan_rows_threads = 128;
inline constexpr int rescore_threads = 128;
inline constexpr int rescore_run = 16;                                ///< rows that a thread looks through at a time
inline constexpr int rescore_window = rescore_threads * rescore_run;  ///< rows that a block looks through at a time

/// Best chunk of every row and whether the row can still match: `best`, `second` and `chunk` of `verdicts`; no columns
/// yet. Launch: scan_rows_threads threads, grid (blocks for the rows of the largest pair, pairs).
template <class Acceptance>
__global__ void __launch_bounds__(scan_rows_threads)
    scan_rows(const chunk_pair* pairs, chunk_maxima maxima, Acceptance accept, row_verdicts verdicts) {
  const chunk_pair& pair = pairs[blockIdx.y];
  const int row = static_cast<int>(blockIdx.x * scan_rows_threads + threadIdx.x);
  if (row >= pair.left_count) {
    if (row < detail::round_up(pair.left_count, rescore_run)) {  // the rest of a run that later kernels read whole
      verdicts.best[pair.first_row + row] = 0;
      verdicts.chunk[pair.first_row + row] = row_verdicts::rejected;
      verdicts.columns[pair.first_row + row] = no_match;
    }
    return;
  }

  const std::int32_t* const of_row = maxima.rows + pair.row_maxima + row;
  const std::int64_t stride = pair.row_stride;
  top2 chunks;  // of the chunk maxima: index is the chunk, second the greatest of the other chunks
#pragma unroll 8
  for (int chunk = 0; chunk < pair.column_chunks; ++chunk) {
    const std::int32_t value = of_row[chunk * stride];
    const bool greater = value > chunks.best;
    chunks.second = greater ? chunks.best : max(chunks.second, value);
    chunks.index = greater ? chunk : chunks.index;
    chunks.best = greater ? value : chunks.best;
  }
  const bool possible = chunks.best > 0 && accept(chunks.best, chunks.second);
  const std::int64_t at = pair.first_row + row;
  verdicts.best[at] = chunks.best;
  verdicts.second[at] = chunks.second;
  verdicts.chunk[at] = possible ? static_cast<std::uint8_t>(chunks.index) : row_verdicts::rejected;
  verdicts.columns[at] = no_match;
}

/// Rows of a window that have to be rescored, in shared memory.
struct rescore_list {
  int count;
  std::uint16_t row[rescore_window];  ///< from the window's first

  /// Adds those of 16 rows, the first of which is `first` of the window, whose bits are set. Any thread of the block.
  SERAC_DEVICE void add(int first, std::uint32_t rows) {
    if (rows == 0) return;
    int place = atomicAdd(&count, __popc(rows));
    for (; rows != 0; rows &= rows - 1) row[place++] = static_cast<std::uint16_t>(first + __ffs(rows) - 1);
  }
};

/// The rows of a pair that belong to one of `splits` blocks: [first, end), in whole runs of 16.
struct row_range {
  int first, end;

  SERAC_DEVICE row_range(int rows, int split, int splits) {
    const int runs = (rows + rescore_run - 1) / rescore_run;
    first = static_cast<int>(std::int64_t{runs} * split / splits) * rescore_run;
    end = min(rows, static_cast<int>(std::int64_t{runs} * (split + 1) / splits) * rescore_run);
  }
};

/// Rescores every `step`-th batch of 32 rows of the list, from batch `batch` on, and hands each row with its state to
/// `judge(row, state)` in one lane. A warp; `first_row` is the window's.
template <class Element, int Width, class Query, class Member, class Index, class Judge>
SERAC_DEVICE void rescore_batches(const rescore_list& list, int batch, int step, int first_row, Query query,
                                  Member member, Index index, int member_count, Judge judge) {
  const int lane = threadIdx.x % 32;
  for (int first = batch * warp::rescore_queries; first < list.count; first += step * warp::rescore_queries) {
    top2 states[4];
    warp::rescore<Element, Width>(
        [&](int slot) { return first + slot < list.count ? query(first_row + list.row[first + slot]) : nullptr; },
        member, index, member_count, states);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int slot = first + lane / 4 + 8 * i;
      if (lane % 4 == 0 && slot < list.count) judge(first_row + list.row[slot], states[i]);
    }
  }
}

/// Rescores the winning chunk of every row that can match, and hands its exact state to `judge(at, state)`, `at` being
/// its place in `verdicts`. Launch: rescore_threads threads, grid (most column chunks of a pair, row splits, pairs).
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

  const auto judge_row = [&](int row, top2 state) {
    const std::int64_t at = pair.first_row + row;
    state.second = max(state.second, verdicts.second[at]);
    judge(at, state);
  };

  __shared__ rescore_list list;
  const row_range range(pair.left_count, static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y));
  for (int first = range.first; first < range.end; first += rescore_window) {
    __syncthreads();  // the last window's list has been read
    if (threadIdx.x == 0) list.count = 0;
    __syncthreads();
    const int run = static_cast<int>(threadIdx.x) * rescore_run;
    if (first + run < range.end) {
      const auto chunks = detail::load_vector<16>(verdicts.chunk + pair.first_row + first + run);
      std::uint32_t rows = 0;
#pragma unroll
      for (int i = 0; i < 16; ++i) rows |= ((chunks.word[i / 4] >> i % 4 * 8 & 0xff) == chunk ? 1u : 0u) << i;
      list.add(run, rows);  // rows behind the image are rejected
    }
    __syncthreads();
    rescore_batches<typename Layout::element, Layout::width>(
        list, static_cast<int>(threadIdx.x) / 32, rescore_threads / 32, first,
        [&](int row) { return queries + row * left.stride; }, [&](int m) { return members + m * right.stride; },
        [&](int m) { return first_column + m; }, min(chunk_columns, pair.right_count - first_column), judge_row);
  }
}

/// Takes a row's match back where its column prefers another row or fails the test itself.
///
/// For each row chunk: a column that a matched row of this chunk points to is scored again there and must have that row
/// as its best; a column that a row of another chunk points to only where the chunk's maximum of the column's group, an
/// upper bound of what this chunk holds for it, does not already pass. Both must be accepted with the row's score as
/// best. A block works on a segment, each of its four warps on one row chunk.
/// Launch: rescore_threads threads, grid (most segments of a pair, row splits, pairs).
template <class Layout, class Acceptance>
__global__ void __launch_bounds__(rescore_threads)
    test_columns(const chunk_pair* pairs, descriptor_view<typename Layout::element> left,
                 descriptor_view<typename Layout::element> right, chunk_maxima maxima, Acceptance accept,
                 row_verdicts verdicts) {
  constexpr int chunks = 4;
  static_assert(Layout::segment_chunks == chunks && rescore_threads / 32 == chunks);
  const chunk_pair& pair = pairs[blockIdx.z];
  if (static_cast<int>(blockIdx.x) >= pair.segments) return;
  const int first_chunk = static_cast<int>(blockIdx.x) * chunks;
  const int chunk = first_chunk + static_cast<int>(threadIdx.x) / 32;  // of this warp
  const auto* const queries = right.data + std::int64_t{pair.right_first} * right.stride;
  const auto* const members = left.data + std::int64_t{pair.left_first} * left.stride;
  const std::int32_t* const bounds = maxima.columns + pair.column_maxima + first_chunk;

  const auto row_of = [&](int m) { return Layout::row_of(pair, chunk, m); };
  const auto judge = [&](int row, const top2& state) {
    const std::int64_t at = pair.first_row + row;
    const std::int32_t best = verdicts.best[at];
    const bool own = Layout::chunk_of_row(pair, row) == chunk;
    const bool passes = own ? state.index == row && accept(best, state.second) : accept(best, state.best);
    if (!passes) verdicts.columns[at] = no_match;
  };

  // Other blocks take matches back at the same time. Whether this one sees that, and whether all lanes of a query do,
  // does not matter: it can only take back once more what is taken back already.
  __shared__ rescore_list lists[chunks];
  const row_range range(pair.left_count, static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y));
  for (int first = range.first; first < range.end; first += rescore_window) {
    __syncthreads();  // the last window's lists have been read
    if (threadIdx.x < chunks) lists[threadIdx.x].count = 0;
    __syncthreads();

    const int run = static_cast<int>(threadIdx.x) * rescore_run;
    if (first + run < range.end) {
      std::uint32_t rows[chunks] = {};
#pragma unroll 1
      for (int part = 0; part < rescore_run; part += 4) {
        const int row = first + run + part;
        const auto columns = detail::load_vector<16>(verdicts.columns + pair.first_row + row);
        if ((columns.word[0] & columns.word[1] & columns.word[2] & columns.word[3]) == no_match) continue;
        const auto best = detail::load_vector<16>(verdicts.best + pair.first_row + row);
        detail::word_vector<16> bound[4];  // of a row's column in the four chunks
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int column = columns.word[i] == no_match ? 0 : static_cast<int>(columns.word[i]);
          const int group =
              column / Layout::tile_columns * Layout::tile_groups + Layout::group_of(column % Layout::tile_columns);
          bound[i] = detail::load_vector<16>(bounds + std::int64_t{group} * pair.row_chunks);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (columns.word[i] == no_match) continue;
          const int own = Layout::chunk_of_row(pair, row + i) - first_chunk;
#pragma unroll
          for (int c = 0; c < chunks; ++c) {
            const bool passes =
                accept(static_cast<std::int32_t>(best.word[i]), static_cast<std::int32_t>(bound[i].word[c]));
            if (c == own || !passes) rows[c] |= 1u << (part + i);
          }
        }
      }
#pragma unroll
      for (int c = 0; c < chunks; ++c) lists[c].add(run, rows[c]);
    }
    __syncthreads();

    rescore_batches<typename Layout::element, Layout::width>(
        lists[threadIdx.x / 32], 0, 1, first,
        [&](int row) {
          const std::uint32_t column = verdicts.columns[pair.first_row + row];
          return column == no_match ? nullptr : queries + column * right.stride;
        },
        [&](int m) {
          const int row = row_of(m);
          return row < pair.left_count ? members + row * left.stride : nullptr;
        },
        row_of, Layout::chunk_rows(pair), judge);
  }
}

/// A judge that keeps the column of an accepted row.
template <class Acceptance>
struct keep_accepted {
  Acceptance accept;
  std::uint32_t* columns;

  SERAC_DEVICE void operator()(std::int64_t at, const top2& state) const {
    if (accept(state.best, state.second)) columns[at] = static_cast<std::uint32_t>(state.index);
  }
};

/// An acceptance that leaves everything to be rescored.
struct accept_all {
  SERAC_HOST_DEVICE bool operator()(std::int32_t, std::int32_t) const { return true; }
};

/// A judge that keeps every state.
struct keep_state {
  top2* states;

  SERAC_DEVICE void operator()(std::int64_t at, const top2& state) const { states[at] = state; }
};

/// `block_counts[block]` becomes the number of matches among the block's rows.
/// Launch: Threads threads, a block for every Threads rows.
template <int Threads = compact_threads>
__global__ void __launch_bounds__(Threads)
    count_matches(const std::uint32_t* columns, std::int64_t row_count, std::uint32_t* block_counts) {
  const std::int64_t row = std::int64_t{blockIdx.x} * Threads + threadIdx.x;
  const int matches = __syncthreads_count(row < row_count && columns[row] != no_match);
  if (threadIdx.x == 0) block_counts[blockIdx.x] = static_cast<std::uint32_t>(matches);
}

}  // namespace serac::kernel
