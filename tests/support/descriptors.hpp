// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Descriptors that a test owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <serac/view.hpp>

namespace serac::test {

/// An element type and a tie order, to instantiate a test with.
template <class T_, class Tie_>
struct setting {
  using T = T_;
  using Tie = Tie_;
};

/// `count` descriptors of `width` elements in host memory, row-major without gaps.
template <class T = std::uint8_t>
struct descriptors {
  std::int64_t count;
  int width;
  std::vector<T> data;

  descriptors() : descriptors(0) {}
  explicit descriptors(std::int64_t count_, int width_ = 128, T value = {})
      : count(count_), width(width_), data(static_cast<std::size_t>(count_ * width_), value) {}

  T* operator[](std::int64_t row) { return data.data() + row * width; }
  const T* operator[](std::int64_t row) const { return data.data() + row * width; }

  /// Makes row `row` equal to row `other_row` of `other`, which has the same width.
  void assign(std::int64_t row, const descriptors& other, std::int64_t other_row) {
    for (int k = 0; k < width; ++k) (*this)[row][k] = other[other_row][k];
  }

  descriptor_view<T> view() const { return {data.data(), count, width}; }
};

}  // namespace serac::test
