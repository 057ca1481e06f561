// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A run of the survey engine: one thread plans, one for each worker matches, the caller's delivers.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <serac/batch.hpp>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <serac/status.hpp>
#include <serac/survey/image_arena.hpp>
#include <serac/survey/memory.hpp>
#include <serac/survey/plan.hpp>
#include <serac/survey/survey.hpp>
#include <serac/survey/worker.hpp>

namespace serac::survey::detail {

/// Lists of one batch, and how many of them the sink has yet to see.
struct finished_batch {
  worker_lists lists;
  std::size_t bytes = 0;
  std::int64_t left = 0;
};

/// Pairs that were planned together.
struct window {
  struct place {
    std::shared_ptr<finished_batch> batch;  // null until matched
    std::int64_t index = 0;
  };

  std::int64_t first_number = 0;
  std::vector<image_pair> pairs;
  std::vector<place> places;          // [pair]
  std::deque<batch_indices> batches;  // not yet begun
  std::size_t delivered = 0;
};

/// Pairs of a window that are matched together.
struct job {
  window* home = nullptr;
  batch_indices indices;
};

/// An exception of the caller's image source: not the worker's fault, and no reason to try again.
struct source_failure {
  std::exception_ptr what;
};

/// A run in progress.
template <class T>
class engine {
 public:
  engine(const image_source<T>& images, const pair_source& pairs, const list_sink& sink, const worker_list<T>& workers,
         const match_options& match, const run_options& options)
      : images_(images), pair_source_(pairs), sink_(sink), workers_(workers), options_(options) {
    throw_on_error(validate(match));
    if (workers.empty()) throw error({errc::invalid_option, "workers (none)"});
    if (options.batch_pairs < 1) throw error({errc::invalid_option, "options.batch_pairs"});
    if (options.wave_pairs < 1) throw error({errc::invalid_option, "options.wave_pairs"});
    sizes_.options = match;
    for (const std::int64_t count : images.counts) {
      if (count < 0) throw error({errc::negative_count, "images.counts"});
      sizes_.counts.push_back((std::min)(count, match.max_features));
    }
    result_.busy_seconds.resize(workers.size());
    for (const auto& each : workers)
      memory_.push_back(plan_memory<T>(*each, sizes_, images.width, options, workers.size()));
    limits_ = {memory_.front().descriptors, memory_.front().matches, memory_.front().pairs,
               workers.front()->batch_scores()};
    for (std::size_t w = 0; w < workers.size(); ++w) {
      limits_.descriptors = (std::min)(limits_.descriptors, memory_[w].descriptors);
      limits_.matches = (std::min)(limits_.matches, memory_[w].matches);
      limits_.pairs = (std::min)(limits_.pairs, memory_[w].pairs);
      limits_.scores = (std::min)(limits_.scores, workers[w]->batch_scores());
    }
    const std::int64_t all = std::accumulate(sizes_.counts.begin(), sizes_.counts.end(), std::int64_t{0});
    if (limits_.descriptors < all) limits_.descriptors -= limits_.descriptors / 3;  // room for the next batch's images
  }

  run_result run() {
    for (std::size_t w = 0; w < workers_.size(); ++w) workers_[w]->prepare(memory_[w], sizes_.options);
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    const auto join = [&] {
      for (std::thread& each : threads) each.join();
      threads.clear();
    };
    const auto begin = [&](auto body) {
      try {
        threads.emplace_back(body);
      } catch (const std::system_error&) {
        throw error({errc::out_of_memory, "a thread of the run"});
      }
    };
    try {
      running_ = static_cast<int>(workers_.size());
      threads.reserve(workers_.size() + 1);
      begin([this] { plan_windows(); });
      for (std::size_t w = 0; w < workers_.size(); ++w) begin([this, w] { work(w); });
      deliver();
    } catch (...) {
      stop(std::current_exception());
    }
    join();
    if (failure_) std::rethrow_exception(failure_);
    result_.total_seconds = seconds_since(start);
    return result_;
  }

 private:
  using clock = std::chrono::steady_clock;
  static double seconds_since(clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
  }

  /// A batch under way.
  struct flight {
    job work;
    int slot;
    std::vector<std::int32_t> pinned;
  };

  /// What a worker's thread keeps.
  struct desk {
    worker<T>& hands;
    worker_memory memory;
    double& busy;
    image_arena arena{memory.descriptors};
    std::vector<std::int32_t> numbers = {};  // [image]: its place in the batch that is made, or -1
    std::deque<flight> flights = {};
    int next_slot = 0;
    std::vector<job> broken = {};  // jobs that failed and are not yet done
    std::int64_t open_jobs = 0;    // taken and not done
  };

