// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Guided matching of many pairs at once: features are ordered along the constraint (guided_tiles.hpp), and warps score
/// tiles of rows against those tiles of columns that may hold an admissible one.
#pragma once

#include <serac/block/sums.cuh>
#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/mma.cuh>
#include <serac/geometry.hpp>
#include <serac/guided_tiles.hpp>
#include <serac/score.hpp>
#include <serac/thread/packed_top2.cuh>
#include <serac/thread/top2_cell.cuh>
#include <serac/top2.hpp>
#include <serac/view.hpp>

namespace serac::kernel {

inline constexpr int guided_order_threads = 512;  ///< of a block of order_features
inline constexpr int guided_bound_threads = 256;  ///< of bound_tiles: eight tiles, a warp each
inline constexpr int guided_plan_threads = 256;   ///< of plan_tasks: eight tiles of rows, a warp each
inline constexpr int guided_match_threads = 128;  ///< of match_tiles: four tasks at a time, a warp each
inline constexpr int guided_task_visits = 32;     ///< tiles of columns that a task with several chunks may visit
inline constexpr int guided_judge_threads = 256;  ///< of a block of judge_matches

/// A pair of images, and where it stands in the arrays of a wave of pairs.
struct guided_pair {
  std::int64_t left_first, right_first;  ///< first descriptor and keypoint of each image
  std::int32_t left_count, right_count;
  std::int64_t first_row, first_column;  ///< places of its rows and columns: multiples of 32
  two_view_geometry geometry;
};

/// Features of one image of each pair, ordered; tiles of 32 are padded. Arrays over all rows (columns) of a wave.
struct guided_features {
  std::int16_t* bins;             ///< where a feature goes, by its index; -1: it cannot match
  std::int32_t* index;            ///< within the image; -1 in padding
  detail::tile_bounds* tiles;     ///< tile t stands at places 32 t to 32 t + 31
  std::int32_t* counts;           ///< [pairs]: features in order; the others cannot match
  float* reaches;                 ///< [pairs]: point_box::reach of the image
  detail::feature_order* orders;  ///< [pairs]
};

/// How the tiles of a pair's columns are cut into tasks: into at most 32 chunks, so that the memory of a wave's tasks
/// is linear in features.
struct guided_chunks {
  int tiles;  ///< of a chunk: a multiple of 32
  int count;

  SERAC_HOST_DEVICE explicit guided_chunks(std::int32_t columns) {
    const int all = static_cast<int>((std::int64_t{columns} + detail::guided_tile - 1) / detail::guided_tile);
    tiles = (all + 1023) / 1024 * 32;
    count = all == 0 ? 0 : (all + tiles - 1) / tiles;
  }
};

/// A tile of rows, and chunks of columns that may hold an admissible one.
struct guided_task {
  std::int32_t pair, row_tile;
  std::uint32_t chunks;  ///< bit c: chunk c
};

/// Tasks of a wave: how many there are, and how many warps have taken.
struct guided_task_counts {
  std::uint32_t planned, taken;
};

/// Everything of a wave of pairs, in device memory.
struct guided_arrays {
  const guided_pair* pairs;
  guided_features rows, columns;
  epipolar::column_terms* column_terms;  ///< of the columns in order; x and y serve the homography
  guided_task* tasks;                    ///< room for all chunks of all tiles of rows
  guided_task_counts* task_counts;
  thread::top2_cell* row_cells;     ///< top-2 of each row, by its index
  thread::top2_cell* column_cells;  ///< top-2 of each column, by its index; null without cross-check
  std::uint32_t* matches;           ///< [rows]: the column that a row matches, by its index
  std::uint32_t* match_counts;      ///< [pairs]
};

/// Pairs that fit the parameters of a kernel.
struct guided_pair_slice {
  static constexpr int capacity = 24;
  guided_pair pairs[capacity];
};

/// Brings descriptions of pairs to device memory, and clears what counts their tasks and matches. One thread a pair.
template <class Slice = guided_pair_slice>
__global__ void publish_guided_pairs(const SERAC_GRID_CONSTANT Slice slice, int count, guided_pair* pairs,
                                     std::uint32_t* match_counts, guided_task_counts* task_counts) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) pairs[i] = slice.pairs[i], match_counts[i] = 0;
  if (i == 0) *task_counts = {0, 0};
}

