// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The match list of two images in host memory, of which only admissible pairs of features may match.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <type_traits>
#include <vector>

#include <serac/acceptance.hpp>
#include <serac/admissible.hpp>
#include <serac/detail/validate.hpp>
#include <serac/guided_tiles.hpp>
#include <serac/host/match.hpp>
#include <serac/host/workers.hpp>
#include <serac/options.hpp>
#include <serac/output.hpp>

namespace serac::host {

namespace detail {

/// The features of one image in the order of a guided match, and the bounds of their tiles.
struct ordered_features {
  std::vector<std::int32_t> index;  ///< features that may be admissible to any; a tile's are ascending
  std::vector<tile_bounds> tiles;

  std::int64_t tile_count() const noexcept { return static_cast<std::int64_t>(tiles.size()); }
  std::int64_t end_of(std::int64_t tile) const noexcept {
    return (std::min)((tile + 1) * guided_tile, static_cast<std::int64_t>(index.size()));
  }

  /// Orders `count` features: `place(i)` is the location that `order` takes, `squared(i)` what tile_bounds keeps.
  template <class Place, class Squared>
  ordered_features(const feature_order& order, std::int64_t count, Place place, Squared squared) {
    std::vector<std::int32_t> bins(static_cast<std::size_t>(count)), ends(guided_bins + 1);
    for (std::int64_t i = 0; i < count; ++i) {
      const int bin = order.bin(place(i));
      bins[static_cast<std::size_t>(i)] = bin;
      if (bin >= 0) ++ends[static_cast<std::size_t>(bin) + 1];
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    index.resize(static_cast<std::size_t>(ends.back()));
    for (std::int64_t i = 0; i < count; ++i) {
      const int bin = bins[static_cast<std::size_t>(i)];
      if (bin >= 0)
        index[static_cast<std::size_t>(ends[static_cast<std::size_t>(bin)]++)] = static_cast<std::int32_t>(i);
    }
    for (std::int64_t first = 0; first < static_cast<std::int64_t>(index.size()); first += guided_tile) {
      const std::int64_t last = end_of(first / guided_tile);
      std::sort(index.begin() + first, index.begin() + last);
      const tile_frame frame = order.frame(place(index[static_cast<std::size_t>(first)]));
      tile_extent extent;
      for (std::int64_t k = first; k < last; ++k) {
        const std::int32_t i = index[static_cast<std::size_t>(k)];
        extent.merge(tile_extent::of(place(i), frame, squared(i)));
      }
      tiles.push_back(extent.bounds(frame, order.reach()));
    }
  }
};

inline point_box box_of(const keypoint_view& keypoints, std::int64_t count) noexcept {
  point_box box;
  for (std::int64_t i = 0; i < count; ++i) box.add(keypoints[i]);
  return box;
}

/// Hands the admissible pairs of 32 rows to `consume(row, column)`, task by task: of any admissibility, all pairs are
/// asked about.
template <class Admissible>
class admissible_pairs {
 public:
  admissible_pairs(const Admissible& admissible, std::int64_t rows, std::int64_t columns)
      : admissible_(admissible), rows_(rows), columns_(columns) {}

  std::int64_t tasks() const noexcept { return (rows_ + guided_tile - 1) / guided_tile; }

  template <class Consume>
  void visit(std::int64_t task, Consume consume) const {
    const std::int64_t end = (std::min)((task + 1) * guided_tile, rows_);
    for (std::int64_t i = task * guided_tile; i < end; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        if (admissible_(i, j)) consume(i, j);
      }
    }
  }

 private:
  const Admissible& admissible_;
  std::int64_t rows_, columns_;
};

/// The same of a geometry: pairs of tiles that can hold none are left out.
template <>
class admissible_pairs<guided_by<two_view_geometry>> {
 public:
  using guide = guided_by<two_view_geometry>;

  admissible_pairs(const guide& pair, std::int64_t rows, std::int64_t columns)
      : geometry_(pair.geometry),
        left_box_(box_of(pair.left, rows)),
        right_box_(box_of(pair.right, columns)),
        row_terms_(terms(rows, [&](std::int64_t i) { return geometry_.row(pair.left[i]); })),
        column_terms_(terms(columns, [&](std::int64_t j) { return geometry_.column(pair.right[j]); })),
        left_(order_rows(pair, rows)),
        right_(order_columns(pair, columns)) {}

  std::int64_t tasks() const noexcept { return left_.tile_count(); }

  template <class Consume>
  void visit(std::int64_t task, Consume consume) const {
    const tile_bounds& rows = left_.tiles[static_cast<std::size_t>(task)];
    if (geometry_.has_homography) {
      const location_test test{feature_order::location_margin(geometry_.homography.max_squared_error)};
      visit(task, consume, [&](const tile_bounds& columns) { return test.may_admit(rows, columns); });
    } else if (geometry_.has_epipolar) {
      const epipolar_test test(geometry_.epipolar, rows, left_box_.reach(), right_box_.reach());
      visit(task, consume, [&](const tile_bounds& columns) { return test.may_admit(columns); });
    } else {
      visit(task, consume, [](const tile_bounds&) { return true; });
    }
  }

