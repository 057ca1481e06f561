// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How long does a whole survey take, from images in host memory to lists in host memory, on how many GPUs, and how
/// much of that time are the GPUs busy?
///
/// Usage: survey [--images N] [--features N,N,...] [--pairs N] [--gpus N,N,...] [--wave N] [--batch N] [--budget MIB]
///   --images 589             in the survey
///   --features 10400,2048,512  of each image; a line for each number
///   --pairs 0                the first pairs in COLMAP's exhaustive order, 0 for all
///   --gpus 1,2,...           a line for each number; without it, from 1 doubled up to all that there are
///   --wave 8192              pairs under way on a GPU at a time, at most
///   --batch 8192             pairs of a batch, at most
///   --budget 16384           memory on each GPU, in MiB
/// Prints CSV: of 5 runs of each survey, or one that takes more than 20 s, the median with what was measured in that
/// run, and the middle 80 %: of 5, all of them. The images are synthetic: gradient histograms of norm 512, of which a
/// tenth show points that the ten images before and after show as well, with noise. `busy_percent` is the time between
/// the first and the last kernel of each batch, by events, summed over batches, as a part of GPUs times seconds;
/// `ceiling_percent` is the share of what wgmma (or mma.sync) alone reaches on one GPU in the same run. `lists` is a
/// hash of all lists: the same for any number of GPUs.
#include <cuda_runtime.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <serac/survey/device_worker.cuh>
#include <serac/survey/run.hpp>

#include "ceilings.cuh"
#include "measure.cuh"

namespace {

using serac::image_pair;
namespace survey = serac::survey;

struct settings {
  std::int64_t images = 589, pairs = 0, wave = 8192, batch = 8192, budget = 16384;
  std::vector<std::int64_t> features = {10400, 2048, 512};
  std::vector<std::int64_t> gpus;
};

std::vector<std::int64_t> numbers(const char* text) {
  std::vector<std::int64_t> list;
  for (char* next = nullptr;; text = next + 1) {
    list.push_back(std::strtoll(text, &next, 10));
    if (next == text || list.back() < 0) throw std::runtime_error(std::string("no number: ") + text);
    if (*next == '\0') return list;
    if (*next != ',') throw std::runtime_error(std::string("no list of numbers: ") + text);
  }
}

settings parse(int argc, char** argv) {
  settings given;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::runtime_error(name + " needs a value");
    const std::vector<std::int64_t> values = numbers(argv[i + 1]);
    if (name == "--images")
      given.images = values.front();
    else if (name == "--features")
      given.features = values;
    else if (name == "--pairs")
      given.pairs = values.front();
    else if (name == "--gpus")
      given.gpus = values;
    else if (name == "--wave")
      given.wave = values.front();
    else if (name == "--batch")
      given.batch = values.front();
    else if (name == "--budget")
      given.budget = values.front();
    else
      throw std::runtime_error("unknown option " + name);
  }
  if (given.gpus.empty()) {
    int there = 0;
    BENCH_CHECK(cudaGetDeviceCount(&there));
    for (std::int64_t count = 1; count <= there; count *= 2) given.gpus.push_back(count);
  }
  return given;
}

/// A hash with good bits (the finaliser of splitmix64).
__device__ std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Writes the descriptors of one image, a warp each: square roots of exponential numbers, scaled to norm 512.
__global__ void make_image(std::uint8_t* descriptors, std::int64_t count, std::int64_t image) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (row >= count) return;
  constexpr std::int64_t seen_from = 10;  // images before and after
  const std::uint64_t own = mixed(static_cast<std::uint64_t>(image << 32 | row) + 0x9e3779b97f4a7c15u);
  const bool shared = own % 10 == 0;
  // Shared features of consecutive images run over consecutive points of the scene.
  const std::uint64_t point = static_cast<std::uint64_t>(image * (count / seen_from + 1) + row);
  const std::uint64_t seed = shared ? mixed(point ^ 0x5851f42d4c957f2du) : own;
  float values[4], sum = 0;
  for (int k = 0; k < 4; ++k) {
    const std::uint64_t bits = mixed(seed + static_cast<std::uint64_t>(lane * 4 + k) * 0x9e3779b97f4a7c15u);
    const float uniform = (static_cast<float>(bits >> 40) + 0.5f) * 0x1p-24f;
    values[k] = sqrtf(-logf(uniform));
    const std::uint64_t noise = mixed(bits ^ own);
    if (shared) values[k] *= 0.85f + 0.3f * static_cast<float>(noise >> 40) * 0x1p-24f;
    sum += values[k] * values[k];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  std::uint32_t packed = 0;
  for (int k = 0; k < 4; ++k) {
    const float scaled = fminf(255.0f, rintf(512 * values[k] * rsqrtf(sum)));
    packed |= static_cast<std::uint32_t>(scaled) << (8 * k);
  }
  reinterpret_cast<std::uint32_t*>(descriptors + row * 128)[lane] = packed;
}

/// All images, one after the other, in host memory.
std::vector<std::uint8_t> make_images(std::int64_t images, std::int64_t features) {
  const auto bytes = static_cast<std::size_t>(features) * 128;
  std::vector<std::uint8_t> all(static_cast<std::size_t>(images) * bytes);
  const bench::device_array<std::uint8_t> one(bytes);
  for (std::int64_t i = 0; i < images; ++i) {
    make_image<<<static_cast<unsigned>((features + 7) / 8), 256>>>(one.data(), features, i);
    BENCH_CHECK(cudaGetLastError());
    BENCH_CHECK(
        cudaMemcpy(all.data() + static_cast<std::size_t>(i) * bytes, one.data(), bytes, cudaMemcpyDeviceToHost));
  }
  return all;
}

