// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A block brings a tile of descriptors into shared memory.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/integer.hpp>
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
  constexpr int lanes = detail::power_of_two_below(Bytes / LoadBytes, 32);  // threads that share a row
  constexpr int rows_at_once = Threads / lanes;
  static_assert(Threads % lanes == 0);
  const int thread_row = threadIdx.x / lanes;
  const int thread_byte = threadIdx.x % lanes * LoadBytes;

  const auto* const data = reinterpret_cast<const std::uint8_t*>(view.data);
  const std::int64_t stride = view.stride * static_cast<std::int64_t>(sizeof(T));
  const int width = view.width * static_cast<int>(sizeof(T));
  const std::uint8_t* source = data + (first + thread_row) * stride + offset + thread_byte;
  const std::int64_t rows_left = view.count - first - thread_row;  // from this thread's first row on
  tile += thread_row * Stride + thread_byte;
#pragma unroll
  for (int row = 0; row < Rows; row += rows_at_once) {
    if (Rows % rows_at_once != 0 && row + thread_row >= Rows) break;
#pragma unroll
    for (int byte = 0; byte < Bytes; byte += lanes * LoadBytes) {
      if (Bytes % (lanes * LoadBytes) != 0 && byte + thread_byte >= Bytes) break;
      const bool valid = row < rows_left && offset + thread_byte + byte < width;
      detail::copy_async<LoadBytes>(tile + row * Stride + byte, valid ? source + byte : data, valid);
    }
    source += rows_at_once * stride;
  }
}

}  // namespace serac::block
