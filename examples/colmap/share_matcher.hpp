// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Matches shares of a survey's pairs in a thread of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <serac/batch.hpp>
#include <serac/output.hpp>

#include "backend.hpp"
#include "database.hpp"
#include "match_run.hpp"
#include "plan.hpp"

namespace serac_colmap {

/// Pairs that one process matches, images by their numbers.
struct share {
  std::int64_t number = 0;
  std::vector<serac::image_pair> pairs;
};

/// The lists of a share: how long each is, and all of them one after the other.
struct share_lists {
  std::int64_t number = 0;
  std::vector<std::uint32_t> counts;
  std::vector<serac::match_pair> matches;
};

/// One engine, whatever the number of shares. Its owner asks it what it wants, in one thread, and never waits for it.
class share_matcher {
 public:
  /// Everything lives longer than this. Throws as make_backend does.
  share_matcher(const database& source, const image_table& images, const serac::match_options& options,
                const match_settings& settings);
  /// Ends the engine, whatever it is doing.
  ~share_matcher();

  std::string name() const { return backend_.name(); }

  /// Whether it could do with another share.
  bool wants();
  void give(share next);
  /// There will be no more shares.
  void end();
  /// The lists of the next share in the order given, if they are there.
  std::optional<share_lists> take();
  /// Whether all lists have been taken after `end`. Throws what the engine threw.
  bool finished();
  /// What the engine did, when it is finished.
  const serac::survey::run_result& result() const { return result_; }

 private:
  std::int64_t pull(serac::image_pair* destination, std::int64_t room);
  void add(const serac::survey::matched_pair& list);

  backend backend_;
  std::mutex mutex_;
  std::deque<share> given_;     // not yet pulled wholly; the first up to pulled_
  std::deque<share> matching_;  // pulled; the first is being collected
  std::size_t pulled_ = 0;
  share_lists collected_;
  std::deque<share_lists> done_;
  bool waiting_ = false, ended_ = false, returned_ = false;
  std::atomic<bool> cancel_{false};
  std::exception_ptr failure_;
  serac::survey::run_result result_;
  std::thread thread_;
};

}  // namespace serac_colmap
