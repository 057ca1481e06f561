// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The match lists of many pairs of images in host memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include <serac/acceptance.hpp>
#include <serac/batch.hpp>
#include <serac/detail/check_batch.hpp>
#include <serac/host/match.hpp>
#include <serac/host/workers.hpp>
#include <serac/options.hpp>

namespace serac::host {

namespace detail {

/// The first fault of a batch in host memory, if any.
template <class T>
status check_batch(const batch_view<T>& batch) noexcept {
  if (auto s = check_lists(batch); !s.ok()) return s;
  descriptor_view<T> buffer = batch.descriptors;  // may hold more than an image can
  buffer.count = std::min<std::int64_t>(buffer.count, 1);
  return check_view(buffer, batch_names, supported_width<T>(buffer.width), alignof(T));
}

/// The descriptors of an image of a batch that the options let a match look at.
template <class T>
descriptor_view<T> image_of(const batch_view<T>& batch, std::int32_t image, const match_options& options) noexcept {
  descriptor_view<T> view = batch.descriptors;
  if (view.data != nullptr) view.data += batch.images[image].first * view.stride;
  view.count = batch.images[image].count;
  return capped(view, options);
}

/// Writes the lists of a valid batch. Each goes where all before it would end at their longest, then they move
/// together. Throws std::bad_alloc.
template <class Tie, class T, class Acceptance>
void match_pairs(const batch_view<T>& batch, const match_options& options, const Acceptance& accept,
                 const batch_output& output, int threads) {
  // Few pairs are shared out among the threads row by row, many of them pair by pair.
  const int all = worker_count(threads, batch.pair_count);
  const bool whole_pairs = batch.pair_count >= 2 * std::int64_t{all};
  const int workers = whole_pairs ? all : 1;
  const int threads_of_pair = whole_pairs ? 1 : threads;

  std::vector<std::int64_t> places(static_cast<std::size_t>(batch.pair_count));
  std::int64_t place = 0;
  for (std::int64_t p = 0; p < batch.pair_count; ++p) {
    places[static_cast<std::size_t>(p)] = place;
    place += longest_list(batch, batch.pairs[p], options);
  }
  std::vector<match_scratch> scratch(static_cast<std::size_t>(workers));
  std::atomic<bool> out_of_memory{false};
  run_tasks(workers, batch.pair_count, [&](int worker, std::int64_t p) {
    if (out_of_memory) return;
    match_pair* const first = output.pairs + places[static_cast<std::size_t>(p)];
    match_pair* last = first;
    try {
      match_views<Tie>(image_of(batch, batch.pairs[p].left, options), image_of(batch, batch.pairs[p].right, options),
                       options, accept, threads_of_pair, scratch[static_cast<std::size_t>(worker)],
                       [&](match_pair pair) { *last++ = pair; });
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
    }
    output.offsets[p + 1] = last - first;
  });
  if (out_of_memory) throw std::bad_alloc();

  output.offsets[0] = 0;
  for (std::int64_t p = 0; p < batch.pair_count; ++p) {
    const match_pair* const first = output.pairs + places[static_cast<std::size_t>(p)];
    if (output.offsets[p] < places[static_cast<std::size_t>(p)]) {
      std::copy(first, first + output.offsets[p + 1], output.pairs + output.offsets[p]);
    }
    output.offsets[p + 1] += output.offsets[p];
  }
}

}  // namespace detail

/// The match lists of the pairs of a batch, judged by `accept` (see acceptance.hpp) instead of the options' ratio and
/// distance. Otherwise as `match_batch` below.
template <class Tie = tie_break::smallest_index, class T, class Acceptance>
status match_batch(const batch_view<T>& batch, const match_options& options, const Acceptance& accept,
                   const batch_output& output, int threads = 0) noexcept {
  if (auto s = validate(options); !s.ok()) return s;
  if (auto s = detail::check_batch(batch); !s.ok()) return s;
  if (auto s = detail::check_output(output, batch, options); !s.ok()) return s;
  if (threads < 0) return {errc::negative_count, "threads"};
  try {
    detail::match_pairs<Tie>(batch, options, accept, output, threads);
  } catch (const std::bad_alloc&) {
    return {errc::out_of_memory, "match_batch"};
  }
  return {};
}

/// The match lists of the pairs of a batch, each as `match` makes it, in the order of the pairs (see batch.hpp).
///
/// Any thread; returns when done. Everything is host memory, of any alignment. Images of unlike sizes, empty ones,
/// overlapping ones, repeated pairs and pairs of an image with itself are all right; the width is a multiple of 4 from
/// 4 to 512. `threads` is the number of threads that work, 0 for as many as the machine runs at a time; the lists do
/// not depend on it. What is at `output` after out_of_memory, or behind the last list, is undefined. Cost: that of the
/// matches; a millisecond and 1 MiB for thresholds; memory for each thread as for a `match` of its own.
template <class Tie = tie_break::smallest_index, class T>
status match_batch(const batch_view<T>& batch, const match_options& options, const batch_output& output,
                   int threads = 0) noexcept {
  if (auto s = validate(options); !s.ok()) return s;
  acceptance_of<T>(options);  // only where there is one
  try {
    return match_batch<Tie>(batch, options, acceptance_table(options).view(), output, threads);
  } catch (const std::bad_alloc&) {
    return {errc::out_of_memory, "match_batch"};
  }
}

}  // namespace serac::host
