// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// serac_colmap: the command line. Exit codes: 0 done (compare: equal), 1 compare: different, 2 an error.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "compare.hpp"
#include "database.hpp"
#include "digest.hpp"
#include "guided.hpp"
#include "info.hpp"
#include "match_run.hpp"
#include "pair_generator.hpp"
#include "ranks.hpp"
#include "report.hpp"
#include "report_text.hpp"

namespace {

using namespace serac_colmap;

constexpr int exit_different = 1, exit_error = 2;

/// Everything that the command line says.
struct arguments {
  std::string database_path, match_list_path, path_a, path_b;
  match_settings settings;
  int block_size = 50, list_block_size = 1225;
  int overlap = 10;
  bool quadratic_overlap = true;
  double lock_timeout = 60, max_error = 4;
  std::size_t listed = 20;
  std::size_t cache_mib = 1024, memory_budget_mib = 0;
  bool dry_run = false, hash = false;
  report_settings report;
};

/// The spellings of an option in COLMAP 3.x and 4.x.
std::string spellings(const std::string& name) { return "--SiftMatching." + name + ",--FeatureMatching." + name; }

/// Refuses what is not above zero as a float, NaN as well.
const CLI::Validator positive(
    [](std::string& text) {
      return std::strtof(text.c_str(), nullptr) > 0 ? std::string() : "must be above 0, not " + text;
    },
    "> 0");

/// Refuses NaN, which CLI::Range lets pass.
const CLI::Validator not_nan(
    [](std::string& text) {
      return std::isnan(std::strtod(text.c_str(), nullptr)) ? "must be a number, not " + text : std::string();
    },
    "");

/// A boolean as COLMAP spells it; `value` is a bool or an optional one.
template <class Boolean>
CLI::Option* add_boolean(CLI::App& command, const std::string& names, Boolean& value, const std::string& help) {
  return command.add_option(names, value, help)->check(CLI::IsMember({"0", "1", "false", "true"}))->type_name("0|1");
}

void add_database(CLI::App& command, arguments& given) {
  command.add_option("--database_path", given.database_path, "the COLMAP database")->required()->type_name("FILE");
  command.add_option("--lock_timeout", given.lock_timeout, "seconds to wait while another process locks the database")
      ->check(CLI::Range(0.0, 1e6))
      ->check(not_nan)
      ->capture_default_str();
}

void add_database_options(CLI::App& command, arguments& given) {
  add_database(command, given);
  command.add_flag("--hash", given.hash, "print the SHA-256 over all match blobs in order of pair_id");
}

void add_matching_options(CLI::App& command, arguments& given) {
  match_settings& settings = given.settings;
  add_database_options(command, given);
  command.add_flag("--dry_run", given.dry_run, "say what would be matched and change nothing");
  command.add_option("--cache_mib", given.cache_mib, "memory that keeps descriptors, in MiB")
      ->check(CLI::Range(0, 1 << 24))
      ->capture_default_str();
  command.add_option(spellings("max_ratio"), settings.max_ratio, "distance(best) / distance(second) is below this")
      ->check(positive)
      ->capture_default_str();
  command.add_option(spellings("max_distance"), settings.max_distance, "distance(best) is below this, in radians")
      ->check(positive)
      ->capture_default_str();
  add_boolean(command, spellings("cross_check"), settings.cross_check, "each is the other's best")
      ->capture_default_str();
  command.add_option(spellings("max_num_matches"), settings.max_num_matches, "features of an image, matches of a pair")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command
      .add_option(spellings("min_num_inliers") + ",--TwoViewGeometry.min_num_inliers", settings.min_num_inliers,
                  "a shorter list of matches is stored empty")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  add_boolean(command, spellings("use_gpu"), settings.where.use_gpu,
              "1: on a GPU; 0: on the host; without it: a GPU if one is usable");
  command.add_option(spellings("gpu_index"), settings.where.gpu_index, "GPUs, as 0,1,2; -1: all of them")
      ->delimiter(',')
      ->check(CLI::Range(-1, 1 << 20))
      ->type_name("LIST")
      ->allow_extra_args(false)
      ->capture_default_str();
  command
      .add_option("--memory_budget", given.memory_budget_mib,
                  "memory to use on each GPU (on the host: for descriptors), in MiB; 0: most of what is free (1024)")
      ->check(CLI::Range(0, 1 << 24))
      ->capture_default_str();
  command.add_option(spellings("num_threads"), settings.where.num_threads, "threads on the host; -1: all")
      ->check(CLI::Range(-1, 1 << 20))
      ->capture_default_str();
}

void add_report_options(CLI::App& command, arguments& given) {
  report_settings& report = given.report;
  add_database(command, given);
  command.add_option("--output", report.output, "the page")->required()->type_name("FILE");
  command.add_option("--image_path", report.image_path, "the folder of the images")->type_name("FOLDER");
  command.add_option("--pair", report.pairs, "the names of two images that are drawn; may be given several times")
      ->type_name("NAME NAME");
  command.add_option("--drawings", report.drawings, "without --pair: pairs to draw, from the best to the weakest")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command.add_option("--lines", report.lines, "matches of a drawing that are drawn")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  command.add_option("--image_size", report.image_size, "the longer side of an image in the page, in pixels")
      ->check(CLI::Range(16, 1 << 14))
      ->capture_default_str();
  command.add_option("--few", report.few, "images that have matches with no more others than this are listed")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
}

void add_block_size(CLI::App& command, const std::string& name, int& value) {
  command.add_option(name, value, "images (list: pairs) in a block, stored together")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

std::chrono::milliseconds lock_timeout_of(const arguments& given) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(given.lock_timeout * 1000));
}

database open(const std::string& path, database::access mode, const arguments& given) {
  return {path, mode, lock_timeout_of(given)};
}

