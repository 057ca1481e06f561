// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <serac/host/matcher.hpp>
#include <support/gpu.cuh>
#include <support/policies.cuh>
#include <support/survey8.hpp>
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
    std::printf("hash %s %s %s\n", set.name, path_name.c_str(), sha256(bytes).c_str());
    std::fflush(stdout);
    return bytes;
  }
};

void check_golden(const survey& data, const golden_set& set, const std::string& bytes) {
  CHECK(sha256(bytes) == golden_sha256(data.directory, set.name));
  if (set.stored) CHECK(bytes == golden_bytes(data.directory, set.name));
}

/// A policy under the name that the records give it.
template <class Policy>
struct recorded;
template <>
struct recorded<sift> {
  static constexpr char name[] = "classic";
};
template <>
struct recorded<scalar> {
  static constexpr char name[] = "dot_scalar";
};
template <>
struct recorded<dp4a> {
  static constexpr char name[] = "dot_dp4a";
};
template <>
struct recorded<tile_16x128> {
  static constexpr char name[] = "tile_16x128";
};
template <>
struct recorded<tile_128x128> {
  static constexpr char name[] = "tile_128x128";
};

template <>
struct recorded<wgmma_policy> {
  static constexpr char name[] = "wgmma";
};
template <>
struct recorded<wgmma_192> {
  static constexpr char name[] = "wgmma_192";
};
template <>
struct recorded<mma_policy> {
  static constexpr char name[] = "mma";
};

/// Whether there is something to test.
bool present() {
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

}  // namespace

TEMPLATE_TEST_CASE("the GPU makes COLMAP's lists of real images, bit for bit", "[survey8]", sift, scalar, dp4a,
                   tile_16x128, tile_128x128) {
  if (!present()) return;
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
  if (!present()) return;
  const survey data;
  const std::string name = recorded<TestType>::name;
  for (const golden_set& set : golden_sets) {
    INFO("golden/" << set.name << " by " << name);
    if (set.max_ratio <= 1) check_golden(data, set, data.file_of<tensor_path<TestType>>(set, name));
  }
}

TEST_CASE("the default policy makes COLMAP's lists where no ties show", "[survey8]") {
  if (!present()) return;
  const survey data;
  for (const golden_set& set : golden_sets) {
    INFO("golden/" << set.name);
    if (!set.ties_visible) check_golden(data, set, data.file_of<path_of<default_policy>>(set, "default"));
  }
}

TEST_CASE("where ties show, the smallest index is the host's choice and not COLMAP's", "[survey8]") {
  if (!present()) return;
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
  if (!present()) return;
  const survey data;
  for (const golden_set& set : golden_sets) {
    INFO("golden/" << set.name);
    basic_matcher<siftgpu_ties<sift>> matcher(set.options());
    const std::string bytes = data.file([&](std::uint32_t i, std::uint32_t j) {
      return matcher.match(data.images[i].view(), data.images[j].view()).pairs;
    });
    std::printf("hash %s matcher+siftgpu_ties %s\n", set.name, sha256(bytes).c_str());
    std::fflush(stdout);
    check_golden(data, set, bytes);
  }
}
