// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Seeded generators of descriptors: the same numbers on every machine. Tests print the seed when they fail.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <serac/score.hpp>
#include <support/descriptors.hpp>

namespace serac::test {

/// Random numbers; std::mt19937_64 without the library's distributions, which differ between implementations.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_(seed) {}

  /// In [0, bound).
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(bound));
  }
  /// In (0, 1].
  double unit() { return (static_cast<double>(engine_() >> 11) + 1) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

/// Every value of T equally likely.
template <class T = std::uint8_t>
descriptors<T> random_bytes(random_source& random, std::int64_t count, int width = 128) {
  descriptors<T> d(count, width);
  for (T& x : d.data) x = static_cast<T>(random.below(256));
  return d;
}

/// Rows of norm 512 up to rounding, entries of exponential distribution (cosines between rows near 0.5) and at most the
/// greatest T; for signed T of random sign.
template <class T = std::uint8_t>
descriptors<T> sift_like(random_source& random, std::int64_t count, int width = 128) {
  descriptors<T> d(count, width);
  std::vector<double> row(static_cast<std::size_t>(width));
  for (std::int64_t i = 0; i < count; ++i) {
    double norm = 0;
    for (double& x : row) x = -std::log(random.unit()), norm += x * x;
    for (int k = 0; k < width; ++k) {
      const double x = std::min(std::round(row[static_cast<std::size_t>(k)] * 512 / std::sqrt(norm)),
                                static_cast<double>(std::numeric_limits<T>::max()));
      d[i][k] = static_cast<T>(std::is_signed_v<T> && random.below(2) == 0 ? -x : x);
    }
  }
  return d;
}

/// Few entries are not zero: most scores are zero, and some rows hold nothing at all.
template <class T = std::uint8_t>
descriptors<T> sparse(random_source& random, std::int64_t count, int width = 128) {
  descriptors<T> d(count, width);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t n = random.below(4); n > 0; --n) d[i][random.below(width)] = static_cast<T>(random.below(256));
  }
  return d;
}

/// Draws from `kinds` rows only, so that nearly every best is tied, within and across whatever chunks.
template <class T = std::uint8_t>
descriptors<T> repeated(random_source& random, std::int64_t count, int width = 128, std::int64_t kinds = 3) {
  const descriptors<T> kind = random_bytes<T>(random, kinds, width);
  descriptors<T> d(count, width);
  for (std::int64_t i = 0; i < count; ++i) d.assign(i, kind, random.below(kinds));
  return d;
}

/// Rows with ten entries 162 in random places (norm^2 = 262,440 > 2^18): two of them share fewer than seven places but
/// once in millions, so that each matches its copy and nothing else. Width at least 64 makes that true.
inline descriptors<> ten_of_162(random_source& random, std::int64_t count, int width = 128) {
  descriptors<> d(count, width);
  for (std::int64_t i = 0; i < count; ++i) {
    for (int entries = 0; entries < 10;) {
      std::uint8_t& x = d[i][random.below(width)];
      if (x == 0) x = 162, ++entries;
    }
  }
  return d;
}

