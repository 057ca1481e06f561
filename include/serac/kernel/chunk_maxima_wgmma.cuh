// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Pass 1 of the tensor-core matcher by wgmma: chunk maxima of rows, at the speed of the int8 units.
#pragma once

#include <serac/block/group.cuh>
#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/previous_kernel.cuh>
#include <serac/detail/tma.cuh>
#include <serac/detail/wgmma.cuh>
#include <serac/wgmma_policy.hpp>

namespace serac::kernel {

/// What a block works on next: two neighbouring tiles of columns, one for each consumer, against a segment of rows; or
/// the last tile where their number is odd, and each consumer every other step of rows.
struct wgmma_unit {
  int pair;
  int column_tile;  ///< of the first consumer
  int column_tiles;
  int first_row;               ///< in the left buffer
  int row_tiles;               ///< whole runs; 0: nothing left
  std::int64_t row_maxima[2];  ///< where the maximum of the first row goes, of each consumer
};

/// What the warps that pass 1 leaves idle do meanwhile: nothing. (See scan_behind.)
struct nothing_behind {
  static constexpr bool is_used = false;
};

#ifdef SERAC_HAS_WGMMA

SERAC_DEVICE std::int32_t max3(std::int32_t a, std::int32_t b, std::int32_t c) { return __vimax3_s32(a, b, c); }

/// Maximum of all accumulators of one row (0 or 1), floored at 0. One instruction for two of them, one after the other:
/// a tree of them was 1 % slower.
template <int Registers>
SERAC_DEVICE std::int32_t row_maximum(const std::int32_t (&sums)[Registers], int row) {
  std::int32_t greatest = 0;
#pragma unroll
  for (int e = 0; e < Registers; e += 4) greatest = max3(greatest, sums[e + 2 * row], sums[e + 2 * row + 1]);
  return greatest;
}

/// Unit `local` of a pair, which is number `index` of its wave. Whole segments come first.
template <class Traits>
SERAC_DEVICE wgmma_unit unit_of_pair(const chunk_pair& pair, int index, int local) {
  const int column_tiles = Traits::column_tiles(pair), column_steps = detail::ceil_div(column_tiles, Traits::consumers);
  const int first_row_tile = local / column_steps * pair.segment_tiles;
  wgmma_unit unit;
  unit.pair = index;
  unit.column_tile = local % column_steps * Traits::consumers;
  unit.column_tiles = (min)(Traits::consumers, column_tiles - unit.column_tile);
  unit.first_row = pair.left_first + first_row_tile * Traits::tile_rows;
  unit.row_tiles = (min)(pair.segment_tiles, pair.row_stride / Traits::tile_rows - first_row_tile);
#pragma unroll
  for (int c = 0; c < Traits::consumers; ++c) {
    const int chunk = (unit.column_tile + c % unit.column_tiles) / pair.chunk_tiles;
    unit.row_maxima[c] =
        pair.row_maxima + std::int64_t{chunk} * pair.row_stride + std::int64_t{first_row_tile} * Traits::tile_rows;
  }
  return unit;
}

/// Units of many pairs, each taken by the block that is free first.
template <class Traits>
struct units_of_wave {
  const chunk_pair* pairs;
  int pair_count;
  std::int64_t unit_count;        // of all pairs
  unsigned long long* next_unit;  // 0 at the start
  const CUtensorMap* right_maps;  // of each pair

  /// This block's next unit; without rows when none is left. One thread, with round = 0, 1, ...
  SERAC_DEVICE wgmma_unit take(int) const {
    const auto number = static_cast<std::int64_t>(atomicAdd(next_unit, 1ull));
    if (number >= unit_count) return {};
    const int index = pair_of_unit(pairs, pair_count, number);
    return unit_of_pair<Traits>(pairs[index], index, static_cast<int>(number - pairs[index].first_unit));
  }
  /// The map of a pair's right image. One thread, before its copies.
  SERAC_DEVICE const CUtensorMap& right_map(int pair) const {
    detail::acquire_map(right_maps[pair]);
    return right_maps[pair];
  }
};

/// Units of one pair, dealt out to the blocks in turn.
template <class Traits>
struct units_of_pair {
  const chunk_pair& pair;
  const CUtensorMap& map;  // of its right image

