// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Matches two files of binary descriptors for test_opencv.py and writes what it finds as integers of 32 bits:
/// best, index and second of every row; then for the pairs that are mutually nearest, and for those that pass the ratio
/// test one way, their number and the pairs.
///
/// Usage: binary_lists LEFT RIGHT WIDTH MAX_RATIO OUTPUT

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <serac/host/matcher.hpp>

namespace {

using matcher = serac::host::basic_matcher<serac::bits8>;

std::vector<char> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
void write(std::ofstream& file, const std::vector<T>& values) {
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

void write(std::ofstream& file, const serac::match_list& list) {
  write(file, std::vector<std::uint32_t>{static_cast<std::uint32_t>(list.pairs.size())});
  write(file, list.pairs);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return std::fprintf(stderr, "usage: binary_lists LEFT RIGHT WIDTH MAX_RATIO OUTPUT\n"), 2;
  const std::vector<char> left = read(argv[1]), right = read(argv[2]);
  const int width = std::stoi(argv[3]);
  const auto rows = serac::as_bits(left.data(), static_cast<std::int64_t>(left.size()) / width, width);
  const auto columns = serac::as_bits(right.data(), static_cast<std::int64_t>(right.size()) / width, width);

  serac::match_options one_way;
  one_way.cross_check = false;
  std::ofstream file(argv[5], std::ios::binary);
  write(file, matcher().nearest2(rows, columns).rows);
  write(file, matcher().match(rows, columns, serac::accept_all()));
  write(file, matcher(one_way).match(rows, columns, serac::hamming_acceptance{std::stof(argv[4])}));
  return file.good() ? 0 : 1;
}