/// Makes about one row in `every` of `right` a copy of a random row of `left` with a little noise.
template <class T>
void plant_matches(random_source& random, const descriptors<T>& left, descriptors<T>& right, std::int64_t every = 3) {
  if (left.count == 0) return;
  for (std::int64_t j = 0; j < right.count; ++j) {
    if (random.below(every) != 0) continue;
    right.assign(j, left, random.below(left.count));
    for (int k = 0; k < right.width; ++k) {
      const std::int64_t noisy = right[j][k] + random.below(7) - 3;
      right[j][k] =
          static_cast<T>(std::clamp<std::int64_t>(noisy, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
  }
}

/// The kinds of input that random tests go through.
enum class input_kind { bytes, sift_like, planted, sparse, repeated, all_zero, all_greatest };
inline constexpr input_kind input_kinds[] = {input_kind::bytes,       input_kind::sift_like, input_kind::planted,
                                             input_kind::sparse,      input_kind::repeated,  input_kind::all_zero,
                                             input_kind::all_greatest};

inline const char* name(input_kind kind) {
  switch (kind) {
    case input_kind::bytes:
      return "random bytes";
    case input_kind::sift_like:
      return "SIFT-like";
    case input_kind::planted:
      return "planted matches";
    case input_kind::sparse:
      return "sparse";
    case input_kind::repeated:
      return "repeated rows";
    case input_kind::all_zero:
      return "all zero";
    case input_kind::all_greatest:
      return "all of the greatest value";
  }
  return "?";
}

template <class T = std::uint8_t>
struct two_images {
  descriptors<T> left;
  descriptors<T> right;
};

/// Two images that share a few descriptors, which both repeat.
template <class T>
two_images<T> repeated_images(random_source& random, std::int64_t rows, std::int64_t columns, int width) {
  const descriptors<T> both = repeated<T>(random, rows + columns, width);
  two_images<T> images{descriptors<T>(rows, width), descriptors<T>(columns, width)};
  for (std::int64_t i = 0; i < rows; ++i) images.left.assign(i, both, i);
  for (std::int64_t j = 0; j < columns; ++j) images.right.assign(j, both, rows + j);
  return images;
}

/// The number of type T nearest to `x`.
template <class T>
T number(double x) {
  const auto nearest = static_cast<float>(x);
  if constexpr (std::is_same_v<T, float>) {
    return nearest;
  } else if constexpr (std::is_same_v<T, float16>) {
    return to_float16(nearest);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return to_bfloat16(nearest);
  } else {
    return {number<decltype(T::value)>(x)};
  }
}

/// Two images of floats. All of the greatest value: dot products overflow.
template <class T>
two_images<T> random_floats(input_kind kind, random_source& random, std::int64_t rows, std::int64_t columns,
                            int width) {
  const auto make = [&](std::int64_t count, auto value) {
    descriptors<T> d(count, width);
    for (T& x : d.data) x = number<T>(value());
    return d;
  };
  const auto uniform = [&] { return 2 * random.unit() - 1; };
  const auto unlike = [&] {  // zeros of both signs, numbers that are subnormal in each type, and some that are not
    const double sign = random.below(2) == 0 ? -1 : 1;
    switch (random.below(8)) {
      case 0:
        return sign * std::ldexp(random.unit(), -14 - static_cast<int>(random.below(140)));
      case 1:
        return sign * std::ldexp(random.unit(), static_cast<int>(random.below(16)));
      default:
        return sign * 0.0;
    }
  };
  const auto unit_norm = [&](std::int64_t count) {
    descriptors<T> d(count, width);
    std::vector<double> row(static_cast<std::size_t>(width));
    for (std::int64_t i = 0; i < count; ++i) {
      double norm = 0;
      for (double& x : row) x = random.unit(), norm += x * x;
      for (int k = 0; k < width; ++k) d[i][k] = number<T>(row[static_cast<std::size_t>(k)] / std::sqrt(norm));
    }
    return d;
  };
  switch (kind) {
    case input_kind::bytes:
      return {make(rows, uniform), make(columns, uniform)};
    case input_kind::sift_like:
      return {unit_norm(rows), unit_norm(columns)};
    case input_kind::planted: {
      two_images<T> images{unit_norm(rows), unit_norm(columns)};
      for (std::int64_t j = 0; rows > 0 && j < columns; j += 1 + random.below(3)) {
        images.right.assign(j, images.left, random.below(rows));
        T& x = images.right[j][random.below(width)];
        x = number<T>(to_float(x) + 0.05 * uniform());
      }
      return images;
    }
    case input_kind::sparse:
      return {make(rows, unlike), make(columns, unlike)};
    case input_kind::repeated: {
      const two_images<T> kinds{make(3, uniform), {}};
      two_images<T> images{descriptors<T>(rows, width), descriptors<T>(columns, width)};
      for (std::int64_t i = 0; i < rows; ++i) images.left.assign(i, kinds.left, random.below(3));
      for (std::int64_t j = 0; j < columns; ++j) images.right.assign(j, kinds.left, random.below(3));
      return images;
    }
    case input_kind::all_zero:
      return {make(rows, [] { return 0.0; }), make(columns, [] { return -0.0; })};
    case input_kind::all_greatest: {
      const auto greatest = [] { return sizeof(T) == 4 ? 3e38 : 65504.0; };
      return {make(rows, greatest), make(columns, greatest)};
    }
  }
  return {};
}

/// Two images of bytes.
template <class T>
two_images<T> random_integers(input_kind kind, random_source& random, std::int64_t rows, std::int64_t columns,
                              int width) {
  switch (kind) {
    case input_kind::bytes:
      return {random_bytes<T>(random, rows, width), random_bytes<T>(random, columns, width)};
    case input_kind::sift_like:
      return {sift_like<T>(random, rows, width), sift_like<T>(random, columns, width)};
    case input_kind::planted: {
      two_images<T> images{sift_like<T>(random, rows, width), sift_like<T>(random, columns, width)};
      plant_matches(random, images.left, images.right);
      return images;
    }
    case input_kind::sparse:
      return {sparse<T>(random, rows, width), sparse<T>(random, columns, width)};
    case input_kind::repeated:
      return repeated_images<T>(random, rows, columns, width);
    case input_kind::all_zero:
      return {descriptors<T>(rows, width), descriptors<T>(columns, width)};
    case input_kind::all_greatest: {
      const T greatest = std::is_signed_v<T> ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
      return {descriptors<T>(rows, width, greatest), descriptors<T>(columns, width, greatest)};
    }
  }
  return {};
}

/// Two images of the given kind and shape.
template <class T = std::uint8_t>
two_images<T> random_images(input_kind kind, random_source& random, std::int64_t rows, std::int64_t columns,
                            int width) {
  if constexpr (score_traits<T>::is_float) {
    return random_floats<T>(kind, random, rows, columns, width);
  } else {
    return random_integers<T>(kind, random, rows, columns, width);
  }
}

/// Two binary images. All of the greatest value: as far from each other as they can be.
template <>
inline two_images<bits8> random_images<bits8>(input_kind kind, random_source& random, std::int64_t rows,
                                              std::int64_t columns, int width) {
  const auto make = [&](std::int64_t count, auto byte) {
    descriptors<bits8> d(count, width);
    for (bits8& b : d.data) b = static_cast<bits8>(byte());
    return d;
  };
  const auto uniform = [&] { return random.below(256); };
  const auto few = [&] { return random.below(4) == 0 ? std::int64_t{1} << random.below(8) : 0; };
  const auto value = [](int v) { return [v] { return v; }; };
  switch (kind) {
    case input_kind::bytes:
      return {make(rows, uniform), make(columns, uniform)};
    case input_kind::sift_like:  // short distances, each of many neighbours
      return {make(rows, few), make(columns, few)};
    case input_kind::planted: {
      two_images<bits8> images{make(rows, uniform), make(columns, uniform)};
      for (std::int64_t j = 0; rows > 0 && j < columns; j += 1 + random.below(3)) {
        images.right.assign(j, images.left, random.below(rows));
        for (std::int64_t n = random.below(width); n > 0; --n) {
          bits8& b = images.right[j][random.below(width)];
          b = static_cast<bits8>(static_cast<int>(b) ^ 1 << random.below(8));
        }
      }
      return images;
    }
    case input_kind::sparse:
      return {make(rows, few), make(columns, uniform)};
    case input_kind::repeated:
      return repeated_images<bits8>(random, rows, columns, width);
    case input_kind::all_zero:
      return {make(rows, value(0)), make(columns, value(0))};
    case input_kind::all_greatest:
      return {make(rows, value(0)), make(columns, value(255))};
  }
  return {};
}

}  // namespace serac::test