  SERAC_DEVICE wgmma_unit take(int round) const {
    int blocks;  // not gridDim.x, which would be kept for what comes after
    asm volatile("mov.u32 %0, %%nctaid.x;" : "=r"(blocks));
    const std::int64_t number = std::int64_t{round} * blocks + blockIdx.x;
    return number < Traits::unit_count(pair) ? unit_of_pair<Traits>(pair, 0, static_cast<int>(number)) : wgmma_unit{};
  }
  SERAC_DEVICE const CUtensorMap& right_map(int) const { return map; }
};

/// A run of Tiles tiles: `multiply(sums, t)` issues the products of tile t, `finish(sums, t)` takes what became of
/// them. Tiles alternate between two sets of accumulators; each is issued before the maxima of the one before are
/// taken. A run ends with all products done, since ptxas serialises those under way when a loop goes round; the other
/// consumer's products fill the gap. All threads of a warpgroup.
template <int Tiles, int Registers, class Multiply, class Finish>
SERAC_DEVICE void score_run(std::int32_t (&even)[Registers], std::int32_t (&odd)[Registers], Multiply multiply,
                            Finish finish) {
  multiply(even, 0);
#pragma unroll
  for (int t = 0; t < Tiles; ++t) {
    auto& now = t % 2 == 0 ? even : odd;
    if (t + 1 < Tiles) {
      multiply(t % 2 == 0 ? odd : even, t + 1);
      detail::wgmma_wait<1>(now);
    } else {
      detail::wgmma_wait<0>(now);
    }
    finish(now, t);
  }
}

/// Shared memory of this kernel's blocks from where it is aligned as the swizzles need. (The address is rounded up:
/// with an offset from `unaligned`, descriptors of tiles went through registers that are not uniform.)
SERAC_DEVICE std::uint8_t* wgmma_shared() {
  extern __shared__ std::uint8_t unaligned[];
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(unaligned));
  return static_cast<std::uint8_t*>(__cvta_shared_to_generic((address + 1023) & ~1023u));
}

