// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the files of the program share.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <serac/lists.hpp>
#include <serac/view.hpp>

/// Two descriptors that match each other crosswise.
struct crosswise {
  std::array<std::uint8_t, 2 * 128> left{}, right{};
  std::vector<serac::match_pair> expected = {{0, 1}, {1, 0}};

  crosswise() {
    for (int i = 0; i < 4; ++i) left[i] = left[128 + 64 + i] = right[64 + i] = right[128 + i] = 255;
  }
  serac::sift_view left_view() const { return {left.data(), 2}; }
  serac::sift_view right_view() const { return {right.data(), 2}; }
};

// Each throws serac::error.
serac::match_list match_a(const crosswise& images);  // a.cu
serac::match_list match_b(const crosswise& images);  // b.cu: another instance of the same kernels
serac::match_list match_c(const crosswise& images);  // c.cpp: on the host