void print_hash(database& source) { std::cout << "sha256 of all matches: " << matches_sha256(source) << '\n'; }

/// Refuses a list that names a GPU twice, or one beside "all".
void check_gpu_list(std::vector<int> list) {
  std::sort(list.begin(), list.end());
  const bool repeated = std::adjacent_find(list.begin(), list.end()) != list.end();
  if (repeated || (list.size() > 1 && list.front() < 0)) {
    throw std::runtime_error("gpu_index: each GPU once, or -1 alone");
  }
}

match_settings settings_of(const arguments& given) {
  match_settings settings = given.settings;
  settings.cache_bytes = given.cache_mib << 20;
  settings.where.memory_budget = given.memory_budget_mib << 20;
  check_gpu_list(settings.where.gpu_index);
  return settings;
}

/// Runs `work(database, settings)` on the database, which is only read in a dry run.
template <class Work>
int change(const arguments& given, Work work) {
  const match_settings settings = settings_of(given);
  database target =
      open(given.database_path, given.dry_run ? database::access::read_only : database::access::read_write, given);
  work(target, settings);
  if (given.hash) print_hash(target);
  return 0;
}

/// Runs one of the matching commands.
template <class MakePairs>
int match(const ranks& all, const arguments& given, MakePairs make_pairs) {
  if (!all.is_first()) {
    all.help(given.database_path, lock_timeout_of(given), settings_of(given));
    return 0;
  }
  return change(given, [&](database& target, const match_settings& settings) {
    all.run(target, make_pairs(target.images()), settings, given.dry_run);
  });
}

int run_command(const ranks& all, int argc, char** argv) {
  arguments given;
  CLI::App app("Matches the images of a COLMAP database exactly as COLMAP's GPU matcher does.", "serac_colmap");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done (compare: equal), 1 compare: different, 2 an error.");

  CLI::App* const exhaustive = app.add_subcommand("exhaustive", "match all pairs");
  add_matching_options(*exhaustive, given);
  add_block_size(*exhaustive, "--ExhaustiveMatching.block_size", given.block_size);

  CLI::App* const sequential = app.add_subcommand("sequential", "match each image with the next ones in order of name");
  add_matching_options(*sequential, given);
  sequential
      ->add_option("--overlap,--SequentialMatching.overlap", given.overlap,
                   "images that overlap, itself included (as COLMAP 3.8 counts)")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  add_boolean(*sequential, "--SequentialMatching.quadratic_overlap", given.quadratic_overlap,
              "also those 1, 2, 4, ... 2^(overlap - 1) places on")
      ->capture_default_str();

  CLI::App* const pairs = app.add_subcommand("pairs", "match the pairs of a list");
  add_matching_options(*pairs, given);
  pairs->add_option("--match_list_path", given.match_list_path, "a file with two image names a line")
      ->required()
      ->type_name("FILE");
  add_block_size(*pairs, "--ImagePairsMatching.block_size", given.list_block_size);

  CLI::App* const guided = app.add_subcommand("guided", "match again under the two-view geometries of the database");
  add_matching_options(*guided, given);
  guided
      ->add_option(spellings("max_error") + ",--TwoViewGeometry.max_error", given.max_error,
                   "pixels that a match may be off its geometry")
      ->check(positive)
      ->capture_default_str();

  CLI::App* const info = app.add_subcommand("info", "say what a database holds");
  add_database_options(*info, given);

  CLI::App* const report = app.add_subcommand("report", "write a page to look at about what is matched");
  add_report_options(*report, given);

  CLI::App* const comparison = app.add_subcommand("compare", "say how the matches of two databases differ");
  comparison->add_option("A", given.path_a, "a database")->required()->type_name("FILE");
  comparison->add_option("B", given.path_b, "another database of the same images")->required()->type_name("FILE");
  comparison->add_option("--list", given.listed, "how many pairs of a kind to name")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (!all.is_first()) return error.get_exit_code() == 0 ? 0 : exit_error;  // the first one says it
    return app.exit(error) == 0 ? 0 : exit_error;
  }

  if (*exhaustive) {
    return match(all, given, [&](auto images) { return exhaustive_pairs(images, given.block_size); });
  }
  if (*sequential) {
    return match(all, given,
                 [&](auto images) { return sequential_pairs(images, given.overlap, given.quadratic_overlap); });
  }
  if (*pairs) {
    return match(all, given,
                 [&](auto images) { return listed_pairs(images, given.match_list_path, given.list_block_size); });
  }
  if (!all.is_first()) return 0;
  if (*guided) {
    return change(given, [&](database& target, const match_settings& settings) {
      run_guided(target, settings, given.max_error, given.dry_run);
    });
  }
  if (*info) {
    database source = open(given.database_path, database::access::read_only, given);
    print_info(source);
    if (given.hash) print_hash(source);
    return 0;
  }
  if (*report) {
    database source = open(given.database_path, database::access::read_only, given);
    write_report(source, given.report);
    return 0;
  }
  database a = open(given.path_a, database::access::read_only, given);
  database b = open(given.path_b, database::access::read_only, given);
  return compare(a, b, given.listed) ? 0 : exit_different;
}

}  // namespace

int main(int argc, char** argv) {
  const ranks all(argc, argv);
  std::string fault;
  try {
    const int code = run_command(all, argc, argv);
    if (std::cout.flush()) return code;
    fault = "standard output cannot be written";
  } catch (const std::bad_alloc&) {
    fault = "out of memory";
  } catch (const std::exception& error) {
    fault = error.what();
  }
  std::cout.flush();
  std::cerr << "serac_colmap: " << all.prefix() << as_terminal(fault) << '\n';
  all.abort(exit_error);
  return exit_error;
}
