// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Guided matching of many pairs at once: features are ordered along the constraint (guided_tiles.hpp), and a warp
/// scores a tile of rows against those tiles of columns that may hold an admissible one.
#pragma once

#include <cub/block/block_scan.cuh>

#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/mma.cuh>
#include <serac/geometry.hpp>
#include <serac/guided_tiles.hpp>
#include <serac/thread/packed_top2.cuh>
#include <serac/thread/top2_cell.cuh>
#include <serac/top2.hpp>
#include <serac/view.hpp>

namespace serac::kernel {

inline constexpr int guided_order_threads = 1024;  ///< of a block of order_features
inline constexpr int guided_match_threads = 128;   ///< four tiles of rows, a warp each
inline constexpr int guided_judge_threads = 256;   ///< of a block of judge_columns

/// A pair of images, and where it stands in the arrays of a wave of pairs.
struct guided_pair {
  std::int64_t left_first, right_first;  ///< first descriptor and keypoint of each image
  std::int32_t left_count, right_count;
  std::int64_t first_row, first_column;  ///< places of its rows and columns: multiples of 32
  two_view_geometry geometry;
};

/// Features of one image of each pair, ordered; tiles of 32 are padded. Arrays over all rows (columns) of a wave.
struct guided_features {
  std::int32_t* index;         ///< within the image; -1 in padding
  detail::tile_bounds* tiles;  ///< tile t stands at places 32 t to 32 t + 31
  std::int32_t* counts;        ///< [pairs]: features in order; the others cannot match
  float* reaches;              ///< [pairs]: point_box::reach of the image
};

/// Everything of a wave of pairs, in device memory.
struct guided_arrays {
  const guided_pair* pairs;
  guided_features rows, columns;
  epipolar::column_terms* column_terms;  ///< of the columns in order; x and y serve the homography
  thread::top2_cell* column_cells;       ///< top-2 of each column, by its index; null without cross-check
  std::uint32_t* matches;                ///< [rows]: the column that a row matches, by its index
  std::uint32_t* match_counts;           ///< [pairs]
};

/// Pairs that fit the parameters of a kernel.
struct guided_pair_slice {
  static constexpr int capacity = 24;
  guided_pair pairs[capacity];
};

/// Brings descriptions of pairs to device memory. One thread a pair.
template <class Slice = guided_pair_slice>
__global__ void publish_guided_pairs(const __grid_constant__ Slice slice, int count, guided_pair* pairs,
                                     std::uint32_t* match_counts) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) pairs[i] = slice.pairs[i], match_counts[i] = 0;
}

