// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Top-2 of every row, and of every column, of two images in host memory.
#pragma once

#include <cstdint>
#include <new>

#include <serac/detail/validate.hpp>
#include <serac/host/fused_top2.hpp>
#include <serac/output.hpp>
#include <serac/status.hpp>
#include <serac/top2.hpp>
#include <serac/view.hpp>

namespace serac::host {

namespace detail {

using namespace ::serac::detail;

/// `width` if the host matches descriptors of as many elements, else a width that it does: whole words, and at most 512
/// elements.
template <class T>
int supported_width(int width) noexcept {
  constexpr int word = 4 / static_cast<int>(sizeof(T));
  return width % word == 0 && width >= word && width <= 512 ? width : word;
}

/// The first fault of two images that are to be matched, if any.
template <class T>
status check_views(const descriptor_view<T>& left, const descriptor_view<T>& right) noexcept {
  const int width = supported_width<T>(left.count > 0 ? left.width : right.width);
  if (auto s = check_view(left, left_names, width, alignof(T)); !s.ok()) return s;
  return check_view(right, right_names, width, alignof(T));
}

/// The first fault of a call of nearest2, or of nearest, if any.
template <class T, class Output>
status check_call(const descriptor_view<T>& left, const descriptor_view<T>& right, const Output& output,
                  int threads) noexcept {
  if (auto s = check_views(left, right); !s.ok()) return s;
  if (left.count > 0 && output.rows == nullptr) return {errc::null_pointer, "output.rows"};
  if (threads < 0) return {errc::negative_count, "threads"};
  return {};
}

}  // namespace detail

/// Best score, its index and second best of every row of left x right and, if asked, of every column.
///
/// Any thread; returns when done. Views and output are host memory: output.rows has left.count states, output.columns
/// null or right.count. Both views have the same width, at most 512 elements and a multiple of 4 bytes; they are
/// aligned as their elements are. `threads` is the most threads that work, 0 for as many as the machine runs at a time;
/// the result does not depend on it, and threads that the system denies are done without. Errors: a fault of an
/// argument, or out_of_memory. Cost: one pass of left.count * right.count * width multiplications, of bytes about 5e10
/// a second and core with AVX2 (a tenth of that or less without); of floats a fraction of that, with AVX2 and FMA, and
/// far less without; memory of at most 4 MiB, and 0.3 MiB a thread, whatever the counts.
template <class Tie = tie_break::smallest_index, class T>
status nearest2(const descriptor_view<T>& left, const descriptor_view<T>& right, const nearest2_output& output,
                int threads = 0) noexcept {
  if (auto s = detail::check_call(left, right, output, threads); !s.ok()) return s;
  try {
    detail::pass_scratch scratch;
    detail::fill_states<Tie>(left, right, output, threads, scratch);
  } catch (const std::bad_alloc&) {
    return {errc::out_of_memory, "nearest2"};
  }
  return {};
}

}  // namespace serac::host
