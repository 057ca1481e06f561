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
#include <serac/warp/rescore.cuh>

namespace serac::kernel {

inline constexpr int rescore_threads = 64;
inline constexpr int column_threads = 256;
inline constexpr int column_quad = 4;  ///< row chunks that a block of test_columns works on: one load of their maxima

/// values[i], without local memory. Thread.
template <class T>
SERAC_DEVICE std::int32_t pick(const T (&values)[4], int i) {
  const T low = i & 1 ? values[1] : values[0], high = i & 1 ? values[3] : values[2];
  return static_cast<std::int32_t>(i & 2 ? high : low);
}

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

  constexpr int list_rows = 1024;
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

/// Shared memory of test_columns: 94 KiB at most, two blocks of which fit a multiprocessor of sm_90 and one any other.
template <int Width>
struct alignas(16) column_test {
  static constexpr int list_rows = 1536;  ///< matched rows looked through at a time
  static constexpr int tile_members = 128 * 128 / (Width < 128 ? 128 : Width);

  std::uint8_t tile[column_quad][tile_members * Width];
  std::uint32_t column[list_rows];
  std::int32_t best[list_rows], second[list_rows];
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

  const chunk_pair& pair = pairs[blockIdx.z];
  const int first_chunk = static_cast<int>(blockIdx.x) * column_quad;
  const int matched_count = static_cast<int>(verdicts.matched_count[blockIdx.z]);
  int first = static_cast<int>(blockIdx.y) * shared_memory::list_rows;
  if (first_chunk >= pair.row_chunks || first >= matched_count) return;

  const auto* const queries = right.data + std::int64_t{pair.right_first} * right.stride;
  const auto* const members = left.data + std::int64_t{pair.left_first} * left.stride;
  const std::int32_t* const bounds = maxima.columns + pair.column_maxima + first_chunk;
  const std::uint32_t* const matched = verdicts.matched + pair.first_row;
  std::uint32_t* const columns = verdicts.columns + pair.first_row;
  const std::int32_t* const bests = verdicts.best + pair.first_row;
  const std::int32_t* const seconds = verdicts.second + pair.first_row;
  const int chunk_rows = Layout::chunk_rows(pair);

  const auto copy_tiles = [&](int first_member) {
#pragma unroll 1
    for (int c = 0; c < column_quad; ++c) {
      const int end = min(chunk_rows, first_member + tile_members);
      block::copy_members<width, column_threads>(shared.tile[c], first_member, end, [&](int m) {
        const int row = Layout::row_of(pair, first_chunk + c, m);
        return row < pair.left_count ? members + row * left.stride : nullptr;
      });
    }
    detail::copy_async_commit();
  };
  copy_tiles(0);

  // Other blocks take matches back at the same time. Whether this one sees that does not matter: it can only take back
  // once more what is taken back already.
  for (; first < matched_count; first += static_cast<int>(gridDim.y) * shared_memory::list_rows) {
    if (threadIdx.x < column_quad) shared.own[threadIdx.x] = shared.others[threadIdx.x] = 0;
    __syncthreads();
    const int end = min(shared_memory::list_rows, matched_count - first);
    constexpr int at_once = 4;  // rows whose loads a thread has under way
    for (int i = static_cast<int>(threadIdx.x); i < end; i += at_once * column_threads) {
      int row[at_once];
      std::uint32_t column[at_once];
      std::int32_t best[at_once], second[at_once];
      detail::word_vector<16> bound[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int place = i + k * column_threads;
        row[k] = place < end ? static_cast<int>(matched[first + place]) : -1;
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) column[k] = row[k] >= 0 ? columns[row[k]] : row_verdicts::no_match;
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (column[k] == row_verdicts::no_match) continue;
        best[k] = bests[row[k]];
        second[k] = seconds[row[k]];
        const int tile = static_cast<int>(column[k]) / Layout::tile_columns;
        const int group =
            tile * Layout::tile_groups + Layout::group_of(static_cast<int>(column[k]) - tile * Layout::tile_columns);
        bound[k] = detail::load_vector<16>(bounds + std::int64_t{group} * pair.row_chunks);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (column[k] == row_verdicts::no_match) continue;
        const int place = i + k * column_threads;
        shared.column[place] = column[k];
        shared.best[place] = best[k];
        shared.second[place] = second[k];
        const int own = Layout::chunk_of_row(pair, row[k]) - first_chunk;
#pragma unroll 1
        for (int c = 0; c < column_quad; ++c) {
          const std::int32_t greatest = pick(bound[k].word, c);
          if (c == own) {
            shared.list[c][atomicAdd(&shared.own[c], 1)] = static_cast<std::uint16_t>(place);
          } else if (greatest > second[k] && !accept(best[k], greatest)) {  // the row's own second is accepted
            const int behind = atomicAdd(&shared.others[c], 1);
            shared.list[c][shared_memory::list_rows - 1 - behind] = static_cast<std::uint16_t>(place);
          }
        }
      }
    }

    for (int first_member = 0; first_member < chunk_rows; first_member += tile_members) {
      if (first_member > 0 ||
          (chunk_rows > tile_members && first >= static_cast<int>(gridDim.y) * shared_memory::list_rows)) {
        __syncthreads();  // nobody reads the last tiles any more
        copy_tiles(first_member);
      }
      detail::copy_async_wait<0>();
      __syncthreads();  // tiles and lists are there

      // Batches of all lists, dealt out to the warps in turn.
      const int member_count = min(tile_members, chunk_rows - first_member);
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
          columns_of_warp.load([&](int slot) {
            const int i = at(slot);
            return i < shared_memory::list_rows ? queries + shared.column[i] * right.stride : nullptr;
          });
          std::int32_t best[4], second[4];
          if (own) {
            columns_of_warp.template maxima<true>(shared.tile[c], member_count, best, second);
          } else {
            columns_of_warp.template maxima<false>(shared.tile[c], member_count, best, second);
          }
          const int lane = static_cast<int>(threadIdx.x) % 32;
          const int i = at(lane / 4 + lane % 4 * 8);  // the four lanes of four slots judge one each
          if (i < shared_memory::list_rows) {
            const std::int32_t score = shared.best[i], greatest = pick(best, lane % 4);
            // (A tile of the row's own chunk that does not hold the row is like another chunk.)
            const bool holds =
                own && (chunk_rows <= tile_members ||
                        Layout::member_of_row(pair, static_cast<int>(matched[first + i])) / tile_members ==
                            first_member / tile_members);
            const std::int32_t other = holds ? pick(second, lane % 4) : greatest;
            const bool passes = (!holds || greatest == score) && (other <= shared.second[i] || accept(score, other));
            if (!passes) {
              const std::uint32_t row = matched[first + i];
              if (atomicExch(&columns[row], row_verdicts::no_match) != row_verdicts::no_match) {
                atomicAdd(&verdicts.taken_back[blockIdx.z], 1u);
              }
            }
          }
          __syncwarp();
        }
        next -= batches;
      }
    }
    __syncthreads();  // lists are written again
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
      verdicts.second[at] = state.second;
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
