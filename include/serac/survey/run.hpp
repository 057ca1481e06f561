// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The survey engine: any number of pairs of any number of images, in bounded memory, on any number of workers.
///
/// One thread plans: it pulls pairs a window at a time and cuts them into batches, in an order that uses images again.
/// Each worker has a thread that takes the next batch, brings the images that are missing and starts it, while older
/// batches are computed. The caller's thread hands lists to the sink, in the order of the pairs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <serac/options.hpp>
#include <serac/survey/engine.hpp>
#include <serac/survey/memory.hpp>
#include <serac/survey/plan.hpp>
#include <serac/survey/survey.hpp>
#include <serac/survey/worker.hpp>

namespace serac::survey {

/// The least memory_budget that a run on `on` can have. Host; pure.
template <class T>
std::size_t least_memory_budget(const worker<T>& on, const image_source<T>& images, const match_options& match) {
  image_sizes sizes{images.counts, match};
  for (std::int64_t& count : sizes.counts) count = (std::min)(count, match.max_features);
  return detail::bytes_of<T>(detail::least_memory(on, sizes, images.width));
}

/// Matches all pairs and hands their lists to `sink`, in the order of the pairs: those that `match` makes of each pair
/// by itself, whatever the workers, budgets and batches.
///
/// Host; returns when all is done. The workers share the batches as they get free. Images of any size, empty ones,
/// repeated pairs and pairs of an image with itself are all right. A slow sink stops the workers when list_budget is
/// used up. A batch that fails is done in halves, down to the pair that fails alone; pair_error names it then. A worker
/// that is lost leaves its work to the others. A thread that the system denies is errc::out_of_memory. Whatever is
/// thrown (pair_error, serac::error, what the sources and the sink throw), the sink has seen the lists of the first
/// pairs, each once, and none after a gap.
///
/// Memory: memory_budget on each worker, of which images take what lists and workspace leave; on the host list_budget,
/// 24 bytes an image and 4 for each worker, and what the workers say.
template <class T>
run_result run(const image_source<T>& images, const pair_source& pairs, const list_sink& sink,
               const worker_list<T>& workers, const match_options& match = {}, const run_options& options = {}) {
  return detail::engine<T>(images, pairs, sink, workers, match, options).run();
}

}  // namespace serac::survey
