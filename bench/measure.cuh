// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Timing on a stream, and the descriptors that are timed.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}
#define BENCH_CHECK(call) ::bench::check((call), #call)

/// Device memory, freed with the object.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t count) : count_(count) {
    BENCH_CHECK(cudaMalloc(&data_, std::max<std::size_t>(count, 1) * sizeof(T)));
  }
  explicit device_array(const std::vector<T>& host) : device_array(host.size()) {
    BENCH_CHECK(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~device_array() { cudaFree(data_); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::vector<T> host() const {
    std::vector<T> copy(count_);
    BENCH_CHECK(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// Microseconds of one run: the median of all runs and the middle 80 % of them.
struct timing {
  double median = 0, low = 0, high = 0;
  int runs = 0;
};

/// The one of sorted samples that has the share `part` of the others before it.
template <class T>
const T& quantile(const std::vector<T>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
}

/// Times `run(stream)`, `repeats` times after `warmups`, each `batch` runs long, between two events. With `graph`,
/// a run is captured once and replayed, which leaves the host's launch cost out.
template <class Run>
timing measure(Run run, int repeats = 30, int batch = 1, int warmups = 3, bool graph = false) {
  cudaStream_t stream;
  cudaEvent_t start, stop;
  BENCH_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  BENCH_CHECK(cudaEventCreate(&start));
  BENCH_CHECK(cudaEventCreate(&stop));
  cudaGraphExec_t executable = nullptr;
  if (graph) {
    cudaGraph_t captured;
    BENCH_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    run(stream);
    BENCH_CHECK(cudaStreamEndCapture(stream, &captured));
    BENCH_CHECK(cudaGraphInstantiate(&executable, captured, 0));
    BENCH_CHECK(cudaGraphDestroy(captured));
  }
  const auto once = [&] {
    if (graph) {
      BENCH_CHECK(cudaGraphLaunch(executable, stream));
    } else {
      run(stream);
    }
  };
  for (int i = 0; i < warmups; ++i) once();
  std::vector<double> samples;
  for (int i = 0; i < repeats; ++i) {
    BENCH_CHECK(cudaEventRecord(start, stream));
    for (int j = 0; j < batch; ++j) once();
    BENCH_CHECK(cudaEventRecord(stop, stream));
    BENCH_CHECK(cudaEventSynchronize(stop));
    float milliseconds = 0;
    BENCH_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    samples.push_back(milliseconds * 1e3 / batch);
  }
  BENCH_CHECK(cudaGetLastError());
  if (executable != nullptr) BENCH_CHECK(cudaGraphExecDestroy(executable));
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaStreamDestroy(stream);
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.1), quantile(samples, 0.9), repeats};
}

/// `count` random descriptors like SIFT's: gradient histograms of norm 512, none of them zero.
inline std::vector<std::uint8_t> random_sift(std::int64_t count, unsigned seed, int width = 128) {
  std::mt19937 generator(seed);
  std::exponential_distribution<float> magnitude(1.0f);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * width);
  std::vector<float> values(width);
  for (std::int64_t i = 0; i < count; ++i) {
    float norm = 0;
    for (float& v : values) {
      v = std::sqrt(magnitude(generator));
      norm += v * v;
    }
    norm = std::sqrt(norm);
    for (int k = 0; k < width; ++k) {
      bytes[static_cast<std::size_t>(i) * width + k] =
          static_cast<std::uint8_t>(std::min(255.0f, std::round(512 * values[k] / norm)));
    }
  }
  return bytes;
}

/// Puts a copy of every `every`-th of the `count` descriptors of `left` among those of `right`.
template <class T>
void copy_every(std::int64_t every, std::int64_t count, int width, const std::vector<T>& left, std::vector<T>& right) {
  for (std::int64_t i = 0; i < count; i += every) {
    std::copy_n(&left[static_cast<std::size_t>(i) * width], width,
                &right[static_cast<std::size_t>(i * 7 % count) * width]);
  }
}

/// Two images of 128-byte descriptors.
struct images {
  std::string name;
  std::vector<std::uint8_t> left, right;
};

inline std::vector<std::uint8_t> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Random images of each size, of which no row, a third of the rows and all rows match, and those of the files named on
/// the command line: [LEFT.bin RIGHT.bin]...
inline std::vector<images> inputs(const std::vector<std::int64_t>& sizes, int argc, char** argv) {
  std::vector<images> all;
  for (const std::int64_t n : sizes) {
    for (const int every : {0, 3, 1}) {
      images random{every == 0   ? "random none match"
                    : every == 3 ? "random third match"
                                 : "random all match",
                    random_sift(n, 1), random_sift(n, 2)};
      if (every > 0) copy_every(every, n, 128, random.left, random.right);
      all.push_back(std::move(random));
    }
  }
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto stem = [](std::string path) { return path.substr(path.rfind('/') + 1); };
    all.push_back({"real " + stem(argv[i]) + " " + stem(argv[i + 1]), read_file(argv[i]), read_file(argv[i + 1])});
  }
  return all;
}

}  // namespace bench
