// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Carving one block of memory into arrays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace serac::detail {

/// Hands out aligned arrays one after the other. With a null base it only counts, so that the size function and the
/// use of a workspace are the same code.
class workspace_carver {
 public:
  static constexpr std::size_t alignment = 256;

  explicit workspace_carver(void* base) : base_(static_cast<std::uint8_t*>(base)) {}

  template <class T>
  T* take(std::int64_t count) {
    T* array = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + alignment - 1) / alignment * alignment;
    return array;
  }

  std::size_t used() const { return used_; }

 private:
  std::uint8_t* base_;
  std::size_t used_ = 0;
};

}  // namespace serac::detail
