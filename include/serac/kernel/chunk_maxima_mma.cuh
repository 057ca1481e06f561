// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pass 1 of the tensor-core matcher by mma.sync: chunk maxima of rows.
#pragma once

#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/mma.cuh>
#include <serac/mma_policy.hpp>

namespace serac::kernel {

/// Maxima over a lane's columns: [b][h] is that of row 16 * b + 8 * h + lane / 4 of the warp.
template <class Policy>
using lane_maxima = std::int32_t[mma_traits<Policy>::row_blocks][2];

/// Rows of a warp in registers, for mma.sync. See mma_traits for who holds what.
template <class Policy>
class mma_rows {
 public:
  using traits = mma_traits<Policy>;
  using element = typename traits::element;

  /// Reads the warp's rows: those from `rows` on, `count` of which exist; the others become zero. All lanes of the
  /// warp.
  SERAC_DEVICE void load(const std::uint8_t* rows, std::int64_t stride, int count) {
    const int r = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
    for (int b = 0; b < traits::row_blocks; ++b) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = 16 * b + 8 * h + r;
        const bool exists = row < count;
        const std::uint8_t* const source = rows + (exists ? row : 0) * stride;
#pragma unroll
        for (int p = 0; p < traits::pieces; ++p) {
          const auto piece = detail::load_vector<traits::piece_bytes>(source + (4 * p + q) * traits::piece_bytes);
#pragma unroll
          for (int s = 0; s < traits::piece_steps; ++s) {
            auto& words = words_[b][p * traits::piece_steps + s];
            words[h] = detail::mma_row_word<element>(exists ? piece.word[2 * s] : 0);
            words[h + 2] = detail::mma_row_word<element>(exists ? piece.word[2 * s + 1] : 0);
          }
        }
      }
    }
  }

  /// Scores the rows against a tile of columns in shared memory, laid out by traits::shared_offset, and raises the
  /// maxima to those over this lane's columns. All lanes of the warp.
  SERAC_DEVICE void score(const std::uint8_t* columns, lane_maxima<Policy>& maxima) const {
    const int r = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const std::uint8_t* const piece_at[2] = {columns + traits::shared_offset(r, q * traits::piece_bytes),
                                             columns + traits::shared_offset(r, (4 + q) * traits::piece_bytes)};
    lane_maxima<Policy> of_tile = {};  // apart from those of the chunk, which cost spills if raised in the loop
    detail::word_vector<traits::piece_bytes> pieces[2][traits::pieces];
    const auto load = [&](int slice, int p) {  // piece p of two slices
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        pieces[s][p] = detail::load_vector<traits::piece_bytes>(piece_at[p % 2] + (slice + s) * 8 * traits::width +
                                                                p / 2 * 8 * traits::piece_bytes);
      }
    };
    const auto load_all = [&](int slice) {
#pragma unroll
      for (int p = 0; p < traits::pieces; ++p) load(slice, p);
    };
    if constexpr (traits::load_ahead) load_all(0);
#pragma unroll(traits::unroll)
    for (int slice = 0; slice < traits::slices; slice += 2) {
      if constexpr (!traits::load_ahead) load_all(slice);
      const int next = slice + 2 < traits::slices ? slice + 2 : 0;  // behind the last, one that is there
      // Two slices by two blocks of rows are four independent chains of products.
#pragma unroll
      for (int first = 0; first < traits::row_blocks; first += 2) {
        std::int32_t sums[2][2][4] = {};
#pragma unroll
        for (int k = 0; k < traits::steps; ++k) {
          const int p = k / traits::piece_steps, word = k % traits::piece_steps * 2;
#pragma unroll
          for (int b = 0; b < 2 && first + b < traits::row_blocks; ++b) {
            const auto& row = words_[first + b][k];
#pragma unroll
            for (int s = 0; s < 2; ++s) {
              const auto& column = pieces[s][p].word;
              detail::mma_16x8x32<element>(sums[b][s], row[0], row[1], row[2], row[3], column[word], column[word + 1]);
            }
          }
          const bool last_use = first + 2 >= traits::row_blocks && word + 2 == 2 * traits::piece_steps;
          if (traits::load_ahead && last_use) load(next, p);
        }
#pragma unroll
        for (int b = 0; b < 2 && first + b < traits::row_blocks; ++b) {
#pragma unroll
          for (int s = 0; s < 2; ++s) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
              of_tile[first + b][h] = __vimax3_s32(of_tile[first + b][h], sums[b][s][2 * h], sums[b][s][2 * h + 1]);
            }
          }
        }
      }
    }
