// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How long does a batch of pairs take by the policy `candidate`, and what does its main kernel need? scripts/tune
/// compiles this file behind a definition of each of its candidates (and of TUNE_CANDIDATE).
///
/// Usage: tune FEATURES PAIRS LISTS
/// Prints a line of CSV: microseconds of a pair (median, and the middle 80 %), share of what the path's instruction
/// alone reaches in the same run (0 where this is not known), registers of a thread, bytes of it in local memory, bytes
/// of shared memory and blocks on a multiprocessor. Writes all lists to the file LISTS.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include <serac/device/match_batch.cuh>
#include <serac/thread/dot.cuh>

#include "ceilings.cuh"
#include "measure.cuh"

#ifndef TUNE_CANDIDATE  // so that the file compiles by itself
struct candidate : serac::automatic_policy<128> {};
#endif

namespace {

using element = candidate::element;
constexpr int dimensions = serac::elements_of<candidate>;

/// A ratio test that knows scores of any element, and that every path takes.
struct clearly_best {
  SERAC_HOST_DEVICE bool rejects_ties() const { return true; }
  SERAC_HOST_DEVICE bool operator()(std::int32_t best, std::int32_t second) const { return second < best - best / 16; }
};

/// An element of a descriptor of norm 1 (bytes: 512).
template <class T>
T element_of(float value) {
  if constexpr (serac::score_traits<T>::is_float) {
    if constexpr (std::is_same_v<T, float>) {
      return value;
    } else if constexpr (std::is_same_v<T, serac::float16>) {
      return serac::to_float16(value);
    } else {
      return serac::to_bfloat16(value);
    }
  } else if constexpr (std::is_same_v<T, serac::bits8>) {
    std::uint32_t bits;  // those of the number that change most
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<T>(bits >> 8 & 255);
  } else {
    const float least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    return static_cast<T>(std::min(most, std::max(least, std::round(512 * (least < 0 ? value : std::fabs(value))))));
  }
}

/// Two images, one behind the other; a third of the rows of the left one are in the right one too.
std::vector<element> two_images(std::int64_t features) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<element> images;
  std::vector<float> values(dimensions);
  for (std::int64_t i = 0; i < 2 * features; ++i) {
    float norm = 0;
    for (float& v : values) {
      v = normal(generator);
      norm += v * v;
    }
    for (const float v : values) images.push_back(element_of<element>(v / std::sqrt(norm)));
  }
  for (std::int64_t i = 0; i < features; i += 3) {
    std::copy_n(images.begin() + i * dimensions, dimensions,
                images.begin() + (features + i * 7 % features) * dimensions);
  }
  return images;
}

template <class Policy>
auto main_kernel() {
  using serac::match_path;
  if constexpr (Policy::path == match_path::wgmma) {
    return serac::kernel::chunk_maxima_wgmma<Policy, (serac::wgmma_traits<Policy>::chunk_tiles > 1)>;
  } else if constexpr (Policy::path == match_path::mma) {
    return serac::kernel::chunk_maxima_mma<Policy>;
  } else {
    return serac::kernel::fused_top2<Policy, true>;
  }
}

/// Scores a microsecond by the path's instruction alone, or 0.
double ceiling() {
  if (candidate::path == serac::match_path::mma && serac::score_traits<element>::is_float) {
    return bench::half_mma_ceiling() * 128 / candidate::width;
  }
  if (sizeof(element) != 1 || std::is_same_v<element, serac::bits8>) return 0;
  double of_128_bytes = 0;
  switch (candidate::path) {
    case serac::match_path::classic:
      of_128_bytes = bench::dp4a_ceiling();
      break;
    case serac::match_path::mma:
      of_128_bytes = bench::mma_ceiling();
      break;
    case serac::match_path::wgmma:
      of_128_bytes = bench::wgmma_ceiling();
  }
  return of_128_bytes * 128 / candidate::width;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("usage: tune FEATURES PAIRS LISTS");
  const std::int64_t features = std::atoll(argv[1]), pair_count = std::atoll(argv[2]);

  const bench::device_array<element> descriptors(two_images(features));
  const serac::image_range images[2] = {{0, features}, {features, features}};
  std::vector<serac::image_pair> pairs;
  for (std::int32_t p = 0; p < pair_count; ++p) pairs.push_back({p % 2, 1 - p % 2});
  const serac::batch_view<element> batch{
      {descriptors.data(), 2 * features, dimensions}, images, 2, pairs.data(), pair_count};
  const serac::match_options options;
  const std::size_t room = serac::device::match_batch_workspace<candidate>(batch, options, pair_count);
  const bench::device_array<std::uint8_t> workspace(room);
  const bench::device_array<serac::match_pair> lists(static_cast<std::size_t>(features * pair_count));
  const bench::device_array<std::int64_t> offsets(static_cast<std::size_t>(pair_count + 1));
  const bench::timing us = bench::measure(
      [&](cudaStream_t stream) {
        serac::throw_on_error(serac::device::match_batch<candidate>(
            batch, options, clearly_best(), {lists.data(), features * pair_count, offsets.data()}, pair_count,
            workspace.data(), room, stream));
      },
      20, 1, 3, true);
  const double count = static_cast<double>(pair_count), reached = ceiling();
  const double least = reached == 0 ? 0 : static_cast<double>(features) * static_cast<double>(features) / reached;

  cudaFuncAttributes attributes{};
  int blocks = 0;
  using traits = serac::device::detail::traits_of<candidate>;
  BENCH_CHECK(cudaFuncGetAttributes(&attributes, main_kernel<candidate>()));
  BENCH_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, main_kernel<candidate>(), traits::threads,
                                                            traits::shared_bytes));
  std::printf("%.3f,%.3f,%.3f,%.1f,%d,%d,%d,%d\n", us.median / count, us.low / count, us.high / count,
              100 * least * count / us.median, attributes.numRegs, static_cast<int>(attributes.localSizeBytes),
              static_cast<int>(attributes.sharedSizeBytes) + traits::shared_bytes, blocks);

  const std::vector<std::int64_t> ends = offsets.host();
  const std::vector<serac::match_pair> all = lists.host();
  std::FILE* const file = std::fopen(argv[3], "wb");
  if (file == nullptr || std::fwrite(ends.data(), sizeof ends[0], ends.size(), file) != ends.size() ||
      std::fwrite(all.data(), sizeof all[0], static_cast<std::size_t>(ends.back()), file) !=
          static_cast<std::size_t>(ends.back()) ||
      std::fclose(file) != 0) {
    throw std::runtime_error(std::string("cannot write ") + argv[3]);
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
