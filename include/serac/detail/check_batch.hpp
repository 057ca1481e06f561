// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Argument checks of a batch that the host and the device entry points share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <serac/batch.hpp>
#include <serac/detail/validate.hpp>
#include <serac/guided_batch.hpp>
#include <serac/options.hpp>
#include <serac/status.hpp>

namespace serac::detail {

inline constexpr view_names batch_names{"batch.descriptors.data", "batch.descriptors.count", "batch.descriptors.width",
                                        "batch.descriptors.stride"};

/// The longest list that a pair of images can have.
template <class T>
std::int64_t longest_list(const batch_view<T>& batch, image_pair pair, const match_options& options) noexcept {
  return (std::min)({batch.images[pair.left].count, options.max_features, options.max_matches});
}

/// The first fault of a batch, if any; one pass over its images and pairs. Of the buffer only its count is looked at,
/// which may be above the limit of an image: see check_view for the rest.
template <class T>
status check_lists(const batch_view<T>& batch) noexcept {
  if (batch.image_count < 0) return {errc::negative_count, "batch.image_count"};
  if (batch.pair_count < 0) return {errc::negative_count, "batch.pair_count"};
  if (batch.descriptors.count < 0) return {errc::negative_count, batch_names.count};
  if (batch.image_count > 0 && batch.images == nullptr) return {errc::null_pointer, "batch.images"};
  if (batch.pair_count > 0 && batch.pairs == nullptr) return {errc::null_pointer, "batch.pairs"};
  for (std::int64_t i = 0; i < batch.image_count; ++i) {
    const image_range& image = batch.images[i];
    if (image.count < 0) return {errc::negative_count, "batch.images"};
    if (image.count > (std::numeric_limits<std::int32_t>::max)()) return {errc::too_many_features, "batch.images"};
    if (image.first < 0 || image.first > batch.descriptors.count - image.count) {
      return {errc::invalid_option, "batch.images"};
    }
  }
  for (std::int64_t p = 0; p < batch.pair_count; ++p) {
    const std::int32_t images[] = {batch.pairs[p].left, batch.pairs[p].right};
    for (const std::int32_t image : images) {
      if (image < 0 || image >= batch.image_count) return {errc::invalid_option, "batch.pairs"};
    }
  }
  return {};
}

inline constexpr view_names batch_keypoint_names{"batch.keypoints.data", "batch.keypoints.count", "",
                                                 "batch.keypoints.stride"};

/// The first fault of what a guided batch has beside its images, which are valid.
template <class T>
status check_guides(const guided_batch_view<T>& batch) noexcept {
  if (auto s = check_keypoints(batch.keypoints, batch.images.descriptors.count, batch_keypoint_names); !s.ok())
    return s;
  if (batch.images.pair_count > 0 && batch.geometries == nullptr) return {errc::null_pointer, "batch.geometries"};
  for (std::int64_t p = 0; p < batch.images.pair_count; ++p) {
    if (!validate(batch.geometries[p]).ok()) return {errc::invalid_option, "batch.geometries"};
  }
  return {};
}

/// The first fault of a batch's output, if any. The lists of the batch are valid.
template <class T>
status check_output(const batch_output& output, const batch_view<T>& batch, const match_options& options) noexcept {
  if (output.capacity < 0) return {errc::negative_count, "output.capacity"};
  if (output.offsets == nullptr) return {errc::null_pointer, "output.offsets"};
  std::int64_t room = output.capacity;
  for (std::int64_t p = 0; p < batch.pair_count; ++p) {
    const std::int64_t longest = longest_list(batch, batch.pairs[p], options);
    if (longest > room) return {errc::output_too_small, "output.capacity"};
    if (longest > 0 && output.pairs == nullptr) return {errc::null_pointer, "output.pairs"};
    room -= longest;
  }
  return {};
}

}  // namespace serac::detail
