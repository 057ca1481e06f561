// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The main function of tests that run on the host.

#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include <support/catch.hpp>

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  const int failures = Catch::Session().run(argc, argv);
  if (failures != 0) return 1;  // never 77 for as many failures
  return serac::test::any_skipped() ? skipped : 0;
}
