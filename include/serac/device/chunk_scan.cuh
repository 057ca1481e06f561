// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pass 1 of the tensor-core matcher for one pair: which paths there are, how a pair is cut, and the launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <serac/chunk_maxima.hpp>
#include <serac/detail/launch.cuh>
#include <serac/detail/tensor_map.cuh>
#include <serac/kernel/chunk_maxima_mma.cuh>
#include <serac/kernel/chunk_maxima_wgmma.cuh>
#include <serac/mma_policy.hpp>
#include <serac/policy.hpp>
#include <serac/view.hpp>
#include <serac/wgmma_policy.hpp>

namespace serac::kernel {

inline constexpr int marker_step = 4096;

/// Its static shared memory tells the host, without running it, which path the code for the current device has.
template <int Step = marker_step>
__global__ void path_marker(int* out) {
#if defined(SERAC_HAS_WGMMA)
  __shared__ int marker[2 * Step / sizeof(int)];
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  __shared__ int marker[Step / sizeof(int)];
#else
  __shared__ int marker[32];
#endif
  marker[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  *out = marker[31 - threadIdx.x];
}

}  // namespace serac::kernel

namespace serac::device::detail {

using namespace ::serac::detail;

/// The best path that this program has code for on the current device. Host; no synchronisation.
inline match_path best_path() noexcept {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, kernel::path_marker<>) != cudaSuccess) return match_path::classic;
  if (attributes.sharedSizeBytes >= 2 * kernel::marker_step) return match_path::wgmma;
  return attributes.sharedSizeBytes >= kernel::marker_step ? match_path::mma : match_path::classic;
}

inline constexpr std::int64_t most_tensor_features = std::int64_t{1} << 30;  ///< of an image: 32-bit tile arithmetic

inline constexpr int most_column_chunks = 254;  ///< of a pair: the number of one fits a byte

/// Tiles of columns that a column chunk must have, so that a pair's row maxima fit 32 MiB or are 64 a row.
inline int tiles_of_chunk(int column_tiles, int rows) noexcept {
  constexpr std::int64_t most_values = std::int64_t{1} << 23;
  const std::int64_t most_chunks = std::clamp<std::int64_t>(most_values / std::max(rows, 1), 64, most_column_chunks);
  return static_cast<int>((column_tiles + most_chunks - 1) / most_chunks);
}

inline constexpr int most_segments = 16;  ///< of a pair, by wgmma: bounds the column maxima

/// What pass 1 of a tensor-core policy is on the host:
///   - `traits`: its layout (see rescore.cuh);
///   - `plan(left_count, right_count, multiprocessors)`: how a pair is cut;
///   - `most_row_chunks(plan)`: row chunks that any plan of these counts has at most;
///   - `launch_kernel(left, right, plan, pair, next_unit, maxima, multiprocessors, stream)`: the launch for one pair,
///   whose
///     plan stands at `pair` in device memory too, with `*next_unit` 0 and row maxima 0 where chunks share tiles.
template <class Policy, match_path = Policy::path>
struct pass1;

template <class Policy>
struct pass1<Policy, match_path::wgmma> {
  using traits = wgmma_traits<Policy>;
  using view = descriptor_view<typename Policy::element>;

