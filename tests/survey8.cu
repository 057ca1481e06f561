// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <string>
#include <vector>

#include <serac/host/matcher.hpp>
#include <support/survey8_checks.cuh>
#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// The real images, in host and in device memory.
struct survey {
  std::string directory = real_data_directory();
  std::vector<descriptors<>> images = read_survey8(directory);
  std::vector<device_descriptors<>> on_device{images.begin(), images.end()};

  /// The list file of all pairs; `list_of(i, j)` makes one list.
  template <class ListOf>
  std::string file(ListOf list_of) const {
    list_file file;
    for (std::uint32_t i = 0; i < images.size(); ++i) {
      for (std::uint32_t j = i + 1; j < images.size(); ++j) file.add(i, j, list_of(i, j));
    }
    return file.bytes();
  }

  /// The same from a path, recorded under `path_name`.
  template <class Path>
  std::string file_of(const golden_set& set, const std::string& path_name) const {
    const std::string bytes = file([&](std::uint32_t i, std::uint32_t j) {
      match_run<Path> run(on_device[i].view(), on_device[j].view(), set.options());
      run.launch();
      return run.list();
    });
    record_hash(set.name, path_name, bytes);
    return bytes;
  }
};

void check_golden(const survey& data, const golden_set& set, const std::string& bytes) {
  serac::test::check_golden(data.directory, set.name, set.stored, bytes);
}

}  // namespace

TEMPLATE_TEST_CASE("the GPU makes COLMAP's lists of real images, bit for bit", "[survey8]", sift, scalar, dp4a,
                   tile_16x128, tile_128x128) {
  if (!survey8_present()) return;
  const survey data;
  const std::string name = recorded<TestType>::name;
  for (const golden_set& set : golden_sets) {
    INFO("golden/" << set.name << " by " << name);
    if (!set.ties_visible) check_golden(data, set, data.file_of<path_of<TestType>>(set, name));
    check_golden(data, set, data.file_of<path_of<siftgpu_ties<TestType>>>(set, name + "+siftgpu_ties"));
  }
}

TEMPLATE_TEST_CASE("tensor cores make COLMAP's lists of real images where no ties show", "[survey8]", wgmma_policy,
                   wgmma_192, mma_policy) {
  if (!survey8_present()) return;
  const survey data;
  const std::string name = recorded<TestType>::name;
  for (const golden_set& set : golden_sets) {
    INFO("golden/" << set.name << " by " << name);
    if (set.max_ratio <= 1) check_golden(data, set, data.file_of<tensor_path<TestType>>(set, name));
  }
}

TEST_CASE("the default policy makes COLMAP's lists where no ties show", "[survey8]") {
  if (!survey8_present()) return;
  const survey data;
  for (const golden_set& set : golden_sets) {
    INFO("golden/" << set.name);
    if (!set.ties_visible) check_golden(data, set, data.file_of<path_of<default_policy>>(set, "default"));
  }
}

TEST_CASE("where ties show, the smallest index is the host's choice and not COLMAP's", "[survey8]") {
  if (!survey8_present()) return;
  const survey data;
  for (const golden_set& set : golden_sets) {
    if (!set.ties_visible) continue;
    INFO("golden/" << set.name);
    host::matcher matcher(set.options());
    const std::string expected = data.file([&](std::uint32_t i, std::uint32_t j) {
      return matcher.match(data.images[i].view(), data.images[j].view()).pairs;
    });
    CHECK(data.file_of<path_of<default_policy>>(set, "default") == expected);
    CHECK(sha256(expected) != golden_sha256(data.directory, set.name));
  }
}

TEST_CASE("the owning matcher makes COLMAP's lists from host memory", "[survey8]") {
  if (!survey8_present()) return;
  const survey data;
  for (const golden_set& set : golden_sets) {
    INFO("golden/" << set.name);
    basic_matcher<siftgpu_ties<sift>> matcher(set.options());
    const std::string bytes = data.file([&](std::uint32_t i, std::uint32_t j) {
      return matcher.match(data.images[i].view(), data.images[j].view()).pairs;
    });
    record_hash(set.name, "matcher+siftgpu_ties", bytes);
    check_golden(data, set, bytes);
  }
}
