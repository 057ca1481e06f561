// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Interrupts (SIGINT, SIGTERM) that let a run store what is matched.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace serac_colmap {

/// While it lives, the first interrupt sets `interrupted`, and the next one ends the program. One at a time.
class interrupt_scope {
 public:
  interrupt_scope();
  ~interrupt_scope();
  interrupt_scope(const interrupt_scope&) = delete;
  interrupt_scope& operator=(const interrupt_scope&) = delete;

  const std::atomic<bool>& interrupted() const;
};

/// Throws the std::runtime_error of a run that was interrupted after `pairs` pairs were stored.
[[noreturn]] void throw_interrupted(std::int64_t pairs, const std::string& how_to_go_on);

}  // namespace serac_colmap
