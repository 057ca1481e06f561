// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The owning matcher on the host: keeps its thresholds and memory between calls and returns lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <serac/acceptance.hpp>
#include <serac/host/match.hpp>
#include <serac/host/match_guided.hpp>
#include <serac/host/nearest.hpp>
#include <serac/lists.hpp>
#include <serac/options.hpp>

namespace serac::host {

/// Matches descriptors of T (see score.hpp) in host memory, ties broken by Tie.
///
/// One thread at a time; make a matcher for each that calls. Its functions throw serac::error and leave it usable.
/// Cost: 1 MiB of thresholds, and the memory of the largest match so far; see `match` and `nearest2`.
template <class T = std::uint8_t, class Tie = tie_break::smallest_index>
class basic_matcher {
 public:
  using view = descriptor_view<T>;

  /// `threads` is the number of threads that work, 0 for as many as the machine runs at a time.
  /// Throws serac::error if an option is out of its range, or memory is short.
  explicit basic_matcher(const match_options& options = {}, int threads = 0)
      : options_(options), threads_(threads), accept_(checked_table(options)) {
    if (threads < 0) throw error({errc::negative_count, "threads"});
  }

  /// The matches of two images. `truncated` says that options().max_features cut one of them.
  match_list match(const view& left, const view& right) { return match(left, right, angles()); }

  /// The same, judged by `accept` (see acceptance.hpp) instead of options().max_ratio and max_distance.
  template <class Acceptance>
  match_list match(const view& left, const view& right, const Acceptance& accept) {
    return guarded("match", [&] {
      throw_on_error(detail::check_views(left, right));
      match_list list;
      list.truncated = left.count > options_.max_features || right.count > options_.max_features;
      detail::match_views<Tie>(detail::capped(left, options_), detail::capped(right, options_), options_, accept,
                               threads_, scratch_.match, [&](match_pair pair) { list.pairs.push_back(pair); });
      return list;
    });
  }

  /// The matches of two images among the pairs that `admissible` (see admissible.hpp and match_guided) admits.
  template <class Admissible>
  match_list match_guided(const view& left, const view& right, const Admissible& admissible) {
    return guarded("match_guided", [&] {
      throw_on_error(detail::check_views(left, right));
      throw_on_error(detail::check_admissible(admissible, left.count, right.count));
      match_list list;
      list.truncated = left.count > options_.max_features || right.count > options_.max_features;
      detail::match_guided_views<Tie>(detail::capped(left, options_), detail::capped(right, options_), admissible,
                                      options_, angles(), threads_, scratch_,
                                      [&](match_pair pair) { list.pairs.push_back(pair); });
      return list;
    });
  }

  /// The top-2 states of all rows and, if asked, all columns; options().max_features does not cut here.
  nearest2_list nearest2(const view& left, const view& right, bool with_columns = false) {
    return guarded("nearest2", [&] {
      throw_on_error(detail::check_views(left, right));
      nearest2_list list;
      list.rows.resize(static_cast<std::size_t>(left.count));
      if (with_columns) list.columns.resize(static_cast<std::size_t>(right.count));
      detail::fill_states<Tie>(left, right, {list.rows.data(), with_columns ? list.columns.data() : nullptr}, threads_,
                               scratch_.match.pass);
      return list;
    });
  }

  /// The K nearest of all rows and, if asked, of all columns (see host::nearest); options().max_features does not cut
  /// here.
  template <int K>
  neighbor_lists<K> nearest(const view& left, const view& right, bool with_columns = false) {
    static_assert(std::is_same_v<Tie, tie_break::smallest_index>, "nearest breaks ties by index");
    return guarded("nearest", [&] {
      throw_on_error(detail::check_views(left, right));
      neighbor_lists<K> lists;
      lists.rows.resize(static_cast<std::size_t>(left.count));
      if (with_columns) lists.columns.resize(static_cast<std::size_t>(right.count));
      detail::fill_nearest<K>(left, right, {lists.rows.data(), with_columns ? lists.columns.data() : nullptr}, threads_,
                              scratch_.match.pass);
      return lists;
    });
  }

  const match_options& options() const noexcept { return options_; }

  /// Changes the options; on an error they stay as they were.
  void set_options(const match_options& options) {
    acceptance_table accept = checked_table(options);
    accept_ = std::move(accept);
    options_ = options;
  }

 private:
  /// Runs `call`; a failed allocation becomes serac::error.
  template <class Call>
  static auto guarded(const char* name, Call call) {
    try {
      return call();
    } catch (const std::bad_alloc&) {
      throw error({errc::out_of_memory, name});
    }
  }

  acceptance_view angles() const noexcept {
    acceptance_of<T>(options_);  // only where there are any
    return accept_.view();
  }

  static acceptance_table checked_table(const match_options& options) {
    throw_on_error(validate(options));
    return guarded("options", [&] { return acceptance_table(options); });
  }

  match_options options_;
  int threads_;
  acceptance_table accept_;
  detail::guided_scratch scratch_;
};

/// SIFT on the host: `serac::host::matcher().match(left, right).pairs`.
using matcher = basic_matcher<>;

}  // namespace serac::host
