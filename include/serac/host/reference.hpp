// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The definition of a right answer: a slow matcher that follows the specification word by word.
///
/// Tests judge every other path by it, so it shares with them the types of inputs and outputs and no code. Nothing is
/// validated. Cost: left.count * right.count * width operations of one thread, two times for the columns.
#pragma once

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <serac/lists.hpp>
#include <serac/neighbors.hpp>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <serac/top2.hpp>
#include <serac/view.hpp>

namespace serac::host::reference {

/// sum_k left[i][k] * right[j][k]; below zero (signed descriptors) it counts as zero.
template <class T>
std::int32_t score(const descriptor_view<T>& left, std::int64_t i, const descriptor_view<T>& right, std::int64_t j) {
  std::int32_t sum = 0;
  for (int k = 0; k < left.width; ++k) {
    sum += static_cast<std::int32_t>(left.data[i * left.stride + k]) *
           static_cast<std::int32_t>(right.data[j * right.stride + k]);
  }
  return sum < 0 ? 0 : sum;
}

/// 4097 - the number of bits that differ.
inline std::int32_t score(const binary_view& left, std::int64_t i, const binary_view& right, std::int64_t j) {
  std::size_t distance = 0;
  for (int k = 0; k < left.width; ++k) {
    const std::bitset<8> a(static_cast<unsigned>(left.data[i * left.stride + k]));
    const std::bitset<8> b(static_cast<unsigned>(right.data[j * right.stride + k]));
    distance += (a ^ b).count();
  }
  return 4097 - static_cast<std::int32_t>(distance);
}

/// A float of the same value as a float16, by the definition of binary16.
inline float widened(float16 x) {
  const int bits = static_cast<int>(x), exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float sign = bits >> 15 != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25));
}
/// The same of a bfloat16: its bits are the upper half of the float's.
inline float widened(bfloat16 x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
/// A float itself.
inline float widened(float x) { return x; }

/// The bits of a float.
inline std::int32_t bits(float x) {
  std::int32_t integer;
  std::memcpy(&integer, &x, sizeof integer);
  return integer;
}

/// The bits of the dot product, the sum of fused products in the order of elements; 0 unless it is above 0.
template <class T>
std::int32_t dot(const descriptor_view<T>& left, std::int64_t i, const descriptor_view<T>& right, std::int64_t j) {
  float sum = 0;
  for (int k = 0; k < left.width; ++k) {
    sum = std::fma(widened(left.data[i * left.stride + k]), widened(right.data[j * right.stride + k]), sum);
  }
  return sum > 0 ? bits(sum) : 0;
}
/// The score of two descriptors of floats.
inline std::int32_t score(const descriptor_view<float>& left, std::int64_t i, const descriptor_view<float>& right,
                          std::int64_t j) {
  return dot(left, i, right, j);
}
/// The same of float16.
inline std::int32_t score(const descriptor_view<float16>& left, std::int64_t i, const descriptor_view<float16>& right,
                          std::int64_t j) {
  return dot(left, i, right, j);
}
/// The same of bfloat16.
inline std::int32_t score(const descriptor_view<bfloat16>& left, std::int64_t i, const descriptor_view<bfloat16>& right,
                          std::int64_t j) {
  return dot(left, i, right, j);
}

/// The bits of infinity less those of the squared distance, the sum of fused squares of differences in the order of
/// elements; 0 unless it is finite.
template <class T>
std::int32_t score(const descriptor_view<l2<T>>& left, std::int64_t i, const descriptor_view<l2<T>>& right,
                   std::int64_t j) {
  float sum = 0;
  for (int k = 0; k < left.width; ++k) {
    const volatile float difference =
        widened(left.data[i * left.stride + k].value) - widened(right.data[j * right.stride + k].value);
    sum = std::fma(difference, difference, sum);
  }
  return sum < INFINITY ? bits(INFINITY) - bits(sum) : 0;
}

/// Whether the tied index `a` is kept before `b` by COLMAP's order for the columns of a row.
inline bool kept_before_in_row(std::int64_t a, std::int64_t b) {
  const auto reversed_bits = [](std::int64_t index) {
    int reversed = 0;
    for (int bit = 0; bit < 5; ++bit) reversed = 2 * reversed + static_cast<int>(index >> bit & 1);
    return reversed;
  };
  const int ra = reversed_bits(a % 32), rb = reversed_bits(b % 32);
  return ra != rb ? ra < rb : a < b;
}

/// Scans the scores `score_of(0..count-1)`; `kept_before(a, b)` says which of two tied indices is kept.
template <class ScoreOf, class KeptBefore>
top2 scan(std::int64_t count, ScoreOf score_of, KeptBefore kept_before) {
  std::int32_t best = 0, second = 0;
  std::int64_t index = -1;
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int32_t s = score_of(j);
    if (s > best) {
      second = best;
      best = s;
      index = j;
    } else {
      if (s > second) second = s;
      if (s == best && s > 0 && kept_before(j, index)) index = j;
    }
  }
  top2 state;
  state.best = best;
  state.index = static_cast<std::int32_t>(index);
  state.second = second;
  return state;
}

