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
#include <serac/detail/previous_kernel.cuh>
#include <serac/top2.hpp>
#include <serac/view.hpp>
#include <serac/warp/rescore.cuh>

namespace serac::kernel {

inline constexpr int rescore_threads = 64;  ///< of a block of rescore_rows
inline constexpr int column_threads = 256;  ///< of a block of test_columns
inline constexpr int column_quad = 4;  ///< row chunks that a block of test_columns works on: one load of their maxima

/// values[i], without local memory. Thread.
template <class T>
SERAC_DEVICE std::int32_t pick(const T (&values)[4], int i) {
  const T low = i & 1 ? values[1] : values[0], high = i & 1 ? values[3] : values[2];
  return static_cast<std::int32_t>(i & 2 ? high : low);
}

/// The two greatest chunk maxima of a row: index is the chunk. Thread.
SERAC_DEVICE void take_chunk(top2& chunks, int chunk, std::int32_t value) {
  const bool greater = value > chunks.best;
  chunks.second = greater ? chunks.best : max(chunks.second, value);
  chunks.index = greater ? chunk : chunks.index;
  chunks.best = greater ? value : chunks.best;
}

/// Which rows can still match: the candidates, sorted by the chunk of their best within each window of rows. No row has
/// a column yet. Launch: row_window threads, grid (windows of the largest pair, pairs).
template <class Acceptance>
__global__ void __launch_bounds__(row_window)
    scan_rows(const chunk_pair* pairs, chunk_maxima maxima, Acceptance accept, row_verdicts verdicts) {
  detail::wait_for_previous_kernel();
  const chunk_pair& pair = pairs[gridDim.y - 1 - blockIdx.y];  // those that pass 1 left last are still in the cache
  const int first_row = static_cast<int>(blockIdx.x) * row_window;
  if (first_row >= pair.left_count) return;
  const int thread = static_cast<int>(threadIdx.x);

  // A thread looks at four rows, in a quarter of the chunks.
  constexpr int parts = 4, rows_at_once = 4, threads_of_part = row_window / rows_at_once;
  __shared__ top2 part_of_row[parts][row_window];
  __shared__ std::uint32_t in_bin[row_window], bin_start[row_window];  // chunks are fewer than threads
  in_bin[thread] = 0;
  {
    const int part = thread / threads_of_part, row = thread % threads_of_part * rows_at_once;
    const int first_chunk = pair.column_chunks * part / parts, end_chunk = pair.column_chunks * (part + 1) / parts;
    top2 chunks[rows_at_once];
    if (first_row + row < pair.row_stride) {
      const std::int32_t* const of_rows = maxima.rows + pair.row_maxima + first_row + row;
      const std::int64_t stride = pair.row_stride;
#pragma unroll 8
      for (int chunk = first_chunk; chunk < end_chunk; ++chunk) {
        const auto values = detail::load_vector<16>(of_rows + chunk * stride);
#pragma unroll
        for (int i = 0; i < rows_at_once; ++i) take_chunk(chunks[i], chunk, static_cast<std::int32_t>(values.word[i]));
      }
    }
#pragma unroll
    for (int i = 0; i < rows_at_once; ++i) part_of_row[part][row + i] = chunks[i];
  }
  __syncthreads();

  top2 chunks = part_of_row[0][thread];
#pragma unroll
  for (int part = 1; part < parts; ++part) {
    const top2 other = part_of_row[part][thread];
    take_chunk(chunks, other.index, other.best);
    chunks.second = max(chunks.second, other.second);
  }
  const int row = first_row + thread;
  const bool candidate = row < pair.left_count && chunks.best > 0 && accept(chunks.best, chunks.second);
  if (row < pair.left_count) verdicts.columns[pair.first_row + row] = row_verdicts::no_match;
  const std::uint32_t place = candidate ? atomicAdd(&in_bin[chunks.index], 1u) : 0;

  if (__syncthreads_or(candidate)) {
    using scan = cub::BlockScan<std::uint32_t, row_window>;
    __shared__ typename scan::TempStorage storage;
    std::uint32_t start;
    scan(storage).ExclusiveSum(in_bin[thread], start);
    bin_start[thread] = start;
    __syncthreads();
    if (candidate) {
      verdicts.candidates[pair.first_row + first_row + bin_start[chunks.index] + place] = {row, chunks.second};
    }
  } else {
    bin_start[thread] = 0;
  }
  if (thread < pair.column_chunks) {
    verdicts.bins[pair.first_bin + std::int64_t{thread} * row_windows(pair.left_count) + blockIdx.x] =
        bin_start[thread] << 16 | in_bin[thread];
  }
}

/// Rescores the winning chunk of every row that can match, and hands its exact state to `judge(pair_number, first_row,
/// row, state)`, `first_row` being where the pair's rows stand in `verdicts`. All lanes of a warp call it together,
/// with row = -1 where a lane has none. Launch: rescore_threads threads, grid (most column chunks of a pair, parts,
/// pairs): `parts` blocks share the rows of each chunk.
template <class Layout, class Judge>
__global__ void __launch_bounds__(rescore_threads)
    rescore_rows(const chunk_pair* pairs, descriptor_view<typename Layout::element> left,
                 descriptor_view<typename Layout::element> right, row_verdicts verdicts, Judge judge) {
  detail::wait_for_previous_kernel();
  const chunk_pair& pair = pairs[blockIdx.z];
  const int chunk = static_cast<int>(blockIdx.x);
  if (chunk >= pair.column_chunks) return;
  const int chunk_columns = pair.chunk_tiles * Layout::tile_columns;
  const int first_column = chunk * chunk_columns;
  const auto* const queries = left.data + std::int64_t{pair.left_first} * left.stride;
  const auto* const members = right.data + (std::int64_t{pair.right_first} + first_column) * right.stride;

  constexpr int list_rows = 1024;
  __shared__ block::rescore_tiles<Layout::width> tiles;
  __shared__ candidate_row rows[list_rows];
  using scan = cub::BlockScan<int, rescore_threads>;
  __shared__ typename scan::TempStorage storage;

  // The chunk's candidates of as many windows as there are threads, one after the other, as many as fit the list.
  const int windows = row_windows(pair.left_count);
  for (int first_window = 0; first_window < windows; first_window += rescore_threads) {
    const int window = first_window + static_cast<int>(threadIdx.x);
    const std::uint32_t bin =
        window < windows ? verdicts.bins[pair.first_bin + std::int64_t{chunk} * windows + window] : 0;
    const int in_bin = static_cast<int>(bin & 0xffff);
    if (!__syncthreads_or(in_bin)) continue;
    int start, total;
    scan(storage).ExclusiveSum(in_bin, start, total);
    const candidate_row* const candidates = verdicts.candidates + pair.first_row + window * row_window + (bin >> 16);
    for (int first = 0; first < total; first += list_rows) {
      for (int i = max(0, first - start); i < in_bin && start + i < first + list_rows; ++i) {
        rows[start + i - first] = candidates[i];
      }
      __syncthreads();
      block::rescore<typename Layout::element, Layout::width, rescore_threads>(
          tiles, min(list_rows, total - first), static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y),
          [&](int i) { return queries + rows[i].row * left.stride; },
          min(chunk_columns, pair.right_count - first_column), [&](int m) { return members + m * right.stride; },
          [&](int m) { return first_column + m; },
          [&](int i, top2 state) {
            const candidate_row of = i < 0 ? candidate_row{-1, 0} : rows[i];
            state.second = max(state.second, of.second);
            judge(static_cast<int>(blockIdx.z), pair.first_row, of.row, state);
          });
      __syncthreads();  // list and tiles are written again
    }
    __syncthreads();  // as is the scan's storage
  }
}

