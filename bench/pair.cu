// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How long does one pair of images take, device to device, by each path, and how far is it from the path's ceiling?
///
/// Usage: pair [LEFT.bin RIGHT.bin]...   descriptors of 128 bytes in files, beside the random ones
/// Prints CSV: the time of a captured call replayed (median, and the middle 80 %), and the ceiling of the path's
/// instruction measured in the same run.
#include <cstdio>
#include <map>

#include <serac/serac.cuh>

#include "ceilings.cuh"
#include "measure.cuh"

namespace {

struct classic : serac::policy_for<128> {};

std::map<serac::match_path, double> ceilings;  // scores a microsecond

template <class Policy>
void run(const char* name, const bench::images& data) {
  if (ceilings[Policy::path] == 0) return;
  const bench::device_array<std::uint8_t> left(data.left), right(data.right);
  const serac::sift_view rows(left.data(), static_cast<std::int64_t>(left.size() / 128));
  const serac::sift_view columns(right.data(), static_cast<std::int64_t>(right.size() / 128));
  const serac::match_options options;
  const std::size_t bytes = serac::device::match_workspace<Policy>(rows, columns, options);
  const bench::device_array<std::uint8_t> workspace(bytes);
  const bench::device_array<serac::match_pair> pairs(static_cast<std::size_t>(rows.count));
  const bench::device_array<std::uint32_t> count(1);
  const bench::device_array<std::int32_t> limits(serac::acceptance_table(options).limits());
  const serac::acceptance_view accept{limits.data(), true};
  const serac::match_output output{pairs.data(), rows.count, count.data()};

  const bench::timing t = bench::measure(
      [&](cudaStream_t stream) {
        serac::throw_on_error(
            serac::device::match<Policy>(rows, columns, options, accept, output, workspace.data(), bytes, stream));
      },
      30, 3, 3, true);
  const double ceiling = static_cast<double>(rows.count) * static_cast<double>(columns.count) / ceilings[Policy::path];
  std::printf("%s,%s,%lld,%lld,%u,%.2f,%.2f,%.2f,%.2f,%.1f,%.2f\n", name, data.name.c_str(),
              static_cast<long long>(rows.count), static_cast<long long>(columns.count), count.host()[0], t.median,
              t.low, t.high, ceiling, 100 * ceiling / t.median, static_cast<double>(bytes) / 1048576);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  ceilings = {{serac::match_path::classic, bench::dp4a_ceiling()},
              {serac::match_path::mma, bench::mma_ceiling()},
              {serac::match_path::wgmma, bench::wgmma_ceiling()}};
  std::printf("path,data,rows,columns,matches,median_us,low_us,high_us,ceiling_us,percent_of_ceiling,workspace_mib\n");

  for (const bench::images& data : bench::inputs({512, 2048, 4096, 10400, 20000}, argc, argv)) {
    run<classic>("classic", data);
    run<serac::mma_policy>("mma", data);
    run<serac::wgmma_policy>("wgmma", data);
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "pair: %s\n", failure.what());
  return 1;
}
