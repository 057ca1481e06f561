// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pass 2 of the tensor-core matcher begins: which rows can match, from their chunk maxima.
///
/// `Acceptance` as for rescore.cuh.
#pragma once

#include <serac/block/group.cuh>
#include <serac/block/sums.cuh>
#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/count.cuh>
#include <serac/detail/previous_kernel.cuh>
#include <serac/top2.hpp>

namespace serac::kernel {

/// The two greatest chunk maxima of a row: index is the chunk. Thread.
SERAC_DEVICE void take_chunk(top2& chunks, int chunk, std::int32_t value) {
  const bool greater = value > chunks.best;
  chunks.second = greater ? chunks.best : (max)(chunks.second, value);
  chunks.index = greater ? chunk : chunks.index;
  chunks.best = greater ? value : chunks.best;
}

/// How the threads of a Group share a window: each looks at four rows, in a part of the chunks.
template <class Group>
struct scan_shape {
  static constexpr int rows_at_once = 4, threads_of_part = row_window / rows_at_once;
  static constexpr int parts = Group::threads / threads_of_part;
  static constexpr int rows_of_thread = parts > 1 ? 1 : rows_at_once;  // once the parts are put together
  static_assert(parts == 1 || Group::threads >= row_window);
};

/// Shared memory of `scan_window`.
template <class Group>
struct scan_storage {
  static constexpr int parts = scan_shape<Group>::parts;
  top2 part_of_row[parts > 1 ? parts : 1][parts > 1 ? row_window : 1];
  std::uint32_t bin[row_window];  // of each chunk (they are fewer), as row_verdicts has them
  block::sums<std::uint32_t, Group::threads, Group> sums;
};

/// Which of a window's rows can still match: the candidates, sorted by the chunk of their best. No row has a column
/// yet. All threads of the Group, row_window / 4 or at least row_window; they owe a barrier before `shared` serves
/// again. `pair_number` is that of `verdicts`.
template <class Group, class Acceptance>
SERAC_DEVICE void scan_window(const Group& group, scan_storage<Group>& shared, const chunk_pair& pair, int pair_number,
                              int window, const std::int32_t* maxima, const Acceptance& accept,
                              const row_verdicts& verdicts) {
  using shape = scan_shape<Group>;
  constexpr int parts = shape::parts, rows_at_once = shape::rows_at_once, rows_of_thread = shape::rows_of_thread;
  const int first_row = window * row_window;
  const int thread = group.thread();
  const bool has_rows = thread * rows_of_thread < row_window;  // this thread, and as many chunks

  if (has_rows) {
#pragma unroll
    for (int i = 0; i < rows_of_thread; ++i) {
      const int chunk = thread * rows_of_thread + i;
      shared.bin[chunk] = 0;
      if (window == 0 && chunk < pair.column_chunks) verdicts.chunk_matches[pair.first_chunk + chunk] = 0;
    }
  }
  top2 chunks[rows_at_once];
  const int part = thread / shape::threads_of_part, part_row = thread % shape::threads_of_part * rows_at_once;
  if (part < parts && first_row + part_row < pair.row_stride) {
    const int first_chunk = pair.column_chunks * part / parts, end_chunk = pair.column_chunks * (part + 1) / parts;
    const std::int32_t* const of_rows = maxima + pair.row_maxima + first_row + part_row;
    const std::int64_t stride = pair.row_stride;
#pragma unroll 8
    for (int chunk = first_chunk; chunk < end_chunk; ++chunk) {
      const auto values = detail::load_vector<16>(of_rows + chunk * stride);
#pragma unroll
      for (int i = 0; i < rows_at_once; ++i) take_chunk(chunks[i], chunk, static_cast<std::int32_t>(values.word[i]));
    }
  }
  if constexpr (parts > 1) {
    if (part < parts) {
#pragma unroll
      for (int i = 0; i < rows_at_once; ++i) shared.part_of_row[part][part_row + i] = chunks[i];
    }
  }
  group.sync();
  if constexpr (parts > 1) {
    if (has_rows) {
      chunks[0] = shared.part_of_row[0][thread];
#pragma unroll
      for (int p = 1; p < parts; ++p) {
        const top2 other = shared.part_of_row[p][thread];
        take_chunk(chunks[0], other.index, other.best);
        chunks[0].second = (max)(chunks[0].second, other.second);
      }
    }
  }

  bool any_candidate = false;
  bool candidate[rows_of_thread];
  std::uint32_t place[rows_of_thread];  // among those of its bin
#pragma unroll
  for (int i = 0; i < rows_of_thread; ++i) {
    const int row = first_row + thread * rows_of_thread + i;
    const bool exists = has_rows && row < pair.left_count;
    candidate[i] = exists && chunks[i].best > 0 && accept(chunks[i].best, chunks[i].second);
    if (exists) verdicts.columns[pair.first_row + row] = row_verdicts::no_match;
    place[i] = candidate[i] ? atomicAdd(&shared.bin[chunks[i].index], 1u) : 0;
    any_candidate = any_candidate || candidate[i];
  }

  if (group.any(any_candidate)) {
    std::uint32_t in_bin[rows_of_thread] = {}, in_bins = 0, found;
#pragma unroll
    for (int i = 0; i < rows_of_thread; ++i) {
      if (has_rows) in_bins += in_bin[i] = shared.bin[thread * rows_of_thread + i];
    }
    std::uint32_t start = shared.sums.exclusive(in_bins, found, group);
#pragma unroll
    for (int i = 0; i < rows_of_thread; ++i) {
      if (has_rows) shared.bin[thread * rows_of_thread + i] = start << 16 | in_bin[i];
      start += in_bin[i];
    }
    group.sync();
#pragma unroll
    for (int i = 0; i < rows_of_thread; ++i) {
      if (!candidate[i]) continue;
      const std::uint32_t bin_start = shared.bin[chunks[i].index] >> 16;
      verdicts.candidates[pair.first_row + first_row + bin_start + place[i]] = {first_row + thread * rows_of_thread + i,
                                                                                chunks[i].second};
    }
    if (thread == 0) atomicAdd(&verdicts.candidate_count[pair_number], found);
  }
#pragma unroll
  for (int i = 0; i < rows_of_thread; ++i) {
    const int chunk = thread * rows_of_thread + i;
    if (has_rows && chunk < pair.column_chunks) {
      verdicts.bins[pair.first_bin + std::int64_t{chunk} * row_windows(pair.left_count) + window] = shared.bin[chunk];
    }
  }
}

/// Which rows of many pairs can still match; see scan_window. Launch: row_window threads, grid (windows of the largest
/// pair, pairs).
template <class Acceptance>
__global__ void __launch_bounds__(row_window)
    scan_rows(const chunk_pair* pairs, const std::int32_t* maxima, Acceptance accept, row_verdicts verdicts) {
  detail::wait_for_previous_kernel();
  const auto number = static_cast<int>(gridDim.y - 1 - blockIdx.y);  // those that pass 1 left last are in the cache
  const auto window = static_cast<int>(blockIdx.x);
  if (window * row_window >= pairs[number].left_count) return;
  using group = block::whole_block<row_window>;
  __shared__ scan_storage<group> shared;
  scan_window(group(), shared, pairs[number], number, window, maxima, accept, verdicts);
}

/// The scan of many pairs by warps that pass 1 leaves idle, each pair as soon as its maxima are there: `unit_done`
/// counts what pass 1 has done, `run` takes one window after the other and waits for its pair.
template <class Acceptance>
struct scan_behind {
  static constexpr bool is_used = true;

