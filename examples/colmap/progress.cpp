// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "report_text.hpp"

namespace serac_colmap {

std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  char text[64];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  }
  return text;
}

progress_bar::progress_bar(std::int64_t total) : total_(total), terminal_(isatty(STDERR_FILENO) == 1) {}

progress_bar::~progress_bar() { end_bar(); }

void progress_bar::note(const std::string& text) {
  end_bar();
  std::fprintf(stderr, "%s\n", as_terminal(text).c_str());
}

void progress_bar::end_bar() {
  if (bar_shown_) std::fputc('\n', stderr);
  bar_shown_ = false;
}

void progress_bar::advance() {
  ++done_;
  const double interval = terminal_ ? 0.1 : 10;  // seconds
  if (done_ < total_ && seconds_since(shown_) < interval) return;
  shown_ = steady::now();
  show();
}

void progress_bar::show() {
  const double rate = static_cast<double>(done_) / std::max(seconds_since(start_), 1e-9);
  const double share = static_cast<double>(done_) / static_cast<double>(total_);
  char text[160];
  std::snprintf(text, sizeof text, "%lld / %lld pairs (%.1f %%), %.1f pairs/s, %s left", static_cast<long long>(done_),
                static_cast<long long>(total_), 100 * share, rate,
                clock_text(static_cast<double>(total_ - done_) / rate).c_str());
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", text);
    return;
  }
  constexpr int width = 30;
  const int filled = static_cast<int>(share * width);
  std::fprintf(stderr, "\r[%s%s] %s\033[K", std::string(filled, '#').c_str(), std::string(width - filled, ' ').c_str(),
               text);
  bar_shown_ = true;
  if (done_ == total_) end_bar();
}

}  // namespace serac_colmap
