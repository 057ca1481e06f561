// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How far a run is: a bar on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace serac_colmap {

using steady = std::chrono::steady_clock;

/// Seconds since a point in time.
inline double seconds_since(steady::time_point start) {
  return std::chrono::duration<double>(steady::now() - start).count();
}

/// Runs `body` and adds the seconds it took to `seconds`.
template <class Body>
auto timed(double& seconds, Body body) {
  struct adder {
    double& seconds;
    steady::time_point start = steady::now();
    ~adder() { seconds += seconds_since(start); }
  } add{seconds};
  return body();
}

/// "1:02:03", "2:03", for people.
std::string clock_text(double seconds);

/// Shows done / total pairs, pairs/s and the time left on standard error.
class progress {
 public:
  explicit progress(std::int64_t total);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void advance();
  /// Prints a line of its own.
  void note(const std::string& text);

 private:
  void show();
  void end_bar();

  std::int64_t total_, done_ = 0;
  bool terminal_, bar_shown_ = false;
  steady::time_point start_ = steady::now(), shown_ = start_;
};

}  // namespace serac_colmap