 private:
  template <class Term, class Terms = std::vector<std::invoke_result_t<Term, std::int64_t>>>
  static Terms terms(std::int64_t count, Term term) {
    Terms all;
    all.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) all.push_back(term(i));
    return all;
  }

  ordered_features order_rows(const guide& pair, std::int64_t count) const {
    const auto term = [&](std::int64_t i) -> auto& { return row_terms_[static_cast<std::size_t>(i)]; };
    if (geometry_.has_homography) {
      return {feature_order::of_locations(right_box_, geometry_.homography.max_squared_error), count,
              [&](std::int64_t i) { return term(i).of_homography; }, [](std::int64_t) { return 0.0f; }};
    }
    const auto order = geometry_.has_epipolar
                           ? feature_order::around_epipole<false>(geometry_.epipolar.matrix, left_box_)
                           : feature_order();
    return {order, count, [&](std::int64_t i) { return pair.left[i]; },
            [&](std::int64_t i) { return term(i).of_epipolar.squared; }};
  }
  ordered_features order_columns(const guide& pair, std::int64_t count) const {
    const auto place = [&](std::int64_t j) { return pair.right[j]; };
    if (geometry_.has_homography) {
      return {feature_order::of_locations(right_box_, geometry_.homography.max_squared_error), count, place,
              [](std::int64_t) { return 0.0f; }};
    }
    const auto order = geometry_.has_epipolar
                           ? feature_order::around_epipole<true>(geometry_.epipolar.matrix, right_box_)
                           : feature_order();
    return {order, count, place, [&](std::int64_t j) {
              const auto& term = column_terms_[static_cast<std::size_t>(j)].of_epipolar;
              return term.fx * term.fx + term.fy * term.fy;
            }};
  }

  template <class Consume, class MayAdmit>
  void visit(std::int64_t task, Consume consume, MayAdmit may_admit) const {
    for (std::int64_t tile = 0; tile < right_.tile_count(); ++tile) {
      if (!may_admit(right_.tiles[static_cast<std::size_t>(tile)])) continue;
      for (std::int64_t r = task * guided_tile; r < left_.end_of(task); ++r) {
        const std::int32_t i = left_.index[static_cast<std::size_t>(r)];
        for (std::int64_t c = tile * guided_tile; c < right_.end_of(tile); ++c) {
          const std::int32_t j = right_.index[static_cast<std::size_t>(c)];
          if (geometry_.admits(row_terms_[static_cast<std::size_t>(i)], column_terms_[static_cast<std::size_t>(j)])) {
            consume(i, j);
          }
        }
      }
    }
  }

