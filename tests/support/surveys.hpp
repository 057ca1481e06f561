// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Runs the survey engine on batches, with faults, and compares what reaches the sink with lists made pair by pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <serac/survey/run.hpp>
#include <support/batches.hpp>
#include <support/catch.hpp>

namespace serac::test {

/// A worker that passes everything on to another, after a hook that may throw.
template <class T = std::uint8_t>
class hooked_worker : public survey::worker<T> {
 public:
  struct hooks {
    std::function<void()> stage, upload, finish;
    std::function<void(const survey::worker_memory&)> prepare;
    std::function<void(const survey::worker_batch&)> start;
    std::function<void(const survey::worker_lists&)> finished;
    std::function<bool()> usable;
  };

  hooked_worker(std::unique_ptr<survey::worker<T>> inner, hooks before)
      : inner_(std::move(inner)), before_(std::move(before)) {}

  std::string name() const override { return "hooked " + inner_->name(); }
  std::size_t workspace(const batch_view<T>& batch, const match_options& options,
                        std::int64_t wave_pairs) const noexcept override {
    return inner_->workspace(batch, options, wave_pairs);
  }
  std::int64_t batch_scores() const noexcept override { return inner_->batch_scores(); }
  void prepare(const survey::worker_memory& memory, const match_options& options) override {
    if (before_.prepare) before_.prepare(memory);
    inner_->prepare(memory, options);
  }
  T* stage(image_range place) override {
    if (before_.stage) before_.stage();
    return inner_->stage(place);
  }
  void upload(image_range place) override {
    if (before_.upload) before_.upload();
    inner_->upload(place);
  }
  void start(int slot, const survey::worker_batch& batch) override {
    if (before_.start) before_.start(batch);
    inner_->start(slot, batch);
  }
  survey::worker_lists finish(int slot) override {
    survey::worker_lists lists = inner_->finish(slot);  // the slot is free, whatever comes
    if (before_.finish) before_.finish();
    if (before_.finished) before_.finished(lists);
    return lists;
  }
  bool usable() noexcept override { return before_.usable ? before_.usable() : inner_->usable(); }

 private:
  std::unique_ptr<survey::worker<T>> inner_;
  hooks before_;
};

/// A batch as a survey: its images, its pairs in pieces of random sizes, and a sink that requires the right lists.
template <class T = std::uint8_t>
class checked_survey {
 public:
  checked_survey(const image_batch<T>& batch, const match_options& match)
      : batch_(batch), match_(match), expected_(expected_lists(batch, match)) {}

  survey::image_source<T> images() const {
    survey::image_source<T> source;
    for (const image_range& image : batch_.images) source.counts.push_back(image.count);
    source.width = batch_.all.width;
    source.read = [this](std::int32_t image, std::int64_t count, T* destination) {
      const auto view = batch_.image(image);
      // (On a worker's thread, where Catch2 cannot be used.)
      if (count != std::min(view.count, match_.max_features)) throw std::logic_error("image_source::read: count");
      std::copy_n(view.data, count * view.width, destination);
    };
    return source;
  }

  survey::pair_source pairs(std::int64_t piece = 1 << 20) const {
    return [this, piece, next = std::size_t{0}](image_pair* destination, std::int64_t room) mutable {
      const auto count =
          std::min({batch_.pairs.size() - next, static_cast<std::size_t>(room), static_cast<std::size_t>(piece)});
      std::copy_n(batch_.pairs.begin() + static_cast<std::ptrdiff_t>(next), count, destination);
      next += count;
      return static_cast<std::int64_t>(count);
    };
  }

  /// Requires that lists come in order, each once, and right.
  survey::list_sink sink() {
    delivered_ = 0;
    return [this](const survey::matched_pair& list) { check(list); };
  }

  void check(const survey::matched_pair& list) {
    REQUIRE(list.number == delivered_);
    const auto p = static_cast<std::size_t>(delivered_);
    REQUIRE(p < batch_.pairs.size());
    REQUIRE(list.pair == batch_.pairs[p]);
    const auto first = expected_.pairs.begin() + expected_.offsets[p];
    REQUIRE(list.count == expected_.offsets[p + 1] - expected_.offsets[p]);
    REQUIRE(std::equal(list.matches, list.matches + list.count, first));
    ++delivered_;
  }

  std::int64_t delivered() const { return delivered_; }
  std::int64_t pair_count() const { return static_cast<std::int64_t>(batch_.pairs.size()); }
  std::int64_t match_count() const { return static_cast<std::int64_t>(expected_.pairs.size()); }

  /// Runs and requires everything to be delivered.
  survey::run_result run(const survey::worker_list<T>& workers, const survey::run_options& options,
                         std::int64_t piece = 1 << 20) {
    const survey::run_result result = survey::run<T>(images(), pairs(piece), sink(), workers, match_, options);
    REQUIRE(delivered_ == pair_count());
    REQUIRE(result.pairs == pair_count());
    REQUIRE(result.matches == match_count());
    REQUIRE_FALSE(result.cancelled);
    return result;
  }

  const match_options& match() const { return match_; }

 private:
  const image_batch<T>& batch_;
  match_options match_;
  batch_lists expected_;
  std::int64_t delivered_ = 0;
};

/// Options of a random run: a budget from the least one (in a run of three) to plenty, small and large batches.
template <class T>
survey::run_options random_run_options(random_source& random, const survey::worker<T>& on,
                                       const survey::image_source<T>& images, const match_options& match) {
  survey::run_options options;
  options.memory_budget = survey::least_memory_budget(on, images, match);
  const std::int64_t generosity = random.below(3);
  if (generosity == 1) options.memory_budget += static_cast<std::size_t>(random.below(1 << 18));
  if (generosity == 2) options.memory_budget += std::size_t{1} << 28;
  options.list_budget = std::size_t{1} << (random.below(2) == 0 ? 10 : 28);
  options.batch_pairs = 1 + random.below(random.below(2) == 0 ? 4 : 400);
  if (random.below(2) == 0) options.wave_pairs = 1 + random.below(8);
  return options;
}

}  // namespace serac::test