/// Orders the features of one image of a pair, and clears what later kernels write of it.
///
/// Launch: guided_order_threads threads, grid (2, pairs): x = 0 orders rows, 1 columns. RowTie is the tie order between
/// columns: within a tile, features stand in the order of their ranks.
template <class RowTie>
__global__ void __launch_bounds__(guided_order_threads)
    order_features(guided_arrays arrays, keypoint_view left, keypoint_view right) {
  constexpr int threads = guided_order_threads, warps = threads / 32, tile = detail::guided_tile;
  const guided_pair& pair = arrays.pairs[blockIdx.y];
  const bool is_rows = blockIdx.x == 0;
  const int count = is_rows ? pair.left_count : pair.right_count;
  const std::int64_t first_place = is_rows ? pair.first_row : pair.first_column;
  const guided_features& features = is_rows ? arrays.rows : arrays.columns;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  left.data += pair.left_first * left.stride;
  right.data += pair.right_first * right.stride;

  using scan = cub::BlockScan<int, threads>;
  __shared__ int places[detail::guided_bins];  // features in each bin; then where the next of the bin goes
  __shared__ typename scan::TempStorage scan_storage;
  __shared__ float box_parts[4][warps];
  __shared__ std::int32_t sorted[warps][tile];
  __shared__ __align__(16) unsigned char order_bytes[sizeof(detail::feature_order)];
  __shared__ int kept;
  auto& order = *reinterpret_cast<detail::feature_order*>(order_bytes);

  // The box: of the right image where locations are compared there, else of the image itself.
  const bool of_right = pair.geometry.has_homography || !is_rows;
  const keypoint_view& boxed = of_right ? right : left;
  detail::point_box box;
  for (int i = thread; i < (of_right ? pair.right_count : pair.left_count); i += threads) box.add(boxed[i]);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    box.min_x = detail::lesser_of(__shfl_xor_sync(0xffffffffu, box.min_x, distance), box.min_x);
    box.min_y = detail::lesser_of(__shfl_xor_sync(0xffffffffu, box.min_y, distance), box.min_y);
    box.max_x = detail::greater_of(__shfl_xor_sync(0xffffffffu, box.max_x, distance), box.max_x);
    box.max_y = detail::greater_of(__shfl_xor_sync(0xffffffffu, box.max_y, distance), box.max_y);
  }
  if (lane == 0) {
    box_parts[0][warp] = box.min_x, box_parts[1][warp] = box.min_y;
    box_parts[2][warp] = box.max_x, box_parts[3][warp] = box.max_y;
  }
  for (int bin = thread; bin < detail::guided_bins; bin += threads) places[bin] = 0;
  __syncthreads();
  if (thread == 0) {
    for (int w = 1; w < warps; ++w) {
      box.min_x = detail::lesser_of(box_parts[0][w], box.min_x),
      box.min_y = detail::lesser_of(box_parts[1][w], box.min_y);
      box.max_x = detail::greater_of(box_parts[2][w], box.max_x),
      box.max_y = detail::greater_of(box_parts[3][w], box.max_y);
    }
    const two_view_geometry& geometry = pair.geometry;
    if (geometry.has_homography) {
      order = detail::feature_order::of_locations(box, geometry.homography.max_squared_error);
    } else if (geometry.has_epipolar) {
      order = is_rows ? detail::feature_order::around_epipole<false>(geometry.epipolar.matrix, box)
                      : detail::feature_order::around_epipole<true>(geometry.epipolar.matrix, box);
    } else {
      order = detail::feature_order{};
    }
    features.reaches[blockIdx.y] = box.reach();
  }

  // What later kernels write.
  for (int i = thread; i < count; i += threads) {
    if (is_rows) {
      arrays.matches[first_place + i] = row_verdicts::no_match;
    } else if (arrays.column_cells != nullptr) {
      arrays.column_cells[first_place + i] = thread::top2_cell{};
    }
  }
  __syncthreads();

  // Counting sort. The order within a bin is anybody's.
  const auto place_of = [&](int i) {
    if (!is_rows) return right[i];
    return pair.geometry.has_homography ? pair.geometry.homography.row(left[i]) : left[i];
  };
  for (int i = thread; i < count; i += threads) {
    const int bin = order.bin(place_of(i));
    if (bin >= 0) atomicAdd(&places[bin], 1);
  }
  __syncthreads();
  constexpr int bins_of_thread = detail::guided_bins / threads;
  int in_bin[bins_of_thread], total;
#pragma unroll
  for (int b = 0; b < bins_of_thread; ++b) in_bin[b] = places[thread * bins_of_thread + b];
  scan(scan_storage).ExclusiveSum(in_bin, in_bin, total);
