// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "ranks.hpp"

namespace serac_colmap {

ranks::ranks(int&, char**&) {}
ranks::~ranks() = default;
std::string ranks::prefix() const { return ""; }
void ranks::abort(int) const {}
void ranks::run(database& target, const pair_generator& pairs, const match_settings& settings, bool dry_run) const {
  serac_colmap::run(target, pairs, settings, dry_run);
}
void ranks::help(const std::string&, std::chrono::milliseconds, const match_settings&) const {}

}  // namespace serac_colmap
