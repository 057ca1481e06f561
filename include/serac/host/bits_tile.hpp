// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The innermost loop of the host backend for binary descriptors: as tile.hpp's, for slices of 32 bits.
///
/// The first slice of a descriptor is not of its bits: it is the score that the descriptor starts with, or 0 where
/// there is none. What differs is subtracted from it, and a score below 0 counts as 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <serac/host/tile.hpp>

namespace serac::host::detail {

/// Slices whose counts, at most 8 in each byte of a word, fit the byte.
inline constexpr int counted_slices = 31;

/// The scores of a tile, not floored. Any machine.
inline void bits_scores(const row_slice* rows, const column_slice* columns, int slices, tile_scores& scores) {
  for (int r = 0; r < tile_rows; ++r) {
    for (int c = 0; c < tile_columns; ++c) {
      std::int32_t row, column;
      std::memcpy(&row, rows[0].element[r], 4);
      std::memcpy(&column, columns[0].element[c], 4);
      scores[r][c] = row & column;
    }
  }
  for (int first = 1; first < slices; first += counted_slices) {
    const int last = (std::min)(first + counted_slices, slices);
    for (int r = 0; r < tile_rows; ++r) {
      std::uint32_t counts[tile_columns] = {};  // in each byte those of the bytes there
      for (int s = first; s < last; ++s) {
        std::uint32_t row, column[tile_columns];
        std::memcpy(&row, rows[s].element[r], 4);
        std::memcpy(column, columns[s].element, sizeof column);
        for (int c = 0; c < tile_columns; ++c) {
          std::uint32_t x = row ^ column[c];
          x -= x >> 1 & 0x55555555u;
          x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
          counts[c] += (x + (x >> 4)) & 0x0f0f0f0fu;
        }
      }
      for (int c = 0; c < tile_columns; ++c) {
        const std::uint32_t halves = (counts[c] & 0x00ff00ffu) + (counts[c] >> 8 & 0x00ff00ffu);
        scores[r][c] -= static_cast<std::int32_t>((halves & 0xffffu) + (halves >> 16));
      }
    }
  }
}

/// Any machine.
template <bool WithColumns>
void score_bits_tile(const row_slice* rows, const column_slice* columns, int slices, int column_code,
                     int first_row_code, packed_top2<lanes>* row_states, int first_lane,
                     packed_top2<tile_columns>* column_states) {
  tile_scores scores;
  bits_scores(rows, columns, slices, scores);
  push_scores<WithColumns>(scores, column_code, first_row_code, row_states, first_lane, column_states);
}

#if defined(SERAC_HOST_AVX2)

/// The words of columns 8 `half` to 8 `half` + 7.
SERAC_AVX2_INLINE __m256i half_of(const column_slice& columns, int half) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(columns.element) + half);
}

/// A word of a row, 8 times.
SERAC_AVX2_INLINE __m256i row_word(const std::int16_t (&row)[2]) {
  int word;
  std::memcpy(&word, row, sizeof word);
  return _mm256_set1_epi32(word);
}

/// Adds to each byte of `counts` the bits in which a word of the row differs there from those of 8 columns.
SERAC_AVX2_INLINE void count_bits(__m256i row, __m256i columns, __m256i& counts) {
  const __m256i bits_of_nibble = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                                  0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m256i x = _mm256_xor_si256(row, columns);
  const __m256i low = _mm256_shuffle_epi8(bits_of_nibble, _mm256_and_si256(x, nibble));
  const __m256i high = _mm256_shuffle_epi8(bits_of_nibble, _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble));
  counts = _mm256_add_epi8(counts, _mm256_add_epi8(low, high));
}

/// Subtracts from each score the counts in the bytes of its word.
SERAC_AVX2_INLINE void subtract_counts(__m256i counts, __m256i& scores) {
  const __m256i of_halves = _mm256_maddubs_epi16(counts, _mm256_set1_epi8(1));
  scores = _mm256_sub_epi32(scores, _mm256_madd_epi16(of_halves, _mm256_set1_epi16(1)));
}

/// x86 with AVX2: 32 bytes an instruction, looked up by halves of a byte.
template <bool WithColumns>
SERAC_AVX2 void score_bits_tile_avx2(const row_slice* rows, const column_slice* columns, int slices, int column_code,
                                     int first_row_code, packed_top2<lanes>* row_states, int first_lane,
                                     packed_top2<tile_columns>* column_states) {
  static_assert(tile_rows == 4 && tile_columns == 16, "the rows are written out so that counts stay in registers");
  vector16 scores0, scores1, scores2, scores3;
  for (int h = 0; h < 2; ++h) {
    const __m256i start = half_of(columns[0], h);
    __m256i s0 = _mm256_and_si256(row_word(rows[0].element[0]), start);
    __m256i s1 = _mm256_and_si256(row_word(rows[0].element[1]), start);
    __m256i s2 = _mm256_and_si256(row_word(rows[0].element[2]), start);
    __m256i s3 = _mm256_and_si256(row_word(rows[0].element[3]), start);
    for (int first = 1; first < slices; first += counted_slices) {
      const int last = (std::min)(first + counted_slices, slices);
      __m256i c0 = _mm256_setzero_si256(), c1 = c0, c2 = c0, c3 = c0;
      for (int s = first; s < last; ++s) {
        const __m256i b = half_of(columns[s], h);
        count_bits(row_word(rows[s].element[0]), b, c0);
        count_bits(row_word(rows[s].element[1]), b, c1);
        count_bits(row_word(rows[s].element[2]), b, c2);
        count_bits(row_word(rows[s].element[3]), b, c3);
      }
      subtract_counts(c0, s0);
      subtract_counts(c1, s1);
      subtract_counts(c2, s2);
      subtract_counts(c3, s3);
    }
    scores0.half[h] = s0, scores1.half[h] = s1, scores2.half[h] = s2, scores3.half[h] = s3;
  }
  push_tile<true, WithColumns>(scores0, scores1, scores2, scores3, column_code, first_row_code, row_states, first_lane,
                               column_states);
}

#endif

/// The fastest of the above that this machine runs.
template <bool WithColumns>
tile_function<WithColumns> best_bits_tile_function() noexcept {
#if defined(SERAC_HOST_AVX2)
  if (__builtin_cpu_supports("avx2")) return score_bits_tile_avx2<WithColumns>;
#endif
  return score_bits_tile<WithColumns>;
}

}  // namespace serac::host::detail
