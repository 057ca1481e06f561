// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A policy with the members that -DOVERRIDES=... names, and its traits.

#include <serac/policy.hpp>

struct policy : serac::default_policy {
  OVERRIDES
};

int main() { return serac::policy_traits<policy>::threads == 0; }
