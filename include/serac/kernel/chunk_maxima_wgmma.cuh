// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pass 1 of the tensor-core matcher by wgmma: chunk maxima of rows and of column groups, at the speed of the int8
/// units.
#pragma once

#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/previous_kernel.cuh>
#include <serac/detail/tma.cuh>
#include <serac/detail/wgmma.cuh>
#include <serac/wgmma_policy.hpp>

namespace serac::kernel {

/// What a block works on next: two neighbouring tiles of columns, one for each consumer, against a segment of rows; or
/// the last tile where their number is odd, and each consumer every other row chunk.
struct wgmma_unit {
  int pair;
  int column_tile;  ///< of the first consumer
  int column_tiles;
  int first_row_tile;
  int row_tiles;  ///< whole runs; 0: nothing left
};

#ifdef SERAC_HAS_WGMMA

SERAC_DEVICE std::int32_t max3(std::int32_t a, std::int32_t b, std::int32_t c) { return __vimax3_s32(a, b, c); }

/// Maximum of the `Count` accumulators of one row (0 or 1) whose columns are e = first, first + 1, ...
/// Count / 2 instructions, one after the other: a tree of them was 1 % slower.
template <int Count, int Registers>
SERAC_DEVICE std::int32_t group_max(const std::int32_t (&sums)[Registers], int first, int row) {
  const auto at = [&](int e) { return sums[e / 2 * 4 + 2 * row + e % 2]; };
  if constexpr (Count == 1) return at(first);
  if constexpr (Count == 2) return max(at(first), at(first + 1));
  if constexpr (Count >= 3) {
    std::int32_t greatest = max3(at(first), at(first + 1), at(first + 2));
#pragma unroll
    for (int i = 3; i + 1 < Count; i += 2) greatest = max3(greatest, at(first + i), at(first + i + 1));
    if constexpr (Count % 2 == 0) greatest = max(greatest, at(first + Count - 1));
    return greatest;
  }
}

/// Joins the maxima of the eight lanes that differ in lane / 4, and shares them out: afterwards maxima[0] up to
/// maxima[shared_groups(Count) - 1] are those of the groups from `first` on. `writes`: no other lane holds the same.
/// All lanes of the warp; 4 to 7 shuffles for four or eight groups, where a reduction of each takes 12 or 24.
template <int Count, int Distance = 16, int Groups>
SERAC_DEVICE void share_groups(std::int32_t (&maxima)[Groups], int& first, bool& writes) {
  const bool upper = threadIdx.x & Distance;
  if constexpr (Count % 2 == 0) {
#pragma unroll
    for (int g = 0; g < Count / 2; ++g) {
      const std::int32_t mine = upper ? maxima[g + Count / 2] : maxima[g];
      const std::int32_t other = upper ? maxima[g] : maxima[g + Count / 2];
      maxima[g] = max(mine, __shfl_xor_sync(0xffffffffu, other, Distance));
    }
    if (upper) first += Count / 2;
    if constexpr (Distance > 4) share_groups<Count / 2, Distance / 2>(maxima, first, writes);
  } else {
#pragma unroll
    for (int g = 0; g < Count; ++g) maxima[g] = max(maxima[g], __shfl_xor_sync(0xffffffffu, maxima[g], Distance));
    writes = writes && !upper;
    if constexpr (Distance > 4) share_groups<Count, Distance / 2>(maxima, first, writes);
  }
}

/// Groups that share_groups leaves each lane.
SERAC_HOST_DEVICE constexpr int shared_groups(int count) {
  for (int distance = 16; distance >= 4; distance /= 2) count = count % 2 == 0 ? count / 2 : count;
  return count;
}

/// The unit of the given number, counted over all pairs.
template <class Traits>
SERAC_DEVICE wgmma_unit unit_of_number(const chunk_pair* pairs, int pair_count, std::int64_t number) {
  const int pair = find_pair(pairs, pair_count, number);
  const chunk_pair& of = pairs[pair];
  const int row_tiles = of.row_stride / Traits::tile_rows;
  const int local = static_cast<int>(number - of.first_unit);
  const int first_row_tile = local % of.segments * of.segment_tiles;
  const int column_tile = local / of.segments * Traits::consumers;
  return {pair, column_tile, min(Traits::consumers, Traits::column_tiles(of) - column_tile), first_row_tile,
          min(of.segment_tiles, row_tiles - first_row_tile)};
}

#endif

/// Row maxima over column chunks and column-group maxima over row chunks of every pair, as chunk_pair lays them out.
///
/// Launch: wgmma_traits<Policy>::threads threads, shared_bytes of dynamic shared memory, one block a multiprocessor.
/// `left_map` is that of the left buffer, with boxes of [tile_rows][swizzle]; `right_maps[p]` that of the right image
/// of pair p, with boxes of [tile_columns][swizzle] (so that nothing of another image counts), both in the swizzle of
/// that width. `next_unit` is 0 at the start; `unit_count` is the number of units of all pairs. `SharedChunks`: column
/// chunks may have several tiles (chunk_tiles > 1); the row maxima are then 0 at the start.
template <class Policy, bool SharedChunks>
__global__ void __launch_bounds__(wgmma_traits<Policy>::threads, 1)
    chunk_maxima_wgmma(const __grid_constant__ CUtensorMap left_map, const CUtensorMap* right_maps,
                       const chunk_pair* pairs, int pair_count, std::int64_t unit_count, unsigned long long* next_unit,
                       chunk_maxima maxima) {
#ifdef SERAC_HAS_WGMMA
  using traits = wgmma_traits<Policy>;
  using element = typename Policy::element;
  using sums = std::int32_t[traits::accumulators];

  // Shared memory.
  extern __shared__ std::uint8_t unaligned[];
  std::uint8_t* const shared = unaligned + (-static_cast<std::uint32_t>(__cvta_generic_to_shared(unaligned)) & 1023);
  std::uint8_t* const rows = shared;                                             // (stages, panels, 64, swizzle)
  std::uint8_t* const columns = rows + traits::stages * traits::row_tile_bytes;  // (2, consumers, panels, N, swizzle)
  struct control {
    detail::copy_barrier rows_full[traits::stages], rows_empty[traits::stages];
    detail::copy_barrier columns_full[2], columns_empty[2];
    detail::copy_barrier unit_full[traits::units], unit_empty[traits::units];
    wgmma_unit unit[traits::units];
  };
  static_assert(sizeof(control) <= 512);
  auto& sync = *reinterpret_cast<control*>(shared + traits::tiles_bytes);

  if (threadIdx.x == 0) {
    for (int s = 0; s < traits::stages; ++s) {
      sync.rows_full[s].init(1);
      sync.rows_empty[s].init(traits::consumers);
    }
    for (int b = 0; b < 2; ++b) {
      sync.columns_full[b].init(1);
      sync.columns_empty[b].init(traits::consumers);
    }
    for (int u = 0; u < traits::units; ++u) {
      sync.unit_full[u].init(1);
      sync.unit_empty[u].init(traits::consumers + 1);
    }
    detail::publish_barriers();
  }
  __syncthreads();
  detail::wait_for_previous_kernel();

  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0);
  if (warpgroup == traits::consumers) {
    detail::lower_registers<traits::producer_registers>();
    if (threadIdx.x == traits::consumers * 128 + 32) {
      // Scheduler: one thread takes units, a few ahead.
      for (int round = 0;; ++round) {
        const int slot = round % traits::units;
        const auto number = static_cast<std::int64_t>(atomicAdd(next_unit, 1ull));
        const wgmma_unit unit = number < unit_count ? unit_of_number<traits>(pairs, pair_count, number) : wgmma_unit{};
        sync.unit_empty[slot].wait(round / traits::units % 2 ^ 1);
        sync.unit[slot] = unit;
        sync.unit_full[slot].arrive();
        if (unit.row_tiles == 0) break;
      }
    } else if (threadIdx.x == traits::consumers * 128) {
      // Producer: one thread keeps the copies going.
      int stage = 0, rows_phase = 0;
      for (int round = 0;; ++round) {
        const int slot = round % traits::units;
        sync.unit_full[slot].wait(round / traits::units % 2);
        const wgmma_unit unit = sync.unit[slot];
        sync.unit_empty[slot].arrive();
        if (unit.row_tiles == 0) break;
        const chunk_pair& pair = pairs[unit.pair];
        const CUtensorMap& right_map = right_maps[unit.pair];
        detail::acquire_map(right_map);
        const int buffer = round % 2;
        sync.columns_empty[buffer].wait(round / 2 % 2 ^ 1);
        sync.columns_full[buffer].arrive_and_expect(traits::consumers * traits::column_tile_bytes);
        for (int c = 0; c < traits::consumers; ++c) {
          std::uint8_t* const tile = columns + (buffer * traits::consumers + c) * traits::column_tile_bytes;
          for (int panel = 0; panel < traits::panels; ++panel) {
            detail::copy_box(tile + panel * traits::tile_columns * traits::swizzle, right_map, panel * traits::swizzle,
                             (unit.column_tile + c % unit.column_tiles) * traits::tile_columns,
                             sync.columns_full[buffer]);
          }
        }
        const int first_row = pair.left_first + unit.first_row_tile * traits::tile_rows;
        for (int t = 0; t < unit.row_tiles; ++t) {
          sync.rows_empty[stage].wait(rows_phase ^ 1);
          sync.rows_full[stage].arrive_and_expect(traits::row_tile_bytes);
          std::uint8_t* const tile = rows + stage * traits::row_tile_bytes;
          for (int panel = 0; panel < traits::panels; ++panel) {
            detail::copy_box(tile + panel * traits::tile_rows * traits::swizzle, left_map, panel * traits::swizzle,
                             first_row + t * traits::tile_rows, sync.rows_full[stage]);
          }
          if (++stage == traits::stages) stage = 0, rows_phase ^= 1;
        }
      }
    }
  } else {
    // Consumers: the products of one tile run while the maxima of the last are taken.
    detail::raise_registers<traits::consumer_registers>();
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32 % 4;
    const bool leader = threadIdx.x % 128 == 0;
    int stage = 0, rows_phase = 0;

    for (int round = 0;; ++round) {
      const int slot = round % traits::units;
      sync.unit_full[slot].wait(round / traits::units % 2);
      const wgmma_unit unit = sync.unit[slot];
      if (unit.row_tiles == 0) break;
      const int buffer = round % 2;
      sync.columns_full[buffer].wait(round / 2 % 2);
      const chunk_pair& pair = pairs[unit.pair];
      const int column_tile = unit.column_tile + warpgroup % unit.column_tiles;

      const std::uint8_t* const column_tile_start =
          columns + (buffer * traits::consumers + warpgroup) * traits::column_tile_bytes;
      const std::uint64_t b = detail::wgmma_descriptor<traits::swizzle>(column_tile_start);

      const auto multiply = [&](sums& out, int stage) {
        const std::uint64_t a = detail::wgmma_descriptor<traits::swizzle>(rows + stage * traits::row_tile_bytes);
        detail::wgmma_fence();
#pragma unroll
        for (int k = 0; k < traits::width; k += 32) {
          const int panel = k / traits::swizzle, byte = k % traits::swizzle;
          detail::wgmma<element, traits::tile_columns>(
              out, a + (panel * traits::tile_rows * traits::swizzle + byte) / 16,
              b + (panel * traits::tile_columns * traits::swizzle + byte) / 16, k > 0);
        }
        detail::wgmma_commit();
      };

      // Lane l with l & 2 == 0 writes the maximum of row 16 * warp + l / 4 + 8 * (l & 1) of each tile.
      const int chunk = column_tile / pair.chunk_tiles;
      std::int32_t* row_out = maxima.rows + pair.row_maxima + std::int64_t{chunk} * pair.row_stride +
                              unit.first_row_tile * traits::tile_rows + warp * 16 + lane / 4 + 8 * (lane & 1);
      const bool writes = (lane & 2) == 0;

      std::int32_t column_max[traits::thread_groups] = {};
      const int group_stride = pair.row_chunks;
      std::int32_t* column_out =
          maxima.columns + pair.column_maxima +
          (std::int64_t{column_tile} * traits::tile_groups + lane % 4 * traits::thread_groups) * group_stride +
          unit.first_row_tile / pair.row_chunk_tiles * 4 + warp;
      const auto write_groups = [&] {
        int first = 0;
        bool alone = true;
        share_groups<traits::thread_groups>(column_max, first, alone);
#pragma unroll
        for (int g = 0; g < shared_groups(traits::thread_groups); ++g) {
          if (alone) column_out[(first + g) * static_cast<std::int64_t>(group_stride)] = column_max[g];
        }
#pragma unroll
        for (int g = 0; g < traits::thread_groups; ++g) column_max[g] = 0;
        column_out += 4;
      };

      const auto take_maxima = [&](const sums& scores, std::int32_t* out) {
        std::int32_t row_max[2] = {0, 0};
#pragma unroll
        for (int g = 0; g < traits::thread_groups; g += 2) {
          std::int32_t of_group[2][2];
#pragma unroll
          for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int row = 0; row < 2; ++row) {
              of_group[i][row] = group_max<traits::group>(scores, (g + i) * traits::group, row);
            }
            column_max[g + i] = max3(column_max[g + i], of_group[i][0], of_group[i][1]);
          }
          row_max[0] = max3(row_max[0], of_group[0][0], of_group[1][0]);
          row_max[1] = max3(row_max[1], of_group[0][1], of_group[1][1]);
        }
        // Four lanes share two rows: odd lanes go on with the second.
        const bool odd = lane & 1;
        std::int32_t mine =
            max(odd ? row_max[1] : row_max[0], __shfl_xor_sync(0xffffffffu, odd ? row_max[0] : row_max[1], 1));
        mine = max(mine, __shfl_xor_sync(0xffffffffu, mine, 2));
        if constexpr (SharedChunks) {
          if (writes) atomicMax(out, mine);
        } else {
          if (writes) *out = mine;
        }
      };

