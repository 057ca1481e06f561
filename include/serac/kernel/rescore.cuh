// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pass 2 of the tensor-core matcher behind the scan of rows: the winning chunks again, columns of matches only.
///
/// `Layout` is the traits type of the pass-1 path (wgmma_traits, mma_traits): its element, width and tile_columns.
/// `Acceptance` must be monotone (acceptance.hpp) and reject a tied best, as max_ratio <= 1 does.
#pragma once

#include <serac/acceptance.hpp>
#include <serac/block/rescore.cuh>
#include <serac/block/sums.cuh>
#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/integer.hpp>
#include <serac/detail/previous_kernel.cuh>
#include <serac/top2.hpp>
#include <serac/view.hpp>
#include <serac/warp/rescore.cuh>

namespace serac::kernel {

/// Bytes of registers that a lane and its three neighbours need for a descriptor: of bits they hold complements too.
template <class Layout>
inline constexpr int held_width = (is_binary<typename Layout::element> ? 2 : 1) * Layout::width;

/// Threads of a block of rescore_rows. Large chunks have more candidates, whose warps share the chunk's columns.
template <class Layout>
inline constexpr int rescore_threads = (Layout::chunk_tiles * Layout::tile_columns < 256) ? 64 : 128;

/// Blocks of rescore_rows that an SM must be able to hold (caps registers).
template <class Layout>
inline constexpr int rescore_blocks = rescore_threads<Layout> == 64 ? 1
                                      : held_width<Layout> <= 128   ? 4
                                      : held_width<Layout> <= 256   ? 3
                                                                    : 2;

inline constexpr int rescore_rows_at_once = 512;  ///< candidates of a chunk; a block takes rescore_threads of them
inline constexpr int column_threads = 128;
inline constexpr int column_rows = 4 * column_threads;  ///< whose maxima a block loads at once: its share is a multiple

/// Blocks of test_columns that an SM must be able to hold (caps registers).
template <class Layout>
inline constexpr int column_blocks = held_width<Layout> <= 128 ? 4 : 2;

/// Places of the candidates of a chunk among the candidates (and what they became) of their pair, up to Capacity at a
/// time. In shared memory.
template <int Threads, int Capacity>
struct candidate_places {
  block::sums<int, Threads> sums;
  std::int32_t place[Capacity];
  std::int32_t total;  // of the windows looked at: kept in a register it costs spills
};

/// Goes through the candidates of `chunk`: `work(count)` is called by all threads of the block when the next `count` of
/// them, at most Capacity, stand in places.place. All Threads threads of the block call it together.
template <int Threads, int Capacity, class Work>
SERAC_DEVICE void visit_candidates(candidate_places<Threads, Capacity>& places, const row_verdicts& verdicts,
                                   const chunk_pair& pair, int chunk, Work work) {
  // Of as many windows as there are threads, one after the other, as many as fit.
  const int windows = row_windows(pair.left_count);
  for (int first_window = 0; first_window < windows; first_window += Threads) {
    const int window = first_window + static_cast<int>(threadIdx.x);
    const std::uint32_t bin =
        window < windows ? verdicts.bins[pair.first_bin + std::int64_t{chunk} * windows + window] : 0;
    const int in_bin = static_cast<int>(bin & 0xffff);
    if (!__syncthreads_or(in_bin)) continue;
    int total;
    const int start = places.sums.exclusive(in_bin, total);
    const int place = window * row_window + static_cast<int>(bin >> 16);
    if (threadIdx.x == 0) places.total = total;
    __syncthreads();
    for (int first = 0; first < places.total; first += Capacity) {
      for (int i = (max)(0, first - start); i < in_bin && start + i < first + Capacity; ++i) {
        places.place[start + i - first] = place + i;
      }
      __syncthreads();
      work((min)(Capacity, places.total - first));
      __syncthreads();  // places, and their sums, are written again
    }
  }
}

/// Shared memory of `rescore_chunk`; `Scoring` is that of a block::rescore.
template <int Threads, class Scoring>
struct rescore_storage {
  Scoring scoring;
  candidate_places<Threads, rescore_rows_at_once> places;
  candidate_row rows[rescore_rows_at_once];
};

/// Rescores the candidates of a chunk, and hands their exact states to `judge(pair_number, pair, chunk, place, row,
/// state)`: `place` is the candidate's among those of the pair.
/// All lanes of a warp call it together, with row = -1 where a lane has none. `part` of `parts` blocks that share the
/// candidates. All Threads threads of the block.
template <class Layout, int Threads, class Scoring, class Judge>
SERAC_DEVICE void rescore_chunk(rescore_storage<Threads, Scoring>& shared, const chunk_pair& pair, int pair_number,
                                int chunk, int part, int parts, const descriptor_view<typename Layout::element>& left,
                                const descriptor_view<typename Layout::element>& right, const row_verdicts& verdicts,
                                const Judge& judge) {
  const int chunk_columns = pair.chunk_tiles * Layout::tile_columns;
  const int first_column = chunk * chunk_columns;
  const auto* const queries = left.data + std::int64_t{pair.left_first} * left.stride;
  const auto* const members = right.data + (std::int64_t{pair.right_first} + first_column) * right.stride;
  auto& rows = shared.rows;
  visit_candidates(shared.places, verdicts, pair, chunk, [&](int count) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += Threads) {
      rows[i] = verdicts.candidates[pair.first_row + shared.places.place[i]];
    }
    __syncthreads();
    block::rescore<typename Layout::element, Layout::width, Threads>(
        shared.scoring, count, part, parts, [&](int i) { return queries + rows[i].row * left.stride; },
        (min)(chunk_columns, pair.right_count - first_column), [&](int m) { return members + m * right.stride; },
        [&](int m) { return first_column + m; },
        [&](int i, top2 state) {
          const candidate_row of = i < 0 ? candidate_row{-1, 0} : rows[i];
          state.second = (max)(state.second, of.second);
          judge(pair_number, pair, chunk, i < 0 ? 0 : shared.places.place[i], of.row, state);
        });
  });
}

