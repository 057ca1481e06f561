// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How a worker's memory budget is shared out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <serac/batch.hpp>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <serac/status.hpp>
#include <serac/survey/plan.hpp>
#include <serac/survey/survey.hpp>
#include <serac/survey/worker.hpp>

namespace serac::survey::detail {

/// Bytes that every worker may have for small things: thresholds, offsets.
inline constexpr std::size_t fixed_bytes = std::size_t{2} << 20;

/// Bytes of device memory that a worker holds.
template <class T>
std::size_t bytes_of(const worker_memory& memory) {
  const auto per_slot = static_cast<std::size_t>(memory.matches) * sizeof(match_pair) +
                        static_cast<std::size_t>(memory.pairs + 1) * sizeof(std::int64_t);
  return static_cast<std::size_t>(memory.descriptors * memory.width) * sizeof(T) + slot_count * per_slot +
         memory.workspace + fixed_bytes;
}

/// About how many scores a worker should have under way at a time: a quarter of a batch is long enough, and its
/// workspace no larger than need be.
template <class T>
std::int64_t wave_scores(const worker<T>& on) {
  return std::max<std::int64_t>(on.batch_scores() / 4, 1);
}

/// Workspace of a wave of `pairs` pairs of images of `count` features each.
template <class T>
std::size_t workspace_of(const worker<T>& on, std::int64_t count, int width, std::int64_t pairs,
                         const match_options& options) {
  const image_range images[] = {{0, count}, {count, count}};
  const std::vector<image_pair> list(static_cast<std::size_t>(pairs), image_pair{0, 1});
  return on.workspace({{nullptr, 2 * count, width}, images, 2, list.data(), pairs}, options, pairs);
}

/// The least that a worker must hold: a batch of the largest pair alone.
template <class T>
worker_memory least_memory(const worker<T>& on, const image_sizes& sizes, int width) {
  std::int64_t largest = 0, next = 0;
  for (const std::int64_t count : sizes.counts) {
    next = (std::max)(next, (std::min)(largest, count));
    largest = (std::max)(largest, count);
  }
  worker_memory memory;
  memory.descriptors = largest + next;
  memory.width = width;
  memory.largest_image = largest;
  memory.matches = (std::min)(largest, sizes.options.max_matches);
  memory.pairs = 1;
  memory.workspace = workspace_of(on, largest, width, 1, sizes.options);
  return memory;
}

/// Shares out a worker's budget. Throws serac::error if it is too small for the largest pair.
template <class T>
worker_memory plan_memory(const worker<T>& on, const image_sizes& sizes, int width, const run_options& options,
                          std::size_t workers) {
  worker_memory memory = least_memory(on, sizes, width);
  const std::size_t least = bytes_of<T>(memory);
  if (least > options.memory_budget) {
    throw error({errc::invalid_option, "options.memory_budget (too small for the largest pair of images)"});
  }
  const std::size_t spare = options.memory_budget - least;

  constexpr std::size_t most_lists = std::size_t{64} << 20;  // of a slot; longer batches gain nothing
  const std::size_t lists = (std::min)({most_lists, spare / (8 * slot_count), options.list_budget / (8 * workers)});
  memory.pairs = std::clamp<std::int64_t>(static_cast<std::int64_t>(lists / 4 / sizeof(std::int64_t)), 1,
                                          std::max<std::int64_t>(options.batch_pairs, 1));
  memory.matches += static_cast<std::int64_t>(lists / 2 / sizeof(match_pair));

  const std::int64_t pair_scores = std::max<std::int64_t>(memory.largest_image * memory.largest_image, 1);
  const std::int64_t wave_pairs = (std::min)({wave_scores(on) / pair_scores + 1, options.wave_pairs, memory.pairs});
  const std::size_t useful = workspace_of(on, memory.largest_image, width, wave_pairs, sizes.options);
  memory.workspace = (std::max)(memory.workspace, (std::min)(useful, memory.workspace + spare / 4));

  const std::size_t rest = options.memory_budget - bytes_of<T>(memory);
  const std::int64_t all = std::accumulate(sizes.counts.begin(), sizes.counts.end(), std::int64_t{0});
  memory.descriptors += static_cast<std::int64_t>(rest / (static_cast<std::size_t>(width) * sizeof(T)));
  constexpr std::int64_t most = 1 << 30;  // that the tensor-core paths number
  memory.descriptors = (std::min)({memory.descriptors, std::max<std::int64_t>(all, 1), most});
  return memory;
}

}  // namespace serac::survey::detail
