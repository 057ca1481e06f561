// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Policies of the tensor-core path by mma.sync and what follows from them.
#pragma once

#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/integer.hpp>
#include <serac/policy.hpp>
#include <serac/score.hpp>

namespace serac {

namespace detail {

/// Members of an mma policy that are best together.
struct mma_shape {
  int warp_rows, warps, tile_columns, chunk_columns, unroll, min_blocks;
  bool load_ahead;
};

/// The fastest shapes found on an H200.
template <int Width, class Element>
SERAC_HOST_DEVICE constexpr mma_shape best_mma_shape() {
  if (is_binary<Element>) return {Width == 32 ? 80 : 4096 / Width, 4, 128, 512, 2, 3, false};
  if (Width < 128) return {80, 4, 128, 512, 2, 3, false};
  if (Width == 128) return {80, 4, 128, 512, 8, 3, false};
  if (Width == 256 && score_traits<Element>::is_float) return {64, 8, 192, 384, 1, 1, true};
  if (Width == 256) return {32, 4, 128, 512, 2, 3, false};
  return {32, 4, 64, 512, 2, 2, false};
}

}  // namespace detail

/// Pass 1 by mma.sync (sm_80 and later; of bits up to sm_90). Derive from it and override members by name.
template <int Width, class Element = std::uint8_t>
struct mma_policy_for {
  static constexpr match_path path = match_path::mma;
  using element = Element;             ///< std::uint8_t, std::int8_t, bits8, float16 or bfloat16
  static constexpr int width = Width;  ///< bytes in a descriptor: 32, 64, 128 or 256, of floats 512 too
  static constexpr detail::mma_shape best = detail::best_mma_shape<Width, Element>();
  /// Rows that a warp keeps in registers, a multiple of 16; of bits, it keeps their complements too.
  static constexpr int warp_rows = best.warp_rows;
  static constexpr int warps = best.warps;  ///< warps in a block, all against the same columns
  /// Columns in shared memory at a time: a multiple of 16.
  static constexpr int tile_columns = best.tile_columns;
  static constexpr int unroll = best.unroll;  ///< pairs of slices of 8 columns that the code spells out
  /// Whether columns are loaded as soon as their registers are free, during the last products of those before; if not,
  /// before their own products, while other warps of the SM go on.
  static constexpr bool load_ahead = best.load_ahead;
  static constexpr int min_blocks = best.min_blocks;        ///< blocks that an SM must hold (caps registers)
  static constexpr int chunk_columns = best.chunk_columns;  ///< fewest of a column chunk, which has whole tiles
};

struct mma_policy : mma_policy_for<128> {};

/// Everything that follows from an mma policy.
template <class Policy>
struct mma_traits {
  using element = typename Policy::element;
  static constexpr int width = Policy::width;
  static constexpr int warp_rows = Policy::warp_rows;
  static constexpr int warps = Policy::warps;
  static constexpr int threads = 32 * warps;
  static constexpr int min_blocks = Policy::min_blocks;
  static constexpr int unroll = Policy::unroll;
  static constexpr bool load_ahead = Policy::load_ahead;
  static constexpr int tile_rows = warps * warp_rows;
  static constexpr int tile_columns = Policy::tile_columns;
  static constexpr int chunk_tiles = detail::ceil_div(Policy::chunk_columns, tile_columns);  // of a chunk, at least

  // Fragments. Lane 4 * r + q holds, of 16 rows, rows r and r + 8; of a slice of 8 columns, the descriptor of column r;
  // of their scores, columns 2 * q and 2 * q + 1. Of every descriptor it holds the pieces 4 * p + q, p < pieces, of
  // `piece_bytes` each. Step k of the product takes words 2 * (k % piece_steps) and the next of piece k / piece_steps:
  // a permutation of the words of a descriptor, the same for rows and columns, so that a piece is one plain load.
  static constexpr int row_blocks = warp_rows / 16;
  static constexpr int slices = tile_columns / 8;
  static constexpr int steps = width / 32;
  static constexpr int piece_bytes = width < 64 ? 8 : 16;
  static constexpr int piece_steps = piece_bytes / 8;
  static constexpr int pieces = width / (4 * piece_bytes);
  static constexpr int load_bytes = 16;  // alignment of data and strides

  // Shared memory, in bytes: columns [2][tile_columns][width], where the 16-byte pieces of a descriptor are swizzled.
  static constexpr int stage_bytes = tile_columns * width;
  static constexpr int shared_bytes = 2 * stage_bytes;

  /// Where byte `byte` of column `column` of a tile lies in its stage. A load of 16 bytes is served eight lanes at a
  /// time, columns r and r + 1 (r even) of pieces 4 * p to 4 * p + 3: from 128 bytes on these 64-byte halves would meet
  /// in the same banks, so odd columns swap theirs. Below, such a load (or one of 8 bytes by sixteen lanes) covers 128
  /// consecutive bytes. A copy writes whole 128-byte lines. None meets a bank conflict.
  SERAC_HOST_DEVICE static constexpr int shared_offset(int column, int byte) {
    return column * width + (width < 128 ? byte : byte ^ column % 2 * 64);
  }

  static_assert(
      has_mma<element>(width),
      "elements are bytes, bits8, float16 or bfloat16; the width is 32, 64, 128 or 256 bytes, of floats 512 too");
  static_assert(warp_rows % 16 == 0 && warp_rows >= 16, "warp_rows is a multiple of 16: the rows of one product");
  static_assert(warp_rows * width <= 128 * 128, "the rows of a warp must fit its registers: 16 KiB at most");
  static_assert(warps % 4 == 0 && warps >= 4 && warps <= 32, "a block has 4, 8, ... 32 warps");
  static_assert(tile_columns % 16 == 0 && tile_columns >= 16, "tile_columns is a multiple of 16: two slices at a time");
  static_assert(stage_bytes % (16 * threads) == 0,
                "the threads share the copy of a tile of columns evenly, 16 bytes each");
  static_assert(unroll >= 1, "at least one pair of slices is spelled out");
  static_assert(min_blocks >= 1, "an SM holds at least one block");
  static_assert(is_chunk_columns(Policy::chunk_columns), "chunk_columns is 1 to 2^30: whole tiles, an image at most");
  static_assert(shared_bytes <= 227 * 1024, "two tiles of columns must fit 227 KiB of shared memory");

  // A unit of pass 1 is one tile of columns against one tile of rows.
  SERAC_HOST_DEVICE static constexpr int column_tiles(const chunk_pair& pair) {
    return detail::ceil_div(pair.right_count, tile_columns);
  }
  SERAC_HOST_DEVICE static constexpr std::int64_t unit_count(const chunk_pair& pair) {
    return std::int64_t{pair.segments} * column_tiles(pair);
  }
};

}  // namespace serac