#pragma unroll
    for (int b = 0; b < traits::row_blocks; ++b) {
#pragma unroll
      for (int h = 0; h < 2; ++h) maxima[b][h] = (max)(maxima[b][h], of_tile[b][h] + least);
    }
  }

 private:
  static constexpr std::int32_t least = score_traits<element>::least(traits::width);  // of a sum of 0

  std::uint32_t words_[traits::row_blocks][traits::steps][4];
};

/// Copies tiles of columns to shared memory one after the other; columns behind the image are copies of its last one,
/// which no maximum can show. All threads of the block.
template <class Policy>
class mma_columns {
 public:
  using traits = mma_traits<Policy>;

  /// Begins with the tile whose first column is at `first`.
  SERAC_DEVICE mma_columns(const std::uint8_t* first, std::int64_t stride)
      : source_(first + (thread_column() + middle) * stride + thread_byte()), stride_(stride) {}

  /// Starts the copy of the next tile to `stage`; the image has `count` columns, one at least, from the tile's first
  /// on. The caller owes copy_async_wait and a barrier.
  SERAC_DEVICE void start_copy(std::uint8_t* stage, int count) {
    stage += traits::shared_offset(thread_column(), thread_byte());
    if (stride_ == traits::width && count >= traits::tile_columns) {  // the usual case, without address arithmetic
#pragma unroll
      for (int c = 0; c < run_columns; c += at_once) {
        detail::copy_async<16>(stage + c * traits::width, source_ + (c - middle) * traits::width, true);
      }
    } else {
      const int last = count - 1 - thread_column() - middle;
#pragma unroll 1
      for (int c = 0; c < run_columns; c += at_once) {
        detail::copy_async<16>(stage + c * traits::width, source_ + (min)(c - middle, last) * stride_, true);
      }
    }
    detail::copy_async_commit();
    source_ += traits::tile_columns * stride_;
  }

 private:
  // Warps (or two together, of wide descriptors) copy runs of columns, an even number `at_once`, so that a thread's
  // columns are swizzled alike. Of up to 128 bytes, distances from the middle of a run fit the instructions.
  static constexpr int lanes = traits::width / 16;  // threads that share a column
  static constexpr int run_threads = lanes < 32 ? 32 : 2 * lanes;
  static constexpr int run_columns = traits::tile_columns * run_threads / traits::threads;
  static constexpr int at_once = run_threads / lanes;
  static constexpr int middle = run_columns / 2;
  SERAC_DEVICE static int thread_column() {
    return threadIdx.x / run_threads * run_columns + threadIdx.x % run_threads / lanes;
  }
  SERAC_DEVICE static int thread_byte() { return threadIdx.x % lanes * 16; }

  const std::uint8_t* source_;
  std::int64_t stride_;
};

/// The row of its warp, but for the block of rows, whose maximum a lane writes; lanes with lane & 2 write none.
SERAC_DEVICE int written_row() { return threadIdx.x % 32 / 4 + 8 * (threadIdx.x & 1); }

/// Writes the maxima of the warp's rows, joined over the four lanes that share them, to out[16 * b], b the block of
/// rows; where `shared`, other thread blocks have their part in the same maxima. All lanes of the warp.
template <class Policy>
SERAC_DEVICE void write_row_maxima(const lane_maxima<Policy>& maxima, std::int32_t* out, bool shared) {
  const bool odd = threadIdx.x & 1, writes = (threadIdx.x & 2) == 0;
#pragma unroll
  for (int b = 0; b < mma_traits<Policy>::row_blocks; ++b) {  // odd lanes go on with the second row
    std::int32_t row =
        (max)(odd ? maxima[b][1] : maxima[b][0], __shfl_xor_sync(0xffffffffu, odd ? maxima[b][0] : maxima[b][1], 1));
    row = (max)(row, __shfl_xor_sync(0xffffffffu, row, 2));
    if (writes && shared) atomicMax(out + 16 * b, row);
    if (writes && !shared) out[16 * b] = row;
  }
}

