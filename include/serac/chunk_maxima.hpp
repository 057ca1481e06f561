// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What pass 1 of the tensor-core matcher leaves for pass 2, and the pairs that both work on. See docs/method.md.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/integer.hpp>

namespace serac {

/// One pair of images in the tensor-core matcher.
///
/// Pass 1 leaves, for every row, the greatest score over each *column chunk*: `chunk_tiles` consecutive tiles of
/// columns. All are floored at 0.
struct chunk_pair {
  std::int32_t left_first, left_count;    ///< descriptors of the left buffer that the image has
  std::int32_t right_first, right_count;  ///< descriptors of the right buffer that the image has

  std::int32_t column_chunks, chunk_tiles;
  std::int32_t segments, segment_tiles;  ///< runs of row tiles that pass 1 works on at a time
  std::int32_t row_stride;               ///< rows of the image, rounded up to whole tiles (wgmma: runs of 4)

  std::int64_t row_maxima;   ///< offset of [column_chunks][row_stride] among the maxima of all pairs
  std::int64_t first_unit;   ///< units of pass 1 in the pairs before this one
  std::int64_t first_row;    ///< where its rows stand in row_verdicts: a multiple of row_window
  std::int64_t first_chunk;  ///< where its column chunks stand in row_verdicts::chunk_matches
  std::int64_t first_bin;    ///< where its [column_chunks][windows of rows] stand in row_verdicts::bins
};

/// Whether a policy may ask for `columns` in a column chunk at least.
SERAC_HOST_DEVICE constexpr bool is_chunk_columns(int columns) { return columns >= 1 && columns <= 1 << 30; }

#if defined(__CUDACC__)
/// The last pair that `begins` says true of: it is true of the first, and up to some pair. Thread.
template <class Begins>
SERAC_DEVICE int find_pair(const chunk_pair* pairs, int pair_count, Begins begins) {
  int low = 0, high = pair_count;  // true of low, not of high
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (begins(pairs[middle]) ? low : high) = middle;
  }
  return low;
}

/// The same, by all lanes of a warp together: a fifth of the reads that follow one another.
template <class Begins>
SERAC_DEVICE int warp_find_pair(const chunk_pair* pairs, int pair_count, Begins begins) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int low = 0, high = pair_count;
  while (high - low > 1) {
    const int step = detail::ceil_div(high - low, 32), mine = low + lane * step;
    const unsigned lanes = __ballot_sync(0xffffffffu, mine < high && begins(pairs[mine]));
    low += (__popc(lanes) - 1) * step;
    high = (min)(high, low + step);
  }
  return low;
}

/// The pair whose units include the given number, counted over all pairs. Thread.
SERAC_DEVICE int pair_of_unit(const chunk_pair* pairs, int pair_count, std::int64_t unit) {
  return find_pair(pairs, pair_count, [&](const chunk_pair& pair) { return pair.first_unit <= unit; });
}
#endif

inline constexpr int row_window = 256;  ///< rows that pass 2 looks through together

/// Windows that the rows of an image fill.
SERAC_HOST_DEVICE constexpr int row_windows(int rows) { return detail::ceil_div(rows, row_window); }

/// How far the work on the pairs of a wave has come, in device memory; all 0 at the start.
struct wave_progress {
  unsigned long long* next_unit;  ///< of pass 1
  std::uint32_t* next_window;     ///< of rows, counted over all pairs, where pass 1 scans them itself
  std::uint32_t* units_done;      ///< [pairs], where it does
};

/// A row that can match: the second best that its other column chunks leave it at least.
struct candidate_row {
  std::int32_t row;
  std::int32_t second;
};

/// A row that matches by itself, with its exact state; row is -1 where a candidate does not.
struct alignas(16) matched_row {
  std::int32_t row;
  std::int32_t column;
  std::int32_t best;
  std::int32_t second;
};

/// What pass 2 knows of every row of all pairs, in device memory.
struct row_verdicts {
  static constexpr std::uint32_t no_match = 0xffffffffu;

  std::uint32_t* columns;  ///< the column that the row matches, or no_match

  candidate_row* candidates;  ///< those of each window of rows, sorted by the column chunk of their best
  std::uint32_t* bins;        ///< of each chunk and window: first candidate << 16 | their number
  matched_row* matched;       ///< what each of the candidates became

  std::uint32_t* chunk_matches;    ///< of each column chunk: rows that match by themselves there
  std::uint32_t* candidate_count;  ///< [pairs]
  std::uint32_t* matched_count;    ///< [pairs]: rows that match by themselves
  std::uint32_t* taken_back;       ///< [pairs]: how many of them their columns did not return
};

}  // namespace serac
