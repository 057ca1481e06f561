// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Matches two files of descriptors for test_opencv.py and writes what it finds as integers of 32 bits: best, index and
/// second of every row; score and index of the five nearest of every row; then for the pairs that are mutually nearest,
/// and for those that pass the ratio test one way, their number and the pairs.
///
/// Usage: lists bits|floats LEFT RIGHT WIDTH MAX_RATIO OUTPUT
/// The width is in elements: bytes of bits, or floats, which are scored by their squared distance.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <serac/host/matcher.hpp>

namespace {

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

template <class T, class Acceptance>
int match(char** arguments, const Acceptance& ratio_test) {
  using matcher = serac::host::basic_matcher<T>;
  const std::vector<char> left = read(arguments[0]), right = read(arguments[1]);
  const int width = std::stoi(arguments[2]);
  const auto view = [&](const std::vector<char>& file) {
    const auto count = file.size() / sizeof(T) / static_cast<std::size_t>(width);
    return serac::descriptor_view<T>(reinterpret_cast<const T*>(file.data()), static_cast<std::int64_t>(count), width);
  };

  serac::match_options one_way;
  one_way.cross_check = false;
  std::ofstream file(arguments[4], std::ios::binary);
  write(file, matcher().nearest2(view(left), view(right)).rows);
  write(file, matcher().template nearest<5>(view(left), view(right)).rows);
  write(file, matcher().match(view(left), view(right), serac::accept_all()));
  write(file, matcher(one_way).match(view(left), view(right), ratio_test));
  return file.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string element = argc == 7 ? argv[1] : "";
  if (element == "bits") return match<serac::bits8>(argv + 2, serac::hamming_acceptance{std::stof(argv[5])});
  if (element == "floats") {
    using floats = serac::l2<float>;
    return match<floats>(argv + 2, serac::basic_euclidean_acceptance<floats>{std::stof(argv[5])});
  }
  return std::fprintf(stderr, "usage: lists bits|floats LEFT RIGHT WIDTH MAX_RATIO OUTPUT\n"), 2;
}
