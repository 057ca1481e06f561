// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Many pairs of images in one call: what goes in and where the lists go.
#pragma once

#include <cstdint>

#include <serac/output.hpp>
#include <serac/view.hpp>

namespace serac {

/// One image of a batch: `count` consecutive descriptors of a common buffer, the first of them number `first`. Images
/// may lie anywhere, touch and overlap.
struct image_range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// A pair of images of a batch, by their places in its list of images. Both may be the same image.
struct image_pair {
  std::int32_t left;
  std::int32_t right;

  friend constexpr bool operator==(image_pair a, image_pair b) { return a.left == b.left && a.right == b.right; }
  friend constexpr bool operator!=(image_pair a, image_pair b) { return !(a == b); }
};

/// A non-owning view of images and the pairs of them to match. The lists are host memory and are read before the call
/// returns; the descriptors lie where the entry point works.
template <class T>
struct batch_view {
  descriptor_view<T> descriptors;  ///< of all images
  const image_range* images = nullptr;
  std::int64_t image_count = 0;
  const image_pair* pairs = nullptr;
  std::int64_t pair_count = 0;
};

/// Where `match_batch` writes. The list of pair p is `pairs[offsets[p]]` to `pairs[offsets[p + 1] - 1]`, ascending in
/// `row`, rows and columns counted within their images; lists stand in the order of the pairs, without gaps. Same
/// memory space as the descriptors.
struct batch_output {
  match_pair* pairs = nullptr;
  std::int64_t capacity = 0;  ///< room at `pairs`: at least the sum of min(left count, max_matches) over the pairs
  std::int64_t* offsets = nullptr;  ///< room for pair_count + 1
};

}  // namespace serac