      // Tiles alternate between two sets of accumulators; each is issued before the maxima of the one before are taken.
      // A run of tiles ends with all products done, since ptxas serialises those under way when a loop goes round; the
      // other consumer's products fill the gap. The groups of a row chunk are written behind the first products of the
      // next.
      sums even, odd;
      bool unwritten = false;
      const auto stage_of = [&](int t) { return (stage + t) % traits::stages; };
      const auto phase_of = [&](int t) { return rows_phase ^ (stage + t) / traits::stages % 2; };
      const auto score_run = [&](auto length) {
        constexpr int tiles = decltype(length)::value;
        sync.rows_full[stage_of(0)].wait(phase_of(0));
        multiply(even, stage_of(0));
        if (unwritten) write_groups();
#pragma unroll
        for (int t = 0; t < tiles; ++t) {
          sums& now = t % 2 == 0 ? even : odd;
          sums& next = t % 2 == 0 ? odd : even;
          if (t + 1 < tiles) {
            sync.rows_full[stage_of(t + 1)].wait(phase_of(t + 1));
            multiply(next, stage_of(t + 1));
            detail::wgmma_wait<1>(now);
          } else {
            detail::wgmma_wait<0>(now);
          }
          if (leader) sync.rows_empty[stage_of(t)].arrive();  // products are a warpgroup's: all its warps are done
          take_maxima(now, row_out + t * traits::tile_rows);
        }
      };

