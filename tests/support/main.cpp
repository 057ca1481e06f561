// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The main function of tests that run on the host.

#include <support/runner.hpp>

int main(int argc, char** argv) { return serac::test::run_tests(argc, argv); }