/// Rescores the winning chunk of every row that can match; see rescore_chunk. Launch: rescore_threads<Layout> threads,
/// grid (most column chunks of a pair, parts, pairs).
template <class Layout, class Judge>
__global__ void __launch_bounds__(rescore_threads<Layout>, rescore_blocks<Layout>)
    rescore_rows(const chunk_pair* pairs, descriptor_view<typename Layout::element> left,
                 descriptor_view<typename Layout::element> right, row_verdicts verdicts, Judge judge) {
  detail::wait_for_previous_kernel();
  const auto number = static_cast<int>(blockIdx.z), chunk = static_cast<int>(blockIdx.x);
  if (chunk >= pairs[number].column_chunks || verdicts.candidate_count[number] == 0) return;
  __shared__ rescore_storage<rescore_threads<Layout>, block::rescore_tiles<Layout::width>> shared;
  rescore_chunk<Layout>(shared, pairs[number], number, chunk, static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y),
                        left, right, verdicts, judge);
}

/// The least second that is rejected beside `best`, where ties are: all above it are as well. All Threads threads of
/// the block, with the same arguments. Cost: a question of `accept` and a barrier for every log2(Threads) bits of
/// `best`.
template <int Threads, class Acceptance>
SERAC_DEVICE std::int32_t least_rejected(const Acceptance& accept, std::int32_t best) {
  auto least = 0u, most = static_cast<unsigned>(best);  // it lies there
  while (least < most) {
    const unsigned step = (most - least) / (Threads + 1) + 1;
    const unsigned second = least + (threadIdx.x + 1) * step - 1;
    const bool accepted = second < most && accept(best, static_cast<std::int32_t>(second));
    least += static_cast<unsigned>(__syncthreads_count(accepted)) * step;
    most = (min)(most, least + step - 1);
  }
  return static_cast<std::int32_t>(least);
}

/// A table tells it.
template <int Threads>
SERAC_DEVICE std::int32_t least_rejected(const acceptance_view& accept, std::int32_t best) {
  return accept.limit[(min)(best, unit_score)] + 1;
}

/// Shared memory of `test_chunk`.
template <int Threads>
struct test_storage {
  static constexpr int list_rows = 512;                            // matches looked at together
  static constexpr int rival_rows = 6144;                          // rivals scored together, at most
  static constexpr int loads = Threads <= column_threads ? 8 : 4;  // of a thread under way, of 4 rows' maxima each
  static constexpr int rows_of_step = 4 * loads * Threads;
  static_assert(rows_of_step <= rival_rows && 4 * loads <= 32);
  candidate_places<Threads, list_rows> places;
  matched_row matches[list_rows];
  std::int32_t rivals[rival_rows];
  int match_count;
  std::int32_t least_best, least_second;
};