/// Admits every pair.
struct all_pairs {
  bool operator()(std::int64_t, std::int64_t) const { return true; }
};

/// The top-2 of row `i` of left x right, where pairs that are not admissible score 0.
template <class Tie = tie_break::smallest_index, class T, class Admissible = all_pairs>
top2 row_top2(const descriptor_view<T>& left, const descriptor_view<T>& right, std::int64_t i,
              const Admissible& admissible = {}) {
  static_assert(std::is_same_v<Tie, tie_break::smallest_index> || std::is_same_v<Tie, tie_break::siftgpu>);
  return scan(
      right.count, [&](std::int64_t j) { return admissible(i, j) ? score(left, i, right, j) : 0; },
      [](std::int64_t a, std::int64_t b) {
        if (std::is_same_v<Tie, tie_break::siftgpu>) return kept_before_in_row(a, b);
        return a < b;
      });
}

/// The top-2 of column `j` of left x right, likewise; both tie orders keep the smallest row.
template <class T, class Admissible = all_pairs>
top2 column_top2(const descriptor_view<T>& left, const descriptor_view<T>& right, std::int64_t j,
                 const Admissible& admissible = {}) {
  return scan(
      left.count, [&](std::int64_t i) { return admissible(i, j) ? score(left, i, right, j) : 0; },
      [](std::int64_t a, std::int64_t b) { return a < b; });
}

/// The top-2 of every row and every column.
template <class Tie = tie_break::smallest_index, class T, class Admissible = all_pairs>
nearest2_list nearest2(const descriptor_view<T>& left, const descriptor_view<T>& right,
                       const Admissible& admissible = {}) {
  nearest2_list list;
  for (std::int64_t i = 0; i < left.count; ++i) list.rows.push_back(row_top2<Tie>(left, right, i, admissible));
  for (std::int64_t j = 0; j < right.count; ++j) list.columns.push_back(column_top2(left, right, j, admissible));
  return list;
}

/// The K nearest among the scores `score_of(0..count-1)`: all that are above 0, sorted, and of equal ones the smallest
/// index first.
template <int K, class ScoreOf>
neighbors<K> sorted(std::int64_t count, ScoreOf score_of) {
  std::vector<std::pair<std::int32_t, std::int32_t>> all;  // -score, index
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int32_t s = score_of(j);
    if (s > 0) all.emplace_back(-s, static_cast<std::int32_t>(j));
  }
  std::sort(all.begin(), all.end());
  neighbors<K> list;
  for (std::size_t i = 0; i < all.size() && i < std::size_t{K}; ++i) {
    list.at[i].score = -all[i].first;
    list.at[i].index = all[i].second;
  }
  return list;
}

/// The K nearest of every row and every column.
template <int K, class T>
neighbor_lists<K> nearest(const descriptor_view<T>& left, const descriptor_view<T>& right) {
  neighbor_lists<K> lists;
  for (std::int64_t i = 0; i < left.count; ++i) {
    lists.rows.push_back(sorted<K>(right.count, [&](std::int64_t j) { return score(left, i, right, j); }));
  }
  for (std::int64_t j = 0; j < right.count; ++j) {
    lists.columns.push_back(sorted<K>(left.count, [&](std::int64_t i) { return score(left, i, right, j); }));
  }
  return lists;
}

/// distance(s) of the specification.
inline float distance(std::int32_t s) {
  const float scaled = static_cast<float>(s) * 0x1p-18f;
  const double cosine = static_cast<double>(scaled);
  return static_cast<float>(std::acos(cosine < 1.0 ? cosine : 1.0));
}

