// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The policies that tests go through beside default_policy, which leaves the choice to the library.
#pragma once

#include <cstdint>

#include <serac/mma_policy.hpp>
#include <serac/policy.hpp>
#include <serac/thread/dot.cuh>
#include <serac/top2.hpp>
#include <serac/wgmma_policy.hpp>

namespace serac::test {

/// The classic path for SIFT.
using sift = policy_for<128>;

// Dot paths.
struct scalar : sift {
  using dot = dot_scalar;
};
struct dp4a : sift {
  using dot = dot_dp4a;
};

// Tiles: ROWSxCOLUMNS.
template <int Rows, int Columns, int ThreadRows = 8, class Base = sift>
struct tile : Base {
  static constexpr int tile_rows = Rows;
  static constexpr int tile_columns = Columns;
  static constexpr int thread_rows = ThreadRows;
};
using tile_16x128 = tile<16, 128, 4>;
using tile_32x32 = tile<32, 32>;  // one column a thread
using tile_32x128 = tile<32, 128>;
using tile_64x256 = tile<64, 256>;
using tile_128x128 = tile<128, 128>;
using tile_48x96 = tile<48, 96, 6>;  // no power of two
using tile_8x64 = tile<8, 64>;       // one warp

// Stages and slices.
struct one_stage : sift {
  static constexpr int stages = 1;
};
template <int Bytes, int Stages = 2>
struct sliced : sift {
  static constexpr int slice = Bytes;
  static constexpr int stages = Stages;
};

// Tie orders and elements.
template <class Base>
struct siftgpu_ties : Base {
  using tie = tie_break::siftgpu;
};
template <class Base>
struct signed_bytes : Base {
  using element = std::int8_t;
};

// Tensor-core paths.
template <int Columns>
struct wgmma_tile : wgmma_policy {
  static constexpr int tile_columns = Columns;
};
using wgmma_192 = wgmma_tile<192>;
using wgmma_128 = wgmma_tile<128>;
using wgmma_64 = wgmma_tile<64>;
struct wgmma_chunks : wgmma_tile<160> {
  static constexpr int chunk_columns = 161;  // two tiles
};
struct mma_64_rows : mma_policy {
  static constexpr int warp_rows = 64;
};
struct mma_chunks : mma_policy {
  static constexpr int chunk_columns = 1;  // a tile
};
template <int Width>
using bits_policy = mma_policy_for<Width, bits8>;

}  // namespace serac::test
