// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The first rank plans, hands out shares of the pairs as ranks ask for them, and stores the lists in the order of the
/// pairs; every rank, the first one too, reads descriptors from the database and matches. Only main threads call MPI.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ranks.hpp"
#include "share_matcher.hpp"

namespace serac_colmap {

namespace {

enum tag : int { want_share = 1, take_share, no_more, take_lists, take_times };

using message = std::vector<char>;

template <class T>
void append(message& bytes, const T* values, std::size_t count) {
  const auto* const first = reinterpret_cast<const char*>(values);
  bytes.insert(bytes.end(), first, first + count * sizeof(T));
}

/// Takes the values of a message one array after the other.
class message_reader {
 public:
  explicit message_reader(const message& bytes) : next_(bytes.data()) {}

  template <class T>
  std::vector<T> array(std::size_t count) {
    std::vector<T> values(count);
    if (count > 0) std::memcpy(static_cast<void*>(values.data()), next_, count * sizeof(T));
    next_ += count * sizeof(T);
    return values;
  }
  std::int64_t integer() { return array<std::int64_t>(1).front(); }

 private:
  const char* next_;
};

message packed(const share& pairs) {
  message bytes;
  const std::int64_t head[] = {pairs.number, static_cast<std::int64_t>(pairs.pairs.size())};
  append(bytes, head, 2);
  append(bytes, pairs.pairs.data(), pairs.pairs.size());
  return bytes;
}

share unpacked_share(const message& bytes) {
  message_reader read(bytes);
  const std::int64_t number = read.integer(), count = read.integer();
  return {number, read.array<serac::image_pair>(static_cast<std::size_t>(count))};
}

message packed(const share_lists& lists) {
  message bytes;
  const std::int64_t head[] = {lists.number, static_cast<std::int64_t>(lists.counts.size()),
                               static_cast<std::int64_t>(lists.matches.size())};
  append(bytes, head, 3);
  append(bytes, lists.counts.data(), lists.counts.size());
  append(bytes, lists.matches.data(), lists.matches.size());
  return bytes;
}

share_lists unpacked_lists(const message& bytes) {
  message_reader read(bytes);
  const std::int64_t number = read.integer(), counts = read.integer(), matches = read.integer();
  share_lists lists{number, read.array<std::uint32_t>(static_cast<std::size_t>(counts)), {}};
  lists.matches = read.array<serac::match_pair>(static_cast<std::size_t>(matches));
  return lists;
}

void send(int rank, tag kind, const message& bytes = {}) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, kind, MPI_COMM_WORLD);
}

/// Messages on their way. The first rank sends by this alone: one that waited for a receiver who waits for it would
/// wait for ever.
class outbox {
 public:
  outbox() = default;
  /// After an error nobody may be there to receive: what has not left is left to MPI_Abort, in memory that stays.
  ~outbox() {
    if (!letters_.empty()) new std::list<letter>(std::move(letters_));
  }
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;