#pragma unroll
  for (int b = 0; b < bins_of_thread; ++b) places[thread * bins_of_thread + b] = in_bin[b];
  if (thread == 0) kept = total, features.counts[blockIdx.y] = total;
  __syncthreads();
  for (int i = thread; i < count; i += threads) {
    const int bin = order.bin(place_of(i));
    if (bin >= 0) features.index[first_place + atomicAdd(&places[bin], 1)] = i;
  }
  __syncthreads();

  // Tiles: features by rank, column terms, bounds.
  const int tiles = (kept + tile - 1) / tile;
  for (int t = warp; t < tiles; t += warps) {
    const std::int64_t place = first_place + t * tile + lane;
    const bool exists = t * tile + lane < kept;
    const int unsorted = exists ? features.index[place] : -1;
    const auto rank_of = [&](int i) {
      const auto index = static_cast<std::uint32_t>(i);
      return i < 0 ? 0xffffffffu : is_rows ? RowTie::column_order::rank(index) : RowTie::rank(index);
    };
    const std::uint32_t rank = rank_of(unsorted);
    int before = exists ? 0 : lane;
#pragma unroll
    for (int other = 0; other < tile; ++other) {
      const std::uint32_t other_rank = __shfl_sync(0xffffffffu, rank, other);
      if (exists && other_rank < rank) ++before;
    }
    sorted[warp][before] = unsorted;
    __syncwarp();
    const int i = sorted[warp][lane];
    __syncwarp();
    features.index[place] = i;

    const point at = place_of(exists ? i : sorted[warp][0]);
    float squared = 0;
    if (is_rows) {
      if (pair.geometry.has_epipolar) squared = pair.geometry.epipolar.row(left[exists ? i : sorted[warp][0]]).squared;
    } else {
      epipolar::column_terms terms{at.x, at.y, 0, 0};
      if (pair.geometry.has_epipolar) terms = pair.geometry.epipolar.column(at);
      squared = terms.fx * terms.fx + terms.fy * terms.fy;
      arrays.column_terms[place] = terms;
    }
    const point first{__shfl_sync(0xffffffffu, at.x, 0), __shfl_sync(0xffffffffu, at.y, 0)};
    const detail::tile_frame frame = order.frame(first);
    detail::tile_extent extent = detail::tile_extent::of(at, frame, squared);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      detail::tile_extent other;
      other.min_along = __shfl_xor_sync(0xffffffffu, extent.min_along, distance);
      other.max_along = __shfl_xor_sync(0xffffffffu, extent.max_along, distance);
      other.min_across = __shfl_xor_sync(0xffffffffu, extent.min_across, distance);
      other.max_across = __shfl_xor_sync(0xffffffffu, extent.max_across, distance);
      other.min_beam = __shfl_xor_sync(0xffffffffu, extent.min_beam, distance);
      other.max_beam = __shfl_xor_sync(0xffffffffu, extent.max_beam, distance);
      other.squared = __shfl_xor_sync(0xffffffffu, extent.squared, distance);
      extent.merge(other);
    }
    if (lane == 0) features.tiles[first_place / tile + t] = extent.bounds(frame, order.reach());
    __syncwarp();
  }
}

/// The words of one descriptor that a lane feeds to mma.sync: lane % 4 = q takes, of every 64 bytes, the 16 from 16 q
/// (of 32 bytes, the 8 from 8 q). Rows and columns permute K alike, which leaves their products as they are.
template <int Width>
struct guided_words {
  static constexpr int count = Width / 16;
  static constexpr int load_bytes = Width < 64 ? 8 : 16;
  std::uint32_t word[count];

  /// Of the descriptor at `data`, or zeros if it is null.
  SERAC_DEVICE static guided_words load(const void* data) {
    guided_words w = {};
    if (data == nullptr) return w;
    const auto* bytes = static_cast<const std::uint8_t*>(data) + threadIdx.x % 4 * load_bytes;
#pragma unroll
    for (int i = 0; i < count; i += load_bytes / 4) {
      const auto v = detail::load_vector<load_bytes>(bytes + i * 16);
#pragma unroll
      for (int j = 0; j < load_bytes / 4; ++j) w.word[i + j] = v.word[j];
    }
    return w;
  }
};

/// Scores the tiles of rows of every pair; a row's match, if `accept` takes its state, goes to arrays.matches, the
/// columns' states to arrays.column_cells if WithColumns.
///
/// Launch: guided_match_threads threads, grid (tiles of the largest pair / 4, pairs). Descriptors are aligned to 16
/// bytes. In the fragments of a slice of 8 columns, lane 4 r + q has rows r + 8 i, i < 4, of the tile and columns 2 q
/// and 2 q + 1 of the slice.
template <class Element, int Width, class RowTie, bool WithColumns, class Acceptance>
__global__ void __launch_bounds__(guided_match_threads, Width <= 128 ? 4 : 2)
    match_tiles(guided_arrays arrays, descriptor_view<Element> left, descriptor_view<Element> right,
                keypoint_view left_points, Acceptance accept) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();
