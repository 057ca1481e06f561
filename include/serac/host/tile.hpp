// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The innermost loop of the host backend: scores of a few rows x 16 columns, straight into top-2 states.
#pragma once

#include <cstdint>
#include <cstring>

// (nvcc's device pass makes no host code, and intrinsics take long to read.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDA_ARCH__)
#define SERAC_HOST_AVX2 1
#define SERAC_AVX2 __attribute__((target("avx2")))
#define SERAC_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline
#include <immintrin.h>
#endif

namespace serac::host::detail {

inline constexpr int tile_rows = 4;  ///< 4 x 16 scores and their operands fit the registers of AVX2
inline constexpr int tile_columns = 16;
inline constexpr int lanes = 32;  ///< a row's columns are split by column mod 32: in a lane, smaller ones win ties

/// A score is packed above a code of its place, so that one 32-bit maximum carries both: `score << code_bits | code`,
/// where of two tied places the preferred one has the greater code. A key whose score is zero stands for "nothing".
inline constexpr int code_bits = 6;
inline constexpr int codes = 1 << code_bits;
static_assert(std::int64_t{512} * 255 * 255 < std::int64_t{1} << (31 - code_bits), "keys are positive 32-bit integers");

/// Two consecutive elements of each row of a tile.
struct row_slice {
  std::int16_t element[tile_rows][2];
};

/// Two consecutive elements of each column of a tile: one cache line.
struct alignas(64) column_slice {
  std::int16_t element[tile_columns][2];
};

/// Running best and second best keys of `Places` rows, columns or lanes.
template <int Places>
struct alignas(64) packed_top2 {
  std::int32_t best[Places];
  std::int32_t second[Places];
};

/// Scores the tile rows x columns, `slices` slices each, and pushes every score to the states of its row,
/// `row_states[row]` in the lanes from `first_lane`, and, if WithColumns, to those of its column. The codes are those
/// of the tile's columns among the columns of their lanes, and of its first row; the next rows have one less each.
template <bool WithColumns>
using tile_function = void (*)(const row_slice* rows, const column_slice* columns, int slices, int column_code,
                               int first_row_code, packed_top2<lanes>* row_states, int first_lane,
                               packed_top2<tile_columns>* column_states);

/// Scores of a tile.
using tile_scores = std::int32_t[tile_rows][tile_columns];

/// Pushes the scores of a tile, floored at 0, to the states of its rows and, if WithColumns, of its columns.
template <bool WithColumns>
void push_scores(const tile_scores& scores, int column_code, int first_row_code, packed_top2<lanes>* row_states,
                 int first_lane, packed_top2<tile_columns>* column_states) {
  const auto push = [](std::int32_t& best, std::int32_t& second, std::int32_t key) {
    const std::int32_t loser = key < best ? key : best;
    best = key > best ? key : best;
    second = loser > second ? loser : second;
  };
  for (int r = 0; r < tile_rows; ++r) {
    for (int c = 0; c < tile_columns; ++c) {
      const std::int32_t key = (scores[r][c] > 0 ? scores[r][c] : 0) << code_bits;
      push(row_states[r].best[first_lane + c], row_states[r].second[first_lane + c], key + column_code);
      if constexpr (WithColumns) push(column_states->best[c], column_states->second[c], key + first_row_code - r);
    }
  }
}

/// The scores of a tile, not floored. Any machine.
inline void byte_scores(const row_slice* rows, const column_slice* columns, int slices, tile_scores& scores) {
  std::memset(scores, 0, sizeof scores);
  for (int s = 0; s < slices; ++s) {
    for (int r = 0; r < tile_rows; ++r) {
      const std::int32_t a0 = rows[s].element[r][0], a1 = rows[s].element[r][1];
      for (int c = 0; c < tile_columns; ++c) {
        scores[r][c] += a0 * columns[s].element[c][0] + a1 * columns[s].element[c][1];
      }
    }
  }
}

/// Any machine.
template <bool Signed, bool WithColumns>
void score_tile(const row_slice* rows, const column_slice* columns, int slices, int column_code, int first_row_code,
                packed_top2<lanes>* row_states, int first_lane, packed_top2<tile_columns>* column_states) {
  tile_scores scores;
  byte_scores(rows, columns, slices, scores);
  push_scores<WithColumns>(scores, column_code, first_row_code, row_states, first_lane, column_states);
}

#if defined(SERAC_HOST_AVX2)

/// 16 integers: one for each column of a tile.
struct vector16 {
  __m256i half[2];
};

SERAC_AVX2_INLINE void load(const void* source, vector16& v) {
  v.half[0] = _mm256_load_si256(static_cast<const __m256i*>(source));
  v.half[1] = _mm256_load_si256(static_cast<const __m256i*>(source) + 1);
}

SERAC_AVX2_INLINE void store(const vector16& v, void* destination) {
  _mm256_store_si256(static_cast<__m256i*>(destination), v.half[0]);
  _mm256_store_si256(static_cast<__m256i*>(destination) + 1, v.half[1]);
}

/// Adds the products of a row's two elements with those of 16 columns.
SERAC_AVX2_INLINE void accumulate(const std::int16_t (&row)[2], const vector16& columns, vector16& scores) {
  int pair;
  std::memcpy(&pair, row, sizeof pair);
  const __m256i a = _mm256_set1_epi32(pair);
  scores.half[0] = _mm256_add_epi32(scores.half[0], _mm256_madd_epi16(a, columns.half[0]));
  scores.half[1] = _mm256_add_epi32(scores.half[1], _mm256_madd_epi16(a, columns.half[1]));
}

SERAC_AVX2_INLINE void push(const vector16& scores, int code, vector16& best, vector16& second) {
  const __m256i codes16 = _mm256_set1_epi32(code);
  const __m256i key0 = _mm256_add_epi32(scores.half[0], codes16), key1 = _mm256_add_epi32(scores.half[1], codes16);
  second.half[0] = _mm256_max_epi32(second.half[0], _mm256_min_epi32(best.half[0], key0));
  second.half[1] = _mm256_max_epi32(second.half[1], _mm256_min_epi32(best.half[1], key1));
  best.half[0] = _mm256_max_epi32(best.half[0], key0);
  best.half[1] = _mm256_max_epi32(best.half[1], key1);
}

/// Floors the scores of a row at 0, makes room for codes and pushes them to the row's lanes and to the columns.
template <bool Signed, bool WithColumns>
SERAC_AVX2_INLINE void push_row(vector16& scores, int column_code, int row_code, packed_top2<lanes>& row_states,
                                int first_lane, vector16& columns_best, vector16& columns_second) {
  if constexpr (Signed) {
    scores.half[0] = _mm256_max_epi32(scores.half[0], _mm256_setzero_si256());
    scores.half[1] = _mm256_max_epi32(scores.half[1], _mm256_setzero_si256());
  }
  scores.half[0] = _mm256_slli_epi32(scores.half[0], code_bits);
  scores.half[1] = _mm256_slli_epi32(scores.half[1], code_bits);

  vector16 best, second;
  load(row_states.best + first_lane, best);
  load(row_states.second + first_lane, second);
  push(scores, column_code, best, second);
  store(best, row_states.best + first_lane);
  store(second, row_states.second + first_lane);

  if constexpr (WithColumns) push(scores, row_code, columns_best, columns_second);
}

/// The same for the rows of a tile.
template <bool Signed, bool WithColumns>
SERAC_AVX2_INLINE void push_tile(vector16& scores0, vector16& scores1, vector16& scores2, vector16& scores3,
                                 int column_code, int first_row_code, packed_top2<lanes>* row_states, int first_lane,
                                 packed_top2<tile_columns>* column_states) {
  const __m256i zero = _mm256_setzero_si256();
  vector16 best{{zero, zero}}, second = best;
  if constexpr (WithColumns) load(column_states->best, best), load(column_states->second, second);
  push_row<Signed, WithColumns>(scores0, column_code, first_row_code, row_states[0], first_lane, best, second);
  push_row<Signed, WithColumns>(scores1, column_code, first_row_code - 1, row_states[1], first_lane, best, second);
  push_row<Signed, WithColumns>(scores2, column_code, first_row_code - 2, row_states[2], first_lane, best, second);
  push_row<Signed, WithColumns>(scores3, column_code, first_row_code - 3, row_states[3], first_lane, best, second);
  if constexpr (WithColumns) store(best, column_states->best), store(second, column_states->second);
}

/// x86 with AVX2: 16 products an instruction.
template <bool Signed, bool WithColumns>
SERAC_AVX2 void score_tile_avx2(const row_slice* rows, const column_slice* columns, int slices, int column_code,
                                int first_row_code, packed_top2<lanes>* row_states, int first_lane,
                                packed_top2<tile_columns>* column_states) {
  static_assert(tile_rows == 4 && tile_columns == 16, "the rows are written out so that scores stay in registers");
  const __m256i zero = _mm256_setzero_si256();
  vector16 scores0{{zero, zero}}, scores1 = scores0, scores2 = scores0, scores3 = scores0;
  for (int s = 0; s < slices; ++s) {
    vector16 b;
    load(columns[s].element, b);
    accumulate(rows[s].element[0], b, scores0);
    accumulate(rows[s].element[1], b, scores1);
    accumulate(rows[s].element[2], b, scores2);
    accumulate(rows[s].element[3], b, scores3);
  }
  push_tile<Signed, WithColumns>(scores0, scores1, scores2, scores3, column_code, first_row_code, row_states,
                                 first_lane, column_states);
}

#endif

/// The fastest of the above that this machine runs.
template <bool Signed, bool WithColumns>
tile_function<WithColumns> best_tile_function() noexcept {
#if defined(SERAC_HOST_AVX2)
  if (__builtin_cpu_supports("avx2")) return score_tile_avx2<Signed, WithColumns>;
#endif
  return score_tile<Signed, WithColumns>;
}

}  // namespace serac::host::detail