  void send(int rank, tag kind, message bytes = {}) {
    letter& next = letters_.emplace_back();
    next.bytes = std::move(bytes);
    MPI_Isend(next.bytes.data(), static_cast<int>(next.bytes.size()), MPI_BYTE, rank, kind, MPI_COMM_WORLD,
              &next.request);
    letters_.remove_if([](letter& each) {
      int done = 0;
      MPI_Test(&each.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  /// Waits until all have left.
  void finish() {
    for (letter& each : letters_) MPI_Wait(&each.request, MPI_STATUS_IGNORE);
    letters_.clear();
  }

 private:
  struct letter {
    message bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::list<letter> letters_;
};

/// A message that has arrived.
struct received {
  int from;
  int kind;
  message bytes;
};

/// Takes the next message from anyone; false if there is none now.
bool receive(received& next) {
  int there = 0, length = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return false;
  MPI_Get_count(&status, MPI_BYTE, &length);
  next = {status.MPI_SOURCE, status.MPI_TAG, message(static_cast<std::size_t>(length))};
  MPI_Recv(next.bytes.data(), length, MPI_BYTE, next.from, next.kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return true;
}

/// Leaves the processor to those who compute.
void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// What a rank spent, in all.
struct times {
  double busy = 0, read = 0;
  int workers = 0;
};

times operator+(const times& a, const times& b) { return {a.busy + b.busy, a.read + b.read, a.workers + b.workers}; }

times times_of(const serac::survey::run_result& result) {
  times sum{0, result.read_seconds};
  for (const double busy : result.busy_seconds) sum.busy += busy;
  sum.workers = static_cast<int>(result.busy_seconds.size());
  return sum;
}

/// Cuts the pairs that are left into shares whose lists fit a message.
class share_source {
 public:
  share_source(pair_feed& feed, const image_table& images, const match_limits& limits, std::int64_t most_pairs)
      : feed_(feed), counts_(image_counts(images)), limits_(limits), most_pairs_(most_pairs) {}

  /// False at the end.
  bool next(share& pairs) {
    if (used_ == pulled_.size()) {
      pulled_.resize(static_cast<std::size_t>(most_pairs_));
      pulled_.resize(static_cast<std::size_t>(feed_.pull(pulled_.data(), most_pairs_)));
      used_ = 0;
      if (pulled_.empty()) return false;
    }
    constexpr std::int64_t most_matches = std::int64_t{8} << 20;
    pairs = {number_++, {}};
    std::int64_t matches = 0;
    for (; used_ < pulled_.size(); ++used_) {
      matches += std::min(counts_[static_cast<std::size_t>(pulled_[used_].left)], limits_.features);
      if (!pairs.pairs.empty() && matches > most_matches) break;
      pairs.pairs.push_back(pulled_[used_]);
    }
    return true;
  }

 private:
  pair_feed& feed_;
  std::vector<std::int64_t> counts_;
  match_limits limits_;
  std::int64_t most_pairs_, number_ = 0;
  std::vector<serac::image_pair> pulled_;
  std::size_t used_ = 0;
};

/// The first rank's work: shares out, lists in, in any order; lists to the database, in theirs.
class coordinator {
 public:
  coordinator(share_source& shares, share_matcher& own, int size) : shares_(shares), own_(own), size_(size) {}

  /// Calls `store(share, lists)` for one share after the other. Returns when every rank has nothing more to do.
  template <class Store>
  times run(Store store) {
    while (helping_ > 0 || !own_.finished()) {
      bool idle = true;
      for (received next; receive(next); idle = false) take(next);
      while (std::optional<share_lists> lists = own_.take()) {
        arrived_.emplace(lists->number, std::move(*lists));
        idle = false;
      }
      for (auto lists = arrived_.find(stored_); lists != arrived_.end(); lists = arrived_.find(stored_)) {
        store(given_.at(stored_), lists->second);
        given_.erase(stored_++);
        arrived_.erase(lists);
        idle = false;
      }
      idle = hand_out() && idle;
      if (idle) pause();
    }
    out_.finish();
    const times own = times_of(own_.result());
    return sum_ + own;
  }

 private:
  void take(const received& next) {
    if (next.kind == want_share) {
      asking_.push_back(next.from);
    } else if (next.kind == take_lists) {
      share_lists lists = unpacked_lists(next.bytes);
      arrived_.emplace(lists.number, std::move(lists));
    } else if (next.kind == take_times) {
      const times spent = message_reader(next.bytes).array<times>(1).front();
      sum_ = sum_ + spent;
      --helping_;
    }
  }

  /// Gives shares to those who ask. Those that are not stored are few, so that their lists fit in memory. True if there
  /// was nothing to do.
  bool hand_out() {
    const auto most_open = static_cast<std::size_t>(4 * size_ + 4);
    bool idle = true;
    for (;;) {
      const bool own = !own_ended_ && own_.wants();
      if (!own && asking_.empty()) return idle;
      if (!ended_) {
        if (given_.size() >= most_open) return idle;
        share next;
        ended_ = !shares_.next(next);
        if (!ended_) {
          if (own) {
            own_.give(next);
          } else {
            out_.send(asking_.front(), take_share, packed(next));
            asking_.pop_front();
          }
          given_.emplace(next.number, std::move(next));
        }
      }
      if (ended_) {
        for (; !asking_.empty(); asking_.pop_front()) out_.send(asking_.front(), no_more);
        own_.end();
        own_ended_ = true;
      }
      idle = false;
    }
  }

  outbox out_;
  share_source& shares_;
  share_matcher& own_;
  int size_;
  int helping_ = size_ - 1;  // ranks that have not said how long they worked
  std::deque<int> asking_;
  std::map<std::int64_t, share> given_;  // and not yet stored
  std::map<std::int64_t, share_lists> arrived_;
  std::int64_t stored_ = 0;  // shares
  bool ended_ = false, own_ended_ = false;
  times sum_;
};

}  // namespace

ranks::ranks(int& argc, char**& argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  if (level < MPI_THREAD_FUNNELED) {
    std::cerr << "serac_colmap: this MPI knows no threads\n";
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here);
  MPI_Comm_rank(here, &place_);
  MPI_Comm_size(here, &of_);
  MPI_Comm_free(&here);
}

ranks::~ranks() { MPI_Finalize(); }

std::string ranks::prefix() const { return size_ > 1 ? "rank " + std::to_string(rank_) + ": " : ""; }

void ranks::abort(int code) const {
  if (size_ > 1) MPI_Abort(MPI_COMM_WORLD, code);
}

void ranks::run(database& target, const pair_generator& pairs, const match_settings& given, bool dry_run) const {
  const steady::time_point start = steady::now();
  match_settings settings = given;
  settings.where.place = place_;
  settings.where.of = of_;
  const match_limits limits = limits_of(target, settings.max_num_matches);
  const serac::match_options options = options_of(settings, limits);
  const image_table images(target);
  const plan work = make_plan(target, images, pairs, limits);
  print_plan(std::cout, work, images);
  if (dry_run || work.to_do == 0) {
    outbox out;
    for (int helping = size_ - 1; helping > 0;) {
      received next;
      if (!receive(next)) {
        pause();
      } else if (next.kind == want_share) {
        out.send(next.from, no_more);
      } else if (next.kind == take_times) {
        --helping;
      }
    }
    out.finish();
    return;
  }

  share_matcher own(target, images, options, settings);
  const double starting = seconds_since(start);
  progress_bar shown(work.to_do);
  list_store store([&](const auto& lists) { target.store(lists); }, images, limits, settings.min_num_inliers, shown);
  pair_feed feed(work, images, pairs.start());
  const std::int64_t even = work.to_do / (8 * size_);
  share_source shares(feed, images, limits, std::clamp<std::int64_t>(even, 1, 1250));
  const times spent = coordinator(shares, own, size_).run([&](const share& done, const share_lists& lists) {
    const serac::match_pair* matches = lists.matches.data();
    for (std::size_t p = 0; p < done.pairs.size(); ++p) {
      store.add(images.ids(done.pairs[p]), matches, lists.counts[p]);
      matches += lists.counts[p];
    }
    store.store();
  });
  print_summary(std::cout, store, work,
                (size_ > 1 ? std::to_string(size_) + " ranks, the first one on " : "") + own.name());
  print_times(std::cout, {starting, spent.busy, spent.read, store.seconds(), seconds_since(start), spent.workers});
}

void ranks::help(const std::string& path, std::chrono::milliseconds lock_timeout, const match_settings& given) const {
  match_settings settings = given;
  settings.where.place = place_;
  settings.where.of = of_;
  // Nothing is opened before there is something to do.
  std::unique_ptr<database> source;
  std::unique_ptr<image_table> images;
  std::unique_ptr<share_matcher> own;
  bool ended = false;
  send(0, want_share);
  for (bool asked = true; !(ended && (own == nullptr || own->finished()));) {
    bool idle = true;
    for (received next; receive(next); idle = false) {
      if (next.kind == take_share) {
        if (own == nullptr) {
          source = std::make_unique<database>(path, database::access::read_only, lock_timeout);
          images = std::make_unique<image_table>(*source);
          const match_limits limits = limits_of(*source, settings.max_num_matches);
          own = std::make_unique<share_matcher>(*source, *images, options_of(settings, limits), settings);
        }
        own->give(unpacked_share(next.bytes));
        asked = false;
      } else if (next.kind == no_more) {
        ended = true;
        if (own != nullptr) own->end();
      }
    }
    while (own != nullptr) {
      const std::optional<share_lists> lists = own->take();
      if (!lists) break;
      send(0, take_lists, packed(*lists));
      idle = false;
    }
    if (own != nullptr && !asked && own->wants()) {
      send(0, want_share);
      asked = true;
    }
    if (idle) {
      if (own != nullptr) static_cast<void>(own->finished());  // throws what the engine threw
      pause();
    }
  }
  const times spent = own == nullptr ? times{} : times_of(own->result());
  message bytes;
  append(bytes, &spent, 1);
  send(0, take_times, bytes);
}

}  // namespace serac_colmap
