// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The scores of a tile of floats on the host: slices are of one float, and sums those of score.hpp, bit for bit.
#pragma once

#include <cstdint>
#include <cstring>

#include <serac/host/tile.hpp>
#include <serac/score.hpp>

#if defined(SERAC_HOST_AVX2)
#define SERAC_FMA __attribute__((target("avx2,fma")))
#define SERAC_FMA_INLINE __attribute__((target("avx2,fma"), always_inline)) inline
#endif

namespace serac::host::detail {

/// Scores the tile rows x columns, `slices` slices each.
using scores_function = void (*)(const row_slice* rows, const column_slice* columns, int slices, tile_scores& scores);

/// The scores of sums.
template <class T>
void finish_scores(const float (&sums)[tile_rows][tile_columns], tile_scores& scores) {
  for (int r = 0; r < tile_rows; ++r) {
    for (int c = 0; c < tile_columns; ++c) scores[r][c] = score_traits<T>::of(sums[r][c]);
  }
}

/// Any machine; `T` says how it is scored, not how it is stored.
template <class T>
void float_scores(const row_slice* rows, const column_slice* columns, int slices, tile_scores& scores) {
  float sums[tile_rows][tile_columns] = {};
  for (int s = 0; s < slices; ++s) {
    float row[tile_rows], column[tile_columns];
    std::memcpy(row, rows[s].element, sizeof row);
    std::memcpy(column, columns[s].element, sizeof column);
    for (int r = 0; r < tile_rows; ++r) {
      for (int c = 0; c < tile_columns; ++c) sums[r][c] = score_traits<T>::add(row[r], column[c], sums[r][c]);
    }
  }
  finish_scores<T>(sums, scores);
}

#if defined(SERAC_HOST_AVX2)

/// 16 floats: one for each column of a tile.
struct floats16 {
  __m256 half[2];
};

SERAC_FMA_INLINE __m256 add_terms(score_traits<float>, __m256 a, __m256 b, __m256 sums) {
  return _mm256_fmadd_ps(a, b, sums);
}
SERAC_FMA_INLINE __m256 add_terms(score_traits<l2<float>>, __m256 a, __m256 b, __m256 sums) {
  const __m256 difference = _mm256_sub_ps(a, b);
  return _mm256_fmadd_ps(difference, difference, sums);
}

/// Adds the terms of a row's element with those of 16 columns.
template <class T>
SERAC_FMA_INLINE void add_terms(const std::int16_t (&row)[2], const floats16& columns, floats16& sums) {
  float element;
  std::memcpy(&element, row, sizeof element);
  const __m256 a = _mm256_set1_ps(element);
  sums.half[0] = add_terms(score_traits<T>(), a, columns.half[0], sums.half[0]);
  sums.half[1] = add_terms(score_traits<T>(), a, columns.half[1], sums.half[1]);
}

/// x86 with AVX2 and FMA: 8 elements an instruction.
template <class T>
SERAC_FMA void float_scores_fma(const row_slice* rows, const column_slice* columns, int slices, tile_scores& scores) {
  static_assert(tile_rows == 4 && tile_columns == 16, "the rows are written out so that sums stay in registers");
  const __m256 zero = _mm256_setzero_ps();
  floats16 sums0{{zero, zero}}, sums1 = sums0, sums2 = sums0, sums3 = sums0;
  for (int s = 0; s < slices; ++s) {
    const auto* const column = reinterpret_cast<const float*>(columns[s].element);
    const floats16 b{{_mm256_load_ps(column), _mm256_load_ps(column + 8)}};
    add_terms<T>(rows[s].element[0], b, sums0);
    add_terms<T>(rows[s].element[1], b, sums1);
    add_terms<T>(rows[s].element[2], b, sums2);
    add_terms<T>(rows[s].element[3], b, sums3);
  }
  alignas(32) float sums[tile_rows][tile_columns];
  const floats16* const all[] = {&sums0, &sums1, &sums2, &sums3};
  for (int r = 0; r < tile_rows; ++r) {
    _mm256_store_ps(sums[r], all[r]->half[0]);
    _mm256_store_ps(sums[r] + 8, all[r]->half[1]);
  }
  finish_scores<T>(sums, scores);
}

#endif

/// The fastest of the above that this machine runs.
template <class T>
scores_function best_float_scores() noexcept {
#if defined(SERAC_HOST_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return float_scores_fma<T>;
#endif
  return float_scores<T>;
}

}  // namespace serac::host::detail
