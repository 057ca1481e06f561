// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Policies of the tensor-core path by wgmma and what follows from them.
#pragma once

#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/integer.hpp>
#include <serac/policy.hpp>
#include <serac/score.hpp>

namespace serac {

/// Pass 1 by wgmma (sm_90a). Derive from it and override members by name.
template <int Width, class Element = std::uint8_t>
struct wgmma_policy_for {
  static constexpr match_path path = match_path::wgmma;
  using element = Element;             ///< std::uint8_t or std::int8_t
  static constexpr int width = Width;  ///< bytes in a descriptor: 32, 64, 128 or 256
  /// Columns that a warpgroup scores at a time: 64, 128, 160, 176 or 192.
  static constexpr int tile_columns = Width <= 128 ? 176 : 160;
  static constexpr int stages = Width <= 128 ? 8 : 4;  ///< tiles of 64 rows under way
  /// Fewest of a column chunk, which has whole tiles. A pair is matched in one launch only where it is a single one.
  static constexpr int chunk_columns = 1;
};

struct wgmma_policy : wgmma_policy_for<128> {};

/// Everything that follows from a wgmma policy.
template <class Policy>
struct wgmma_traits {
  using element = typename Policy::element;
  static constexpr int width = Policy::width;
  static constexpr int load_bytes = 16;  // alignment of data and strides
  static constexpr int tile_rows = 64;
  static constexpr int tile_columns = Policy::tile_columns;
  static constexpr int stages = Policy::stages;
  static constexpr int chunk_tiles = detail::ceil_div(Policy::chunk_columns, tile_columns);  // of a chunk, at least

  // Threads: two consumer warpgroups, each with its own tile of columns, and a producer warpgroup.
  static constexpr int consumers = 2;
  static constexpr int threads = 128 * (consumers + 1);
  static constexpr int units = 4;             // taken ahead
  static constexpr int run = 4;               // tiles of rows that a bank of stages holds; a unit has whole runs
  static constexpr int banks = stages / run;  // a unit begins with the first

  static constexpr int accumulators = tile_columns / 2;  // of a thread, for a tile

  // Registers of a thread: consumers have two sets of accumulators and what goes around them, the producer's warpgroup
  // what is left.
  static constexpr int shared_registers = 65536 / threads / 8 * 8;  // where all have as many
  static constexpr int consumer_registers = tile_columns <= 176 ? 208 : 224;
  static constexpr int producer_registers = (consumers + 1) * shared_registers - consumers * consumer_registers;

  // Shared memory, in bytes: rows [stages][panels][tile_rows][swizzle], columns [2][consumers][panels][tile_columns]
  // [swizzle]. A panel is what one swizzled row holds of a descriptor.
  static constexpr int swizzle = width < 128 ? width : 128;
  static constexpr int panels = width / swizzle;
  static constexpr int row_tile_bytes = tile_rows * width;
  static constexpr int column_tile_bytes = tile_columns * width;
  static constexpr int tiles_bytes = stages * row_tile_bytes + 2 * consumers * column_tile_bytes;
  static constexpr int control_bytes = 512;                 // barriers and units
  static constexpr int behind_bytes = row_window * 4 + 32;  // what is done behind the products
  static constexpr int shared_bytes = 1024 + tiles_bytes + control_bytes + behind_bytes;  // from where it is aligned

  static_assert(is_tensor_width(width), "the width is 32, 64, 128 or 256 bytes");
  static_assert(sizeof(element) == 1 && score_traits<element>::has_angle,
                "descriptor elements are bytes, signed or unsigned; wgmma has no products of bits");
  static_assert(tile_columns == 64 || tile_columns == 128 || tile_columns == 160 || tile_columns == 176 ||
                    tile_columns == 192,
                "tile_columns is 64, 128, 160, 176 or 192: two sets of accumulators must fit the registers");
  static_assert(stages == 2 * run || stages == run, "stages is 8 or 4: whole runs of tiles under way");
  static_assert(is_chunk_columns(Policy::chunk_columns), "chunk_columns is 1 to 2^30: whole tiles, an image at most");
  static_assert(shared_bytes <= 227 * 1024, "the tiles must fit 227 KiB of shared memory");

  SERAC_HOST_DEVICE static constexpr int column_tiles(const chunk_pair& pair) {
    return detail::ceil_div(pair.right_count, tile_columns);
  }
  /// Units of pass 1: two tiles of columns against a segment.
  SERAC_HOST_DEVICE static constexpr std::int64_t unit_count(const chunk_pair& pair) {
    return std::int64_t{pair.segments} * detail::ceil_div(column_tiles(pair), consumers);
  }
};

}  // namespace serac