/// One image of a pair while its features are ordered.
struct guided_image {
  const guided_pair& pair;
  const guided_features& features;
  bool is_rows;
  int count;
  std::int64_t first_place;
  keypoint_view points;

  SERAC_DEVICE guided_image(const guided_arrays& arrays, int pair_index, bool rows, const keypoint_view& left,
                            const keypoint_view& right)
      : pair(arrays.pairs[pair_index]),
        features(rows ? arrays.rows : arrays.columns),
        is_rows(rows),
        count(rows ? pair.left_count : pair.right_count),
        first_place(rows ? pair.first_row : pair.first_column),
        points(rows ? left : right) {
    points.data += (rows ? pair.left_first : pair.right_first) * points.stride;
  }

  /// The location that feature i is ordered by.
  SERAC_DEVICE point place(int i) const {
    return is_rows && pair.geometry.has_homography ? pair.geometry.homography.row(points[i]) : points[i];
  }
};

/// Sorts the features of one image of a pair into the bins of its order.
///
/// Launch: guided_order_threads threads, grid (2, pairs): x = 0 sorts rows, 1 columns.
template <class Arrays = guided_arrays>
__global__ void __launch_bounds__(guided_order_threads)
    order_features(Arrays arrays, keypoint_view left, keypoint_view right) {
  constexpr int threads = guided_order_threads, warps = threads / 32;
  const guided_image image(arrays, static_cast<int>(blockIdx.y), blockIdx.x == 0, left, right);
  const two_view_geometry& geometry = image.pair.geometry;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

  __shared__ int places[detail::guided_bins];  // features in each bin; then where the next of the bin goes
  __shared__ block::sums<int, threads> sums;
  __shared__ float box_parts[4][warps];
  __shared__ __align__(16) unsigned char order_bytes[sizeof(detail::feature_order)];
  auto& order = *reinterpret_cast<detail::feature_order*>(order_bytes);

  // The box: of the right image where locations are compared there, else of the image itself.
  const guided_image boxed(arrays, static_cast<int>(blockIdx.y), image.is_rows && !geometry.has_homography, left,
                           right);
  detail::point_box box;
  for (int i = thread; i < boxed.count; i += threads) box.add(boxed.points[i]);
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
      box.min_x = detail::lesser_of(box_parts[0][w], box.min_x);
      box.min_y = detail::lesser_of(box_parts[1][w], box.min_y);
      box.max_x = detail::greater_of(box_parts[2][w], box.max_x);
      box.max_y = detail::greater_of(box_parts[3][w], box.max_y);
    }
    if (geometry.has_homography) {
      order = detail::feature_order::of_locations(box, geometry.homography.max_squared_error);
    } else if (geometry.has_epipolar) {
      order = image.is_rows ? detail::feature_order::around_epipole<false>(geometry.epipolar.matrix, box)
                            : detail::feature_order::around_epipole<true>(geometry.epipolar.matrix, box);
    } else {
      order = detail::feature_order{};
    }
    image.features.orders[blockIdx.y] = order;
    image.features.reaches[blockIdx.y] = box.reach();
  }
  __syncthreads();

  // Counting sort. The order within a bin is anybody's.
  std::int16_t* const bins = image.features.bins + image.first_place;
  for (int i = thread; i < image.count; i += threads) {
    const int bin = order.bin(image.place(i));
    bins[i] = static_cast<std::int16_t>(bin);
    if (bin >= 0) atomicAdd(&places[bin], 1);
  }
  __syncthreads();
  constexpr int bins_of_thread = detail::guided_bins / threads;
  int in_bin[bins_of_thread], mine = 0, total;
#pragma unroll
  for (int b = 0; b < bins_of_thread; ++b) mine += in_bin[b] = places[thread * bins_of_thread + b];
  int place = sums.exclusive(mine, total);
