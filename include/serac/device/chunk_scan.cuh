// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pass 1 of the tensor-core matcher for one pair: which paths there are, how a pair is cut, and the launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <serac/chunk_maxima.hpp>
#include <serac/detail/launch.cuh>
#include <serac/detail/tensor_map.cuh>
#include <serac/kernel/chunk_maxima_mma.cuh>
#include <serac/kernel/chunk_maxima_wgmma.cuh>
#include <serac/mma_policy.hpp>
#include <serac/policy.hpp>
#include <serac/view.hpp>
#include <serac/wgmma_policy.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac::kernel {

inline constexpr int marker_step = 4096;  ///< of path_marker: static shared memory a path, in bytes

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

/// The best path that this program has code for on the current device, for descriptors of `Element`s. Host; no
/// synchronisation.
template <class Element = std::uint8_t>
match_path best_path() noexcept {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, kernel::path_marker<>) != cudaSuccess) return match_path::classic;
  bool has_mma = attributes.sharedSizeBytes >= kernel::marker_step;
  if constexpr (is_binary<Element>) has_mma = has_mma && attributes.binaryVersion < 100;  // no products of bits there
  if constexpr (score_traits<Element>::has_angle) {                                       // wgmma is for bytes
    if (attributes.sharedSizeBytes >= 2 * kernel::marker_step) return match_path::wgmma;
  }
  return has_mma ? match_path::mma : match_path::classic;
}

inline constexpr std::int64_t most_tensor_features = std::int64_t{1} << 30;  ///< of an image: 32-bit tile arithmetic

inline constexpr int most_column_chunks = 254;  ///< of a pair: scan_rows has a counter for each

/// Cuts the columns of a pair, whose rows are cut, into chunks: as large as the policy wants them, or so large that the
/// row maxima of the pair fit 32 MiB or are 64 a row.
template <class Traits>
void cut_columns(chunk_pair& pair) noexcept {
  constexpr std::int64_t most_values = std::int64_t{1} << 23;
  const int tiles = Traits::column_tiles(pair);
  const auto most_chunks =
      static_cast<int>(std::clamp<std::int64_t>(most_values / pair.row_stride, 64, most_column_chunks));
  pair.chunk_tiles = (std::max)(Traits::chunk_tiles, ceil_div(tiles, most_chunks));
  pair.column_chunks = ceil_div(tiles, pair.chunk_tiles);
}

/// Cuts the rows of a pair into segments of `step` tiles or a multiple, `tile_count` tiles in all, so that the slowest
/// of the multiprocessors is fastest; `columns` units for each segment, `pairs` such pairs at a time. Whole segments
/// are taken first, the shorter last ones fill the gaps.
inline void cut_segments(chunk_pair& pair, int tile_count, int step, std::int64_t columns, std::int64_t pairs,
                         int multiprocessors) noexcept {
  const auto cut = [&](int tiles) {
    pair.segments = ceil_div(tile_count, tiles);
    pair.segment_tiles = tiles;
  };
  cut(round_up(tile_count, step));
  constexpr int enough_units = 16;  // of a multiprocessor, that their number does not matter
  if (columns * pairs >= std::int64_t{enough_units} * multiprocessors) return;

  constexpr int unit_overhead = 3;  // tiles that a unit costs to begin and end: measured
  std::int64_t least = (std::numeric_limits<std::int64_t>::max)();
  const auto try_tiles = [&](int tiles) {
    const int whole = tile_count / tiles, rest = tile_count % tiles;
    const std::int64_t units = whole * columns * pairs, cost = tiles + unit_overhead, rest_cost = rest + unit_overhead;
    const std::int64_t rounds = (units + multiprocessors - 1) / multiprocessors;
    std::int64_t total = rounds * cost;
    if (rest > 0) {
      const std::int64_t in_gaps = (rounds * multiprocessors - units) * (cost / rest_cost);
      const std::int64_t behind = std::max<std::int64_t>(columns * pairs - in_gaps, 0);
      total += (behind + multiprocessors - 1) / multiprocessors * rest_cost;
    }
    if (total < least) least = total, cut(tiles);
  };
  const int steps = ceil_div(tile_count, step);
  for (int segments = 1; segments <= (std::min)(steps, 32); ++segments) {
    try_tiles(ceil_div(steps, segments) * step);
    try_tiles(steps / segments * step);
  }
}

