// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Non-owning views of descriptors.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/element.hpp>

namespace serac {

/// A non-owning view of `count` descriptors of `width` elements each, row-major: descriptor i starts at
/// `data + i * stride`. Host or device memory; the function that takes the view says which.
template <class T>
struct descriptor_view {
  using element = T;

  const T* data = nullptr;
  std::int64_t count = 0;     ///< descriptors
  int width = 128;            ///< elements in a descriptor
  std::int64_t stride = 128;  ///< elements from one descriptor to the next, at least `width`

  constexpr descriptor_view() = default;
  SERAC_HOST_DEVICE constexpr descriptor_view(const T* data_, std::int64_t count_, int width_ = 128)
      : data(data_), count(count_), width(width_), stride(width_) {}
  SERAC_HOST_DEVICE constexpr descriptor_view(const T* data_, std::int64_t count_, int width_, std::int64_t stride_)
      : data(data_), count(count_), width(width_), stride(stride_) {}
};

/// SIFT: 128 unsigned bytes.
using sift_view = descriptor_view<std::uint8_t>;

/// Binary descriptors; the width is in bytes.
using binary_view = descriptor_view<bits8>;

/// Binary descriptors that are stored as bytes (OpenCV's are), `width` each. Any memory; nothing is copied.
SERAC_HOST_DEVICE inline binary_view as_bits(const void* data, std::int64_t count, int width) {
  return {static_cast<const bits8*>(data), count, width};
}
/// The same, `stride` bytes from one to the next.
SERAC_HOST_DEVICE inline binary_view as_bits(const void* data, std::int64_t count, int width, std::int64_t stride) {
  return {static_cast<const bits8*>(data), count, width, stride};
}

/// A view of floats as one of floats that are scored by squared distance. Any memory; nothing is copied.
template <class T>
SERAC_HOST_DEVICE descriptor_view<l2<T>> as_l2(const descriptor_view<T>& view) {
  return {reinterpret_cast<const l2<T>*>(view.data), view.count, view.width, view.stride};
}

}  // namespace serac
