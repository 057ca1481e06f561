// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Random batches of images and pairs, and their lists made pair by pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <serac/batch.hpp>
#include <serac/host/match.hpp>
#include <serac/options.hpp>
#include <support/descriptors.hpp>
#include <support/random.hpp>

namespace serac::test {

/// Images in one buffer and pairs of them.
template <class T = std::uint8_t>
struct image_batch {
  descriptors<T> all;
  std::vector<image_range> images;
  std::vector<image_pair> pairs;

  batch_view<T> view() const { return view_of(all.view()); }
  /// The same with the descriptors elsewhere.
  batch_view<T> view_of(const descriptor_view<T>& buffer) const {
    return {buffer, images.data(), static_cast<std::int64_t>(images.size()), pairs.data(),
            static_cast<std::int64_t>(pairs.size())};
  }
  descriptor_view<T> image(std::int32_t i) const {
    const image_range& range = images[static_cast<std::size_t>(i)];
    return {all.data.data() + range.first * all.width, range.count, all.width};
  }
  /// The most matches that all lists can have.
  std::int64_t capacity(const match_options& options) const {
    std::int64_t sum = 0;
    for (const image_pair pair : pairs) {
      sum += std::min({images[static_cast<std::size_t>(pair.left)].count, options.max_features, options.max_matches});
    }
    return sum;
  }
};

/// `image_count` images of up to `most` features, one in eight of them empty, that see parts of one scene, with gaps
/// between them in the buffer and some that overlap, and `pair_count` pairs, repeated ones and pairs of an image with
/// itself among them.
template <class T = std::uint8_t>
image_batch<T> random_batch(random_source& random, std::int64_t image_count, std::int64_t most, std::int64_t pair_count,
                            int width = 128) {
  image_batch<T> batch;
  const auto scene = sift_like<T>(random, std::max<std::int64_t>(2 * most, 1), width);
  std::int64_t used = 0;
  for (std::int64_t i = 0; i < image_count; ++i) {
    const std::int64_t count = random.below(8) == 0 ? 0 : random.below(most + 1);
    const bool overlaps = used > 0 && random.below(8) == 0;
    const std::int64_t first = overlaps ? random.below(used) : used + random.below(3);
    batch.images.push_back({first, count});
    used = std::max(used, first + count);
  }
  batch.all = descriptors<T>(used, width);
  for (std::int64_t i = 0; i < used; ++i) {
    batch.all.assign(i, scene, random.below(scene.count));
    for (int n = 0; n < 4; ++n) {  // a little noise
      T& value = batch.all[i][random.below(width)];
      if (value > 0) --value;
    }
  }
  for (std::int64_t p = 0; p < pair_count && image_count > 0; ++p) {
    batch.pairs.push_back(
        {static_cast<std::int32_t>(random.below(image_count)), static_cast<std::int32_t>(random.below(image_count))});
  }
  return batch;
}

/// All lists of a batch, as batch_output lays them out.
struct batch_lists {
  std::vector<match_pair> pairs;
  std::vector<std::int64_t> offsets;
};

/// The lists of a batch, made by host::match pair by pair.
template <class Tie = tie_break::smallest_index, class T>
batch_lists expected_lists(const image_batch<T>& batch, const match_options& options) {
  batch_lists lists{{}, {0}};
  for (const image_pair pair : batch.pairs) {
    const auto left = batch.image(pair.left), right = batch.image(pair.right);
    std::vector<match_pair> list(static_cast<std::size_t>(left.count));
    std::uint32_t count = 0;
    throw_on_error(host::match<Tie>(left, right, options, match_output{list.data(), left.count, &count}));
    lists.pairs.insert(lists.pairs.end(), list.begin(), list.begin() + count);
    lists.offsets.push_back(static_cast<std::int64_t>(lists.pairs.size()));
  }
  return lists;
}

}  // namespace serac::test
