// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The match list of two images in host memory.
#pragma once

#include <cstdint>
#include <new>
#include <vector>

#include <serac/acceptance.hpp>
#include <serac/detail/validate.hpp>
#include <serac/host/nearest2.hpp>
#include <serac/options.hpp>
#include <serac/output.hpp>

namespace serac::host {

namespace detail {

/// Memory that a match needs and the next one uses again: 12 bytes a feature and what a pass needs.
struct match_scratch {
  std::vector<top2> rows;
  std::vector<top2> columns;
  pass_scratch pass;
};

/// Makes room for the states of both images and says where they are; without cross-check there are none of columns.
inline nearest2_output reserve_states(match_scratch& scratch, std::int64_t rows, std::int64_t columns,
                                      const match_options& options) {
  scratch.rows.resize(static_cast<std::size_t>(rows));
  if (options.cross_check) scratch.columns.resize(static_cast<std::size_t>(columns));
  return {scratch.rows.data(), options.cross_check ? scratch.columns.data() : nullptr};
}

/// Hands the matches among `row_count` rows with these states, in order, to `consume(match_pair)`: at most
/// options.max_matches of them.
template <class Acceptance, class Consume>
void judge_states(const nearest2_output& states, std::int64_t row_count, const match_options& options,
                  const Acceptance& accept, Consume consume) {
  const auto accepted = [&](const top2& state) { return state.index >= 0 && accept(state.best, state.second); };
  std::int64_t room = options.max_matches;
  for (std::int64_t i = 0; i < row_count && room > 0; ++i) {
    const top2& row = states.rows[i];
    if (!accepted(row)) continue;
    if (states.columns != nullptr) {
      const top2& column = states.columns[row.index];
      if (column.index != i || !accepted(column)) continue;
    }
    consume(match_pair{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(row.index)});
    --room;
  }
}

/// Hands the matches of left x right, in order, to `consume(match_pair)`. Everything is valid and the views are capped.
/// Throws std::bad_alloc before anything is consumed.
template <class Tie, class T, class Acceptance, class Consume>
void match_views(const descriptor_view<T>& left, const descriptor_view<T>& right, const match_options& options,
                 const Acceptance& accept, int threads, match_scratch& scratch, Consume consume) {
  if (left.count == 0 || right.count == 0) return;
  const nearest2_output states = reserve_states(scratch, left.count, right.count, options);
  fill_states<Tie>(left, right, states, threads, scratch.pass);
  judge_states(states, left.count, options, accept, consume);
}

}  // namespace detail

/// The ordered match list of two images, judged by `accept` (see acceptance.hpp) instead of the options' ratio and
/// distance. Otherwise as `match` below.
template <class Tie = tie_break::smallest_index, class T, class Acceptance>
status match(const descriptor_view<T>& left, const descriptor_view<T>& right, const match_options& options,
             const Acceptance& accept, const match_output& output, int threads = 0) noexcept {
  if (auto s = validate(options); !s.ok()) return s;
  if (auto s = detail::check_views(left, right); !s.ok()) return s;
  const auto rows = detail::capped(left, options);
  const auto columns = detail::capped(right, options);
  if (auto s = detail::check_output(output, rows.count, options); !s.ok()) return s;
  if (threads < 0) return {errc::negative_count, "threads"};
  try {
    detail::match_scratch scratch;
    std::uint32_t count = 0;
    detail::match_views<Tie>(rows, columns, options, accept, threads, scratch,
                             [&](match_pair pair) { output.pairs[count++] = pair; });
    *output.count = count;
  } catch (const std::bad_alloc&) {
    return {errc::out_of_memory, "match"};
  }
  return {};
}

/// The ordered match list of two images: `*output.count` pairs (row, column), ascending in row, exactly those that
/// the angular ratio test, the distance limit and, if asked, the cross-check of `options` accept.
///
/// Any thread; returns when done. Views and output are host memory; output.capacity is at least
/// min(left.count, max_matches). Both views have the same width, a multiple of 4 from 4 to 512; no alignment is
/// required. `threads` is the number of threads that work, 0 for as many as the machine runs at a time. An empty image
/// gives an empty list. Cost: that of `nearest2`, and 12 bytes of memory a feature beside its own.
template <class Tie = tie_break::smallest_index, class T>
status match(const descriptor_view<T>& left, const descriptor_view<T>& right, const match_options& options,
             const match_output& output, int threads = 0) noexcept {
  return match<Tie>(left, right, options, acceptance_of<T>(options), output, threads);
}

}  // namespace serac::host
