// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Argument checks that the host and the device entry points share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <serac/admissible.hpp>
#include <serac/geometry.hpp>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <serac/status.hpp>
#include <serac/view.hpp>

namespace serac::detail {

/// How the caller spells the parts of one view.
struct view_names {
  const char* data;
  const char* count;
  const char* width;
  const char* stride;
};
inline constexpr view_names left_names{"left.data", "left.count", "left.width", "left.stride"};
inline constexpr view_names right_names{"right.data", "right.count", "right.width", "right.stride"};
inline constexpr view_names left_keypoint_names{"admissible.left.data", "admissible.left.count", "",
                                                "admissible.left.stride"};
inline constexpr view_names right_keypoint_names{"admissible.right.data", "admissible.right.count", "",
                                                 "admissible.right.stride"};

inline bool is_aligned(const void* pointer, std::size_t alignment) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

/// The first fault of a view, if any. An empty view may have any pointer, width and stride.
template <class T>
status check_view(const descriptor_view<T>& view, const view_names& names, int width, int alignment) noexcept {
  if (view.count < 0) return {errc::negative_count, names.count};
  if (view.count > (std::numeric_limits<std::int32_t>::max)()) return {errc::too_many_features, names.count};
  if (view.count == 0) return {};
  if (view.data == nullptr) return {errc::null_pointer, names.data};
  if (view.width != width) return {errc::unsupported_width, names.width};
  if (view.stride < width) return {errc::invalid_stride, names.stride};
  if (!is_aligned(view.data, alignment)) return {errc::misaligned_pointer, names.data};
  if (view.stride * static_cast<std::int64_t>(sizeof(T)) % alignment != 0) {
    return {errc::misaligned_pointer, names.stride};
  }
  return {};
}

/// The first fault of the locations of an image with `count` features, if any. The names are of keypoints.
inline status check_keypoints(const keypoint_view& keypoints, std::int64_t count, const view_names& names) noexcept {
  if (keypoints.count != count) return {errc::count_mismatch, names.count};
  if (count == 0) return {};
  if (keypoints.data == nullptr) return {errc::null_pointer, names.data};
  if (keypoints.stride < 2) return {errc::invalid_option, names.stride};
  if (!is_aligned(keypoints.data, alignof(float))) return {errc::misaligned_pointer, names.data};
  return {};
}

/// The first fault of what a guided match of two images is told beside the images, if any. A callable of the caller's
/// has none.
template <class Admissible>
status check_admissible(const Admissible&, std::int64_t, std::int64_t) noexcept {
  return {};
}
template <class Constraint>
status check_admissible(const guided_by<Constraint>& guide, std::int64_t left_count,
                        std::int64_t right_count) noexcept {
  if (auto s = check_keypoints(guide.left, left_count, left_keypoint_names); !s.ok()) return s;
  if (auto s = check_keypoints(guide.right, right_count, right_keypoint_names); !s.ok()) return s;
  return validate(two_view_geometry(guide.geometry));
}

/// The first fault of a match's output, if any.
inline status check_output(const match_output& output, std::int64_t rows, const match_options& options) noexcept {
  if (output.capacity < 0) return {errc::negative_count, "output.capacity"};
  if (output.count == nullptr) return {errc::null_pointer, "output.count"};
  const std::int64_t longest = (std::min)(rows, options.max_matches);
  if (longest > output.capacity) return {errc::output_too_small, "output.capacity"};
  if (longest > 0 && output.pairs == nullptr) return {errc::null_pointer, "output.pairs"};
  return {};
}

/// The features of a view that the options let a match look at.
template <class T>
descriptor_view<T> capped(descriptor_view<T> view, const match_options& options) noexcept {
  view.count = (std::min)(view.count, options.max_features);
  return view;
}

}  // namespace serac::detail