  two_view_geometry geometry_;
  point_box left_box_, right_box_;
  std::vector<two_view_geometry::row_terms> row_terms_;
  std::vector<two_view_geometry::column_terms> column_terms_;
  ordered_features left_, right_;
};

/// The score of two descriptors; below zero (signed descriptors) it counts as zero.
template <class T>
std::int32_t score(const T* a, const T* b, int width) noexcept {
  if constexpr (score_traits<T>::is_float) {
    float sum = 0;
    for (int k = 0; k < width; ++k) sum = score_traits<T>::add(to_float(a[k]), to_float(b[k]), sum);
    return score_traits<T>::of(sum);
  } else {
    std::int32_t sum = 0;
    for (int k = 0; k < width; ++k) sum += std::int32_t{a[k]} * std::int32_t{b[k]};
    return (std::max)(sum, 0);
  }
}

inline std::int32_t score(const bits8* a, const bits8* b, int width) noexcept {
  std::int32_t distance = 0;
  for (int k = 0; k < width; k += 4) {
    std::uint32_t x, y;
    std::memcpy(&x, a + k, 4);
    std::memcpy(&y, b + k, 4);
    distance += static_cast<std::int32_t>(std::bitset<32>(x ^ y).count());
  }
  return equal_bits_score - distance;
}

/// Memory of a guided match that the next one uses again.
struct guided_scratch {
  match_scratch match;
  std::vector<std::vector<top2>> columns;  // [worker][column]
};

/// The states of all rows and, if there is room for them, of all columns, over the pairs that `pairs` visits. The
/// arguments are valid. Throws std::bad_alloc.
template <class Tie, class T, class Pairs>
void guided_top2(const descriptor_view<T>& left, const descriptor_view<T>& right, const Pairs& pairs,
                 const nearest2_output& states, int threads, guided_scratch& scratch) {
  using column_tie = typename Tie::column_order;
  std::fill(states.rows, states.rows + left.count, top2{});
  const int workers = worker_count(threads, pairs.tasks());
  if (states.columns != nullptr) {
    scratch.columns.resize(static_cast<std::size_t>(workers));
    for (auto& columns : scratch.columns) columns.assign(static_cast<std::size_t>(right.count), top2{});
  }
  run_tasks(workers, pairs.tasks(), [&](int worker, std::int64_t task) {
    top2* const columns =
        states.columns == nullptr ? nullptr : scratch.columns[static_cast<std::size_t>(worker)].data();
    pairs.visit(task, [&](std::int64_t i, std::int64_t j) {
      const std::int32_t s = score(left.data + i * left.stride, right.data + j * right.stride, left.width);
      if (s == 0) return;
      states.rows[i] = merge<Tie>(states.rows[i], top2{s, static_cast<std::int32_t>(j), 0});
      if (columns != nullptr) columns[j] = merge<column_tie>(columns[j], top2{s, static_cast<std::int32_t>(i), 0});
    });
  });
  if (states.columns == nullptr) return;
  std::fill(states.columns, states.columns + right.count, top2{});
  for (const auto& columns : scratch.columns) {
    for (std::int64_t j = 0; j < right.count; ++j) {
      states.columns[j] = merge<column_tie>(states.columns[j], columns[static_cast<std::size_t>(j)]);
    }
  }
}

/// Hands the matches to `consume`, as match_views. Throws std::bad_alloc before anything is consumed.
template <class Tie, class T, class Admissible, class Acceptance, class Consume>
void match_guided_views(const descriptor_view<T>& left, const descriptor_view<T>& right, const Admissible& admissible,
                        const match_options& options, const Acceptance& accept, int threads, guided_scratch& scratch,
                        Consume consume) {
  if (left.count == 0 || right.count == 0) return;
  const nearest2_output states = reserve_states(scratch.match, left.count, right.count, options);
  const admissible_pairs<Admissible> pairs(admissible, left.count, right.count);
  guided_top2<Tie>(left, right, pairs, states, threads, scratch);
  judge_states(states, left.count, options, accept, consume);
}

/// A constraint known at compile time is one of the run-time kind here: the host's cost lies elsewhere.
template <class Tie, class T, class Constraint, class Acceptance, class Consume>
void match_guided_views(const descriptor_view<T>& left, const descriptor_view<T>& right,
                        const guided_by<Constraint>& guide, const match_options& options, const Acceptance& accept,
                        int threads, guided_scratch& scratch, Consume consume) {
  const guided_by<two_view_geometry> general{guide.left, guide.right, guide.geometry};
  match_guided_views<Tie, T, guided_by<two_view_geometry>>(left, right, general, options, accept, threads, scratch,
                                                           consume);
}

}  // namespace detail

/// The ordered match list of two images, judged by `accept` (see acceptance.hpp) instead of the options' ratio and
/// distance. Otherwise as `match_guided` below.
template <class Tie = tie_break::smallest_index, class T, class Admissible, class Acceptance>
status match_guided(const descriptor_view<T>& left, const descriptor_view<T>& right, const Admissible& admissible,
                    const match_options& options, const Acceptance& accept, const match_output& output,
                    int threads = 0) noexcept {
  if (auto s = validate(options); !s.ok()) return s;
  if (auto s = detail::check_views(left, right); !s.ok()) return s;
  if (auto s = detail::check_admissible(admissible, left.count, right.count); !s.ok()) return s;
  const auto rows = detail::capped(left, options);
  const auto columns = detail::capped(right, options);
  if (auto s = detail::check_output(output, rows.count, options); !s.ok()) return s;
  if (threads < 0) return {errc::negative_count, "threads"};
  try {
    detail::guided_scratch scratch;
    std::uint32_t count = 0;
    detail::match_guided_views<Tie>(rows, columns, admissible, options, accept, threads, scratch,
                                    [&](match_pair pair) { output.pairs[count++] = pair; });
    *output.count = count;
  } catch (const std::bad_alloc&) {
    return {errc::out_of_memory, "match_guided"};
  }
  return {};
}

/// The ordered match list of two images when pairs that `admissible` refuses score 0: `*output.count` pairs, ascending
/// in row, exactly those that the angular ratio test, the distance limit and, if asked, the cross-check of `options`
/// accept among the admissible ones.
///
/// Any thread; returns when done. `admissible` is an admissibility (admissible.hpp), called by several threads at once;
/// with `guided_by` the keypoints are host memory, one for each feature. Otherwise as `match`. Cost: `guided_by` tests
/// the pairs of features near its constraint, any other admissibility is asked about all pairs; only admissible pairs
/// are scored. Memory: 12 bytes a feature of the right image and thread, and about 100 a feature with `guided_by`.
template <class Tie = tie_break::smallest_index, class T, class Admissible>
status match_guided(const descriptor_view<T>& left, const descriptor_view<T>& right, const Admissible& admissible,
                    const match_options& options, const match_output& output, int threads = 0) noexcept {
  return match_guided<Tie>(left, right, admissible, options, acceptance_of<T>(options), output, threads);
}

}  // namespace serac::host