/// Takes a row's match in a chunk back where its column prefers another row or fails the test itself: where any other
/// row's score with the column is too great for the match to be accepted beside it. Acceptance is monotone, so that
/// this is asked of each row by itself; and no row's score is above its maximum of the column's chunk, so that only
/// rows are asked whose maximum is too great for some match of the chunk: they are gathered, and scored with all its
/// matched columns. `part` of `parts` blocks that share the rows. All Threads threads of the block.
template <class Layout, int Threads, class Acceptance>
SERAC_DEVICE void test_chunk(test_storage<Threads>& shared, const chunk_pair& pair, int pair_number, int chunk,
                             int part, int parts, const descriptor_view<typename Layout::element>& left,
                             const descriptor_view<typename Layout::element>& right, const std::int32_t* maxima,
                             const Acceptance& accept, const row_verdicts& verdicts) {
  const auto* const queries = right.data + std::int64_t{pair.right_first} * right.stride;
  const auto* const members = left.data + std::int64_t{pair.left_first} * left.stride;
  const std::int32_t* const row_maxima = maxima + pair.row_maxima + std::int64_t{chunk} * pair.row_stride;
  constexpr int threads = Threads, warps = threads / 32;
  using storage = test_storage<Threads>;
  constexpr int loads = storage::loads, rows_of_step = storage::rows_of_step, rival_rows = storage::rival_rows;
  using batch = warp::query_batch<typename Layout::element, Layout::width>;
  auto& places = shared.places;
  auto& matches = shared.matches;
  auto& rivals = shared.rivals;

  // This block's rows.
  const int rows_of_block = detail::round_up(detail::ceil_div(pair.left_count, parts), column_rows);
  const int first_row = part * rows_of_block;
  const int end_row = (min)(pair.left_count, first_row + rows_of_block);
  if (first_row >= end_row) return;

  // The maxima of a step of rows, on their way while the step before is looked through.
  const auto row_at = [](int first, int load) { return first + 4 * (load * threads + static_cast<int>(threadIdx.x)); };
  detail::word_vector<16> ahead[loads];
  const auto load = [&](int first) {
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const int row = row_at(first, k);
      ahead[k] = row < end_row ? detail::load_vector<16>(row_maxima + row) : detail::word_vector<16>{};
    }
  };

  visit_candidates(places, verdicts, pair, chunk, [&](int count) {
    load(first_row);
    if (threadIdx.x == 0) shared.match_count = 0, shared.least_best = shared.least_second = 0x7fffffff;
    __syncthreads();
    bool found = false;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
      const auto words = detail::load_vector<16>(verdicts.matched + pair.first_row + places.place[i]).word;
      const matched_row match{static_cast<std::int32_t>(words[0]), static_cast<std::int32_t>(words[1]),
                              static_cast<std::int32_t>(words[2]), static_cast<std::int32_t>(words[3])};
      if (match.row < 0) continue;
      found = true;
      matches[atomicAdd(&shared.match_count, 1)] = match;
      atomicMin(&shared.least_best, match.best);
      atomicMin(&shared.least_second, match.second);
    }
    if (!__syncthreads_or(found)) return;
    // A row is a rival whose maximum is above the least second, and is too great beside the least best.
    const std::int32_t least_rival = (max)(shared.least_second + 1, least_rejected<Threads>(accept, shared.least_best));
    int rival_count = 0;  // the same in all threads
    for (int first = first_row; first < end_row; first += rows_of_step) {
      detail::word_vector<16> values[loads];
#pragma unroll
      for (int k = 0; k < loads; ++k) values[k] = ahead[k];
      load(first + rows_of_step);
      std::uint32_t rival_bits = 0;  // of the rows of this thread
#pragma unroll
      for (int k = 0; k < loads; ++k) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const auto greatest = static_cast<std::int32_t>(values[k].word[i]);
          const bool rival = row_at(first, k) + i < end_row && greatest >= least_rival;
          rival_bits |= (rival ? 1u : 0u) << (4 * k + i);
        }
      }
      int found_by_all;
      int place = rival_count + places.sums.exclusive(__popc(rival_bits), found_by_all);
      for (; rival_bits != 0; rival_bits &= rival_bits - 1, ++place) {
        const int bit = __ffs(static_cast<int>(rival_bits)) - 1;
        rivals[place] = row_at(first, bit / 4) + bit % 4;
      }
      rival_count += found_by_all;
      __syncthreads();  // the rivals are there, and the sums are free
      if (rival_count <= rival_rows - rows_of_step && first + rows_of_step < end_row) continue;

      // Batches of columns, each with all rivals or a part of them, dealt out to the warps.
      const int batches = detail::ceil_div(shared.match_count, batch::queries);
      const int splits = detail::ceil_div(warps, batches);  // of the rivals, so that all warps have some
      const int rivals_of_split = detail::round_up(detail::ceil_div(rival_count, splits), 16);
      for (int task = static_cast<int>(threadIdx.x) / 32; task < batches * splits; task += warps) {
        const int first_match = task % batches * batch::queries, first_rival = task / batches * rivals_of_split;
        const int rivals_of_task = (min)(rivals_of_split, rival_count - first_rival);
        if (rivals_of_task <= 0) continue;
        batch columns;
        columns.load((min)(batch::queries, shared.match_count - first_match),
                     [&](int slot) { return queries + matches[first_match + slot].column * right.stride; });
        columns.score_gathered(
            rivals_of_task, [&](int m) { return members + rivals[first_rival + m] * left.stride; },
            [&](int m) { return rivals[first_rival + m]; });
        const top2 state = columns.finish();
        const int m = first_match + batch::own_slot();
        if (m < shared.match_count) {
          // The match's own row is a rival of it. Where it is not the best here it is elsewhere, or it has been beaten.
          const matched_row match = matches[m];
          const std::int32_t other = state.index == match.row ? state.second : state.best;
          const bool passes = other <= match.second || accept(match.best, (min)(other, match.best));
          if (!passes && atomicExch(&verdicts.columns[pair.first_row + match.row], row_verdicts::no_match) !=
                             row_verdicts::no_match) {
            atomicAdd(&verdicts.taken_back[pair_number], 1u);
          }
        }
      }
      rival_count = 0;
      load(first + rows_of_step);  // again: kept meanwhile they cost spills
      __syncthreads();             // rivals are written again
    }
  });
}