  /// A worker that nothing will succeed on any more.
  struct lost {
    status why;
  };

  /// Ends the run with an exception, the first one that comes.
  void stop(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
    stopped_ = true;
    changed_.notify_all();
  }

  /// Whether to begin nothing more. The mutex is held.
  bool stopping() {
    if (!stopped_ && options_.cancel != nullptr && *options_.cancel) {
      stopped_ = true;
      changed_.notify_all();
    }
    return stopped_;
  }

  // The planner's thread.

  void plan_windows() {
    try {
      constexpr std::int64_t most_pairs = 1 << 16;
      constexpr std::size_t windows_ahead = 2;
      std::int64_t room = most_pairs / 16;  // the first windows are short, so that the workers can begin
      std::vector<image_pair> pulled;
      std::size_t used = 0;
      std::int64_t number = 0;
      for (;;) {
        {
          std::unique_lock lock(mutex_);
          while (!stopping() && unbegun_windows() >= windows_ahead) changed_.wait_for(lock, poll);
          if (stopped_) break;
        }
        if (used == pulled.size()) {
          pulled.resize(static_cast<std::size_t>(room));
          const std::int64_t count = pair_source_(pulled.data(), room);
          pulled.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, room)));
          used = 0;
          if (pulled.empty()) {
            std::unique_lock lock(mutex_);
            reached_end_ = count == 0;
            if (reached_end_) break;
            changed_.wait_for(lock, moment);
            continue;
          }
        }
        room = (std::min)(4 * room, most_pairs);
        auto next = std::make_unique<window>();
        next->first_number = number;
        std::size_t longest = 0;
        for (; used < pulled.size(); ++used) {
          const image_pair pair = pulled[used];
          for (const std::int32_t image : {pair.left, pair.right}) {
            if (image < 0 || static_cast<std::size_t>(image) >= sizes_.counts.size()) {
              throw error({errc::invalid_option, "pairs (an image that is not there)"});
            }
          }
          const std::size_t bytes = static_cast<std::size_t>(sizes_.longest_list(pair)) * sizeof(match_pair);
          if (!next->pairs.empty() && longest + bytes > options_.list_budget / 2) break;
          longest += bytes;
          next->pairs.push_back(pair);
        }
        number += static_cast<std::int64_t>(next->pairs.size());
        next->places.resize(next->pairs.size());
        auto batches = plan_batches(next->pairs, sizes_, limits_);
        next->batches.assign(std::make_move_iterator(batches.begin()), std::make_move_iterator(batches.end()));
        const std::lock_guard lock(mutex_);
        windows_.push_back(std::move(next));
        changed_.notify_all();
      }
    } catch (...) {
      stop(std::current_exception());
    }
    const std::lock_guard lock(mutex_);
    all_planned_ = true;
    changed_.notify_all();
  }

  std::size_t unbegun_windows() const {
    return static_cast<std::size_t>(
        std::count_if(windows_.begin(), windows_.end(), [](const auto& w) { return !w->batches.empty(); }));
  }

  // The workers' threads.

  /// The most bytes that the lists of a batch can have.
  std::size_t longest(const window& home, const batch_indices& indices) const {
    std::size_t matches = 0;
    for (const std::int32_t i : indices) {
      matches += static_cast<std::size_t>(sizes_.longest_list(home.pairs[static_cast<std::size_t>(i)]));
    }
    return matches * sizeof(match_pair);
  }

  /// The next job; with `wait`, nothing only if there is nothing more to do.
  std::optional<job> take(bool wait) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (stopping()) return std::nullopt;
      if (!returned_.empty()) {
        job next = std::move(returned_.front());
        returned_.pop_front();
        return next;
      }
      for (const auto& each : windows_) {
        if (each->batches.empty()) continue;
        const std::size_t bytes = longest(*each, each->batches.front());
        // The first window may always go on, so that the sink gets what it waits for; a window is half the budget.
        if (each != windows_.front() && held_ + bytes > options_.list_budget / 2) break;
        job next{each.get(), std::move(each->batches.front())};
        each->batches.pop_front();
        held_ += bytes;
        ++open_jobs_;
        ++result_.batches;
        changed_.notify_all();
        return next;
      }
      const bool all_begun = all_planned_ && unbegun_windows() == 0;
      if (!wait || (all_begun && open_jobs_ == 0)) return std::nullopt;
      changed_.wait_for(lock, poll);
    }
  }

  /// Lets the sink have the lists of a job.
  void complete(const job& work, worker_lists lists) {
    auto batch = std::make_shared<finished_batch>();
    batch->bytes = lists.pairs.capacity() * sizeof(match_pair);
    batch->left = static_cast<std::int64_t>(work.indices.size());
    batch->lists = std::move(lists);
    const std::size_t longest_lists = longest(*work.home, work.indices);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < work.indices.size(); ++i) {
      work.home->places[static_cast<std::size_t>(work.indices[i])] = {batch, static_cast<std::int64_t>(i)};
    }
    held_ += batch->bytes;
    held_ -= longest_lists;
    changed_.notify_all();
  }

  void close_job(desk& mine) {
    --mine.open_jobs;
    const std::lock_guard lock(mutex_);
    --open_jobs_;
    changed_.notify_all();
  }

  void work(std::size_t number) {
    desk mine{*workers_[number], memory_[number], result_.busy_seconds[number]};
    try {
      for (;;) {
        while (mine.flights.size() < slot_count) {
          std::optional<job> next = take(mine.flights.empty());
          if (!next) break;
          ++mine.open_jobs;
          begin(mine, std::move(*next));
        }
        if (mine.flights.empty()) break;
        end_oldest(mine);
      }
    } catch (const lost& failure) {
      retire(mine, failure);
    } catch (const source_failure& failure) {
      stop(failure.what);
    } catch (...) {
      stop(std::current_exception());
    }
    for (flight& each : mine.flights) {  // after an exception: what is under way
      static_cast<void>(attempt([&] { land(mine, each); }));
    }
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  /// Gives the jobs of a lost worker to the others.
  void retire(desk& mine, const lost& failure) {
    for (flight& each : mine.flights) mine.broken.push_back(std::move(each.work));
    mine.flights.clear();
    const std::lock_guard lock(mutex_);
    open_jobs_ += static_cast<std::int64_t>(mine.broken.size()) - mine.open_jobs;
    for (job& each : mine.broken) returned_.push_front(std::move(each));
    if (running_ == 1) {
      stopped_ = true;
      const job& first = returned_.front();
      const image_pair pair = first.home->pairs[static_cast<std::size_t>(first.indices.front())];
      const std::string worker = mine.hands.name() + ", which is lost";
      if (!failure_) failure_ = std::make_exception_ptr(pair_error(failure.why, pair, worker));
    }
    changed_.notify_all();
  }

  /// Begins a job, and after a failure does it.
  void begin(desk& mine, job work) {
    status s;
    try {
      s = attempt([&] { launch(mine, work); });
    } catch (const lost&) {  // found while another job was waited for
      mine.broken.push_back(std::move(work));
      throw;
    }
    if (!s.ok()) recover(mine, std::move(work), s);
  }

  /// Waits for the oldest batch, and after a failure does it again.
  void end_oldest(desk& mine) {
    flight oldest = std::move(mine.flights.front());
    mine.flights.pop_front();
    if (const status s = attempt([&] { land(mine, oldest); }); !s.ok()) {
      recover(mine, std::move(oldest.work), s);
    } else {
      close_job(mine);
    }
  }

  /// The status of a worker's failure in `body`.
  template <class Body>
  static status attempt(Body body) {
    try {
      body();
    } catch (const pair_error&) {
      throw;  // of another job, which was waited for
    } catch (const error& failure) {
      return failure.status();
    } catch (const std::bad_alloc&) {
      return {errc::out_of_memory, "survey"};
    }
    return {};
  }

  /// Does a job that failed: when nothing else is under way, in halves, and those in halves. A pair that fails alone
  /// gets another try; then it is named.
  void recover(desk& mine, job work, status why) {
    const std::size_t outer = mine.broken.size();  // those of the callers, if this runs while they recover
    const auto split = [&](const job& whole) {
      const auto middle = whole.indices.begin() + static_cast<std::ptrdiff_t>(whole.indices.size() / 2);
      mine.broken.push_back({whole.home, {middle, whole.indices.end()}});
      if (middle != whole.indices.begin()) mine.broken.push_back({whole.home, {whole.indices.begin(), middle}});
    };
    mine.broken.push_back(std::move(work));
    if (!mine.hands.usable()) throw lost{why};
    while (!mine.flights.empty()) end_oldest(mine);
    work = std::move(mine.broken.back());
    mine.broken.pop_back();
    split(work);

    while (mine.broken.size() > outer) {
      count_retry();
      const job part = mine.broken.back();
      why = attempt([&] {
        launch(mine, part);
        flight alone = std::move(mine.flights.front());
        mine.flights.pop_front();
        land(mine, alone);
      });
      if (!why.ok() && !mine.hands.usable()) throw lost{why};
      mine.broken.pop_back();
      if (why.ok()) continue;
      if (part.indices.size() == 1) {
        throw pair_error(why, part.home->pairs[static_cast<std::size_t>(part.indices.front())], mine.hands.name());
      }
      split(part);
    }
    close_job(mine);
  }

  void count_retry() {
    const std::lock_guard lock(mutex_);
    ++result_.retries;
  }

  /// Brings the images of a job and starts it. After an exception nothing of it is left.
  void launch(desk& mine, const job& work) {
    flight next{work, 0, {}};
    worker_batch batch;
    bool is_new = false;
    while (!bring_images(mine, work, batch, next.pinned)) {
      if (!mine.flights.empty()) {
        end_oldest(mine);
      } else {  // what was here lay badly
        if (is_new) throw error({errc::out_of_memory, "images of one pair"});
        mine.arena = image_arena(mine.memory.descriptors);
        is_new = true;
      }
    }
    try {
      choose_wave(mine, batch);
      next.slot = mine.next_slot;
      mine.flights.push_back(std::move(next));
      try {
        mine.hands.start(mine.flights.back().slot, batch);
      } catch (...) {
        next = std::move(mine.flights.back());
        mine.flights.pop_back();
        throw;
      }
    } catch (...) {
      release(mine, next.pinned);
      throw;
    }
    mine.next_slot = (mine.next_slot + 1) % slot_count;
  }

  void release(desk& mine, std::vector<std::int32_t>& pinned) {
    for (const std::int32_t image : pinned) mine.arena.unpin(image);
    pinned.clear();
  }

  /// Fills `batch` for a job and pins its images, reading those that are not there. False, and nothing is pinned, if
  /// there is no room for them.
  bool bring_images(desk& mine, const job& work, worker_batch& batch, std::vector<std::int32_t>& pinned) {
    batch = {};
    batch.pairs.reserve(work.indices.size());
    pinned.reserve(2 * work.indices.size());
    mine.numbers.assign(sizes_.counts.size(), -1);
    try {
      for (const std::int32_t index : work.indices) {
        const image_pair pair = work.home->pairs[static_cast<std::size_t>(index)];
        for (const std::int32_t image : {pair.left, pair.right}) {
          std::int32_t& number = mine.numbers[static_cast<std::size_t>(image)];
          if (number >= 0) continue;
          const std::optional<image_range> place = bring(mine, image, pinned);
          if (!place) {
            release(mine, pinned);
            return false;
          }
          number = static_cast<std::int32_t>(batch.images.size());
          batch.images.push_back(*place);
        }
        const image_pair local{mine.numbers[static_cast<std::size_t>(pair.left)],
                               mine.numbers[static_cast<std::size_t>(pair.right)]};
        batch.pairs.push_back(local);
        batch.capacity += sizes_.longest_list(pair);
      }
    } catch (...) {
      release(mine, pinned);
      throw;
    }
    return true;
  }

  /// The place of an image, pinned; it is read if it is not there. Nothing if there is no room. `pinned` has capacity.
  std::optional<image_range> bring(desk& mine, std::int32_t image, std::vector<std::int32_t>& pinned) {
    const std::int64_t count = sizes_.of(image);
    if (count == 0) return image_range{};
    std::optional<image_range> place = mine.arena.pin(image);
    if (!place) {
      place = mine.arena.insert(image, count);
      if (!place) return std::nullopt;
      try {
        read(mine, image, *place);
      } catch (...) {
        mine.arena.erase(image);
        throw;
      }
    }
    pinned.push_back(image);
    return place;
  }

  void read(desk& mine, std::int32_t image, image_range place) {
    T* const destination = mine.hands.stage(place);
    {
      const std::lock_guard lock(reading_);
      const auto start = clock::now();
      try {
        images_.read(image, place.count, destination);
      } catch (...) {
        throw source_failure{std::current_exception()};
      }
      result_.read_seconds += seconds_since(start);
      result_.images_read += 1;
      result_.descriptors_read += place.count;
    }
    mine.hands.upload(place);
  }

  /// Waves of about one size, as few as the workspace and the options allow but not longer than keeps a worker busy.
  void choose_wave(const desk& mine, worker_batch& batch) const {
    const batch_view<T> view{{nullptr, mine.memory.descriptors, images_.width},
                             batch.images.data(),
                             static_cast<std::int64_t>(batch.images.size()),
                             batch.pairs.data(),
                             static_cast<std::int64_t>(batch.pairs.size())};
    std::int64_t scores = 0;
    for (const image_pair pair : batch.pairs) {
      scores += batch.images[static_cast<std::size_t>(pair.left)].count *
                batch.images[static_cast<std::size_t>(pair.right)].count;
    }
    const auto parts = [](std::int64_t whole, std::int64_t part) { return (whole - 1) / part + 1; };  // at least 1
    const std::int64_t pairs = view.pair_count;
    std::int64_t waves = (std::max)(parts(pairs, options_.wave_pairs), parts(scores, wave_scores(mine.hands)));
    for (;; waves += waves / 4 + 1) {
      batch.wave_pairs = parts(pairs, waves);
      if (mine.hands.workspace(view, sizes_.options, batch.wave_pairs) <= mine.memory.workspace) return;
      if (batch.wave_pairs == 1) throw error({errc::workspace_too_small, "workspace"});
    }
  }

  /// Waits for a batch and hands its lists on.
  void land(desk& mine, flight& oldest) {
    worker_lists lists;
    try {
      lists = mine.hands.finish(oldest.slot);
    } catch (...) {
      release(mine, oldest.pinned);
      throw;
    }
    release(mine, oldest.pinned);
    mine.busy += lists.seconds;
    complete(oldest.work, std::move(lists));
  }

  // The caller's thread.

  void deliver() {
    struct ready {
      matched_pair list;
      std::shared_ptr<finished_batch> batch;
    };
    constexpr std::size_t most = 1024;  // at a time, between looks at what else goes on
    std::vector<ready> run;
    std::unique_lock lock(mutex_);
    for (;;) {
      while (!windows_.empty() && windows_.front()->delivered == windows_.front()->pairs.size()) {
        windows_.pop_front();
        changed_.notify_all();
      }
      run.clear();
      if (!windows_.empty()) {
        window& head = *windows_.front();
        for (std::size_t i = head.delivered; i < head.pairs.size() && run.size() < most; ++i) {
          window::place& place = head.places[i];
          if (place.batch == nullptr) break;
          const std::int64_t* const offsets = place.batch->lists.offsets.data() + place.index;
          run.push_back({{head.first_number + static_cast<std::int64_t>(i), head.pairs[i],
                          place.batch->lists.pairs.data() + offsets[0], offsets[1] - offsets[0]},
                         place.batch});
        }
        if (!run.empty()) {
          lock.unlock();
          const auto start = clock::now();
          for (const ready& each : run) {
            sink_(each.list);
            ++result_.pairs;
            result_.matches += each.list.count;
          }
          result_.sink_seconds += seconds_since(start);
          lock.lock();
          for (ready& each : run) {
            head.places[head.delivered++].batch = nullptr;
            if (--each.batch->left == 0) held_ -= each.batch->bytes;
          }
          changed_.notify_all();
          continue;
        }
      }
      if (running_ == 0 && all_planned_ && (stopped_ || windows_.empty())) {
        result_.cancelled = !reached_end_ || !windows_.empty();
        return;
      }
      changed_.wait_for(lock, poll);
      stopping();
    }
  }

  static constexpr std::chrono::milliseconds poll{50};   // how soon a cancellation is seen
  static constexpr std::chrono::milliseconds moment{1};  // until pairs are asked for again

  const image_source<T>& images_;
  const pair_source& pair_source_;
  const list_sink& sink_;
  const worker_list<T>& workers_;
  const run_options options_;
  image_sizes sizes_;
  std::vector<worker_memory> memory_;  // [worker]
  batch_limits limits_{};
  std::mutex reading_;  // guards images_.read and what is counted of it

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::unique_ptr<window>> windows_;  // in order; the first is being delivered
  std::deque<job> returned_;                     // by lost workers
  std::int64_t open_jobs_ = 0;                   // begun and not done
  std::size_t held_ = 0;                         // bytes of lists, the longest possible ones of jobs under way
  bool reached_end_ = false, all_planned_ = false, stopped_ = false;
  int running_ = 0;  // workers' threads
  std::exception_ptr failure_;
  run_result result_;
};

}  // namespace serac::survey::detail