#else
  using words = guided_words<Width>;
  constexpr unsigned all = 0xffffffffu;
  constexpr int tile = detail::guided_tile, code_bits = 5;
  static_assert(1 << code_bits == tile && Width <= 256, "a score of 24 bits and its place in a tile fit 32 bits");
  constexpr bool is_signed = static_cast<Element>(-1) < 0;

  const guided_pair& pair = arrays.pairs[blockIdx.y];
  const int lane = static_cast<int>(threadIdx.x) % 32, r = lane / 4, q = lane % 4;
  const int row_tile = static_cast<int>(blockIdx.x * (guided_match_threads / 32) + threadIdx.x / 32);
  const int row_count = arrays.rows.counts[blockIdx.y], column_count = arrays.columns.counts[blockIdx.y];
  if (row_tile * tile >= row_count) return;
  const std::int32_t* const column_index = arrays.columns.index + pair.first_column;
  const epipolar::column_terms* const column_terms = arrays.column_terms + pair.first_column;
  const detail::tile_bounds* const column_tiles = arrays.columns.tiles + pair.first_column / tile;
  const Element* const columns = right.data + pair.right_first * right.stride;
  const bool has_homography = pair.geometry.has_homography, has_epipolar = pair.geometry.has_epipolar;

  // The rows: lane l looks after row l of the tile. Padding is all zero.
  const int row_index =
      row_tile * tile + lane < row_count ? arrays.rows.index[pair.first_row + row_tile * tile + lane] : -1;
  __shared__ two_view_geometry::row_terms row_terms[guided_match_threads];
  two_view_geometry::row_terms* const rows = row_terms + threadIdx.x / 32 * 32;
  rows[lane] = {};
  if (row_index >= 0) rows[lane] = pair.geometry.row(left_points[pair.left_first + row_index]);
  __syncwarp();
  words a[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int index = __shfl_sync(all, row_index, r + 8 * i);
    a[i] = words::load(index >= 0 ? left.data + (pair.left_first + index) * left.stride : nullptr);
  }

  // Which tiles of columns to visit.
  const detail::tile_bounds row_bounds = arrays.rows.tiles[pair.first_row / tile + row_tile];
  const detail::location_test near{detail::feature_order::location_margin(pair.geometry.homography.max_squared_error)};
  const detail::epipolar_test along(pair.geometry.epipolar, row_bounds, arrays.rows.reaches[blockIdx.y],
                                    arrays.columns.reaches[blockIdx.y]);
  const auto may_admit = [&](int t) {
    if (!has_homography && !has_epipolar) return true;
    const detail::tile_bounds bounds = column_tiles[t];
    return has_homography ? near.may_admit(row_bounds, bounds) : along.may_admit(bounds);
  };

  // Top-2 of the lane's rows: scores, and the place of the best among the ordered columns.
  std::int32_t best[4] = {}, place[4] = {}, second[4] = {};
  const auto take = [&](int i, std::int32_t other_best, std::int32_t other_place, std::int32_t other_second) {
    bool wins = other_best > best[i];
    if (other_best == best[i] && other_best > 0) {
      wins = RowTie::rank(static_cast<std::uint32_t>(column_index[other_place])) <
             RowTie::rank(static_cast<std::uint32_t>(column_index[place[i]]));
    }
    const std::int32_t loser = wins ? best[i] : other_best;
    second[i] = max(max(second[i], other_second), loser);
    if (wins) best[i] = other_best, place[i] = other_place;
  };

  // A tile of columns: lane l brings column l.
  struct tile_columns {
    int first_place, index;
    epipolar::column_terms terms;
  };
  const auto fetch = [&](int t) {
    const int at = t * tile + lane;
    return tile_columns{t * tile, column_index[at], column_terms[at]};
  };
  // Which of the lane's pairs in a slice are admissible: bit 2 i + c is that of row i and column c.
  homography located;
  epipolar along_line;
  located.max_squared_error = pair.geometry.homography.max_squared_error;
  along_line.max_squared_error = pair.geometry.epipolar.max_squared_error;
  const auto admissible_pairs = [&](const tile_columns& now, int slice) {
    unsigned admissible = 0xff;
    epipolar::column_terms terms[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int from = slice + 2 * q + c;
      terms[c].x = __shfl_sync(all, now.terms.x, from), terms[c].y = __shfl_sync(all, now.terms.y, from);
      if (has_epipolar) {
        terms[c].fx = __shfl_sync(all, now.terms.fx, from), terms[c].fy = __shfl_sync(all, now.terms.fy, from);
      }
    }
    if (has_homography) {
      unsigned admits = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const point row = rows[r + 8 * i].of_homography;
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          admits |= (located.admits(row, {terms[c].x, terms[c].y}) ? 1u : 0u) << (2 * i + c);
        }
      }
      admissible = admits;
      if (!__any_sync(all, admissible != 0)) return 0u;
    }
    if (has_epipolar) {
      unsigned admits = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const epipolar::row_terms row = rows[r + 8 * i].of_epipolar;
#pragma unroll
        for (int c = 0; c < 2; ++c) admits |= (along_line.admits(row, terms[c]) ? 1u : 0u) << (2 * i + c);
      }
      admissible &= admits;
    }
    return admissible;
  };

  const auto score_tile = [&](const tile_columns& now) {
    unsigned admissible = 0;  // eight bits a slice
#pragma unroll 1
    for (int slice = 0; slice < tile; slice += 8) admissible |= admissible_pairs(now, slice) << slice;
    unsigned slices = 0;  // those with an admissible pair, by their first columns
#pragma unroll
    for (int slice = 0; slice < tile; slice += 8) {
      slices |= (__any_sync(all, (admissible >> slice & 0xff) != 0) ? 1u : 0u) << slice;
    }
    if (slices == 0) return;

    const auto load = [&](int slice) {
      const int column = __shfl_sync(all, now.index, slice + r);
      return words::load(column >= 0 ? columns + column * right.stride : nullptr);
    };
    thread::packed_top2 packed[4];
    words ahead = load(__ffs(static_cast<int>(slices)) - 1);
#pragma unroll 1
    while (slices != 0) {
      const int slice = __ffs(static_cast<int>(slices)) - 1;
      slices &= slices - 1;
      const words b = ahead;
      if (slices != 0) ahead = load(__ffs(static_cast<int>(slices)) - 1);
      thread::top2_cell* cell = nullptr;  // that of the column whose state this lane will push
      std::uint32_t floor = 0;
      if constexpr (WithColumns) {
        const int column = __shfl_sync(all, now.index, slice + 2 * q + r % 2);
        if (r < 2 && column >= 0) {
          cell = arrays.column_cells + pair.first_column + column;
          floor = thread::second_so_far(cell);
        }
      }
      std::int32_t sums[2][4] = {};
#pragma unroll
      for (int k = 0; k < words::count; k += 2) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          detail::mma_16x8x32<Element>(sums[half], a[2 * half].word[k], a[2 * half + 1].word[k],
                                       a[2 * half].word[k + 1], a[2 * half + 1].word[k + 1], b.word[k], b.word[k + 1]);
        }
      }

      std::uint32_t scores[4][2];  // [row][column], shifted
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const std::int32_t sum = sums[i / 2][i % 2 * 2 + c];
          const bool counts = (admissible >> (slice + 2 * i + c) & 1) != 0 && (!is_signed || sum > 0);
          scores[i][c] = counts ? static_cast<std::uint32_t>(sum) << code_bits : 0;
        }
        const std::uint32_t code = tile - 1 - slice - 2 * q;
        packed[i].push(scores[i][0] + code, scores[i][1] + code - 1);
      }
      if constexpr (WithColumns) {
        thread::packed_top2 column[2];
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const std::uint32_t code = tile - 1 - r;
          column[c].push(scores[0][c] + code, scores[1][c] + code - 8);
          column[c].push(scores[2][c] + code - 16, scores[3][c] + code - 24);
#pragma unroll
          for (int distance = 4; distance < 32; distance *= 2) {
            column[c].merge(
                {__shfl_xor_sync(all, column[c].best, distance), __shfl_xor_sync(all, column[c].second, distance)});
          }
        }
        const thread::packed_top2 state = r % 2 == 0 ? column[0] : column[1];
        const int row = __shfl_sync(all, row_index, tile - 1 - static_cast<int>(state.best % tile));
        if (cell != nullptr) {
          thread::push<typename RowTie::column_order>(cell,
                                                      {static_cast<std::int32_t>(state.best >> code_bits), row,
                                                       static_cast<std::int32_t>(state.second >> code_bits)},
                                                      floor);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      take(i, static_cast<std::int32_t>(packed[i].best >> code_bits),
           now.first_place + tile - 1 - static_cast<int>(packed[i].best % tile),
           static_cast<std::int32_t>(packed[i].second >> code_bits));
    }
  };

  const int tiles = (column_count + tile - 1) / tile;
  for (int first_tile = 0; first_tile < tiles; first_tile += 32) {
    unsigned visits = __ballot_sync(all, first_tile + lane < tiles && may_admit(first_tile + lane));
    if (visits == 0) continue;
    const auto next_tile = [&] { return first_tile + __ffs(static_cast<int>(visits)) - 1; };
    tile_columns next = fetch(next_tile());
    while (visits != 0) {  // one tile ahead of the one being scored
      const tile_columns now = next;
      visits &= visits - 1;
      if (visits != 0) next = fetch(next_tile());
      score_tile(now);
    }
  }

  // Four lanes share a row.
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2) {
      take(i, __shfl_xor_sync(all, best[i], distance), __shfl_xor_sync(all, place[i], distance),
           __shfl_xor_sync(all, second[i], distance));
    }
    const int index = __shfl_sync(all, row_index, r + 8 * i);
    if (q == 0 && best[i] > 0 && accept(best[i], second[i])) {
      arrays.matches[pair.first_row + index] = static_cast<std::uint32_t>(column_index[place[i]]);
    }
  }
