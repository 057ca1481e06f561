// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Many pairs of many images, in little memory: the survey engine. This one works on the host; a
/// serac::survey::device_worker in the list of workers, or one for each GPU, is all that changes elsewhere.

#include <algorithm>
#include <memory>

#include <serac/host/matcher.hpp>
#include <serac/survey/host_worker.hpp>
#include <serac/survey/run.hpp>

#include "support.hpp"

int main() {
  namespace survey = serac::survey;
  std::vector<example::image> photographs = {example::random_image(600, 1)};
  for (unsigned seed = 2; seed < 12; ++seed) {
    photographs.push_back(example::overlapping_image(photographs.back(), 600, seed));
  }

  // The engine asks for images and pairs as it needs them.
  survey::image_source<> images;
  for (const example::image& each : photographs) images.counts.push_back(example::view(each).count);
  images.read = [&](std::int32_t image, std::int64_t count, std::uint8_t* destination) {
    std::copy_n(photographs[static_cast<std::size_t>(image)].begin(), count * 128, destination);
  };
  std::int32_t left = 0, right = 0;
  const survey::pair_source pairs = [&](serac::image_pair* destination, std::int64_t room) {
    std::int64_t count = 0;
    for (const auto last = static_cast<std::int32_t>(photographs.size()) - 1; count < room && left < last; ++count) {
      if (++right > last) ++left, right = left + 1;
      if (left == last) break;
      destination[count] = {left, right};
    }
    return count;
  };

  std::vector<serac::match_pair> found, expected;
  serac::host::matcher one_by_one;
  const survey::list_sink sink = [&](const survey::matched_pair& list) {
    found.insert(found.end(), list.matches, list.matches + list.count);
    const auto alone = one_by_one.match(example::view(photographs[static_cast<std::size_t>(list.pair.left)]),
                                        example::view(photographs[static_cast<std::size_t>(list.pair.right)]));
    expected.insert(expected.end(), alone.pairs.begin(), alone.pairs.end());
  };

  survey::worker_list<std::uint8_t> workers;
  workers.push_back(std::make_unique<survey::host_worker<>>());
  survey::run_options options;
  options.memory_budget = survey::least_memory_budget(*workers.front(), images, {}) + (256 << 10);
  const survey::run_result result = survey::run<std::uint8_t>(images, pairs, sink, workers, {}, options);
  if (result.pairs != 55) return 1;
  return example::verdict(found, expected, "matches of 55 pairs");
}
