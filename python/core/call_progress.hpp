// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How a long call tells Python how far it is, and learns that it is to end.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <string>

#include <progress.hpp>  // of serac_colmap

namespace serac_python {

/// A call under way, which has released the GIL. Twenty times a second at most it takes the GIL for a moment to update
/// the caller's bar and to look for signals; KeyboardInterrupt, and what the bar throws, leave through `advance`.
/// Notes become warnings.
class call_progress : public serac_colmap::progress {
 public:
  /// With the GIL. `bar_maker` is None or called as `bar_maker(total=total)`, as tqdm is.
  call_progress(nanobind::handle bar_maker, std::int64_t total);

  void advance() override;
  void note(const std::string& text) override;
  /// With the GIL, when all is done.
  void close();

 private:
  using clock = std::chrono::steady_clock;
  void update();

  nanobind::object bar_;  // or None
  std::int64_t done_ = 0, shown_ = 0;
  clock::time_point updated_ = clock::now();
};

}  // namespace serac_python