/// Shared memory of test_columns: 94 KiB at most, two blocks of which fit a multiprocessor of sm_90 and one any other.
template <int Width>
struct alignas(16) column_test {
  static constexpr int list_rows = 1536;  ///< matched rows looked through at a time
  static constexpr int tile_members = 128 * 128 / (Width < 128 ? 128 : Width);

  std::uint8_t tile[column_quad][tile_members * Width];
  matched_row row[list_rows];
  std::uint16_t list[column_quad][list_rows];  ///< of each chunk: own rows from the front on, others from the back
  int own[column_quad], others[column_quad];
};

/// Takes a row's match back where its column prefers another row or fails the test itself: where any other row's score
/// with the column is too great for the match to be accepted. Since acceptance is monotone each row chunk, and each
/// tile of one, can be judged for itself:
///   - the chunk that the row is in: its best must be the row's score, and the second best accepted beside it;
///   - any other chunk: its best must be accepted as a second. Only where the chunk's maximum of the column's group, an
///     upper bound of it, is not.
/// A block works on four row chunks; its warps share their members, and the batches of 32 columns to be tested.
/// Launch: column_threads threads, sizeof(column_test<width>) of dynamic shared memory, grid (a quarter of the most row
/// chunks of a pair, parts, pairs): `parts` blocks share the matched rows.
template <class Layout, class Acceptance>
__global__ void __launch_bounds__(column_threads)
    test_columns(const chunk_pair* pairs, descriptor_view<typename Layout::element> left,
                 descriptor_view<typename Layout::element> right, chunk_maxima maxima, Acceptance accept,
                 row_verdicts verdicts) {
  constexpr int width = Layout::width;
  using shared_memory = column_test<width>;
  using batch = warp::query_batch<typename Layout::element, width>;
  constexpr int tile_members = shared_memory::tile_members;
  extern __shared__ __align__(16) std::uint8_t dynamic_shared[];
  auto& shared = *reinterpret_cast<shared_memory*>(dynamic_shared);

  detail::wait_for_previous_kernel();
  const chunk_pair& pair = pairs[blockIdx.z];
  const int first_chunk = static_cast<int>(blockIdx.x) * column_quad;
  const int matched_count = static_cast<int>(verdicts.matched_count[blockIdx.z]);
  // Rows looked through at a time: as many as fit, or fewer so that all blocks have some.
  const int rows_at_once =
      min(shared_memory::list_rows,
          detail::round_up(detail::ceil_div(matched_count, static_cast<int>(gridDim.y)), column_threads));
  int first = static_cast<int>(blockIdx.y) * rows_at_once;
  if (first_chunk >= pair.row_chunks || first >= matched_count) return;

  const auto* const queries = right.data + std::int64_t{pair.right_first} * right.stride;
  const auto* const members = left.data + std::int64_t{pair.left_first} * left.stride;
  const std::int32_t* const bounds = maxima.columns + pair.column_maxima + first_chunk;
  const matched_row* const matched = verdicts.matched + pair.first_row;
  const int chunk_rows = Layout::chunk_rows(pair);
  const bool one_tile = chunk_rows <= tile_members;

  for (unsigned loaded = 0; first < matched_count; first += static_cast<int>(gridDim.y) * rows_at_once) {
    if (threadIdx.x < column_quad) shared.own[threadIdx.x] = shared.others[threadIdx.x] = 0;
    __syncthreads();
    const int end = min(rows_at_once, matched_count - first);
    constexpr int at_once = 3;  // rows whose loads a thread has under way
    static_assert(shared_memory::list_rows % (at_once * column_threads) == 0);
    for (int i = static_cast<int>(threadIdx.x); i < end; i += at_once * column_threads) {
      matched_row of[at_once];
      detail::word_vector<16> bound[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int place = min(i + k * column_threads, end - 1);
        const auto words = detail::load_vector<16>(matched + first + place).word;
        of[k] = {static_cast<std::int32_t>(words[0]), static_cast<std::int32_t>(words[1]),
                 static_cast<std::int32_t>(words[2]), static_cast<std::int32_t>(words[3])};
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int tile = of[k].column / Layout::tile_columns;
        const int group = tile * Layout::tile_groups + Layout::group_of(of[k].column - tile * Layout::tile_columns);
        bound[k] = detail::load_vector<16>(bounds + std::int64_t{group} * pair.row_chunks);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int place = i + k * column_threads;
        if (place >= end) break;
        shared.row[place] = of[k];
        const int own = Layout::chunk_of_row(pair, of[k].row) - first_chunk;
#pragma unroll 1
        for (int c = 0; c < column_quad; ++c) {
          const std::int32_t greatest = pick(bound[k].word, c);
          if (c == own) {
            shared.list[c][atomicAdd(&shared.own[c], 1)] = static_cast<std::uint16_t>(place);
          } else if (greatest > of[k].second && !accept(of[k].best, greatest)) {  // the row's own second is accepted
            const int behind = atomicAdd(&shared.others[c], 1);
            shared.list[c][shared_memory::list_rows - 1 - behind] = static_cast<std::uint16_t>(place);
          }
        }
      }
    }
    __syncthreads();  // the lists are there

    for (int first_member = 0; first_member < chunk_rows; first_member += tile_members) {
      const int end_member = min(chunk_rows, first_member + tile_members);
      if (!one_tile) loaded = 0;
#pragma unroll 1
      for (int c = 0; c < column_quad; ++c) {
        if (shared.own[c] + shared.others[c] == 0 || (loaded >> c & 1) != 0) continue;
        loaded |= 1u << c;
        block::copy_members<width, tile_members, column_threads>(shared.tile[c], first_member, end_member, [&](int m) {
          const int row = Layout::row_of(pair, first_chunk + c, m);
          return row < pair.left_count ? members + row * left.stride : nullptr;
        });
      }
      detail::copy_async_commit();
      detail::copy_async_wait<0>();
      __syncthreads();  // and the tiles

      // Batches of all lists, dealt out to the warps in turn.
      int next = static_cast<int>(threadIdx.x) / 32;  // batches from the start of a list on until the warp's next
#pragma unroll 1
      for (int kind = 0; kind < 2 * column_quad; ++kind) {
        const int c = kind / 2;
        const bool own = kind % 2 == 0;
        const int count = own ? shared.own[c] : shared.others[c];
        const int batches = detail::ceil_div(count, batch::queries);
        for (; next < batches; next += column_threads / 32) {
          const auto at = [&](int slot) {
            const int k = next * batch::queries + slot;
            return k < count ? shared.list[c][own ? k : shared_memory::list_rows - 1 - k] : shared_memory::list_rows;
          };
          batch columns_of_warp;
          columns_of_warp.load(min(batch::queries, count - next * batch::queries),
                               [&](int slot) { return queries + shared.row[at(slot)].column * right.stride; });
          std::int32_t best[4], second[4];
          if (own) {
            columns_of_warp.template maxima<true>(shared.tile[c], end_member - first_member, best, second);
          } else {
            columns_of_warp.template maxima<false>(shared.tile[c], end_member - first_member, best, second);
          }
          const int lane = static_cast<int>(threadIdx.x) % 32;
          const int i = at(lane / 4 + lane % 4 * 8);  // the four lanes of four slots judge one each
          if (i < shared_memory::list_rows) {
            const matched_row of = shared.row[i];
            const std::int32_t greatest = pick(best, lane % 4);
            // (A tile of the row's own chunk that does not hold the row is like another chunk.)
            const int member = Layout::member_of_row(pair, of.row);
            const bool holds = own && member >= first_member && member < end_member;
            const std::int32_t other = holds ? pick(second, lane % 4) : greatest;
            const bool passes = (!holds || greatest == of.best) && (other <= of.second || accept(of.best, other));
            if (!passes && atomicExch(&verdicts.columns[pair.first_row + of.row], row_verdicts::no_match) !=
                               row_verdicts::no_match) {
              atomicAdd(&verdicts.taken_back[blockIdx.z], 1u);
            }
          }
          __syncwarp();
        }
        next -= batches;
      }
      __syncthreads();  // lists and tiles are written again
    }
  }
}

/// A judge that keeps the column of an accepted row, and lists the row as matched.
template <class Acceptance>
struct keep_accepted {
  Acceptance accept;
  row_verdicts verdicts;

  SERAC_DEVICE void operator()(int pair, std::int64_t first_row, int row, const top2& state) const {
    const bool accepted = row >= 0 && accept(state.best, state.second);
    const unsigned lanes = __ballot_sync(0xffffffffu, accepted);
    if (lanes == 0) return;
    const int lane = static_cast<int>(threadIdx.x) % 32, leader = __ffs(static_cast<int>(lanes)) - 1;
    std::uint32_t place = 0;
    if (lane == leader) place = atomicAdd(&verdicts.matched_count[pair], static_cast<std::uint32_t>(__popc(lanes)));
    place = __shfl_sync(0xffffffffu, place, leader) + __popc(lanes & ((1u << lane) - 1));
    if (accepted) {
      verdicts.columns[first_row + row] = static_cast<std::uint32_t>(state.index);
      verdicts.matched[first_row + place] = {row, state.index, state.best, state.second};
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

  SERAC_DEVICE void operator()(int, std::int64_t, int row, const top2& state) const {
    if (row >= 0) states[row] = state;
  }
};

}  // namespace serac::kernel