/// All pairs in COLMAP's exhaustive order, blocks of 50 images.
std::vector<image_pair> exhaustive_pairs(std::int64_t images) {
  constexpr std::int64_t size = 50;
  std::vector<image_pair> pairs;
  for (std::int64_t a = 0; a < images; a += size) {
    for (std::int64_t b = 0; b < images; b += size) {
      for (std::int64_t i = a; i < std::min(a + size, images); ++i) {
        for (std::int64_t j = b; j < std::min(b + size, images); ++j) {
          if ((i > j && i % size <= j % size) || (i < j && i % size < j % size)) {
            pairs.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
          }
        }
      }
    }
  }
  return pairs;
}

struct outcome {
  survey::run_result result;
  std::uint64_t lists = 0xcbf29ce484222325u;  // FNV-1a over the words of the lists and their lengths
};

outcome run(const std::vector<std::uint8_t>& all, std::int64_t features, const std::vector<image_pair>& pairs,
            const survey::worker_list<std::uint8_t>& workers, const settings& given) {
  survey::image_source<std::uint8_t> images;
  images.counts.assign(static_cast<std::size_t>(given.images), features);
  images.read = [&](std::int32_t image, std::int64_t count, std::uint8_t* destination) {
    std::memcpy(destination, all.data() + std::int64_t{image} * features * 128, static_cast<std::size_t>(count) * 128);
  };
  std::size_t next = 0;
  const survey::pair_source source = [&](image_pair* destination, std::int64_t room) {
    const std::size_t count = std::min(pairs.size() - next, static_cast<std::size_t>(room));
    std::copy_n(pairs.begin() + static_cast<std::ptrdiff_t>(next), count, destination);
    next += count;
    return static_cast<std::int64_t>(count);
  };
  outcome done;
  const auto hash = [&](std::uint64_t word) { done.lists = (done.lists ^ word) * 0x100000001b3u; };
  const survey::list_sink sink = [&](const survey::matched_pair& list) {
    hash(static_cast<std::uint64_t>(list.count));
    for (std::int64_t i = 0; i < list.count; ++i) {
      hash(std::uint64_t{list.matches[i].row} << 32 | list.matches[i].column);
    }
  };
  survey::run_options options;
  options.memory_budget = static_cast<std::size_t>(given.budget) << 20;
  options.batch_pairs = given.batch;
  options.wave_pairs = given.wave;
  done.result = survey::run<std::uint8_t>(images, source, sink, workers, {}, options);
  return done;
}

/// Some runs of one survey, the fastest first.
std::vector<outcome> repeat(const std::vector<std::uint8_t>& all, std::int64_t features,
                            const std::vector<image_pair>& pairs, const survey::worker_list<std::uint8_t>& workers,
                            const settings& given) {
  constexpr std::size_t repeats = 5;
  constexpr double long_seconds = 20;  // of which one run is enough
  std::vector<outcome> runs;
  do {
    runs.push_back(run(all, features, pairs, workers, given));
    if (runs.back().lists != runs.front().lists) throw std::runtime_error("two runs of a survey have unlike lists");
  } while (runs.size() < repeats && runs.back().result.total_seconds <= long_seconds);
  std::sort(runs.begin(), runs.end(),
            [](const outcome& a, const outcome& b) { return a.result.total_seconds < b.result.total_seconds; });
  return runs;
}

}  // namespace

int main(int argc, char** argv) try {
  const settings given = parse(argc, argv);
  const double wgmma = bench::wgmma_ceiling();
  const double ceiling = 1e6 * (wgmma > 0 ? wgmma : bench::mma_ceiling());  // scores a second
  std::printf(
      "gpus,images,features,pairs,matches,seconds,low_seconds,high_seconds,us_per_pair,busy_percent,ceiling_percent,"
      "read_seconds,sink_seconds,batches,retries,images_read,wave,lists\n");
  for (const std::int64_t features : given.features) {
    const std::vector<std::uint8_t> all = make_images(given.images, features);
    std::vector<image_pair> pairs = exhaustive_pairs(given.images);
    if (given.pairs > 0) pairs.resize(std::min(pairs.size(), static_cast<std::size_t>(given.pairs)));
    for (const std::int64_t gpus : given.gpus) {
      survey::worker_list<std::uint8_t> workers;
      for (int device = 0; device < gpus; ++device) {
        workers.push_back(std::make_unique<survey::device_worker<>>(device));
      }
      run(all, features,
          {pairs.begin(), pairs.begin() + std::min<std::ptrdiff_t>(2000, static_cast<std::ptrdiff_t>(pairs.size()))},
          workers,
          given);  // loads the kernels
      const std::vector<outcome> runs = repeat(all, features, pairs, workers, given);
      const outcome& done = bench::quantile(runs, 0.5);
      double busy = 0;
      for (const double each : done.result.busy_seconds) busy += each;
      const double seconds = done.result.total_seconds;
      const double scores =
          static_cast<double>(features) * static_cast<double>(features) * static_cast<double>(done.result.pairs);
      std::printf(
          "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.4f,%.4f,%.4f,%.3f,%.1f,%.1f,%.3f,%.3f,%" PRId64
          ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%016" PRIx64 "\n",
          gpus, given.images, features, done.result.pairs, done.result.matches, seconds,
          bench::quantile(runs, 0.1).result.total_seconds, bench::quantile(runs, 0.9).result.total_seconds,
          1e6 * seconds / static_cast<double>(done.result.pairs), 100 * busy / (seconds * static_cast<double>(gpus)),
          100 * scores / (seconds * ceiling * static_cast<double>(gpus)), done.result.read_seconds,
          done.result.sink_seconds, done.result.batches, done.result.retries, done.result.images_read, given.wave,
          done.lists);
      std::fflush(stdout);
    }
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "survey: %s\n", failure.what());
  return 1;
}