#pragma unroll
  for (int b = 0; b < bins_of_thread; place += in_bin[b++]) places[thread * bins_of_thread + b] = place;
  if (thread == 0) image.features.counts[blockIdx.y] = total;
  __syncthreads();
  for (int i = thread; i < image.count; i += threads) {
    if (bins[i] >= 0) image.features.index[image.first_place + atomicAdd(&places[bins[i]], 1)] = i;
  }
}

/// Makes tiles of ordered features: their order within, their bounds, the terms of columns. Clears the states of the
/// features.
///
/// Launch: guided_bound_threads threads, grid (tiles of the largest image / 8, pairs, 2): z = 0 for rows, 1 columns.
/// RowTie is the tie order between columns: within a tile, features stand in the order of their ranks.
template <class RowTie>
__global__ void __launch_bounds__(guided_bound_threads)
    bound_tiles(guided_arrays arrays, keypoint_view left, keypoint_view right) {
  constexpr unsigned all = 0xffffffffu;
  constexpr int tile = detail::guided_tile;
  const guided_image image(arrays, static_cast<int>(blockIdx.y), blockIdx.z == 0, left, right);
  const two_view_geometry& geometry = image.pair.geometry;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int t = static_cast<int>(blockIdx.x * (guided_bound_threads / 32) + threadIdx.x / 32);
  const std::int64_t place = image.first_place + t * tile + lane;

  thread::top2_cell* const cells = image.is_rows ? arrays.row_cells : arrays.column_cells;
  if (cells != nullptr && t * tile + lane < image.count) cells[place] = thread::top2_cell{};
  const int in_tile = (min)(image.features.counts[blockIdx.y] - t * tile, tile);
  if (in_tile <= 0) return;

  // By rank: a bitonic sort. Padding comes last.
  std::uint32_t rank = all;
  if (lane < in_tile) {
    const auto index = static_cast<std::uint32_t>(image.features.index[place]);
    rank = image.is_rows ? RowTie::column_order::rank(index) : RowTie::rank(index);
  }
#pragma unroll
  for (int size = 2; size <= tile; size *= 2) {
#pragma unroll
    for (int step = size / 2; step > 0; step /= 2) {
      const std::uint32_t other = __shfl_xor_sync(all, rank, step);
      rank = ((lane & step) == 0) == ((lane & size) == 0) ? (min)(rank, other) : (max)(rank, other);
    }
  }
  const int index = static_cast<int>(image.is_rows ? RowTie::column_order::index(rank) : RowTie::index(rank));
  image.features.index[place] = lane < in_tile ? index : -1;

  const int first_index = __shfl_sync(all, index, 0);
  const int i = lane < in_tile ? index : first_index;
  const point at = image.place(i);
  float squared = 0;
  if (image.is_rows) {
    if (geometry.has_epipolar) squared = geometry.epipolar.row(image.points[i]).squared;
  } else {
    epipolar::column_terms terms{at.x, at.y, 0, 0};
    if (geometry.has_epipolar) terms = geometry.epipolar.column(at);
    squared = terms.fx * terms.fx + terms.fy * terms.fy;
    arrays.column_terms[place] = terms;
  }
  const detail::feature_order& order = image.features.orders[blockIdx.y];
  const detail::tile_frame frame = order.frame({__shfl_sync(all, at.x, 0), __shfl_sync(all, at.y, 0)});
  detail::tile_extent extent = detail::tile_extent::of(at, frame, squared);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    detail::tile_extent other;
    other.min_along = __shfl_xor_sync(all, extent.min_along, distance);
    other.max_along = __shfl_xor_sync(all, extent.max_along, distance);
    other.min_across = __shfl_xor_sync(all, extent.min_across, distance);
    other.max_across = __shfl_xor_sync(all, extent.max_across, distance);
    other.min_beam = __shfl_xor_sync(all, extent.min_beam, distance);
    other.max_beam = __shfl_xor_sync(all, extent.max_beam, distance);
    other.squared = __shfl_xor_sync(all, extent.squared, distance);
    extent.merge(other);
  }
  if (lane == 0) image.features.tiles[image.first_place / tile + t] = extent.bounds(frame, order.reach());
}

