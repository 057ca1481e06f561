// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the main functions of test programs call. It does not show Catch2, which is slow to compile.
#pragma once

namespace serac::test {

/// What a program returns whose tests could not run, or not all of them; CTest reports it as skipped.
inline constexpr int exit_skipped = 77;

/// Runs the tests that the command line asks for. What the program is to return: 0, 1 if a test failed, or
/// exit_skipped.
int run_tests(int argc, char** argv);

}  // namespace serac::test
