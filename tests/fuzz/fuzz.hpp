// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the fuzzers share.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

namespace serac_fuzz {

/// Ends the program, for the fuzzer to report the input.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

/// The streams of C++ lead nowhere from now on.
inline void silence() {
  std::cout.rdbuf(nullptr);
  std::cerr.rdbuf(nullptr);
}

/// Calls `body`, which may throw std::runtime_error alone, with a text that begins with `named`. True if it threw
/// nothing.
template <class Body>
bool attempt(const std::string& named, Body body) {
  try {
    body();
    return true;
  } catch (const std::runtime_error& error) {
    require(std::string(error.what()).rfind(named, 0) == 0, "an error names what it is about");
    return false;
  }
}

/// A file in memory, of which there is one at a time in a process.
class memory_file {
 public:
  memory_file(const std::uint8_t* data, std::size_t size) : path_("/dev/shm/serac_fuzz." + std::to_string(getpid())) {
    std::FILE* const file = std::fopen(path_.c_str(), "wb");
    require(file != nullptr, "a file can be made in /dev/shm");
    require(std::fwrite(data, 1, size, file) == size && std::fclose(file) == 0, "the file can be written");
  }
  ~memory_file() {
    for (const char* const suffix : {"", "-journal", "-shm", "-wal"}) unlink((path_ + suffix).c_str());
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace serac_fuzz
