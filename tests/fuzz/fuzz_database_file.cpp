// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The input is a database file. It is only read.
#include <chrono>

#include "read_database.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  serac_fuzz::silence();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace serac_fuzz;
  const memory_file file(data, size);
  attempt(file.path(), [&] {
    database source(file.path(), database::access::read_only, std::chrono::milliseconds(0));
    read_everything(source);
  });
  return 0;
}