      const bool alternating = unit.column_tiles < traits::consumers;
      bool mine = !alternating || warpgroup == 0;  // this row chunk is
      int chunk_left = pair.row_chunk_tiles;
      for (int tiles_left = unit.row_tiles; tiles_left > 0;) {
        const int tiles = min(tiles_left, 2 * traits::run);  // one run or two
        if (mine) {
          if (tiles > traits::run) {
            score_run(detail::constant<2 * traits::run>());
          } else {
            score_run(detail::constant<traits::run>());
          }
        } else {
          if (unwritten) write_groups();
          for (int t = 0; leader && t < tiles; ++t) {
            sync.rows_full[stage_of(t)].wait(phase_of(t));
            sync.rows_empty[stage_of(t)].arrive();
          }
          detail::sync_threads(1 + warpgroup, 128);  // no thread is behind by a phase, nor ahead
        }
        unwritten = false;
        row_out += tiles * traits::tile_rows;
        rows_phase = phase_of(tiles);
        stage = stage_of(tiles);
        tiles_left -= tiles;
        chunk_left -= tiles;
        if (chunk_left == 0 || tiles_left == 0) {
          chunk_left = pair.row_chunk_tiles;
          unwritten = mine;
          if (!mine) column_out += 4;
          if (alternating) mine = !mine;
        }
      }
      if (unwritten) write_groups();
      if (leader) {
        sync.columns_empty[buffer].arrive();
        sync.unit_empty[slot].arrive();
      }
    }
  }
#else
  __trap();  // compiled for an architecture without wgmma; the host never launches it there
#endif
}

}  // namespace serac::kernel
