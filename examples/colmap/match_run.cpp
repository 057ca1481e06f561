// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "match_run.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "descriptor_cache.hpp"
#include "progress.hpp"

namespace serac_colmap {

namespace {

constexpr double store_interval = 5;  // seconds

/// What there is to do, known before anything is matched.
struct plan {
  std::vector<std::int64_t> matched;  // pairs that have a row, ascending
  std::unordered_map<std::uint32_t, std::string> names;
  std::vector<descriptor_header> headers;
  std::int64_t pairs = 0, skipped = 0, to_do = 0;

  bool is_matched(image_pair pair) const { return std::binary_search(matched.begin(), matched.end(), pair_id(pair)); }
  const std::string& name_of(std::uint32_t image) const { return names.at(image); }
};

const std::string warning = "warning: ";

/// Refuses images that cannot be matched and warns of those that are not matched wholly.
void check_images(const plan& work, const std::unordered_set<std::uint32_t>& used, const match_limits& limits) {
  std::size_t featureless = used.size();
  for (const descriptor_header& header : work.headers) {
    if (used.count(static_cast<std::uint32_t>(header.image_id)) == 0) continue;
    const std::string& name = work.name_of(static_cast<std::uint32_t>(header.image_id));
    check_is_sift(header, name);
    if (header.rows > 0) --featureless;
    if (header.rows > limits.features) {
      std::cerr << warning << "image '" << name << "' has " << header.rows << " features; only the first "
                << limits.features << " are looked at (SiftMatching.max_num_matches)\n";
    }
  }
  if (featureless > 0) {
    std::cerr << warning << featureless << " images have no descriptors: their pairs are stored empty\n";
  }
}

plan make_plan(database& source, const pair_generator& pairs, const match_limits& limits) {
  plan work;
  work.matched = source.matched_pair_ids();
  for (image& each : source.images()) work.names.emplace(each.id, std::move(each.name));
  for (const descriptor_header& header : source.descriptor_headers()) {
    const bool known = header.image_id >= 0 && header.image_id < id_limit &&
                       work.names.count(static_cast<std::uint32_t>(header.image_id)) > 0;
    if (known) work.headers.push_back(header);
  }

  std::unordered_set<std::uint32_t> used;
  pairs([&](const pair_block& block) {
    for (const image_pair pair : block) {
      ++work.pairs;
      if (work.is_matched(pair)) {
        ++work.skipped;
      } else {
        ++work.to_do;
        used.insert({pair.first, pair.second});
      }
    }
  });
  check_images(work, used, limits);
  return work;
}

/// Everything that a run does and counts.
class match_run {
 public:
  match_run(database& target, const plan& work, const match_limits& limits, const match_settings& settings,
            backend& matcher)
      : target_(target),
        work_(work),
        limits_(limits),
        min_num_inliers_(settings.min_num_inliers),
        matcher_(matcher),
        cache_(target, work.headers, settings.cache_bytes),
        progress_(work.to_do) {}

  /// Reads, matches and stores what is left of one block.
  void process(const pair_block& block) {
    pair_block left;
    std::set<std::uint32_t> images;
    for (const image_pair pair : block) {
      if (work_.is_matched(pair)) continue;
      left.push_back(pair);
      images.insert({pair.first, pair.second});
    }
    if (left.empty()) return;

    timed(reading_, [&] { cache_.load({images.begin(), images.end()}); });
    for (const image_pair pair : left) {
      done_.push_back({pair, match(pair)});
      progress_.advance();
      if (seconds_since(stored_) > store_interval) store();
    }
    store();
  }

  void print_summary() const {
    std::cout << "matched " << work_.to_do << " pairs on " << matcher_.name() << ": " << nonempty_ << " have matches, "
              << matches_ << " in all; " << work_.skipped << " pairs skipped\n"
              << std::fixed << std::setprecision(3) << "seconds: " << matching_ << " matching, " << reading_
              << " reading, " << writing_ << " writing, " << seconds_since(start_) << " in all\n";
  }

 private:
  std::vector<serac::match_pair> match(image_pair pair) {
    const auto left = timed(reading_, [&] { return cache_.get(pair.first); });
    const auto right = timed(reading_, [&] { return cache_.get(pair.second); });
    auto list = timed(matching_, [&] { return match(pair, *left, *right); });
    if (static_cast<std::int64_t>(list.size()) > limits_.matches) {
      progress_.note(warning + "images '" + work_.name_of(pair.first) + "' and '" + work_.name_of(pair.second) +
                     "' have " + std::to_string(list.size()) + " matches; only the first " +
                     std::to_string(limits_.matches) + " are kept (SiftMatching.max_num_matches)");
      list.resize(static_cast<std::size_t>(limits_.matches));
    }
    if (static_cast<std::int64_t>(list.size()) < min_num_inliers_) list.clear();
    matches_ += static_cast<std::int64_t>(list.size());
    nonempty_ += !list.empty();
    return list;
  }

  std::vector<serac::match_pair> match(image_pair pair, const features& left, const features& right) {
    try {
      return matcher_.match(left.view(), right.view()).pairs;
    } catch (const std::exception& error) {
      throw std::runtime_error("images '" + work_.name_of(pair.first) + "' and '" + work_.name_of(pair.second) +
                               "': " + error.what());
    }
  }

  void store() {
    timed(writing_, [&] { target_.store(done_); });
    done_.clear();
    stored_ = steady::now();
  }

  database& target_;
  const plan& work_;
  match_limits limits_;
  std::int64_t min_num_inliers_;
  backend& matcher_;
  descriptor_cache cache_;
  progress progress_;
  std::vector<matched_pair> done_;  // not yet stored
  std::int64_t matches_ = 0, nonempty_ = 0;
  double reading_ = 0, matching_ = 0, writing_ = 0;  // seconds
  steady::time_point start_ = steady::now(), stored_ = start_;
};

}  // namespace

match_limits limits_of(database& source, std::int64_t max_num_matches) {
  const std::int64_t cap = std::min(max_num_matches, source.largest_feature_count());
  return {(cap + 31) / 32 * 32, cap};
}

void run(database& target, const pair_generator& pairs, const match_settings& settings, bool dry_run) {
  const match_limits limits = limits_of(target, settings.max_num_matches);
  serac::match_options options;
  options.max_ratio = settings.max_ratio;
  options.max_distance = settings.max_distance;
  options.cross_check = settings.cross_check;
  options.max_features = limits.features;
  serac::throw_on_error(serac::validate(options));

  const plan work = make_plan(target, pairs, limits);
  std::cout << work.pairs << " pairs of " << work.names.size() << " images: " << work.skipped
            << " are matched already, " << work.to_do << " are to be matched" << std::endl;
  if (dry_run || work.to_do == 0) return;

  const std::unique_ptr<backend> matcher = make_backend(options, settings.where);
  match_run matching(target, work, limits, settings, *matcher);
  pairs([&](const pair_block& block) { matching.process(block); });
  matching.print_summary();
}

}  // namespace serac_colmap
