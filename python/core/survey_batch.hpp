// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Batches of images that lie in memory, by the survey engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <serac/survey/run.hpp>

#include "backend.hpp"

namespace serac_python {

/// Matches `pairs` on `workers`, in order. `read(image, count, destination, width)` writes descriptors without gaps,
/// padded with zeros to `width` elements.
template <class T, class Read>
void run_survey(const serac::survey::worker_list<T>& workers, std::size_t memory_budget,
                const std::vector<image>& images, int width, const std::vector<serac::image_pair>& pairs,
                const judgement& by, Read read, const list_taker& take) {
  serac::survey::image_source<T> source;
  source.width = width;
  for (const image& each : images) source.counts.push_back(each.count);
  source.read = [&](std::int32_t number, std::int64_t count, T* destination) {
    if (count > 0) read(images[static_cast<std::size_t>(number)], count, destination, width);
  };
  std::size_t next = 0;
  const auto pull = [&](serac::image_pair* destination, std::int64_t room) {
    const auto count = std::min(pairs.size() - next, static_cast<std::size_t>(room));
    std::copy_n(pairs.data() + next, count, destination);
    next += count;
    return static_cast<std::int64_t>(count);
  };
  serac::survey::run_options budgets;
  budgets.memory_budget = memory_budget;
  budgets.batch_pairs = std::clamp<std::int64_t>(static_cast<std::int64_t>(pairs.size()), 1, budgets.batch_pairs);
  for (const auto& each : workers) {
    budgets.memory_budget =
        std::max(budgets.memory_budget, serac::survey::least_memory_budget(*each, source, by.options));
  }
  serac::survey::run<T>(
      source, pull, [&](const serac::survey::matched_pair& list) { take(list.matches, list.count); }, workers,
      by.options, budgets);
}

/// The same by one match after the other.
inline void match_one_by_one(backend& on, const std::vector<image>& images, const std::vector<serac::image_pair>& pairs,
                             const judgement& by, const list_taker& take) {
  for (const serac::image_pair pair : pairs) {
    const serac::match_list list =
        on.match(images[static_cast<std::size_t>(pair.left)], images[static_cast<std::size_t>(pair.right)], by);
    take(list.pairs.data(), static_cast<std::int64_t>(list.pairs.size()));
  }
}

}  // namespace serac_python
