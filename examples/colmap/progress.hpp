// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How far a run is.
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

/// Who is told how far a run is. What its functions throw ends the run.
class progress {
 public:
  virtual ~progress() = default;

  /// The list of one more pair is there.
  virtual void advance() = 0;
  /// Something to tell people.
  virtual void note(const std::string& text) = 0;
};

/// Shows done / total pairs, pairs/s and the time left on standard error: a bar on a terminal, a line now and then
/// elsewhere. Notes are lines of their own.
class progress_bar : public progress {
 public:
  explicit progress_bar(std::int64_t total);
  ~progress_bar() override;
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  void advance() override;
  void note(const std::string& text) override;

 private:
  void show();
  void end_bar();

  std::int64_t total_, done_ = 0;
  bool terminal_, bar_shown_ = false;
  steady::time_point start_ = steady::now(), shown_ = start_;
};

}  // namespace serac_colmap
