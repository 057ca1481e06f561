// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the owning matchers return, in host memory.
#pragma once

#include <vector>

#include <serac/neighbors.hpp>
#include <serac/output.hpp>

namespace serac {

/// The ordered matches of two images.
struct match_list {
  std::vector<match_pair> pairs;  ///< ascending in `row`
  bool truncated = false;         ///< an image had more than options.max_features features; the rest was not looked at
};

/// The top-2 states of two images.
struct nearest2_list {
  std::vector<top2> rows;
  std::vector<top2> columns;  ///< empty unless asked for
};

/// The K nearest of the descriptors of two images.
template <int K>
struct neighbor_lists {
  std::vector<neighbors<K>> rows;
  std::vector<neighbors<K>> columns;  ///< empty unless asked for
};

}  // namespace serac