/// Pass 1 of a block: the maxima of the units that `units` gives it (units_of_wave, units_of_pair), while two warps do
/// what there is `behind` (scan_behind, nothing_behind). `shared` is traits::shared_bytes of shared memory from
/// wgmma_shared() on; otherwise see chunk_maxima_wgmma. All threads of the block; its warpgroups end with other numbers
/// of registers than they began with.
template <class Policy, bool SharedChunks, class Units, class Behind>
SERAC_DEVICE void take_chunk_maxima(std::uint8_t* shared, const CUtensorMap& left_map, const Units& units,
                                    std::int32_t* maxima, const Behind& behind) {
  using traits = wgmma_traits<Policy>;
  using element = typename Policy::element;
  using sums = std::int32_t[traits::accumulators];

  int thread = static_cast<int>(threadIdx.x);
  asm volatile("" : "+r"(thread));  // what follows from it is not kept for what comes after

  std::uint8_t* const rows = shared;                                             // (stages, panels, 64, swizzle)
  std::uint8_t* const columns = rows + traits::stages * traits::row_tile_bytes;  // (2, consumers, panels, N, swizzle)
  struct control {
    detail::copy_barrier rows_full[traits::stages], rows_empty[traits::stages];
    detail::copy_barrier columns_full[2], columns_empty[2];
    detail::copy_barrier unit_full[traits::units], unit_empty[traits::units];
    wgmma_unit unit[traits::units];
    int pair[traits::units + 1];  // of the latest units
  };
  static_assert(sizeof(control) <= traits::control_bytes);
  auto& sync = *reinterpret_cast<control*>(shared + traits::tiles_bytes);

  if (thread == 0) {
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
      sync.unit_empty[u].init(traits::consumers * 128 + 1);  // all who read it
    }
    detail::publish_barriers();
  }
  __syncthreads();
  detail::wait_for_previous_kernel();

  const auto run_behind = [&](int number, std::uint8_t* room) {
    if constexpr (Behind::is_used) {
      using group = block::some_warps<64>;
      using storage = typename Behind::template storage<group>;
      static_assert(sizeof(storage) <= traits::behind_bytes && sizeof(storage) <= traits::column_tile_bytes);
      behind.template run<traits>(group{number * group::threads, 1 + traits::consumers + number},
                                  *reinterpret_cast<storage*>(room));
    }
  };

  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(thread / 128), 0);
  if (warpgroup == traits::consumers) {
    detail::lower_registers<traits::producer_registers>();
    if (thread == traits::consumers * 128 + 32) {
      // Scheduler: one thread takes units, a few ahead, and tells which are done.
      const auto wait_for_slot = [&](int round) {
        sync.unit_empty[round % traits::units].wait(round / traits::units % 2 ^ 1);
        if constexpr (Behind::is_used) {
          // All consumers have begun the unit that was there, so that the one before is done.
          constexpr int since = traits::units + 1;
          if (round >= since) behind.unit_done(sync.pair[round % since]);
        }
      };
      int round = 0;
      for (;; ++round) {
        const int slot = round % traits::units;
        const wgmma_unit unit = units.take(round);
        wait_for_slot(round);
        sync.unit[slot] = unit;
        sync.pair[round % (traits::units + 1)] = unit.pair;
        sync.unit_full[slot].arrive();
        if (unit.row_tiles == 0) break;
      }
      if constexpr (Behind::is_used) {
        for (int last = round + traits::units; round < last;) wait_for_slot(++round);
      }
    } else if (thread == traits::consumers * 128) {
      // Producer: one thread keeps the copies going.
      unsigned phases = 0;  // of the banks of row tiles, a bit each
      for (int round = 0;; ++round) {
        const int slot = round % traits::units;
        sync.unit_full[slot].wait(round / traits::units % 2);
        const wgmma_unit unit = sync.unit[slot];
        sync.unit_empty[slot].arrive();
        if (unit.row_tiles == 0) break;
        const CUtensorMap& right_map = units.right_map(unit.pair);
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
        for (int t = 0; t < unit.row_tiles; ++t) {
          const int stage = t % traits::stages;
          sync.rows_empty[stage].wait(static_cast<int>(phases >> stage / traits::run & 1) ^ 1);
          sync.rows_full[stage].arrive_and_expect(traits::row_tile_bytes);
          std::uint8_t* const tile = rows + stage * traits::row_tile_bytes;
          for (int panel = 0; panel < traits::panels; ++panel) {
            detail::copy_box(tile + panel * traits::tile_rows * traits::swizzle, left_map, panel * traits::swizzle,
                             unit.first_row + t * traits::tile_rows, sync.rows_full[stage]);
          }
          if (t % traits::run == traits::run - 1) phases ^= 1u << stage / traits::run;
        }
      }
    }
    if constexpr (Behind::is_used) {  // by the two warps that have nothing to do
      const int number = thread / 64;
      if (number > 2 * traits::consumers) run_behind(number, shared + traits::tiles_bytes + traits::control_bytes);
    }
  } else {
    // Consumers: the products of one tile run while the maxima of the last are taken.
    detail::raise_registers<traits::consumer_registers>();
    const int lane = thread % 32;
    const int warp = thread / 32 % 4;
    const bool leader = thread % 128 == 0;
    const detail::wgmma_tile<traits::swizzle> row_tile(rows);
    unsigned phases = 0;  // as the producer's

    for (int round = 0;; ++round) {
      const int slot = round % traits::units;
      sync.unit_full[slot].wait(round / traits::units % 2);
      const int row_tiles = sync.unit[slot].row_tiles, column_tiles = sync.unit[slot].column_tiles;
      // Lane l with l & 2 == 0 writes the maximum of row 16 * warp + l / 4 + 8 * (l & 1) of each tile.
      std::int32_t* out = maxima + sync.unit[slot].row_maxima[warpgroup] + warp * 16 + lane / 4 + 8 * (lane & 1);
      const bool writes = (lane & 2) == 0;
      sync.unit_empty[slot].arrive();
      if (row_tiles == 0) break;
      const int buffer = round % 2;
      sync.columns_full[buffer].wait(round / 2 % 2);

      // (Inlined even where nothing is optimised: device code that is linked may call nothing with so many registers.)
      const detail::wgmma_tile<traits::swizzle> column_tile(columns + (buffer * traits::consumers + warpgroup) *
                                                                          traits::column_tile_bytes);
      const auto stage_of = [](int t) { return t % traits::stages; };
      const auto phase_of = [&](int t) {
        return static_cast<int>(phases >> stage_of(t) / traits::run & 1) ^ t / traits::stages % 2;
      };
      const auto multiply = [&](sums & out, int t) __attribute__((always_inline)) {
        const int stage = stage_of(t);
        sync.rows_full[stage].wait(phase_of(t));
        detail::wgmma_fence();
#pragma unroll
        for (int k = 0; k < traits::width; k += 32) {
          const int panel = k / traits::swizzle, byte = k % traits::swizzle;
          detail::wgmma<element, traits::tile_columns>(
              out, row_tile.at(stage * traits::row_tile_bytes + panel * traits::tile_rows * traits::swizzle + byte),
              column_tile.at(panel * traits::tile_columns * traits::swizzle + byte), k > 0);
        }
        detail::wgmma_commit();
      };

      const auto take_maxima = [&](const sums& scores, int t) __attribute__((always_inline)) {
        if (leader) sync.rows_empty[stage_of(t)].arrive();  // products are a warpgroup's: all its warps are done
        const std::int32_t row_max[2] = {row_maximum(scores, 0), row_maximum(scores, 1)};
        // Four lanes share two rows: odd lanes go on with the second.
        const bool odd = lane & 1;
        std::int32_t mine =
            (max)(odd ? row_max[1] : row_max[0], __shfl_xor_sync(0xffffffffu, odd ? row_max[0] : row_max[1], 1));
        mine = (max)(mine, __shfl_xor_sync(0xffffffffu, mine, 2));
        if constexpr (SharedChunks) {
          if (writes) atomicMax(out + t * traits::tile_rows, mine);
        } else {
          if (writes) out[t * traits::tile_rows] = mine;
        }
      };

      sums even, odd;
      bool mine = column_tiles == traits::consumers || warpgroup == 0;  // this step is
      for (int tiles_left = row_tiles; tiles_left > 0;) {
        const int tiles = (min)(tiles_left, 2 * traits::run);  // a step: one run or two
        if (mine) {
          if (tiles > traits::run) {
            score_run<2 * traits::run>(even, odd, multiply, take_maxima);
          } else {
            score_run<traits::run>(even, odd, multiply, take_maxima);
          }
        } else {
          for (int t = 0; leader && t < tiles; ++t) {
            sync.rows_full[stage_of(t)].wait(phase_of(t));
            sync.rows_empty[stage_of(t)].arrive();
          }
          block::some_warps<128>{128 * warpgroup, 1 + warpgroup}.sync();  // no thread is behind by a phase, nor ahead
        }
        if (column_tiles < traits::consumers) mine = !mine;
        out += tiles * traits::tile_rows;
        phases ^= 1;
        if (tiles > traits::run) phases ^= 1u << 1 % traits::banks;
        tiles_left -= tiles;
      }
      if (leader) sync.columns_empty[buffer].arrive();
    }
    if constexpr (Behind::is_used) {
      // When all is done. Nothing used above is kept for what comes here, and the number of registers changes: else
      // ptxas keeps descriptors of tiles in registers that are not uniform.
      detail::lower_registers<traits::shared_registers>();
      int number;
      asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
      number /= 64;
      block::some_warps<128>{128 * (number / 2), 1 + number / 2}.sync();  // this consumer's tiles of columns are free
      const int tile = number % 2 * traits::consumers + number / 2;
      run_behind(number, wgmma_shared() + traits::stages * traits::row_tile_bytes + tile * traits::column_tile_bytes);
    }
  }
}