/// What pass 1 of a tensor-core policy is on the host:
///   - `traits`: its layout (see rescore.cuh);
///   - `plan(pair, pairs, multiprocessors)`: completes a pair whose counts, both above 0, are known: how it is cut,
///   best
///     where `pairs` like it are worked on at a time;
///   - `launch_kernel(left, right, pairs, pair_count, units, shared_chunks, maps, next_unit, maxima, multiprocessors,
///     order, stream, behind)`: the launch; arguments as the kernel's;
///   - `can_scan`: it can do the scan of rows behind its products.
template <class Policy, match_path = Policy::path>
struct pass1;

template <class Policy>
struct pass1<Policy, match_path::wgmma> {
  using traits = wgmma_traits<Policy>;
  using view = descriptor_view<typename Policy::element>;
  static constexpr bool can_scan = true;

  static void plan(chunk_pair& pair, std::int64_t pairs, int multiprocessors) noexcept {
    const int row_tiles = round_up(ceil_div(pair.left_count, traits::tile_rows), traits::run);
    pair.row_stride = row_tiles * traits::tile_rows;
    cut_columns<traits>(pair);
    cut_segments(pair, row_tiles, traits::run, ceil_div(traits::column_tiles(pair), traits::consumers), pairs,
                 multiprocessors);
  }

  template <class Behind>
  static status launch_kernel(const view& left, const view&, const chunk_pair* pairs, int pair_count,
                              std::int64_t units, bool shared_chunks, const CUtensorMap* right_maps,
                              unsigned long long* next_unit, std::int32_t* maxima, int multiprocessors,
                              launch_order order, cudaStream_t stream, const Behind& behind) noexcept {
    CUtensorMap left_map;
    if (auto s = make_tensor_map(left, traits::tile_rows, traits::swizzle, left_map); !s.ok()) return s;
    auto kernel = kernel::chunk_maxima_wgmma<Policy, false, Behind>;
    if constexpr (!Behind::is_used) {
      if (shared_chunks) kernel = kernel::chunk_maxima_wgmma<Policy, true, Behind>;
    }
    if (auto s = grant_shared("chunk_maxima_wgmma", kernel, traits::shared_bytes); !s.ok()) return s;
    return launch(order, "chunk_maxima_wgmma", kernel,
                  dim3(static_cast<unsigned>(std::min<std::int64_t>(units, multiprocessors))), traits::threads,
                  traits::shared_bytes, stream, left_map, right_maps, pairs, pair_count, units, next_unit, maxima,
                  behind);
  }
};

template <class Policy>
struct pass1<Policy, match_path::mma> {
  using traits = mma_traits<Policy>;
  using view = descriptor_view<typename Policy::element>;
  static constexpr bool can_scan = false;

  static void plan(chunk_pair& pair, std::int64_t, int) noexcept {
    pair.segments = ceil_div(pair.left_count, traits::tile_rows);
    pair.segment_tiles = 1;
    pair.row_stride = pair.segments * traits::tile_rows;
    cut_columns<traits>(pair);
  }

  static status launch_kernel(const view& left, const view& right, const chunk_pair* pairs, int pair_count,
                              std::int64_t units, bool, const CUtensorMap*, unsigned long long*, std::int32_t* maxima,
                              int, launch_order order, cudaStream_t stream, kernel::nothing_behind) noexcept {
    const auto kernel = kernel::chunk_maxima_mma<Policy>;
    std::int64_t resident = 0;
    if (auto s = resident_blocks("chunk_maxima_mma", kernel, traits::threads, traits::shared_bytes, resident);
        !s.ok()) {
      return s;
    }
    return launch(order, "chunk_maxima_mma", kernel, dim3(static_cast<unsigned>((std::min)(units, resident))),
                  traits::threads, traits::shared_bytes, stream, bytes_of(left), stride_of(left), bytes_of(right),
                  stride_of(right), pairs, pair_count, units, maxima);
  }

  static const std::uint8_t* bytes_of(const view& image) noexcept {
    return reinterpret_cast<const std::uint8_t*>(image.data);
  }
  static std::int64_t stride_of(const view& image) noexcept {
    return image.stride * static_cast<int>(sizeof(typename Policy::element));
  }
};

}  // namespace serac::device::detail

#pragma GCC visibility pop