  const chunk_pair* pairs;
  int pair_count;
  std::uint32_t window_count;  ///< of all pairs
  const std::int32_t* maxima;
  Acceptance accept;
  row_verdicts verdicts;
  wave_progress progress;

  /// Shared memory of `run`.
  template <class Group>
  struct storage {
    scan_storage<Group> scan;
    std::uint32_t window;
  };

  /// Says that the maxima of a unit of the pair have been written: by threads that this thread has synchronised with.
  SERAC_DEVICE void unit_done(int pair) const { detail::release_count(progress.units_done + pair); }

  /// Scans windows until all are taken. All threads of the group. Every unit that it waits for has been taken by a
  /// block that runs, or will be by this one: none waits for a block that cannot start.
  template <class Layout, class Group>
  SERAC_DEVICE void run(const Group& group, storage<Group>& shared) const {
    for (;;) {
      if (group.thread() == 0) shared.window = atomicAdd(progress.next_window, 1u);
      group.sync();
      const std::uint32_t number = shared.window;  // counted over all pairs
      if (number >= window_count) return;
      const std::int64_t first_row = std::int64_t{number} * row_window;
      const int index =
          warp_find_pair(pairs, pair_count, [&](const chunk_pair& p) { return p.first_row <= first_row; });
      const chunk_pair& pair = pairs[index];
      if (group.thread() == 0) {
        detail::wait_for_count(progress.units_done + index, static_cast<std::uint32_t>(Layout::unit_count(pair)));
      }
      group.sync();
      scan_window(group, shared.scan, pair, index, static_cast<int>((first_row - pair.first_row) / row_window), maxima,
                  accept, verdicts);
      group.sync();
    }
  }
};

}  // namespace serac::kernel
