// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the GPU tests of policies on real images share.
#pragma once

#include <support/golden.hpp>
#include <support/gpu.cuh>
#include <support/policies.cuh>

namespace serac::test {

/// A policy under the name that the records give it.
template <class Policy>
struct recorded;
template <>
struct recorded<default_policy> {
  static constexpr char name[] = "default";
};
template <>
struct recorded<sift> {
  static constexpr char name[] = "classic";
};
template <>
struct recorded<scalar> {
  static constexpr char name[] = "dot_scalar";
};
template <>
struct recorded<dp4a> {
  static constexpr char name[] = "dot_dp4a";
};
template <>
struct recorded<tile_16x128> {
  static constexpr char name[] = "tile_16x128";
};
template <>
struct recorded<tile_128x128> {
  static constexpr char name[] = "tile_128x128";
};
template <>
struct recorded<wgmma_policy> {
  static constexpr char name[] = "wgmma";
};
template <>
struct recorded<wgmma_192> {
  static constexpr char name[] = "wgmma_192";
};
template <>
struct recorded<mma_policy> {
  static constexpr char name[] = "mma";
};

}  // namespace serac::test