  static chunk_pair plan(std::int64_t left_count, std::int64_t right_count, int multiprocessors) noexcept {
    const int row_tiles =
        round_up(static_cast<int>((left_count + traits::tile_rows - 1) / traits::tile_rows), traits::run);
    chunk_pair pair{};
    pair.left_count = static_cast<std::int32_t>(left_count);
    pair.right_count = static_cast<std::int32_t>(right_count);
    pair.row_stride = row_tiles * traits::tile_rows;
    pair.chunk_tiles = tiles_of_chunk(traits::column_tiles(pair), pair.row_stride);
    pair.column_chunks = ceil_div(traits::column_tiles(pair), pair.chunk_tiles);

    // As many segments as make the slowest block fastest; a unit costs about four tiles to begin and end.
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int segments = 1; segments <= most_segments; ++segments) {
      chunk_pair cut = pair;
      cut.segment_tiles = round_up(ceil_div(row_tiles, segments), traits::run);
      cut.segments = ceil_div(row_tiles, cut.segment_tiles);
      const std::int64_t rounds = (traits::unit_count(cut) + multiprocessors - 1) / multiprocessors;
      const std::int64_t cost = rounds * (cut.segment_tiles + 4);
      if (cost < least) least = cost, pair = cut;
    }
    pair.row_chunks = pair.segments * traits::segment_chunks;
    return pair;
  }

  static std::int64_t most_row_chunks(const chunk_pair& plan) noexcept {
    return std::min(plan.row_stride / traits::tile_rows, most_segments) * traits::segment_chunks;
  }

  static status launch_kernel(const view& left, const view& right, const chunk_pair& plan, const chunk_pair* pair,
                              unsigned long long* next_unit, const chunk_maxima& maxima, int multiprocessors,
                              cudaStream_t stream) noexcept {
    CUtensorMap left_map, right_map;
    if (auto s = make_tensor_map(left, traits::tile_rows, traits::swizzle, left_map); !s.ok()) return s;
    if (auto s = make_tensor_map(right, traits::tile_columns, traits::swizzle, right_map); !s.ok()) return s;
    const auto kernel =
        plan.chunk_tiles > 1 ? kernel::chunk_maxima_wgmma<Policy, true> : kernel::chunk_maxima_wgmma<Policy, false>;
    if (auto s = grant_shared("chunk_maxima_wgmma", kernel, traits::shared_bytes); !s.ok()) return s;
    const std::int64_t units = traits::unit_count(plan);
    return launch("chunk_maxima_wgmma", kernel,
                  dim3(static_cast<unsigned>(std::min<std::int64_t>(units, multiprocessors))), traits::threads,
                  traits::shared_bytes, stream, left_map, right_map, pair, 1, units, next_unit, maxima);
  }
};

template <class Policy>
struct pass1<Policy, match_path::mma> {
  using traits = mma_traits<Policy>;
  using view = descriptor_view<typename Policy::element>;

  static chunk_pair plan(std::int64_t left_count, std::int64_t right_count, int) noexcept {
    chunk_pair pair{};
    pair.left_count = static_cast<std::int32_t>(left_count);
    pair.right_count = static_cast<std::int32_t>(right_count);
    pair.segments = static_cast<std::int32_t>((left_count + traits::tile_rows - 1) / traits::tile_rows);
    pair.segment_tiles = 1;
    pair.row_chunks = pair.segments * traits::segment_chunks;
    pair.row_stride = pair.segments * traits::tile_rows;
    pair.chunk_tiles =
        std::max(4, tiles_of_chunk(traits::column_tiles(pair), pair.row_stride));  // 512 columns: measured
    pair.column_chunks = ceil_div(traits::column_tiles(pair), pair.chunk_tiles);
    return pair;
  }

  static std::int64_t most_row_chunks(const chunk_pair& plan) noexcept { return plan.row_chunks; }

  static status launch_kernel(const view& left, const view& right, const chunk_pair& plan, const chunk_pair* pair,
                              unsigned long long*, const chunk_maxima& maxima, int, cudaStream_t stream) noexcept {
    const auto kernel = kernel::chunk_maxima_mma<Policy>;
    std::int64_t resident = 0;
    if (auto s = resident_blocks("chunk_maxima_mma", kernel, traits::threads, traits::shared_bytes, resident);
        !s.ok()) {
      return s;
    }
    const std::int64_t units = traits::unit_count(plan);
    return launch("chunk_maxima_mma", kernel, dim3(static_cast<unsigned>(std::min(units, resident))), traits::threads,
                  traits::shared_bytes, stream, left.data, left.stride, right.data, right.stride, pair, 1, units,
                  maxima);
  }
};

}  // namespace serac::device::detail