/// Lists the tasks of every pair: the chunks of columns that hold a tile which a tile of rows may be admissible to,
/// together if those tiles are few, else one by one.
///
/// Launch: guided_plan_threads threads, grid (tiles of rows of the largest pair / 8, pairs).
template <class Arrays = guided_arrays>
__global__ void __launch_bounds__(guided_plan_threads) plan_tasks(Arrays arrays) {
  constexpr unsigned all = 0xffffffffu;
  constexpr int tile = detail::guided_tile;
  const guided_pair& pair = arrays.pairs[blockIdx.y];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row_tile = static_cast<int>(blockIdx.x * (guided_plan_threads / 32) + threadIdx.x / 32);
  if (row_tile * tile >= arrays.rows.counts[blockIdx.y]) return;
  const int column_tiles = (arrays.columns.counts[blockIdx.y] + tile - 1) / tile;
  const detail::tile_bounds* const bounds = arrays.columns.tiles + pair.first_column / tile;
  const detail::tile_test test(pair.geometry, arrays.rows.tiles[pair.first_row / tile + row_tile],
                               arrays.rows.reaches[blockIdx.y], arrays.columns.reaches[blockIdx.y]);

  const guided_chunks chunks(pair.right_count);
  unsigned visited = 0;  // bit c: chunk c
  int visits = 0, chunk = 0, end = chunks.tiles;
  for (int first = 0; first < column_tiles; first += 32) {
    if (first == end) ++chunk, end += chunks.tiles;
    const int t = first + lane;
    const unsigned admitted = __ballot_sync(all, t < column_tiles && test.may_admit(bounds[t]));
    if (admitted != 0) visited |= 1u << chunk, visits += __popc(admitted);
  }
  if (visits == 0) return;
  const bool few = visits <= guided_task_visits;
  std::uint32_t place = 0;
  if (lane == 0) place = atomicAdd(&arrays.task_counts->planned, few ? 1u : static_cast<unsigned>(__popc(visited)));
  place = __shfl_sync(all, place, 0);
  const unsigned mine = 1u << lane;
  if (few ? lane == 0 : (visited & mine) != 0) {
    if (!few) place += static_cast<unsigned>(__popc(visited & (mine - 1)));
    arrays.tasks[place] = {static_cast<std::int32_t>(blockIdx.y), row_tile, few ? visited : mine};
  }
}

/// What a lane feeds to mma.sync of one descriptor: lane % 4 = q takes, of every 64 bytes, the 16 from 16 q (of 32
/// bytes, the 8 from 8 q). Rows and columns permute K alike, which leaves their products as they are.
template <int Width>
struct guided_words {
  static constexpr int count = Width / 16;
  static constexpr int load_bytes = Width < 64 ? 8 : 16;
  std::uint32_t word[count];

