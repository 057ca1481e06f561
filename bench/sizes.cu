// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How do time and memory of one pair grow with the number and the width of its descriptors, by each path?
///
/// Usage: sizes [MOST]   features of the largest images: 131072
/// Prints CSV: the time of a captured call replayed (median, and the middle 80 %), the ceiling of the path's
/// instruction measured in the same run, the workspace that match asks for, and `driver_mib`, what the driver gave for
/// everything: two images, list and workspace, in whole blocks of the driver's. A third of the rows match.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <serac/device/match.cuh>

#include "ceilings.cuh"
#include "measure.cuh"

namespace {

template <int Width>
struct classic : serac::policy_for<Width> {};

std::map<serac::match_path, double> ceilings;  // scores of 128 bytes a microsecond

constexpr std::int64_t least = 512;

double memory_in_use() {
  std::size_t free = 0, total = 0;
  BENCH_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<double>(total - free) / 1048576;
}

/// Two images of `Width` bytes a descriptor. Every third row of a block of `least` has its copy in the same block of
/// the other image, so that the first features of both, any multiple of `least`, are such images as well.
template <int Width>
struct image_pair {
  std::vector<std::uint8_t> left, right;

  explicit image_pair(std::int64_t count)
      : left(bench::random_sift(count, 1, Width)), right(bench::random_sift(count, 2, Width)) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (i % least % 3 != 0) continue;
      std::copy_n(&left[static_cast<std::size_t>(i) * Width], Width,
                  &right[static_cast<std::size_t>(i / least * least + i * 7 % least) * Width]);
    }
  }
};

template <class Policy>
void run(const char* name, const image_pair<Policy::width>& images, std::int64_t count, bool print) {
  if (ceilings[Policy::path] == 0) return;
  constexpr int width = Policy::width;
  const auto end = static_cast<std::ptrdiff_t>(count * width);
  const std::vector<std::uint8_t> left_host(images.left.begin(), images.left.begin() + end);
  const std::vector<std::uint8_t> right_host(images.right.begin(), images.right.begin() + end);
  const serac::match_options options;
  const bench::device_array<std::int32_t> limits(serac::acceptance_table(options).limits());
  const serac::acceptance_view accept{limits.data(), true};

  const double before = memory_in_use();
  const bench::device_array<std::uint8_t> left(left_host), right(right_host);
  const serac::sift_view rows(left.data(), count, width), columns(right.data(), count, width);
  const std::size_t bytes = serac::device::match_workspace<Policy>(rows, columns, options);
  const bench::device_array<std::uint8_t> workspace(bytes);
  const bench::device_array<serac::match_pair> pairs(static_cast<std::size_t>(count));
  const bench::device_array<std::uint32_t> length(1);
  const serac::match_output output{pairs.data(), count, length.data()};
  const bool large = count > 40000;
  const bench::timing t = bench::measure(
      [&](cudaStream_t stream) {
        serac::throw_on_error(
            serac::device::match<Policy>(rows, columns, options, accept, output, workspace.data(), bytes, stream));
      },
      large ? 10 : 30, large ? 1 : 3, large ? 1 : 3, true);
  const double driver_mib = memory_in_use() - before;
  if (!print) return;
  const double ceiling = static_cast<double>(count) * static_cast<double>(count) * width / 128 / ceilings[Policy::path];
  std::printf("%s,%d,%lld,%lld,%u,%.2f,%.2f,%.2f,%.2f,%.1f,%.2f,%.1f\n", name, width, static_cast<long long>(count),
              static_cast<long long>(count), length.host()[0], t.median, t.low, t.high, ceiling,
              100 * ceiling / t.median, static_cast<double>(bytes) / 1048576, driver_mib);
  std::fflush(stdout);
}

template <int Width>
void run_width(std::int64_t most) {
  const image_pair<Width> images(most);
  const auto run_all = [&](std::int64_t count, bool print) {
    run<classic<Width>>("classic", images, count, print);
    run<serac::mma_policy_for<Width>>("mma", images, count, print);
    run<serac::wgmma_policy_for<Width>>("wgmma", images, count, print);
  };
  run_all(least, false);  // loads the kernels
  for (std::int64_t count = least; count <= most; count *= 2) run_all(count, true);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::int64_t given = argc > 1 ? std::atoll(argv[1]) : 131072;
  if (argc > 2 || given < least) throw std::runtime_error("usage: sizes [MOST], at least " + std::to_string(least));
  const std::int64_t most = given / least * least;
  ceilings = {{serac::match_path::classic, bench::dp4a_ceiling()},
              {serac::match_path::mma, bench::mma_ceiling()},
              {serac::match_path::wgmma, bench::wgmma_ceiling()}};
  std::printf(
      "path,width,rows,columns,matches,median_us,low_us,high_us,ceiling_us,percent_of_ceiling,workspace_mib,"
      "driver_mib\n");
  run_width<32>(most);
  run_width<64>(most);
  run_width<128>(most);
  run_width<256>(most);
} catch (const std::exception& failure) {
  std::fprintf(stderr, "sizes: %s\n", failure.what());
  return 1;
}
