// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Policies of both tensor-core paths with the members that -DOVERRIDES=... names, and their traits.

#include <serac/mma_policy.hpp>
#include <serac/wgmma_policy.hpp>

struct mma : serac::mma_policy {
  OVERRIDES
};
struct wgmma : serac::wgmma_policy {
  OVERRIDES
};

int main() { return serac::mma_traits<mma>::threads + serac::wgmma_traits<wgmma>::threads == 0; }
