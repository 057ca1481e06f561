// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The processes that share a run: a single one in serac_colmap (ranks_single.cpp), those that mpirun started in
/// serac_colmap_mpi (ranks_mpi.cpp).
#pragma once

#include <chrono>
#include <string>

#include "database.hpp"
#include "match_run.hpp"
#include "pair_generator.hpp"

namespace serac_colmap {

/// Made first of all in main; lives until its end.
class ranks {
 public:
  ranks(int& argc, char**& argv);
  ~ranks();
  ranks(const ranks&) = delete;
  ranks& operator=(const ranks&) = delete;

  /// Whether this process is the one that talks and writes.
  bool is_first() const { return rank_ == 0; }
  /// "" or "rank N: ", for messages.
  std::string prefix() const;
  /// Ends all processes after an error; returns where there is only one.
  void abort(int code) const;

  /// `run` of match_run.hpp by all processes; called by the first.
  void run(database& target, const pair_generator& pairs, const match_settings& settings, bool dry_run) const;
  /// What the others do meanwhile. The path is that of the same database.
  void help(const std::string& path, std::chrono::milliseconds lock_timeout, const match_settings& settings) const;

 private:
  int rank_ = 0, size_ = 1;
  int place_ = 0, of_ = 1;  // among those on this machine
};

}  // namespace serac_colmap
