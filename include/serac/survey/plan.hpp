// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// In which order pairs are matched, and in which batches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <serac/batch.hpp>
#include <serac/options.hpp>

namespace serac::survey {

/// The sizes of the images of a survey.
struct image_sizes {
  std::vector<std::int64_t> counts;  ///< features of each image, as many as are looked at
  match_options options;

  std::int64_t of(std::int32_t image) const { return counts[static_cast<std::size_t>(image)]; }
  std::int64_t longest_list(image_pair pair) const { return (std::min)(of(pair.left), options.max_matches); }
  std::int64_t scores(image_pair pair) const { return of(pair.left) * of(pair.right); }
};

/// What a batch may be at most. One pair is a batch, whatever it is.
struct batch_limits {
  std::int64_t descriptors;  ///< of its images, each counted once
  std::int64_t matches;      ///< that its lists can have
  std::int64_t pairs;
  std::int64_t scores;
};

/// The indices of the pairs of a batch.
using batch_indices = std::vector<std::int32_t>;

namespace detail {

/// The indices of all pairs, in an order that uses images again while they are there: the images are cut into groups of
/// half a batch, and the pairs are taken square by square of two groups, to and fro. As they come, if all fit.
inline batch_indices matching_order(const std::vector<image_pair>& pairs, const image_sizes& sizes,
                                    std::int64_t descriptors) {
  batch_indices order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  constexpr int unused = -1;
  std::vector<int> groups(sizes.counts.size(), unused);  // [image]
  for (const image_pair pair : pairs) {
    groups[static_cast<std::size_t>(pair.left)] = groups[static_cast<std::size_t>(pair.right)] = 0;
  }
  std::int64_t in_all = 0, in_group = 0;
  int group = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == unused) continue;
    const std::int64_t count = sizes.counts[i];
    if (in_group > 0 && in_group + count > descriptors / 2) ++group, in_group = 0;
    groups[i] = group;
    in_group += count;
    in_all += count;
  }
  if (in_all <= descriptors) return order;

  std::vector<std::pair<int, int>> keys(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto [low, high] = std::minmax(
        {groups[static_cast<std::size_t>(pairs[p].left)], groups[static_cast<std::size_t>(pairs[p].right)]});
    keys[p] = {low, low % 2 == 0 ? high : -high};
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace detail

/// Cuts pairs into batches, in an order that uses images again. Host; n log n in the pairs and linear in the images of
/// the survey; linear in both if the images fit together.
inline std::vector<batch_indices> plan_batches(const std::vector<image_pair>& pairs, const image_sizes& sizes,
                                               const batch_limits& limits) {
  std::vector<std::size_t> last_batch(sizes.counts.size(), 0);  // that has the image, counted from 1
  std::vector<batch_indices> batches;
  batch_limits used{};
  for (const std::int32_t p : detail::matching_order(pairs, sizes, limits.descriptors)) {
    const image_pair pair = pairs[static_cast<std::size_t>(p)];
    std::size_t& left = last_batch[static_cast<std::size_t>(pair.left)];
    std::size_t& right = last_batch[static_cast<std::size_t>(pair.right)];
    const auto add = [&] {
      if (left != batches.size()) used.descriptors += sizes.of(pair.left);
      if (right != batches.size() && pair.left != pair.right) used.descriptors += sizes.of(pair.right);
      used.matches += sizes.longest_list(pair);
      used.scores += sizes.scores(pair);
      used.pairs += 1;
    };
    const batch_limits before = used;
    add();
    const bool fits = used.descriptors <= limits.descriptors && used.matches <= limits.matches &&
                      used.scores <= limits.scores && used.pairs <= limits.pairs;
    if (batches.empty() || (!fits && before.pairs > 0)) {
      batches.emplace_back();
      used = {};
      add();
    }
    batches.back().push_back(p);
    left = right = batches.size();
  }
  return batches;
}

}  // namespace serac::survey
