// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The K nearest of every row, and of every column, of two images in host memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>

#include <serac/host/fused_top2.hpp>
#include <serac/host/nearest2.hpp>
#include <serac/neighbors.hpp>
#include <serac/status.hpp>
#include <serac/view.hpp>

namespace serac::host {

namespace detail {

/// The K nearest of all rows. The arguments are valid. Throws std::bad_alloc, and then has written empty lists.
template <int K, class T>
void nearest_rows(const descriptor_view<T>& left, const descriptor_view<T>& right, neighbors<K>* output, int threads,
                  pass_scratch& scratch) {
  std::fill(output, output + left.count, neighbors<K>{});
  if (left.count == 0 || right.count == 0) return;
  const int slices = slicing<T>::slices(left.width);
  for_each_block(
      left, right, worker_count(threads, blocks_of(left.count)), scratch,
      [&](int worker, std::int64_t first_row, int rows, const packed_strip& strip) {
        for_each_score<T>(scratch.workers[static_cast<std::size_t>(worker)].rows.data(), rows, slices, strip,
                          [&](int r, std::int32_t column, std::int32_t score) {
                            neighbors<K>& list = output[first_row + r];  // of columns before this one
                            if (score > list.at[K - 1].score) insert(list, {score, column});
                          });
      },
      [](const packed_strip&) {});
}

/// And of all columns, if there is room for them: the rows of the transposed problem.
template <int K, class T>
void fill_nearest(const descriptor_view<T>& left, const descriptor_view<T>& right, const nearest_output<K>& output,
                  int threads, pass_scratch& scratch) {
  nearest_rows(left, right, output.rows, threads, scratch);
  if (output.columns != nullptr) nearest_rows(right, left, output.columns, threads, scratch);
}

}  // namespace detail

/// The K nearest descriptors of every row of left x right and, if asked, of every column, the nearest first: those of
/// greatest score, of equal scores those of smallest index. K is 1 to 8.
///
/// Any thread; returns when done. Views and output are host memory: output.rows has left.count lists, output.columns
/// null or right.count. Otherwise as nearest2.
/// Cost: a pass over the scores for the rows, and one for the columns; for bytes and bits a few times that of nearest2.
template <int K, class T>
status nearest(const descriptor_view<T>& left, const descriptor_view<T>& right, const nearest_output<K>& output,
               int threads = 0) noexcept {
  if (auto s = detail::check_call(left, right, output, threads); !s.ok()) return s;
  try {
    detail::pass_scratch scratch;
    detail::fill_nearest(left, right, output, threads, scratch);
  } catch (const std::bad_alloc&) {
    return {errc::out_of_memory, "nearest"};
  }
  return {};
}

}  // namespace serac::host
