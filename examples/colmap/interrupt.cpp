// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.hpp"

#include <csignal>
#include <stdexcept>

namespace serac_colmap {

namespace {

constexpr int signals[] = {SIGINT, SIGTERM};

std::atomic<bool> taken{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

void handle_with(void (*handler)(int)) {
  for (const int each : signals) std::signal(each, handler);
}

void take(int) {
  taken = true;
  handle_with(SIG_DFL);
}

}  // namespace

interrupt_scope::interrupt_scope() { handle_with(&take); }
interrupt_scope::~interrupt_scope() { handle_with(SIG_DFL); }

const std::atomic<bool>& interrupt_scope::interrupted() const { return taken; }

void throw_interrupted(std::int64_t pairs, const std::string& how_to_go_on) {
  throw std::runtime_error("interrupted; the " + std::to_string(pairs) + " pairs matched until then are stored, and " +
                           how_to_go_on);
}

}  // namespace serac_colmap
