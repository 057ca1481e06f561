// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The two passes of the tensor-core matcher for one pair of images: planning, workspace and launches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <serac/chunk_maxima.hpp>
#include <serac/detail/launch.cuh>
#include <serac/detail/tensor_map.cuh>
#include <serac/detail/workspace.hpp>
#include <serac/device/list.cuh>
#include <serac/kernel/chunk_maxima_wgmma.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/kernel/rescore.cuh>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <serac/tensor_policy.hpp>

namespace serac::kernel {

/// Brings a pair's description to device memory and sets the unit counter to zero. One thread.
template <class Pair>
__global__ void publish_pair(Pair pair, Pair* destination, unsigned long long* next_unit) {
  *destination = pair;
  *next_unit = 0;
}

/// Every state becomes the identity. One thread a state.
template <class State>
__global__ void clear_states(State* states, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) states[i] = State{};
}

/// Its static shared memory tells the host whether code for sm_90a is in the program.
template <int Unused = 0>
__global__ void wgmma_marker(int* out) {
#ifdef SERAC_HAS_WGMMA
  __shared__ int marker[32];
  marker[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  *out = marker[31 - threadIdx.x];
#else
  *out = 0;
#endif
}

}  // namespace serac::kernel

namespace serac::device::detail {

using namespace ::serac::detail;

/// Whether this program can run the wgmma path on the current device. Host; no synchronisation.
inline bool has_wgmma() noexcept {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess || major != 9 ||
      minor != 0) {
    return false;
  }
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, kernel::wgmma_marker<>) == cudaSuccess && attributes.sharedSizeBytes > 0;
}

inline constexpr int most_column_chunks = 64;  ///< of a pair: bounds the row maxima
inline constexpr int most_segments = 16;       ///< of a pair: bounds the column maxima

/// How one pair is cut for the wgmma path on a device of `multiprocessors`.
template <class Traits>
chunk_pair plan_wgmma_pair(std::int64_t left_count, std::int64_t right_count, int multiprocessors) noexcept {
  const int row_tiles =
      round_up(static_cast<int>((left_count + Traits::tile_rows - 1) / Traits::tile_rows), Traits::run);
  const int column_tiles = static_cast<int>((right_count + Traits::tile_columns - 1) / Traits::tile_columns);
  const int column_units = ceil_div(column_tiles, Traits::consumers);

  // The number of segments that keeps the device's slowest block shortest; a unit costs about two tiles to begin and
  // end.
  int best_tiles = row_tiles;
  std::int64_t best_cost = std::numeric_limits<std::int64_t>::max();
  for (int segments = 1; segments <= most_segments; ++segments) {
    const int tiles = round_up(ceil_div(row_tiles, segments), Traits::run);
    const std::int64_t units = std::int64_t{column_units} * ceil_div(row_tiles, tiles);
    const std::int64_t cost = (units + multiprocessors - 1) / multiprocessors * (tiles + 2);
    if (cost < best_cost) best_cost = cost, best_tiles = tiles;
  }

  chunk_pair pair{};
  pair.left_count = static_cast<std::int32_t>(left_count);
  pair.right_count = static_cast<std::int32_t>(right_count);
  pair.chunk_tiles = ceil_div(column_tiles, most_column_chunks);
  pair.column_chunks = ceil_div(column_tiles, pair.chunk_tiles);
  pair.segment_tiles = best_tiles;
  pair.segments = ceil_div(row_tiles, best_tiles);
  pair.row_chunks = pair.segments * Traits::segment_chunks;
  pair.row_stride = row_tiles * Traits::tile_rows;
  return pair;
}

/// What the tensor-core path keeps in its workspace for one pair.
template <class Traits>
struct tensor_scratch {
  chunk_pair* pair;
  unsigned long long* next_unit;
  chunk_maxima maxima;
  std::size_t row_maxima_bytes;
  row_verdicts verdicts;
  std::uint32_t* block_counts;

