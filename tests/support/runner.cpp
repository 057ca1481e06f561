// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <support/runner.hpp>

#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include <support/catch.hpp>

int serac::test::run_tests(int argc, char** argv) {
  const int failures = Catch::Session().run(argc, argv);
  if (failures != 0) return 1;  // never 77 for as many failures
  return any_skipped() ? exit_skipped : 0;
}