/// After take_chunk_maxima: as many registers for every thread as the kernel began with. All threads of the block.
template <class Traits>
SERAC_DEVICE void share_registers() {
  if (threadIdx.x < Traits::consumers * 128) {
    detail::lower_registers<Traits::shared_registers>();
  } else {
    detail::raise_registers<Traits::shared_registers>();
  }
}

#endif

/// Row maxima over the column chunks of every pair, as chunk_pair lays them out.
///
/// Launch: wgmma_traits<Policy>::threads threads, shared_bytes of dynamic shared memory, one block a multiprocessor.
/// `left_map` is that of the left buffer, with boxes of [tile_rows][swizzle]; `right_maps[p]` that of the right image
/// of pair p, with boxes of [tile_columns][swizzle] (so that nothing of another image counts), both in the swizzle of
/// that width. `next_unit` is 0 at the start; `unit_count` is the number of units of all pairs. `SharedChunks`: column
/// chunks may have several tiles (chunk_tiles > 1); the maxima are then 0 at the start. `behind` is done meanwhile.
template <class Policy, bool SharedChunks, class Behind>
__global__ void __launch_bounds__(wgmma_traits<Policy>::threads, 1)
    chunk_maxima_wgmma(const SERAC_GRID_CONSTANT CUtensorMap left_map, const CUtensorMap* right_maps,
                       const chunk_pair* pairs, int pair_count, std::int64_t unit_count, unsigned long long* next_unit,
                       std::int32_t* maxima, const SERAC_GRID_CONSTANT Behind behind) {
#ifdef SERAC_HAS_WGMMA
  const units_of_wave<wgmma_traits<Policy>> units{pairs, pair_count, unit_count, next_unit, right_maps};
  take_chunk_maxima<Policy, SharedChunks>(wgmma_shared(), left_map, units, maxima, behind);
#else
  __trap();  // compiled for an architecture without wgmma; the host never launches it there
#endif
}

}  // namespace serac::kernel
