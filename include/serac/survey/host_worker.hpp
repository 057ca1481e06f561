// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A worker on the host.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <serac/acceptance.hpp>
#include <serac/host/match_batch.hpp>
#include <serac/host/workers.hpp>
#include <serac/survey/worker.hpp>

namespace serac::survey {

/// Matches batches of T (std::uint8_t or std::int8_t) on `threads` threads, 0 for as many as the machine runs at a
/// time; ties are broken by Tie. Batches are computed one after the other, while the caller does other things.
template <class T = std::uint8_t, class Tie = tie_break::smallest_index>
class host_worker : public worker<T> {
 public:
  explicit host_worker(int threads = 0) : threads_(host::detail::worker_count(threads, many)) {}
  ~host_worker() override { wait(); }

  std::string name() const override { return "the host, " + std::to_string(threads_) + " threads"; }

  std::size_t workspace(const batch_view<T>&, const match_options&, std::int64_t) const noexcept override { return 0; }

  std::int64_t batch_scores() const noexcept override { return (std::int64_t{1} << 22) * threads_; }

  void prepare(const worker_memory& memory, const match_options& options) override {
    wait();
    for (slot& each : slots_) each = {};
    table_.emplace(options);
    options_ = options;
    descriptors_.reset(new T[static_cast<std::size_t>(memory.descriptors * memory.width)]);
    view_ = {descriptors_.get(), memory.descriptors, memory.width};
  }

  T* stage(image_range place) override { return descriptors_.get() + place.first * view_.stride; }
  void upload(image_range) override {}

  void start(int number, const worker_batch& batch) override {
    slot& mine = slots_[number];
    mine.batch = batch;
    mine.lists.pairs.resize(static_cast<std::size_t>(batch.capacity));
    mine.lists.offsets.resize(batch.pairs.size() + 1);
    auto match = [this, &mine, before = last_]() mutable {
      if (before.valid()) before.wait();
      before = {};  // or every batch would keep the one before it
      return match_batch(mine);
    };
    try {
      mine.result = std::async(std::launch::async, match).share();
    } catch (const std::system_error&) {  // the system denies a thread: now, then
      std::promise<status> done;
      done.set_value(match());
      mine.result = done.get_future().share();
    }
    last_ = mine.result;
  }

  worker_lists finish(int number) override {
    slots_[number].result.wait();
    slot done = std::move(slots_[number]);
    slots_[number] = {};
    throw_on_error(done.result.get());
    done.lists.pairs.resize(static_cast<std::size_t>(done.lists.offsets.back()));
    done.lists.pairs.shrink_to_fit();
    return std::move(done.lists);
  }

  bool usable() noexcept override { return true; }

 private:
  static constexpr std::int64_t many = 1 << 20;

  struct slot {
    worker_batch batch;
    worker_lists lists;
    std::shared_future<status> result;
  };

  void wait() const {
    if (last_.valid()) last_.wait();
  }

  status match_batch(slot& mine) noexcept {
    const auto start = std::chrono::steady_clock::now();
    const batch_view<T> batch{view_, mine.batch.images.data(), static_cast<std::int64_t>(mine.batch.images.size()),
                              mine.batch.pairs.data(), static_cast<std::int64_t>(mine.batch.pairs.size())};
    const batch_output output{mine.lists.pairs.data(), static_cast<std::int64_t>(mine.lists.pairs.size()),
                              mine.lists.offsets.data()};
    const status s = host::match_batch<Tie>(batch, options_, table_->view(), output, threads_);
    mine.lists.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return s;
  }

  int threads_;
  match_options options_;
  std::optional<acceptance_table> table_;
  std::unique_ptr<T[]> descriptors_;
  descriptor_view<T> view_;
  std::shared_future<status> last_;
  slot slots_[slot_count];
};

}  // namespace serac::survey
