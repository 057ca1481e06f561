// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The innermost loop of the host backend: scores of a few rows x 16 columns, straight into top-2 states.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define SERAC_HOST_AVX2 1
#include <immintrin.h>
#endif

#if defined(__clang__)
#define SERAC_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define SERAC_UNROLL _Pragma("GCC unroll 16")
#else
#define SERAC_UNROLL
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
template <bool Signed, bool WithColumns>
using tile_function = void (*)(const row_slice* rows, const column_slice* columns, int slices, int column_code,
                               int first_row_code, packed_top2<lanes>* row_states, int first_lane,
                               packed_top2<tile_columns>* column_states);

/// Any machine.
template <bool Signed, bool WithColumns>
void score_tile(const row_slice* rows, const column_slice* columns, int slices, int column_code, int first_row_code,
                packed_top2<lanes>* row_states, int first_lane, packed_top2<tile_columns>* column_states) {
  std::int32_t scores[tile_rows][tile_columns] = {};
  for (int s = 0; s < slices; ++s) {
    for (int r = 0; r < tile_rows; ++r) {
      const std::int32_t a0 = rows[s].element[r][0], a1 = rows[s].element[r][1];
      for (int c = 0; c < tile_columns; ++c) {
        scores[r][c] += a0 * columns[s].element[c][0] + a1 * columns[s].element[c][1];
      }
    }
  }
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

#if defined(SERAC_HOST_AVX2)

/// x86 with AVX2: 16 products an instruction.
template <bool Signed, bool WithColumns>
__attribute__((target("avx2"))) void score_tile_avx2(const row_slice* rows, const column_slice* columns, int slices,
                                                     int column_code, int first_row_code,
                                                     packed_top2<lanes>* row_states, int first_lane,
                                                     packed_top2<tile_columns>* column_states) {
  constexpr int vectors = tile_columns / 8;
  __m256i scores[tile_rows][vectors];
  SERAC_UNROLL
  for (int r = 0; r < tile_rows; ++r) {
    SERAC_UNROLL
    for (int v = 0; v < vectors; ++v) scores[r][v] = _mm256_setzero_si256();
  }
  for (int s = 0; s < slices; ++s) {
    __m256i b[vectors];
    SERAC_UNROLL
    for (int v = 0; v < vectors; ++v) {
      b[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(columns[s].element) + v);
    }
    SERAC_UNROLL
    for (int r = 0; r < tile_rows; ++r) {
      int pair;
      std::memcpy(&pair, rows[s].element[r], sizeof pair);
      const __m256i a = _mm256_set1_epi32(pair);
      SERAC_UNROLL
      for (int v = 0; v < vectors; ++v) scores[r][v] = _mm256_add_epi32(scores[r][v], _mm256_madd_epi16(a, b[v]));
    }
  }

  SERAC_UNROLL
  for (int v = 0; v < vectors; ++v) {
    __m256i* const column_best = reinterpret_cast<__m256i*>(column_states->best) + v;
    __m256i* const column_second = reinterpret_cast<__m256i*>(column_states->second) + v;
    __m256i best, second;
    if constexpr (WithColumns) best = _mm256_load_si256(column_best), second = _mm256_load_si256(column_second);
    SERAC_UNROLL
    for (int r = 0; r < tile_rows; ++r) {
      __m256i score = scores[r][v];
      if constexpr (Signed) score = _mm256_max_epi32(score, _mm256_setzero_si256());
      score = _mm256_slli_epi32(score, code_bits);

      __m256i* const row_best = reinterpret_cast<__m256i*>(row_states[r].best + first_lane) + v;
      __m256i* const row_second = reinterpret_cast<__m256i*>(row_states[r].second + first_lane) + v;
      const __m256i row_key = _mm256_add_epi32(score, _mm256_set1_epi32(column_code));
      const __m256i row_before = _mm256_load_si256(row_best);
      _mm256_store_si256(row_best, _mm256_max_epi32(row_before, row_key));
      _mm256_store_si256(row_second,
                         _mm256_max_epi32(_mm256_load_si256(row_second), _mm256_min_epi32(row_before, row_key)));

      if constexpr (WithColumns) {
        const __m256i column_key = _mm256_add_epi32(score, _mm256_set1_epi32(first_row_code - r));
        second = _mm256_max_epi32(second, _mm256_min_epi32(best, column_key));
        best = _mm256_max_epi32(best, column_key);
      }
    }
    if constexpr (WithColumns) _mm256_store_si256(column_best, best), _mm256_store_si256(column_second, second);
  }
}

#endif

/// The fastest of the above that this machine runs.
template <bool Signed, bool WithColumns>
tile_function<Signed, WithColumns> best_tile_function() noexcept {
#if defined(SERAC_HOST_AVX2)
  if (__builtin_cpu_supports("avx2")) return score_tile_avx2<Signed, WithColumns>;
#endif
  return score_tile<Signed, WithColumns>;
}

}  // namespace serac::host::detail

#undef SERAC_UNROLL
#undef SERAC_HOST_AVX2
