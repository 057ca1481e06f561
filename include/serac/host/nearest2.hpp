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

/// The first fault of two images that are to be matched, if any.
template <class T>
status check_views(const descriptor_view<T>& left, const descriptor_view<T>& right) noexcept {
  static_assert(sizeof(T) == 1, "descriptor elements are bytes, signed or unsigned");
  const int width = left.count > 0 ? left.width : right.width;
  const bool supported = width % 4 == 0 && width >= 4 && width <= 512;
  if (auto s = check_view(left, left_names, supported ? width : 4, 1); !s.ok()) return s;
  return check_view(right, right_names, supported ? width : 4, 1);
}

}  // namespace detail

/// Best score, its index and second best of every row of left x right and, if asked, of every column.
///
/// Any thread; returns when done. Views and output are host memory: output.rows has left.count states, output.columns
/// null or right.count. Both views have the same width, a multiple of 4 from 4 to 512; no alignment is required.
/// `threads` is the most threads that work, 0 for as many as the machine runs at a time; the result does not depend on
/// it, and threads that the system denies are done without. Errors: a fault of an argument, or out_of_memory.
/// Cost: one pass of left.count * right.count * width multiplications, about 5e10 a second and core with AVX2 (a tenth
/// of that or less without); memory of at most 4 MiB, and 0.3 MiB a thread, whatever the counts.
template <class Tie = tie_break::smallest_index, class T>
status nearest2(const descriptor_view<T>& left, const descriptor_view<T>& right, const nearest2_output& output,
                int threads = 0) noexcept {
  if (auto s = detail::check_views(left, right); !s.ok()) return s;
  if (left.count > 0 && output.rows == nullptr) return {errc::null_pointer, "output.rows"};
  if (threads < 0) return {errc::negative_count, "threads"};
  try {
    detail::pass_scratch scratch;
    detail::fill_states<Tie>(left, right, output, threads, scratch);
  } catch (const std::bad_alloc&) {
    return {errc::out_of_memory, "nearest2"};
  }
  return {};
}

}  // namespace serac::host