/// Row maxima over the column chunks of every pair, as chunk_pair lays them out.
///
/// Launch: mma_traits<Policy>::threads threads, shared_bytes of dynamic shared memory, any number of blocks; as many as
/// the device holds at a time is best: each takes an equal run of units. Descriptors are aligned to 16 bytes, strides,
/// in bytes, are multiples of 16; nothing is read beyond an image. `unit_count` is the number of units of all pairs.
/// Where a pair's chunk_tiles is above 1 its row maxima are 0 at the start.
template <class Policy>
__global__ void __launch_bounds__(mma_traits<Policy>::threads, mma_traits<Policy>::min_blocks)
    chunk_maxima_mma(const std::uint8_t* left, std::int64_t left_stride, const std::uint8_t* right,
                     std::int64_t right_stride, const chunk_pair* pairs, int pair_count, std::int64_t unit_count,
                     std::int32_t* maxima) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  using traits = mma_traits<Policy>;
  extern __shared__ __align__(16) std::uint8_t columns[];  // (2, tile_columns, width), swizzled

  const int warp = threadIdx.x / 32;
  std::int64_t unit = unit_count * blockIdx.x / gridDim.x;
  const std::int64_t end_unit = unit_count * (blockIdx.x + 1) / gridDim.x;

  while (unit < end_unit) {
    // A tile of rows against tiles [first_tile, end_tile) of columns.
    const chunk_pair& pair = pairs[pair_of_unit(pairs, pair_count, unit)];
    const int column_tiles = traits::column_tiles(pair);
    const std::int64_t local = unit - pair.first_unit;
    const int row_tile = static_cast<int>(local / column_tiles), first_tile = static_cast<int>(local % column_tiles);
    const int end_tile = static_cast<int>((min)(std::int64_t{column_tiles}, first_tile + end_unit - unit));
    const int first_row = (row_tile * traits::warps + warp) * traits::warp_rows;

    const int rows_left = pair.left_count - first_row, right_count = pair.right_count;
    mma_rows<Policy> rows;
    if (rows_left > 0) {
      rows.load(left + (pair.left_first + std::int64_t{first_row}) * left_stride, left_stride, rows_left);
    }

    mma_columns<Policy> source(
        right + (pair.right_first + std::int64_t{first_tile} * traits::tile_columns) * right_stride, right_stride);
    int stage = 0;
    source.start_copy(columns, right_count - first_tile * traits::tile_columns);

    lane_maxima<Policy> chunk_max = {};
    int tiles_left = end_tile - first_tile;
    int behind_chunk = (max)(tiles_left - (pair.chunk_tiles - first_tile % pair.chunk_tiles), 0);  // of these tiles
    while (tiles_left > 0) {
      detail::copy_async_wait<0>();
      __syncthreads();  // this tile is there, and nobody reads the one before any more
      const std::uint8_t* const tile = columns + stage;
      stage = traits::stage_bytes - stage;
      if (--tiles_left > 0) {
        source.start_copy(columns + stage, right_count - (end_tile - tiles_left) * traits::tile_columns);
      }

      if (rows_left > 0) rows.score(tile, chunk_max);
      if (tiles_left == behind_chunk) {
        const int end = end_tile - tiles_left, chunk = (end - 1) / pair.chunk_tiles;
        const int chunk_first = chunk * pair.chunk_tiles;
        const bool whole = first_tile <= chunk_first && (end == chunk_first + pair.chunk_tiles || end == column_tiles);
        std::int32_t* const out =
            maxima + pair.row_maxima + std::int64_t{chunk} * pair.row_stride + first_row + written_row();
        write_row_maxima<Policy>(chunk_max, out, !whole);
#pragma unroll
        for (int b = 0; b < traits::row_blocks; ++b) chunk_max[b][0] = chunk_max[b][1] = 0;
        behind_chunk = (max)(tiles_left - pair.chunk_tiles, 0);
      }
    }
    __syncthreads();  // nobody reads the last tile any more
    unit += end_tile - first_tile;
  }
#else
  __trap();  // compiled for an architecture without these products; the host never launches it there
#endif
}

}  // namespace serac::kernel
