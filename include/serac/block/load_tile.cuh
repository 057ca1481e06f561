// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A block brings a tile of descriptors into shared memory.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/view.hpp>

namespace serac::block {

/// Starts the copy of bytes [offset, offset + Bytes) of descriptors [first, first + Rows) into `tile`,
/// row-major with `Stride` bytes a row; what lies beyond the view or the descriptor becomes zero, which never matches.
///
/// All `Threads` threads of the block call it. The caller owes copy_async_commit, copy_async_wait and a barrier
/// before the tile is read, and a barrier between its last read and this call. `offset` is a multiple of LoadBytes;
/// the view's data and stride are aligned to LoadBytes.
template <int Rows, int Bytes, int Stride, int LoadBytes, int Threads, class T>
SERAC_DEVICE void load_tile(std::uint8_t* tile, const descriptor_view<T>& view, std::int64_t first, int offset) {
  constexpr int units = Bytes / LoadBytes;  // accesses in a row
#pragma unroll
  for (int i = threadIdx.x; i < Rows * units; i += Threads) {
    const int row = i / units;
    const int byte = i % units * LoadBytes;
    const bool valid = first + row < view.count && offset + byte < view.width;
    const T* source = valid ? view.data + (first + row) * view.stride + offset + byte : view.data;
    detail::copy_async<LoadBytes>(tile + row * Stride + byte, source, valid);
  }
}

}  // namespace serac::block