  /// Of the descriptor at `data`.
  SERAC_DEVICE static guided_words load(const void* data) {
    guided_words w;
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

/// `value` if bit `bit` of `bits` is set, else 0: two instructions, where compilers make three of the same in C++.
SERAC_DEVICE std::uint32_t value_if_set(std::uint32_t bits, int bit, std::uint32_t value) {
  std::uint32_t chosen;
  asm("{\n .reg .pred p;\n .reg .b32 b;\n and.b32 b, %1, %2;\n setp.ne.u32 p, b, 0;\n selp.b32 %0, %3, 0, p;\n}"
      : "=r"(chosen)
      : "r"(bits), "r"(1 << bit), "r"(value));
  return chosen;
}

/// The top-2 of a row so far: scores, and the place of the best among the ordered columns.
struct alignas(16) guided_row_state {
  std::int32_t best, place, second;
};

/// What a warp of match_tiles keeps of its task; in registers it would spill.
struct guided_task_state {
  guided_task task;               ///< without the chunks that have been begun
  int end_tile;                   ///< of the chunk at hand
  int chunk_tiles, column_count;  ///< of the pair
  bool has_homography, has_epipolar;
  float homography_error;          ///< the greatest, squared
  detail::epipolar_screen screen;  ///< with that by the epipolar constraint
  std::int64_t first_column;       ///< of the pair
  std::int64_t first_element;      ///< of its right image
};

/// What a warp of match_tiles keeps of its task, and of the features of its two tiles.
struct guided_stage {
  static constexpr int tile = detail::guided_tile;
  alignas(16) epipolar::row_terms along[tile];  ///< of the rows, by their place in the tile
  detail::epipolar_screen::column columns[tile];
  alignas(16) epipolar::column_terms terms[2][tile];  ///< of this tile of columns and the next; each lane's own
  std::int32_t column_index[2][tile];                 ///< likewise
  guided_row_state states[4][tile];                   ///< by i and lane: each lane's own of its rows r + 8 i
  point located[tile];                                ///< of the rows, where a homography takes them
  std::int32_t row_index[tile];
  guided_task_state of_task;
};

/// Scores the tiles of all tasks: the states of rows and, if WithColumns, of columns go to arrays.row_cells and
/// arrays.column_cells.
///
/// Launch: guided_match_threads threads, any number of blocks: every warp takes the next task until there is none.
/// Descriptors are aligned to 16 bytes. In the fragments of a slice of 8 columns, lane 4 r + q has rows r + 8 i, i < 4,
/// of the tile and columns 2 q + c, c < 2, of the slice.
template <class Element, int Width, class RowTie, bool WithColumns>
__global__ void __launch_bounds__(guided_match_threads, Width <= 128 ? 5 : 2)
    match_tiles(guided_arrays arrays, descriptor_view<Element> left, descriptor_view<Element> right,
                keypoint_view left_points) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();
#else
  using words = guided_words<Width>;
  constexpr unsigned all = 0xffffffffu;
  constexpr int tile = detail::guided_tile, code_bits = 5;
  static_assert(1 << code_bits == tile && Width <= 256, "a score of 24 bits and its place in a tile fit 32 bits");
  constexpr bool is_signed = score_traits<Element>::may_be_negative;

  __shared__ guided_stage stages[guided_match_threads / 32];
  guided_stage& stage = stages[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32, r = lane / 4, q = lane % 4;
  for (;;) {
    const std::uint32_t taken = __shfl_sync(all, lane == 0 ? atomicAdd(&arrays.task_counts->taken, 1u) : 0, 0);
    if (taken >= arrays.task_counts->planned) return;
    const guided_task task = arrays.tasks[taken];
    const guided_pair& pair = arrays.pairs[task.pair];
    const int first_row = task.row_tile * tile;
    const guided_task_state state{
        task,
        0,
        guided_chunks(pair.right_count).tiles,
        arrays.columns.counts[task.pair],
        pair.geometry.has_homography,
        pair.geometry.has_epipolar,
        pair.geometry.homography.max_squared_error,
        {pair.geometry.epipolar.max_squared_error, arrays.rows.tiles[(pair.first_row + first_row) / tile].squared},
        pair.first_column,
        pair.right_first * right.stride};
    // Found again where it is needed, not kept.
    const auto pair_of_task = [&]() -> const guided_pair& { return arrays.pairs[stage.of_task.task.pair]; };
    const int row_count = arrays.rows.counts[task.pair];

    // The rows: lane l brings row l of the tile. Padding is all zero.
    __syncwarp();
    std::uint32_t a[2][words::count / 2][4];  // fragments of two tiles of 16: rows r, r + 8, then their next words
    {
      const int index = first_row + lane < row_count ? arrays.rows.index[pair.first_row + first_row + lane] : -1;
      two_view_geometry::row_terms terms{};
      if (index >= 0) terms = pair.geometry.row(left_points[pair.left_first + index]);
      stage.row_index[lane] = index, stage.located[lane] = terms.of_homography, stage.along[lane] = terms.of_epipolar;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        stage.states[i][lane] = {0, 0, 0};
        const int row = __shfl_sync(all, index, r + 8 * i);
        const words w = words::load(left.data + (pair.left_first + (max)(row, 0)) * left.stride);
#pragma unroll
        for (int k = 0; k < words::count; ++k) a[i / 2][k / 2][i % 2 + k % 2 * 2] = row >= 0 ? w.word[k] : 0;
      }
    }
    if (lane == 0) stage.of_task = state;
    __syncwarp();

    const auto take = [&](guided_row_state& mine, const guided_row_state& other) {
      bool wins = other.best > mine.best;
      if (other.best == mine.best && other.best > 0) {
        const std::int32_t* const index = arrays.columns.index + stage.of_task.first_column;
        wins = RowTie::rank(static_cast<std::uint32_t>(index[other.place])) <
               RowTie::rank(static_cast<std::uint32_t>(index[mine.place]));
      }
      mine.second = (max)((max)(mine.second, other.second), wins ? mine.best : other.best);
      if (wins) mine.best = other.best, mine.place = other.place;
    };

    // A tile of columns: lane l brings column l. Padding repeats column 0, and is never admissible.
    const auto fetch = [&](int t, int buffer) {
      detail::copy_async<16>(&stage.terms[buffer][lane],
                             arrays.column_terms + stage.of_task.first_column + t * tile + lane, true);
      detail::copy_async<4>(&stage.column_index[buffer][lane],
                            arrays.columns.index + stage.of_task.first_column + t * tile + lane, true);
    };
    // Which of the lane's pairs are admissible: bit slice + 7 - 2 i - c is that of row i and column c of a slice.
    const auto located_pairs = [&] {
      homography located;
      located.max_squared_error = stage.of_task.homography_error;
      unsigned admissible = 0;
#pragma unroll
      for (int slice = tile - 8; slice >= 0; slice -= 8) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          const auto& column = stage.columns[slice + 2 * q + k % 2];
          const bool admits = located.admits(stage.located[r + 8 * (k / 2)], {column.x, column.y});
          admissible = admissible << 1 | (admits ? 1u : 0u);
        }
      }
      return admissible;
    };
    const auto pairs_along = [&](int first_column, const detail::epipolar_screen& screen, bool screened) {
      unsigned admissible = 0;
      bool decided = screened;
#pragma unroll
      for (int slice = tile - 8; slice >= 0; slice -= 8) {
        const detail::epipolar_screen::column column[2] = {stage.columns[slice + 2 * q],
                                                           stage.columns[slice + 2 * q + 1]};
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          const float excess = screen.excess(stage.along[r + 8 * (k / 2)], column[k % 2]);
          decided = decided && screen.decides(excess, column[k % 2]);
          admissible = __funnelshift_l(detail::bits_of(excess), admissible, 1);  // its sign
        }
      }
      if (!decided) {
        epipolar along;
        along.max_squared_error = screen.max_squared_error;
#pragma unroll 1
        for (int k = 0; k < 32; ++k) {
          const auto& terms =
              arrays.column_terms[stage.of_task.first_column + first_column + tile - 8 - k / 8 * 8 + 2 * q + k % 2];
          const bool admits = along.admits(stage.along[r + 8 * (k % 8 / 2)], terms);
          admissible = admissible << 1 | (admits ? 1u : 0u);
        }
      }
      return admissible;
    };

    const auto score_tile = [&](int first_column, int buffer) {
      const auto index = static_cast<std::uint32_t>((max)(stage.column_index[buffer][lane], 0));
      const detail::epipolar_screen screen = stage.of_task.screen;
      const auto column = screen.of(stage.terms[buffer][lane]);
      __syncwarp();
      stage.columns[lane] = column;
      __syncwarp();
      unsigned admissible = ~0u;
      if (stage.of_task.has_homography) {
        admissible = located_pairs();
        if (!__any_sync(all, admissible != 0)) return;
      }
      if (stage.of_task.has_epipolar) {
        admissible &= pairs_along(first_column, screen, __all_sync(all, screen.suits(column)));
      }
      if (const int exist = stage.of_task.column_count - first_column; exist < tile) {
#pragma unroll
        for (int slice = 0; slice < tile; slice += 8) {
          if (slice + 2 * q >= exist) admissible &= ~(0xaau << slice);
          if (slice + 2 * q + 1 >= exist) admissible &= ~(0x55u << slice);
        }
      }
      unsigned slices = __reduce_or_sync(all, admissible);  // those with an admissible pair have a bit that is set
      if (slices == 0) return;

      const Element* const descriptors = right.data + stage.of_task.first_element;
      const auto next_slice = [&] { return (31 - __clz(static_cast<int>(slices))) & -8; };
      const auto load = [&](int slice) {
        return words::load(descriptors + __shfl_sync(all, index, slice + r) * static_cast<std::uint64_t>(right.stride));
      };
      // Keys are score << 5 | code. Of equal scores, the greater code is preferred: the lower i, then the lower slice
      // and c, which is the order of the tie for a row (its i is one) and for a column (its slice and c are).
      thread::packed_top2 packed[4];
      words ahead = load(next_slice());
      // This lane looks after column 2 q + r % 2 of slice 8 (r / 2).
      thread::packed_top2 mine;
      const auto cell = [&] {
        return arrays.column_cells + stage.of_task.first_column + __shfl_sync(all, index, r / 2 * 8 + 2 * q + r % 2);
      };
      std::uint32_t floor = 0;
      if constexpr (WithColumns) floor = thread::second_so_far(cell());
#pragma unroll 1
      while (slices != 0) {
        const int slice = next_slice();
        slices &= ~(0xffu << slice);
        const words b = ahead;
        if (slices != 0) ahead = load(next_slice());
        std::int32_t sums[2][4] = {};
#pragma unroll
        for (int k = 0; k < words::count; k += 2) {
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const auto& rows = a[half][k / 2];
            detail::mma_16x8x32<Element>(sums[half], rows[0], rows[1], rows[2], rows[3], b.word[k], b.word[k + 1]);
          }
        }

        const unsigned admits = admissible >> slice;
        const auto code = 7u - static_cast<std::uint32_t>(slice) / 4;
        std::uint32_t keys[4][2];  // [row][column]
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const std::int32_t sum = sums[i / 2][i % 2 * 2 + c];
            const auto score = static_cast<std::uint32_t>(is_signed ? (max)(sum, 0) : sum);
            keys[i][c] = value_if_set(admits, 7 - 2 * i - c, (score << code_bits) + (code + 8 * (3 - i) - c));
          }
          packed[i].push(keys[i][0], keys[i][1]);
        }
        if constexpr (WithColumns) {
          thread::packed_top2 column[2];
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            column[c].push(keys[0][c], keys[1][c]);
            column[c].push(keys[2][c], keys[3][c]);
            column[c].best = (column[c].best | 7) ^ static_cast<std::uint32_t>(r);  // now the code tells the row
          }
          // Lanes of even r go on with column 0, the others with column 1; at last all have its state.
          const thread::packed_top2 other = r % 2 == 0 ? column[1] : column[0];
          thread::packed_top2 state = r % 2 == 0 ? column[0] : column[1];
          state.merge({__shfl_xor_sync(all, other.best, 4), __shfl_xor_sync(all, other.second, 4)});