#endif
}

/// Takes back the matches that their columns do not return, where there are columns' states, and counts the others.
/// Launch: guided_judge_threads threads, grid (blocks for the rows of the largest pair, pairs).
template <class ColumnTie, class Acceptance>
__global__ void __launch_bounds__(guided_judge_threads) judge_columns(guided_arrays arrays, Acceptance accept) {
  const guided_pair& pair = arrays.pairs[blockIdx.y];
  const std::int64_t row = std::int64_t{blockIdx.x} * guided_judge_threads + threadIdx.x;
  bool matched = false;
  if (row < pair.left_count) {
    std::uint32_t& match = arrays.matches[pair.first_row + row];
    matched = match != row_verdicts::no_match;
    if (matched && arrays.column_cells != nullptr) {
      const top2 column = thread::load<ColumnTie>(arrays.column_cells[pair.first_column + match]);
      matched = column.index == row && accept(column.best, column.second);
      if (!matched) match = row_verdicts::no_match;
    }
  }
  const int matches = __syncthreads_count(matched ? 1 : 0);
  if (threadIdx.x == 0 && matches > 0) atomicAdd(&arrays.match_counts[blockIdx.y], static_cast<unsigned>(matches));
}

/// Rows of a wave of guided pairs, for write_lists.
struct guided_rows {
  guided_arrays arrays;

  SERAC_DEVICE std::int64_t first(int pair) const { return arrays.pairs[pair].first_row; }
  SERAC_DEVICE std::int64_t count(int pair) const { return arrays.pairs[pair].left_count; }
  SERAC_DEVICE std::uint32_t matches(int pair) const { return arrays.match_counts[pair]; }
};

}  // namespace serac::kernel
