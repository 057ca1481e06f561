// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Matches pairs of images of a database and stores the lists as COLMAP would.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <serac/options.hpp>
#include <serac/survey/survey.hpp>

#include "backend.hpp"
#include "database.hpp"
#include "descriptor_cache.hpp"
#include "list_store.hpp"
#include "pair_generator.hpp"
#include "plan.hpp"

namespace serac_colmap {

/// COLMAP's options of matching, with its defaults, and what this tool adds.
struct match_settings {
  float max_ratio = 0.8f;
  float max_distance = 0.7f;
  bool cross_check = true;
  std::int64_t max_num_matches = 32768;  ///< limits the features looked at and the matches of a pair
  std::int64_t min_num_inliers = 15;     ///< a shorter list is stored empty
  backend_choice where;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< of descriptors kept on the host for workers that lack room
};

/// What the library makes of the settings. Throws serac::error for what is out of range.
serac::match_options options_of(const match_settings& settings, const match_limits& limits);

/// Matches all pairs that have no matches row yet and prints a summary. Lists are stored after every block of pairs
/// and every few seconds, so that a run that is stopped in any way loses no more than that; the next one goes on there.
/// With `dry_run` it only says what it would do. Reading, matching and writing overlap. Throws std::runtime_error;
/// descriptors are checked before all work.
void run(database& target, const pair_generator& pairs, const match_settings& settings, bool dry_run);

/// The pairs that are left, as the engine pulls them, and where their blocks end. Pulling and asking may be in
/// different threads.
class pair_feed {
 public:
  pair_feed(const plan& work, const image_table& images, block_stream blocks)
      : work_(work), images_(images), blocks_(std::move(blocks)) {}

  /// The next pairs, at most `room`; 0 at the end.
  std::int64_t pull(serac::image_pair* destination, std::int64_t room);
  /// Whether a block ends with the pair of this number. Asked in order.
  bool ends_block(std::int64_t number);

 private:
  bool next_block();

  const plan& work_;
  const image_table& images_;
  block_stream blocks_;
  pair_block block_;
  std::size_t next_ = 0;
  std::int64_t pulled_ = 0;
  std::mutex mutex_;
  std::deque<std::int64_t> ends_;  // numbers of the pairs after the last ones of blocks
};

/// Features of each image, by number; 0 where the descriptors cannot be matched.
std::vector<std::int64_t> image_counts(const image_table& images);

/// Reads a database's descriptors, through a connection of its own, for the engine.
class image_reader {
 public:
  /// Keeps up to `cache_bytes` of descriptors.
  image_reader(const database& like, const image_table& images, std::size_t cache_bytes);

  /// Lives as long as this.
  serac::survey::image_source<std::uint8_t> source();

 private:
  const image_table& images_;
  database connection_;
  descriptor_cache cache_;
};

/// Runs the engine on the workers and returns what it did. A pair that cannot be matched is an error that has its
/// images' names.
serac::survey::run_result match_survey(const database& source, const image_table& images, const backend& matching,
                                       const serac::survey::pair_source& pairs, const serac::survey::list_sink& sink,
                                       const serac::match_options& options, const match_settings& settings,
                                       const std::atomic<bool>* cancel);

/// Matches what is left of `work`, with match_survey, into `store`, after every block as well; also what was matched
/// before something was thrown.
serac::survey::run_result match_plan(const database& source, const image_table& images, const plan& work,
                                     const pair_generator& pairs, const backend& matching, list_store& store,
                                     const serac::match_options& options, const match_settings& settings,
                                     const std::atomic<bool>* cancel);

/// Where the seconds of a run went.
struct run_seconds {
  double starting = 0;  ///< before the first pair: the plan, and the workers
  double matching = 0;  ///< all workers together
  double reading = 0, writing = 0;
  double in_all = 0;
  int workers = 1;
  bool overlap = true;  ///< matching, reading and writing do
};

/// Lines for people: what there is to do (warnings on standard error), what was done, and the seconds that it took.
void print_plan(std::ostream& out, const plan& work, const image_table& images);
void print_summary(std::ostream& out, const list_store& store, const plan& work, const std::string& where);
void print_times(std::ostream& out, const run_seconds& spent);

}  // namespace serac_colmap
