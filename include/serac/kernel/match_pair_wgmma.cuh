// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Both passes of the tensor-core matcher for one pair of images in one launch.
#pragma once

#include <serac/kernel/chunk_maxima_wgmma.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/kernel/rescore.cuh>
#include <serac/kernel/scan_rows.cuh>

#ifdef SERAC_HAS_WGMMA
#include <cooperative_groups.h>
#endif

namespace serac::kernel {

inline constexpr int blocks_of_chunk = 2;  ///< that can share the work on a column chunk, where there are as many

/// What the one-launch matcher works on; see chunk_maxima_wgmma and the kernels of pass 2.
template <class Policy>
struct pair_problem {
  CUtensorMap left_map, right_map;
  chunk_pair pair;  ///< chunk_tiles is 1
  descriptor_view<typename Policy::element> left, right;
  std::int32_t* maxima;
  row_verdicts verdicts;
};

#ifdef SERAC_HAS_WGMMA

/// The match list of one pair: both passes, one after the other, with the blocks in step: `grid.sync()` waits for all
/// of them. As match_pair_wgmma, with its launch. All threads of all blocks.
template <class Policy, class Grid, class Acceptance>
SERAC_DEVICE void match_pair(const Grid& grid, const pair_problem<Policy>& problem, const Acceptance& accept,
                             bool cross_check, std::uint32_t most, const one_list& list) {
  using traits = wgmma_traits<Policy>;
  constexpr int threads = traits::threads;
  const chunk_pair& pair = problem.pair;
  const row_verdicts& verdicts = problem.verdicts;
  const auto block = static_cast<int>(blockIdx.x);
  std::uint8_t* const shared = wgmma_shared();

  if (block == 0 && threadIdx.x == 0) {
    *verdicts.candidate_count = 0;
    *verdicts.matched_count = 0;
    *verdicts.taken_back = 0;
  }
  take_chunk_maxima<Policy, false>(shared, problem.left_map, units_of_pair<traits>{pair, problem.right_map},
                                   problem.maxima, nothing_behind{});
  share_registers<traits>();
  grid.sync();
  const auto blocks = static_cast<int>(gridDim.x);

  using scan_group = block::whole_block<threads>;
  auto& scanning = *reinterpret_cast<scan_storage<scan_group>*>(shared);
  for (int window = block; window < row_windows(pair.left_count); window += blocks) {
    scan_window(scan_group(), scanning, pair, 0, window, problem.maxima, accept, verdicts);
    __syncthreads();
  }
  grid.sync();
  if (*verdicts.candidate_count == 0) {
    if (block == 0 && threadIdx.x == 0) list.end(0, 0);
    return;
  }

  const int parts = (max)(1, blocks / pair.column_chunks), tasks = pair.column_chunks * parts;
  auto& rescoring = *reinterpret_cast<rescore_storage<threads, block::rescore_splits<threads, 4>>*>(shared);
  for (int task = block; task < tasks; task += blocks) {
    rescore_chunk<traits>(rescoring, pair, 0, task % pair.column_chunks, task / pair.column_chunks, parts, problem.left,
                          problem.right, verdicts, keep_accepted<Acceptance>{accept, verdicts});
  }
  grid.sync();
  if (cross_check) {
    auto& testing = *reinterpret_cast<test_storage<threads>*>(shared);
    auto& chunks = *reinterpret_cast<matched_chunks<threads>*>(shared + sizeof(test_storage<threads>));
    static_assert(sizeof(test_storage<threads>) + sizeof(matched_chunks<threads>) <= traits::tiles_bytes);
    const int found = find_matched_chunks(chunks, pair, verdicts);
    const int parts = (max)(1, blocks / (max)(1, found));
    for (int task = block; task < found * parts; task += blocks) {
      test_chunk<traits>(testing, pair, 0, chunks.chunk[task % found], task / found, parts, problem.left, problem.right,
                         problem.maxima, accept, verdicts);
      __syncthreads();
    }
    grid.sync();
  }

  auto& listing = *reinterpret_cast<list_storage<threads>*>(shared);
  const one_pair_rows rows{pair.left_count};
  for (int window = block; window < detail::ceil_div(pair.left_count, 4 * threads); window += blocks) {
    write_window(listing, verdicts.columns, rows, 0, window, most, list);
    __syncthreads();
  }
}

#endif

/// The match list of one pair.
///
/// Launch: cooperative; wgmma_traits<Policy>::threads threads, shared_bytes of dynamic shared memory, at most one block
/// a multiprocessor. `most` matches are written at most. Nothing in the workspace need be set.
template <class Policy, class Acceptance>
__global__ void __launch_bounds__(wgmma_traits<Policy>::threads, 1)
    match_pair_wgmma(const SERAC_GRID_CONSTANT pair_problem<Policy> problem,
                     const SERAC_GRID_CONSTANT Acceptance accept, bool cross_check, std::uint32_t most, one_list list) {
#ifdef SERAC_HAS_WGMMA
  match_pair(cooperative_groups::this_grid(), problem, accept, cross_check, most, list);
#else
  __trap();  // compiled for an architecture without wgmma; the host never launches it there
#endif
}

}  // namespace serac::kernel
