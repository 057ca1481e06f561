// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "match_run.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <serac/survey/run.hpp>

#include "interrupt.hpp"
#include "progress.hpp"
#include "report_text.hpp"

namespace serac_colmap {

namespace {

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB"; }

}  // namespace

serac::match_options options_of(const match_settings& settings, const match_limits& limits) {
  serac::match_options options;
  options.max_ratio = settings.max_ratio;
  options.max_distance = settings.max_distance;
  options.cross_check = settings.cross_check;
  options.max_features = limits.features;
  serac::throw_on_error(serac::validate(options));
  return options;
}

std::int64_t pair_feed::pull(serac::image_pair* destination, std::int64_t room) {
  std::int64_t count = 0;
  while (count < room) {
    if (next_ == block_.size()) {
      if (!next_block()) break;
      continue;
    }
    destination[count++] = images_.numbers(block_[next_++]);
  }
  return count;
}

bool pair_feed::ends_block(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  if (ends_.empty() || ends_.front() != number + 1) return false;
  ends_.pop_front();
  return true;
}

/// Takes the next block's pairs that are not matched; false at the end.
bool pair_feed::next_block() {
  if (!blocks_(block_)) return false;
  const auto is_done = [&](image_pair pair) { return work_.is_matched(pair); };
  block_.erase(std::remove_if(block_.begin(), block_.end(), is_done), block_.end());
  next_ = 0;
  pulled_ += static_cast<std::int64_t>(block_.size());
  const std::lock_guard lock(mutex_);
  if (!block_.empty()) ends_.push_back(pulled_);
  return true;
}

std::vector<std::int64_t> image_counts(const image_table& images) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(images.size()), 0);
  for (const descriptor_header& header : images.headers()) {
    if (has_sift_size(header)) counts[images.number(static_cast<std::uint32_t>(header.image_id))] = header.rows;
  }
  return counts;
}

image_reader::image_reader(const database& like, const image_table& images, std::size_t cache_bytes)
    : images_(images),
      connection_(like.path(), database::access::read_only, like.lock_timeout()),
      cache_(connection_, images.headers(), cache_bytes) {}

serac::survey::image_source<std::uint8_t> image_reader::source() {
  serac::survey::image_source<std::uint8_t> images;
  images.width = sift_width;
  images.counts = image_counts(images_);
  images.read = [this](std::int32_t image, std::int64_t count, std::uint8_t* destination) {
    const auto read = cache_.get(images_.id(image));
    std::memcpy(destination, read->data.data(), static_cast<std::size_t>(count * sift_width));
  };
  return images;
}

serac::survey::run_result match_survey(const database& source, const image_table& images, const backend& matching,
                                       const serac::survey::pair_source& pairs, const serac::survey::list_sink& sink,
                                       const serac::match_options& options, const match_settings& settings,
                                       const std::atomic<bool>* cancel) {
  std::size_t all = 0;
  for (const descriptor_header& header : images.headers()) all += static_cast<std::size_t>(header.bytes);
  // One worker with room for all of them reads each image once.
  const bool once = matching.workers.size() == 1 && all < matching.memory_budget / 2;
  image_reader reader(source, images, once ? 0 : settings.cache_bytes);
  for (const auto& each : matching.workers) {
    const std::size_t least = serac::survey::least_memory_budget(*each, reader.source(), options);
    if (least > matching.memory_budget) {
      throw std::runtime_error("memory_budget: " + mebibytes(matching.memory_budget) + " on " + each->name() +
                               " are too few; the largest pair of images needs " + mebibytes(least));
    }
  }
  serac::survey::run_options budgets;
  budgets.memory_budget = matching.memory_budget;
  budgets.cancel = cancel;
  try {
    return serac::survey::run<std::uint8_t>(reader.source(), pairs, sink, matching.workers, options, budgets);
  } catch (const serac::survey::pair_error& error) {
    const image_pair pair = images.ids(error.pair());
    throw std::runtime_error("images '" + images.name(pair.first) + "' and '" + images.name(pair.second) +
                             "': " + error.status().message());
  }
}

serac::survey::run_result match_plan(const database& source, const image_table& images, const plan& work,
                                     const pair_generator& pairs, const backend& matching, list_store& store,
                                     const serac::match_options& options, const match_settings& settings,
                                     const std::atomic<bool>* cancel) {
  pair_feed feed(work, images, pairs.start());
  serac::survey::run_result result;
  try {
    result = match_survey(
        source, images, matching, [&](serac::image_pair* list, std::int64_t room) { return feed.pull(list, room); },
        [&](const serac::survey::matched_pair& list) {
          store.add(images.ids(list.pair), list.matches, list.count);
          if (feed.ends_block(list.number)) store.store();
        },
        options, settings, cancel);
  } catch (...) {
    store.store();  // what came before the fault
    throw;
  }
  store.store();
  return result;
}

void print_plan(std::ostream& out, const plan& work, const image_table& images) {
  for (const std::string& text : work.warnings) std::cerr << "warning: " << as_terminal(text) << '\n';
  out << work.pairs << " pairs of " << images.size() << " images: " << work.skipped << " are matched already, "
      << work.to_do << " are to be matched" << std::endl;
}

void print_summary(std::ostream& out, const list_store& store, const plan& work, const std::string& where) {
  out << "matched " << store.pairs() << " pairs on " << where << ": " << store.nonempty() << " have matches, "
      << store.matches() << " in all; " << work.skipped << " pairs skipped\n";
}

void print_times(std::ostream& out, const run_seconds& spent) {
  out << std::fixed << std::setprecision(3) << "seconds: " << spent.starting << " starting, " << spent.matching
      << " matching";
  if (spent.workers > 1) out << " (" << spent.workers << " workers together)";
  out << ", " << spent.reading << " reading, " << spent.writing << " writing"
      << (spent.overlap ? " (these overlap), " : ", ") << spent.in_all << " in all\n";
}

void run(database& target, const pair_generator& pairs, const match_settings& settings, bool dry_run) {
  const steady::time_point start = steady::now();
  const match_limits limits = limits_of(target, settings.max_num_matches);
  const serac::match_options options = options_of(settings, limits);
  const image_table images(target);
  const plan work = make_plan(target, images, pairs, limits);
  print_plan(std::cout, work, images);
  if (dry_run || work.to_do == 0) return;

  const backend matching = make_backend(options, settings.where);
  const double starting = seconds_since(start);
  progress_bar shown(work.to_do);
  list_store store([&](const auto& lists) { target.store(lists); }, images, limits, settings.min_num_inliers, shown);
  const interrupt_scope scope;
  const serac::survey::run_result result =
      match_plan(target, images, work, pairs, matching, store, options, settings, &scope.interrupted());
  if (result.cancelled) {
    throw_interrupted(store.pairs(), "the same command goes on from there");
  }
  print_summary(std::cout, store, work, matching.name());
  const double busy = std::accumulate(result.busy_seconds.begin(), result.busy_seconds.end(), 0.0);
  print_times(std::cout, {starting, busy, result.read_seconds, store.seconds(), seconds_since(start),
                          static_cast<int>(matching.workers.size())});
}

}  // namespace serac_colmap
