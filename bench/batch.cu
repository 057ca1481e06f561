// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How close to the ceiling of its unit does each step of the tensor-core matcher come on a batch of pairs?
///
/// Usage: batch [LEFT.bin RIGHT.bin]...   descriptors of 128 bytes in files, beside the random ones
/// Prints CSV: microseconds a pair for pass 1, the scan, the rescoring of rows and of columns, and for match_batch from
/// descriptors to lists in device memory, 132 pairs or more in one wave, so that it takes a millisecond or more, as in
/// a survey; and the share of the ceiling, measured in the same run, that pass 1 and the whole reach; of mma.sync also
/// what its products take with the maxima of their scores, and nothing else. A step's time is that of all steps up to
/// it, less those before: of a scan behind pass 1, what it adds.
#include <cstdio>

#include <serac/device/match_batch.cuh>

#include "ceilings.cuh"
#include "measure.cuh"

namespace {

constexpr int left_images = 12, right_images = 11;
constexpr double wave_scores = 0x1p33;  // a millisecond and more
constexpr int repeats = 20, warmups = 3;

template <class Policy>
void run(const char* name, const bench::images& data, double ceiling, double ceiling_with_maxima = 0) {
  if (ceiling == 0) return;

  // A block of a survey: each of a dozen images with each of eleven others, over and over.
  std::vector<std::uint8_t> bytes;
  std::vector<serac::image_range> images;
  std::vector<serac::image_pair> pairs;
  for (int i = 0; i < left_images + right_images; ++i) {
    const auto& image = i < left_images ? data.left : data.right;
    images.push_back({static_cast<std::int64_t>(bytes.size() / 128), static_cast<std::int64_t>(image.size() / 128)});
    bytes.insert(bytes.end(), image.begin(), image.end());
  }
  const std::int64_t rows = images.front().count, columns = images.back().count;
  const double scores = static_cast<double>(rows) * static_cast<double>(columns);
  do {
    for (int left = 0; left < left_images; ++left) {
      for (int right = 0; right < right_images; ++right) pairs.push_back({left, left_images + right});
    }
  } while (scores * static_cast<double>(pairs.size()) < wave_scores);
  const auto pair_count = static_cast<std::int64_t>(pairs.size()), capacity = rows * pair_count;
  const bench::device_array<std::uint8_t> descriptors(bytes);
  const serac::batch_view<std::uint8_t> batch{{descriptors.data(), static_cast<std::int64_t>(bytes.size() / 128)},
                                              images.data(),
                                              static_cast<std::int64_t>(images.size()),
                                              pairs.data(),
                                              pair_count};
  const serac::match_options options;
  const std::size_t room = serac::device::match_batch_workspace<Policy>(batch, options, pair_count);
  const bench::device_array<std::uint8_t> workspace(room);
  const bench::device_array<serac::match_pair> lists(capacity);
  const bench::device_array<std::int64_t> offsets(pair_count + 1);
  const serac::batch_output output{lists.data(), capacity, offsets.data()};
  const bench::device_array<std::int32_t> limits(serac::acceptance_table(options).limits());
  const serac::acceptance_view accept{limits.data(), true};

  const auto microseconds = [&](int steps) {
    return bench::measure(
               [&](cudaStream_t stream) {
                 const serac::device::detail::batch_ranges<std::uint8_t> ranges{batch, options};
                 serac::device::detail::tensor_wave<Policy> wave(batch.descriptors, batch.descriptors, pair_count,
                                                                 workspace.data(), stream);
                 serac::throw_on_error(wave.publish(ranges));
                 if (steps == 1) serac::throw_on_error(wave.take_maxima());
                 if (steps > 1) serac::throw_on_error(wave.take_maxima_and_scan(accept));
                 using judge = serac::kernel::keep_accepted<serac::acceptance_view>;
                 if (steps > 2) serac::throw_on_error(wave.rescore(judge{accept, wave.verdicts()}));
                 if (steps > 3) serac::throw_on_error(wave.test_columns(accept));
               },
               repeats, 1, warmups, true)
               .median /
           static_cast<double>(pair_count);
  };
  double step[5];
  for (int steps = 0; steps < 5; ++steps) step[steps] = microseconds(steps);
  const bench::timing whole = bench::measure(
      [&](cudaStream_t stream) {
        serac::throw_on_error(serac::device::match_batch<Policy>(batch, options, accept, output, pair_count,
                                                                 workspace.data(), room, stream));
      },
      repeats, 1, warmups, true);
  const double count = static_cast<double>(pair_count), total = whole.median / count, ceiling_us = scores / ceiling;
  const double pass1 = step[1] - step[0];
  std::printf("%s,%s,%lld,%lld,%lld,%.1f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.1f,%.1f,", name, data.name.c_str(),
              static_cast<long long>(rows), static_cast<long long>(columns), static_cast<long long>(pair_count),
              static_cast<double>(offsets.host().back()) / count, ceiling_us, pass1, step[2] - step[1],
              step[3] - step[2], step[4] - step[3], total, whole.low / count, whole.high / count,
              100 * ceiling_us / pass1, 100 * ceiling_us / total);
  if (ceiling_with_maxima > 0) std::printf("%.2f", scores / ceiling_with_maxima);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const double mma = bench::mma_ceiling(), mma_with_maxima = bench::mma_ceiling_with_maxima();
  const double wgmma = bench::wgmma_ceiling();
  std::printf(
      "path,data,rows,columns,pairs,matches,ceiling_us,pass1_us,scan_us,rescore_us,columns_us,total_us,total_low_us,"
      "total_high_us,pass1_percent,total_percent,ceiling_with_maxima_us\n");
  for (const bench::images& data : bench::inputs({2048, 10400}, argc, argv)) {
    run<serac::mma_policy>("mma", data, mma, mma_with_maxima);
    run<serac::wgmma_policy>("wgmma", data, wgmma);
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "batch: %s\n", failure.what());
  return 1;
}
