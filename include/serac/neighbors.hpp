// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The few greatest of a set of scores and where they stand: top-k, a monoid as top2 (top2.hpp) is.
#pragma once

#include <serac/detail/config.hpp>

namespace serac {

/// A descriptor of the other image. None: a score of 0, which never matches, and the index -1.
struct neighbor {
  std::int32_t score = 0;
  std::int32_t index = -1;

  friend SERAC_HOST_DEVICE constexpr bool operator==(const neighbor& a, const neighbor& b) {
    return a.score == b.score && a.index == b.index;
  }
  friend SERAC_HOST_DEVICE constexpr bool operator!=(const neighbor& a, const neighbor& b) { return !(a == b); }
};

/// Whether `a` is nearer than `b`: the greater score is, of equal scores the smaller index. None is behind all. Any
/// thread or host; pure.
SERAC_HOST_DEVICE constexpr bool is_nearer(const neighbor& a, const neighbor& b) {
  return a.score > b.score ||
         (a.score == b.score && static_cast<std::uint32_t>(a.index) < static_cast<std::uint32_t>(b.index));
}

/// The K nearest descriptors of one, the nearest first, and none behind the last that there is. The first two are best,
/// index and second of a top2 with smallest indices.
template <int K>
struct neighbors {
  static_assert(K >= 1 && K <= 8, "lists of nearest descriptors have 1 to 8 entries");

  neighbor at[K];

  friend SERAC_HOST_DEVICE constexpr bool operator==(const neighbors& a, const neighbors& b) {
    for (int i = 0; i < K; ++i) {
      if (a.at[i] != b.at[i]) return false;
    }
    return true;
  }
  friend SERAC_HOST_DEVICE constexpr bool operator!=(const neighbors& a, const neighbors& b) { return !(a == b); }
};

/// Takes in one more descriptor; it need not be near. Any thread or host; pure.
template <int K>
SERAC_HOST_DEVICE constexpr void insert(neighbors<K>& list, neighbor one) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int i = 0; i < K; ++i) {
    if (is_nearer(one, list.at[i])) {
      const neighbor other = list.at[i];
      list.at[i] = one;
      one = other;
    }
  }
}

/// Merges the lists of two disjoint sets, given in any order. Associative and commutative, with identity
/// `neighbors<K>{}`. Any thread or host; pure.
template <int K>
SERAC_HOST_DEVICE constexpr neighbors<K> merge(neighbors<K> a, const neighbors<K>& b) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int i = 0; i < K; ++i) insert(a, b.at[i]);
  return a;
}

/// Where `nearest` writes: a list for every row and, if `columns` is not null, for every column. Same memory space as
/// the descriptors.
template <int K>
struct nearest_output {
  neighbors<K>* rows = nullptr;
  neighbors<K>* columns = nullptr;
};

}  // namespace serac
