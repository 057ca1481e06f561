// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// serac_exactness: matches all pairs of a COLMAP database by every path, and prints of each the hash that
/// `serac_colmap --hash` would. Nothing is written to the database. Exit codes: 0 all are the same, 1 some differ, 2 an
/// error.

#include <sqlite3.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "database.hpp"
#include "descriptor_cache.hpp"
#include "digest.hpp"
#include "list_store.hpp"
#include "match_run.hpp"
#include "pair_generator.hpp"
#include "paths.hpp"
#include "plan.hpp"

namespace {

using namespace serac_colmap;
using serac_exactness::path;

constexpr int exit_different = 1, exit_error = 2;
constexpr auto no_wait = std::chrono::milliseconds(0);

/// A new database that holds nothing but matches, and goes with this.
class scratch_database {
 public:
  scratch_database() : folder_(make_folder()), database_(make_file(folder_ / "matches.db"), access, no_wait) {}
  ~scratch_database() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  scratch_database(const scratch_database&) = delete;
  scratch_database& operator=(const scratch_database&) = delete;

  database& get() { return database_; }

 private:
  static constexpr auto access = database::access::read_write;

  static std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "serac_exactness_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
    return name;
  }
  static std::string make_file(const std::string& file) {
    sqlite3* connection = nullptr;
    const bool made = sqlite3_open(file.c_str(), &connection) == SQLITE_OK &&
                      sqlite3_exec(connection,
                                   "CREATE TABLE images(image_id INTEGER); CREATE TABLE descriptors(image_id INTEGER);"
                                   "CREATE TABLE matches(pair_id INTEGER PRIMARY KEY, rows, cols, data BLOB)",
                                   nullptr, nullptr, nullptr) == SQLITE_OK;
    sqlite3_close(connection);
    if (!made) throw std::runtime_error(file + ": cannot be made");
    return file;
  }

  std::filesystem::path folder_;
  database database_;
};

/// A database, all of whose pairs are to be matched as `serac_colmap exhaustive` would.
class survey {
 public:
  survey(database& source, const match_settings& settings)
      : source_(source),
        settings_(settings),
        limits_(limits_of(source, settings.max_num_matches)),
        options_(options_of(settings, limits_)),
        images_(source),
        pairs_(exhaustive_pairs(source.images(), block_size)) {
    for (const descriptor_header& header : images_.headers()) {
      check_is_sift(header, images_.name(static_cast<std::uint32_t>(header.image_id)));
    }
  }

  const serac::match_options& options() const { return options_; }
  std::int64_t pair_count() const { return images_.size() * (images_.size() - 1) / 2; }

  /// Hands the lists that the engine makes to `store`.
  void match(const backend& matching, list_store& store) const {
    const plan everything;
    pair_feed feed(everything, images_, pairs_.start());
    match_survey(
        source_, images_, matching, [&](serac::image_pair* list, std::int64_t room) { return feed.pull(list, room); },
        [&](const serac::survey::matched_pair& list) { store.add(images_.ids(list.pair), list.matches, list.count); },
        options_, settings_, nullptr);
  }

  /// Hands the lists that `matcher` makes of one pair after the other to `store`.
  void match(const serac_exactness::pair_matcher& matcher, list_store& store) const {
    descriptor_cache cache(source_, images_.headers(), settings_.cache_bytes);
    pairs_([&](const pair_block& block) {
      for (const image_pair pair : block) {
        const auto left = cache.get(pair.first), right = cache.get(pair.second);
        const serac::match_list list = matcher(left->view(), right->view());
        store.add(pair, list.pairs.data(), static_cast<std::int64_t>(list.pairs.size()));
      }
    });
  }

  /// What match hands over, as it would be stored: its hash, after a line for people.
  template <class Matching>
  std::string hash_of(const std::string& name, const Matching& matching) const {
    scratch_database scratch;
    progress_bar shown(pair_count());
    list_store store([&](const auto& lists) { scratch.get().store(lists); }, images_, limits_,
                     settings_.min_num_inliers, shown);
    const auto start = steady::now();
    match(matching, store);
    const double seconds = seconds_since(start);
    store.store();
    std::string hash = matches_sha256(scratch.get());
    std::printf("%-30s %s  %lld matches, %.2f s\n", name.c_str(), hash.c_str(), static_cast<long long>(store.matches()),
                seconds);
    std::fflush(stdout);
    return hash;
  }

 private:
  static constexpr int block_size = 50;  // COLMAP's

  database& source_;
  match_settings settings_;
  match_limits limits_;
  serac::match_options options_;
  image_table images_;
  pair_generator pairs_;
};

/// The paths that there are, and those that there might be.
std::vector<path> all_paths(const serac::match_options& options, bool use_gpu, int threads, bool with_reference) {
  std::vector<path> paths = serac_exactness::host_paths(options, threads, with_reference);
#if SERAC_EXACTNESS_HAS_CUDA
  if (use_gpu) {
    for (path& each : serac_exactness::cuda_paths(options)) paths.push_back(std::move(each));
  }
#else
  if (use_gpu) paths.push_back({"those of a GPU", "this program was built without CUDA", {}, {}});
#endif
  return paths;
}

int run(int argc, char** argv) {
  CLI::App app("Matches all pairs of a COLMAP database by every path and compares the lists.", "serac_exactness");
  std::string database_path;
  match_settings settings;
  bool use_gpu = true, with_reference = false;
  app.add_option("--database_path", database_path, "the COLMAP database; it is only read")->required();
  app.add_option("--SiftMatching.max_ratio", settings.max_ratio, "above 1 leaves the classic path and the host");
  app.add_option("--SiftMatching.max_distance", settings.max_distance, "in radians");
  app.add_option("--SiftMatching.cross_check", settings.cross_check, "0 or 1");
  app.add_option("--SiftMatching.max_num_matches", settings.max_num_matches, "features of an image, matches of a pair");
  app.add_option("--SiftMatching.min_num_inliers", settings.min_num_inliers, "a shorter list is stored empty");
  app.add_option("--use_gpu", use_gpu, "0: the host alone");
  app.add_option("--num_threads", settings.where.num_threads, "of the host; -1: all");
  app.add_flag("--reference", with_reference, "the slow reference as well");
  for (CLI::Option* const option : app.get_options()) option->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_error;
  }

  database source(database_path, database::access::read_only, std::chrono::seconds(60));
  const survey all(source, settings);
  std::printf("%s: %lld pairs\n", database_path.c_str(), static_cast<long long>(all.pair_count()));
  std::string first, different;
  int taken = 0;
  const auto compare = [&](const std::string& name, const auto& matching) {
    const std::string hash = all.hash_of(name, matching);
    if (taken++ == 0) first = hash;
    if (hash != first) different += (different.empty() ? "" : "; ") + name;
  };
  for (const path& each : all_paths(all.options(), use_gpu, std::max(0, settings.where.num_threads), with_reference)) {
    if (!each.left_out.empty()) {
      std::printf("%-30s left out: %s\n", each.name.c_str(), each.left_out.c_str());
      continue;
    }
    if (each.make_backend) compare(each.name + ", survey", each.make_backend());
    if (each.make_matcher) compare(each.name + ", pair by pair", each.make_matcher());
  }
  if (different.empty()) {
    std::printf("all %d are equal\n", taken);
    return 0;
  }
  std::printf("DIFFERENT from the first: %s\n", different.c_str());
  return exit_different;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "serac_exactness: " << error.what() << '\n';
    return exit_error;
  }
}