/// Shared memory of `find_matched_chunks`.
template <int Threads>
struct matched_chunks {
  block::sums<int, Threads> sums;
  std::int32_t chunk[Threads];
};

/// The number of a pair's column chunks that hold matches, which then stand in shared.chunk. All Threads threads of the
/// block, at least as many as there are chunks.
template <int Threads>
SERAC_DEVICE int find_matched_chunks(matched_chunks<Threads>& shared, const chunk_pair& pair,
                                     const row_verdicts& verdicts) {
  const int chunk = static_cast<int>(threadIdx.x);
  const bool matched = chunk < pair.column_chunks && verdicts.chunk_matches[pair.first_chunk + chunk] != 0;
  int count;
  const int place = shared.sums.exclusive(matched ? 1 : 0, count);
  if (matched) shared.chunk[place] = chunk;
  __syncthreads();
  return count;
}

/// Takes back the matches that their columns do not return; see test_chunk. Launch: column_threads threads, grid (most
/// column chunks of a pair, parts, pairs).
template <class Layout, class Acceptance>
__global__ void __launch_bounds__(column_threads, column_blocks<Layout>)
    test_columns(const chunk_pair* pairs, descriptor_view<typename Layout::element> left,
                 descriptor_view<typename Layout::element> right, const std::int32_t* maxima, Acceptance accept,
                 row_verdicts verdicts) {
  detail::wait_for_previous_kernel();
  const auto number = static_cast<int>(blockIdx.z), chunk = static_cast<int>(blockIdx.x);
  if (chunk >= pairs[number].column_chunks || verdicts.chunk_matches[pairs[number].first_chunk + chunk] == 0) return;
  __shared__ test_storage<column_threads> shared;
  test_chunk<Layout>(shared, pairs[number], number, chunk, static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y),
                     left, right, maxima, accept, verdicts);
}

/// A judge that keeps the column of an accepted row, and lists the row as matched.
template <class Acceptance>
struct keep_accepted {
  Acceptance accept;
  row_verdicts verdicts;

  SERAC_DEVICE void operator()(int number, const chunk_pair& pair, int chunk, int place, int row,
                               const top2& state) const {
    const bool accepted = row >= 0 && accept(state.best, state.second);
    if (row >= 0) {
      verdicts.matched[pair.first_row + place] = {accepted ? row : -1, state.index, state.best, state.second};
    }
    if (accepted) verdicts.columns[pair.first_row + row] = static_cast<std::uint32_t>(state.index);
    const auto count = static_cast<std::uint32_t>(__popc(__ballot_sync(0xffffffffu, accepted)));
    if (count != 0 && threadIdx.x % 32 == 0) {
      atomicAdd(&verdicts.matched_count[number], count);
      atomicAdd(&verdicts.chunk_matches[pair.first_chunk + chunk], count);
    }
  }
};

/// A judge that keeps every state, for one pair.
struct keep_state {
  top2* states;

  SERAC_DEVICE void operator()(int, const chunk_pair&, int, int, int row, const top2& state) const {
    if (row >= 0) states[row] = state;
  }
};

}  // namespace serac::kernel