  tensor_scratch(workspace_carver& carver, std::int64_t left_count, std::int64_t right_count) {
    const chunk_pair plan = plan_wgmma_pair<Traits>(left_count, right_count, 1);
    const std::int64_t row_values = std::int64_t{plan.column_chunks} * plan.row_stride;
    const std::int64_t column_tiles = (right_count + Traits::tile_columns - 1) / Traits::tile_columns;
    const std::int64_t row_chunks =
        std::min<std::int64_t>(plan.row_stride / Traits::tile_rows, most_segments) * Traits::segment_chunks;
    pair = carver.take<chunk_pair>(1);
    next_unit = carver.take<unsigned long long>(1);
    maxima.rows = carver.take<std::int32_t>(row_values);
    maxima.columns = carver.take<std::int32_t>(column_tiles * Traits::tile_groups * row_chunks);
    row_maxima_bytes = static_cast<std::size_t>(row_values) * sizeof(std::int32_t);
    const std::int64_t verdict_rows = (left_count + 15) / 16 * 16;
    verdicts.best = carver.take<std::int32_t>(verdict_rows);
    verdicts.second = carver.take<std::int32_t>(verdict_rows);
    verdicts.chunk = carver.take<std::uint8_t>(verdict_rows);
    verdicts.columns = carver.take<std::uint32_t>(verdict_rows);
    block_counts = carver.take<std::uint32_t>((left_count + kernel::compact_threads - 1) / kernel::compact_threads);
  }
};

/// Passes 1 and 2a for one pair: the maxima, and of every row the best chunk and whether it can match. Both images hold
/// something; `plan` receives how the pair was cut.
template <class Policy, class Acceptance>
status scan_pair(const descriptor_view<typename Policy::element>& left,
                 const descriptor_view<typename Policy::element>& right, const Acceptance& accept,
                 const tensor_scratch<wgmma_traits<Policy>>& scratch, chunk_pair& plan, int& multiprocessors,
                 cudaStream_t stream) noexcept {
  using traits = wgmma_traits<Policy>;
  CUtensorMap left_map, right_map;
  if (auto s = make_tensor_map(left, traits::tile_rows, traits::swizzle, left_map); !s.ok()) return s;
  if (auto s = make_tensor_map(right, traits::tile_columns, traits::swizzle, right_map); !s.ok()) return s;

  multiprocessors = 0;
  if (auto s = multiprocessor_count(multiprocessors); !s.ok()) return s;
  plan = plan_wgmma_pair<traits>(left.count, right.count, multiprocessors);
  const int column_tiles = static_cast<int>((right.count + traits::tile_columns - 1) / traits::tile_columns);
  const std::int64_t units = std::int64_t{ceil_div(column_tiles, traits::consumers)} * plan.segments;

  if (auto s = launch("publish_pair", kernel::publish_pair<chunk_pair>, dim3(1), 1, 0, stream, plan, scratch.pair,
                      scratch.next_unit);
      !s.ok()) {
    return s;
  }
  const auto pass1 =
      plan.chunk_tiles > 1 ? kernel::chunk_maxima_wgmma<Policy, true> : kernel::chunk_maxima_wgmma<Policy, false>;
  if (auto s = grant_shared("chunk_maxima_wgmma", pass1, traits::shared_bytes); !s.ok()) return s;
  if (plan.chunk_tiles > 1) {
    const cudaError_t cleared = cudaMemsetAsync(scratch.maxima.rows, 0, scratch.row_maxima_bytes, stream);
    if (auto s = to_status(cleared, "workspace"); !s.ok()) return s;
  }
  if (auto s = launch("chunk_maxima_wgmma", pass1,
                      dim3(static_cast<unsigned>(std::min<std::int64_t>(units, multiprocessors))), traits::threads,
                      traits::shared_bytes, stream, left_map, right_map, scratch.pair, 1, units, scratch.next_unit,
                      scratch.maxima);
      !s.ok()) {
    return s;
  }
  return launch("scan_rows", kernel::scan_rows<Acceptance>, dim3(blocks_for(left.count, kernel::scan_rows_threads)),
                kernel::scan_rows_threads, 0, stream, scratch.pair, scratch.maxima, accept, scratch.verdicts);
}

