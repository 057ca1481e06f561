// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "share_matcher.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace serac_colmap {

share_matcher::share_matcher(const database& source, const image_table& images, const serac::match_options& options,
                             const match_settings& settings)
    : backend_(make_backend(options, settings.where)) {
  const auto body = [this, &source, &images, options, &settings] {
    try {
      result_ = match_survey(
          source, images, backend_, [this](serac::image_pair* list, std::int64_t room) { return pull(list, room); },
          [this](const serac::survey::matched_pair& list) { add(list); }, options, settings, &cancel_);
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    returned_ = true;
  };
  try {
    thread_ = std::thread(body);
  } catch (const std::system_error&) {
    throw serac::error({serac::errc::out_of_memory, "a thread of the run"});
  }
}

share_matcher::~share_matcher() {
  cancel_ = true;
  end();
  thread_.join();
}

bool share_matcher::wants() {
  const std::lock_guard lock(mutex_);
  return waiting_ && given_.empty();
}

void share_matcher::give(share next) {
  const std::lock_guard lock(mutex_);
  given_.push_back(std::move(next));
}

void share_matcher::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

std::optional<share_lists> share_matcher::take() {
  const std::lock_guard lock(mutex_);
  if (done_.empty()) return std::nullopt;
  share_lists lists = std::move(done_.front());
  done_.pop_front();
  return lists;
}

bool share_matcher::finished() {
  const std::lock_guard lock(mutex_);
  if (!returned_ || !done_.empty()) return false;
  if (failure_) std::rethrow_exception(failure_);
  return true;
}

std::int64_t share_matcher::pull(serac::image_pair* destination, std::int64_t room) {
  const std::lock_guard lock(mutex_);
  waiting_ = given_.empty();
  if (waiting_) return ended_ ? 0 : -1;
  share& next = given_.front();
  const std::size_t count = std::min(next.pairs.size() - pulled_, static_cast<std::size_t>(room));
  std::copy_n(next.pairs.begin() + static_cast<std::ptrdiff_t>(pulled_), count, destination);
  if (pulled_ == 0) matching_.push_back(next);
  pulled_ += count;
  if (pulled_ == next.pairs.size()) {
    given_.pop_front();
    pulled_ = 0;
  }
  return static_cast<std::int64_t>(count);
}

void share_matcher::add(const serac::survey::matched_pair& list) {
  collected_.counts.push_back(static_cast<std::uint32_t>(list.count));
  collected_.matches.insert(collected_.matches.end(), list.matches, list.matches + list.count);
  const std::lock_guard lock(mutex_);
  if (collected_.counts.size() < matching_.front().pairs.size()) return;
  collected_.number = matching_.front().number;
  matching_.pop_front();
  done_.push_back(std::exchange(collected_, {}));
}

}  // namespace serac_colmap
