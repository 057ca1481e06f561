// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What GPU tests on real images share: hashes for the record, and the comparison with the golden lists.
#pragma once

#include <cstdio>
#include <string>

#include <support/catch.hpp>
#include <support/run_size.hpp>
#include <support/survey8.hpp>

namespace serac::test {

/// Whether there is something to test.
inline bool survey8_present() {
  if (small_run()) {
    skip("SERAC_TEST_SMALL is set: nothing was compared with COLMAP's lists of real images");
    return false;
  }
  if (real_data_directory() == nullptr) {
    skip(no_real_data);
    return false;
  }
  return true;
}

/// Prints the hash of a list file for the record of gpu_check.
inline void record_hash(const std::string& set_name, const std::string& path_name, const std::string& bytes) {
  std::printf("hash %s %s %s\n", set_name.c_str(), path_name.c_str(), sha256(bytes).c_str());
  std::fflush(stdout);
}

/// Requires a list file to be the golden one, by its hash and, if it is `stored`, byte for byte.
inline void check_golden(const std::string& directory, const std::string& set_name, bool stored,
                         const std::string& bytes) {
  CHECK(sha256(bytes) == golden_sha256(directory, set_name));
  if (stored) CHECK(bytes == golden_bytes(directory, set_name));
}

}  // namespace serac::test