/// Blocks that share the rows of each chunk of a single pair, so that it fills a device of `multiprocessors`.
inline unsigned row_splits(std::int64_t rows, int chunks, int multiprocessors) {
  constexpr int blocks_at_a_time = 4;  // on a multiprocessor
  const int splits = ceil_div(blocks_at_a_time * multiprocessors, chunks);
  return static_cast<unsigned>(std::min<std::int64_t>(splits, (rows + 255) / 256));
}

/// The match list of one pair by tensor cores. Arguments as device::match, already checked; both images hold something.
/// `Acceptance` rejects a tied best.
template <class Policy, class Acceptance>
status tensor_match(const descriptor_view<typename Policy::element>& left,
                    const descriptor_view<typename Policy::element>& right, const match_options& options,
                    const Acceptance& accept, const match_output& output, void* workspace,
                    cudaStream_t stream) noexcept {
  using traits = wgmma_traits<Policy>;
  workspace_carver carver(workspace);
  const tensor_scratch<traits> scratch(carver, left.count, right.count);
  chunk_pair plan;
  int multiprocessors = 0;
  if (auto s = scan_pair<Policy>(left, right, accept, scratch, plan, multiprocessors, stream); !s.ok()) return s;

  using judge = kernel::keep_accepted<Acceptance>;
  if (auto s = launch("rescore_rows", kernel::rescore_rows<traits, judge>,
                      dim3(static_cast<unsigned>(plan.column_chunks),
                           row_splits(left.count, plan.column_chunks, multiprocessors), 1),
                      kernel::rescore_threads, 0, stream, scratch.pair, left, right, scratch.verdicts,
                      judge{accept, scratch.verdicts.columns});
      !s.ok()) {
    return s;
  }
  if (options.cross_check) {
    if (auto s = launch(
            "test_columns", kernel::test_columns<traits, Acceptance>,
            dim3(static_cast<unsigned>(plan.row_chunks), row_splits(left.count, plan.row_chunks, multiprocessors), 1),
            kernel::rescore_threads, 0, stream, scratch.pair, left, right, scratch.maxima, accept, scratch.verdicts);
        !s.ok()) {
      return s;
    }
  }
  const unsigned blocks = blocks_for(left.count, kernel::compact_threads);
  if (auto s = launch("count_matches", kernel::count_matches<>, dim3(blocks), kernel::compact_threads, 0, stream,
                      scratch.verdicts.columns, left.count, scratch.block_counts);
      !s.ok()) {
    return s;
  }
  return write_list(scratch.verdicts.columns, left.count, scratch.block_counts, options, output, stream);
}

/// Bytes of workspace of tensor_match and tensor_rows for one pair. Host; pure.
template <class Policy>
std::size_t tensor_workspace(std::int64_t left_count, std::int64_t right_count) noexcept {
  workspace_carver carver(nullptr);
  tensor_scratch<wgmma_traits<Policy>>(carver, left_count, right_count);
  return carver.used();
}

/// The exact top-2 of every row by tensor cores: all rows are rescored. Arguments as device::nearest2.
template <class Policy>
status tensor_rows(const descriptor_view<typename Policy::element>& left,
                   const descriptor_view<typename Policy::element>& right, top2* states, void* workspace,
                   cudaStream_t stream) noexcept {
  using traits = wgmma_traits<Policy>;
  workspace_carver carver(workspace);
  const tensor_scratch<traits> scratch(carver, left.count, right.count);
  chunk_pair plan;
  int multiprocessors = 0;
  if (auto s = scan_pair<Policy>(left, right, kernel::accept_all(), scratch, plan, multiprocessors, stream); !s.ok())
    return s;
  if (auto s = launch("clear_states", kernel::clear_states<top2>, dim3(blocks_for(left.count, 256)), 256, 0, stream,
                      states, left.count);
      !s.ok()) {
    return s;
  }
  return launch(
      "rescore_rows", kernel::rescore_rows<traits, kernel::keep_state>,
      dim3(static_cast<unsigned>(plan.column_chunks), row_splits(left.count, plan.column_chunks, multiprocessors), 1),
      kernel::rescore_threads, 0, stream, scratch.pair, left, right, scratch.verdicts, kernel::keep_state{states});
}

}  // namespace serac::device::detail