#pragma unroll
          for (int distance = 8; distance < 32; distance *= 2) {
            state.merge({__shfl_xor_sync(all, state.best, distance), __shfl_xor_sync(all, state.second, distance)});
          }
          if (slice == r / 2 * 8) mine = state;
        }
      }
      if constexpr (WithColumns) {
        thread::top2_cell* const column = cell();
        const auto score = static_cast<std::int32_t>(mine.best >> code_bits);
        if (score > 0) {
          const int row = stage.row_index[7 - mine.best % 8 + 8 * (3 - mine.best % tile / 8)];
          thread::push<typename RowTie::column_order>(
              column, {score, row, static_cast<std::int32_t>(mine.second >> code_bits)}, floor);
        }
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = 7 - static_cast<int>(packed[i].best % 8);
        take(stage.states[i][lane],
             {static_cast<std::int32_t>(packed[i].best >> code_bits), first_column + at / 2 * 8 + 2 * q + at % 2,
              static_cast<std::int32_t>(packed[i].second >> code_bits)});
      }
    };

    while (const unsigned chunks = stage.of_task.task.chunks) {
      int first_tile = (__ffs(static_cast<int>(chunks)) - 1) * stage.of_task.chunk_tiles;
      __syncwarp();
      if (lane == 0) {
        stage.of_task.task.chunks = chunks & (chunks - 1);
        stage.of_task.end_tile =
            (min)(first_tile + stage.of_task.chunk_tiles, detail::ceil_div(stage.of_task.column_count, tile));
      }
      __syncwarp();
      for (; first_tile < stage.of_task.end_tile; first_tile += 32) {
        bool may_admit = false;
        if (const int t = first_tile + lane; t < stage.of_task.end_tile) {
          const guided_pair& pair = pair_of_task();
          const detail::tile_bounds& row_bounds =
              arrays.rows.tiles[pair.first_row / tile + stage.of_task.task.row_tile];
          const detail::tile_test test(pair.geometry, row_bounds, arrays.rows.reaches[stage.of_task.task.pair],
                                       arrays.columns.reaches[stage.of_task.task.pair]);
          may_admit = test.may_admit(arrays.columns.tiles[pair.first_column / tile + t]);
        }
        unsigned visits = __ballot_sync(all, may_admit);
        if (visits == 0) continue;
        const auto next_tile = [&] { return first_tile + __ffs(static_cast<int>(visits)) - 1; };
        fetch(next_tile(), 0);
        detail::copy_async_commit();
        for (int buffer = 0; visits != 0; buffer ^= 1) {  // one tile ahead of the one being scored
          const int t = next_tile();
          visits &= visits - 1;
          if (visits != 0) fetch(next_tile(), buffer ^ 1);
          detail::copy_async_commit();
          detail::copy_async_wait<1>();
          score_tile(t * tile, buffer);
        }
      }
    }

    // Four lanes share a row; of those, lane q writes row r + 8 q.
    int writer = lane;
    asm volatile("" : "+r"(writer));  // what follows from lane is not kept until here
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      guided_row_state state = stage.states[i][writer];
#pragma unroll
      for (int distance = 1; distance < 4; distance *= 2) {
        take(state, {__shfl_xor_sync(all, state.best, distance), __shfl_xor_sync(all, state.place, distance),
                     __shfl_xor_sync(all, state.second, distance)});
      }
      if (writer % 4 == i && state.best > 0) {
        thread::top2_cell* const cell =
            arrays.row_cells + pair_of_task().first_row + stage.row_index[writer / 4 + 8 * i];
        thread::push<RowTie>(
            cell, {state.best, arrays.columns.index[stage.of_task.first_column + state.place], state.second}, 0);
      }
    }
  }
#endif
}

/// Finds the matches: the rows that `accept` takes and, where there are columns' states, whose columns return them.
/// Launch: guided_judge_threads threads, grid (blocks for the rows of the largest pair, pairs).
template <class RowTie, class Acceptance>
__global__ void __launch_bounds__(guided_judge_threads) judge_matches(guided_arrays arrays, Acceptance accept) {
  const guided_pair& pair = arrays.pairs[blockIdx.y];
  const std::int64_t i = std::int64_t{blockIdx.x} * guided_judge_threads + threadIdx.x;
  bool matched = false;
  if (i < pair.left_count) {
    const top2 row = thread::load<RowTie>(arrays.row_cells[pair.first_row + i]);
    matched = row.best > 0 && accept(row.best, row.second);
    if (matched && arrays.column_cells != nullptr) {
      const top2 column =
          thread::load<typename RowTie::column_order>(arrays.column_cells[pair.first_column + row.index]);
      matched = column.index == i && accept(column.best, column.second);
    }
    arrays.matches[pair.first_row + i] = matched ? static_cast<std::uint32_t>(row.index) : row_verdicts::no_match;
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