/// Whether a state is accepted, both comparisons in float, the product in float.
inline bool accepted(const top2& state, const match_options& options) {
  if (state.index == -1) return false;
  const float best = distance(state.best);
  const float allowed = distance(state.second) * options.max_ratio;
  return best < options.max_distance && best < allowed;
}

/// The list of the specification; `admissible(i, j)` says which pairs may match, `accepts(state)` which states.
template <class Tie, class T, class Admissible, class Accepts>
match_list judged_match(const descriptor_view<T>& left, const descriptor_view<T>& right, const match_options& options,
                        const Admissible& admissible, Accepts accepts) {
  match_list list;
  descriptor_view<T> rows = left, columns = right;
  if (rows.count > options.max_features) rows.count = options.max_features, list.truncated = true;
  if (columns.count > options.max_features) columns.count = options.max_features, list.truncated = true;
  const nearest2_list states = nearest2<Tie>(rows, columns, admissible);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    if (static_cast<std::int64_t>(list.pairs.size()) == options.max_matches) break;
    const top2& row = states.rows[static_cast<std::size_t>(i)];
    if (!accepts(row)) continue;
    const std::int64_t j = row.index;
    if (options.cross_check) {
      const top2& column = states.columns[static_cast<std::size_t>(j)];
      if (!accepts(column) || column.index != i) continue;
    }
    match_pair pair;
    pair.row = static_cast<std::uint32_t>(i);
    pair.column = static_cast<std::uint32_t>(j);
    list.pairs.push_back(pair);
  }
  return list;
}

/// The same with the angular test of the specification.
template <class Tie = tie_break::smallest_index, class T, class Admissible = all_pairs>
match_list match(const descriptor_view<T>& left, const descriptor_view<T>& right, const match_options& options,
                 const Admissible& admissible = {}) {
  return judged_match<Tie>(left, right, options, admissible,
                           [&](const top2& state) { return accepted(state, options); });
}

/// Locations and the constraints on them, either of which may be missing.
struct guide {
  const float* left = nullptr;  ///< x1, y1 of feature i at left[2 i]
  const float* right = nullptr;
  const float* homography = nullptr;  ///< row-major
  const float* fundamental = nullptr;
  float max_homography_error = 0;  ///< squared
  float max_sampson_error = 0;     ///< squared

  /// Whether a pair is admissible. Sums of products are fused as nvcc does it: a * b + c * d is fma(a, b, c * d), and
  /// s + a * b is fma(a, b, s). Every result is written to memory as a float, so that nothing else is fused.
  bool operator()(std::int64_t i, std::int64_t j) const {
    using single = volatile float;
    const auto times = [](float a, float b) {
      single r = a * b;
      return float{r};
    };
    const auto plus = [](float a, float b) {
      single r = a + b;
      return float{r};
    };
    const auto over = [](float a, float b) {
      single r = a / b;
      return float{r};
    };
    const auto fused = [](float a, float b, float c) {
      single r = std::fma(a, b, c);
      return float{r};
    };
    const auto row_times = [&](const float* m, int step, float x, float y) {
      return plus(fused(m[0], x, times(m[step], y)), m[2 * step]);
    };
    const float x1 = left[2 * i], y1 = left[2 * i + 1], x2 = right[2 * j], y2 = right[2 * j + 1];
    if (homography != nullptr) {
      const float u = row_times(homography, 1, x1, y1);
      const float v = row_times(homography + 3, 1, x1, y1);
      const float w = row_times(homography + 6, 1, x1, y1);
      const float dx = plus(over(u, w), -x2), dy = plus(over(v, w), -y2);
      if (!(fused(dx, dx, times(dy, dy)) < max_homography_error)) return false;
    }
    if (fundamental != nullptr) {
      const float* const f = fundamental;
      const float a1 = row_times(f, 1, x1, y1), b1 = row_times(f + 3, 1, x1, y1), c1 = row_times(f + 6, 1, x1, y1);
      const float a2 = row_times(f, 3, x2, y2), b2 = row_times(f + 1, 3, x2, y2);
      const float e = plus(fused(x2, a1, times(y2, b1)), c1);
      const float d = fused(b2, b2, fused(a2, a2, fused(a1, a1, times(b1, b1))));
      if (!(over(times(e, e), d) < max_sampson_error)) return false;
    }
    return true;
  }
};

}  // namespace serac::host::reference
