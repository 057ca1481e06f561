// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How long does one pair of images with float descriptors take, device to device, and how far is it from what FFMA, or
/// products of halves, could do? And what do lists of the nearest cost, of floats and of bytes?
///
/// Usage: floats
/// Prints CSV: the time of a captured call replayed (median, and the middle 80 %), and for the same scores the time of
/// FFMA alone, measured in the same run: one for each element, and a subtraction of the same cost for squared distances
/// (of bytes, DP4A, one for each four). Calls: `match`, mutual matches by Lowe's ratio test, and `nearest K`, the K
/// nearest of each row, both by the classic path; `match mma` and `batch mma`, a match by mma.sync of the pair alone
/// and in a batch of 132, of which the ceiling is mma.sync on halves, and wgmma_us the time of wgmma on halves.
#include <cmath>
#include <cstdio>
#include <string>

#include <serac/device/match.cuh>
#include <serac/device/nearest.cuh>

#include "ceilings.cuh"
#include "elements.cuh"
#include "measure.cuh"

namespace {

/// Independent FFMA chains from registers; every result is consumed.
template <int Chains>
__global__ void ffma_chains(int iterations, float seed, float* sink) {
  float sums[Chains];
  const float a = seed * static_cast<float>(threadIdx.x + 1);
#pragma unroll
  for (int c = 0; c < Chains; ++c) sums[c] = static_cast<float>(c);
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int c = 0; c < Chains; ++c) sums[c] = fmaf(sums[c], a, seed);
  }
  float total = 0;
#pragma unroll
  for (int c = 0; c < Chains; ++c) total += sums[c];
  if (total == seed) *sink = total;
}

/// FFMA a microsecond.
double ffma_ceiling() {
  constexpr int chains = 32, threads = 256, iterations = 2048;
  const int blocks = bench::multiprocessors() * 4;
  bench::device_array<float> sink(1);
  const bench::timing t = bench::measure(
      [&](cudaStream_t s) { ffma_chains<chains><<<blocks, threads, 0, s>>>(iterations, 1e-6f, sink.data()); });
  return double{chains} * threads * iterations * blocks / t.median;
}

struct {
  double ffma, dp4a;       // in words a microsecond
  double half_mma, wgmma;  // in 64 halves a microsecond
} ceilings;

// How elements are made, and what the lines of the table say of them.
void assign(float& x, float value) { x = value; }
void assign(serac::float16& x, float value) { x = serac::to_float16(value); }
void assign(serac::bfloat16& x, float value) { x = serac::to_bfloat16(value); }
void assign(std::uint8_t& x, float value) { x = static_cast<std::uint8_t>(std::fabs(512 * value)); }
template <class T>
void assign(serac::l2<T>& x, float value) {
  assign(x.value, value);
}

const char* name(float) { return "float"; }
const char* name(serac::float16) { return "float16"; }
const char* name(serac::bfloat16) { return "bfloat16"; }
const char* name(std::uint8_t) { return "uint8"; }
template <class T>
const char* name(serac::l2<T>) {
  return name(T());
}
template <class T>
constexpr bool is_l2 = !serac::score_traits<T>::is_dot_product;

/// Two images of `n` random descriptors of norm 1, every third of the right one a noisy copy of one of the left.
template <class Policy>
struct problem {
  using element = typename Policy::element;
  static constexpr int dimensions = serac::elements_of<Policy>;

  std::int64_t n;
  bench::two_images<element> images;

  explicit problem(std::int64_t count) : problem(count, make(count)) {}

  serac::descriptor_view<element> rows() const { return images.left(); }
  serac::descriptor_view<element> columns() const { return images.right(); }

  /// Prints the line of a call: `run(stream)`.
  template <class Run>
  void line(const char* call, const Run& run) const {
    const double elements = static_cast<double>(n) * static_cast<double>(n) * dimensions;
    const double ceiling = serac::score_traits<element>::is_float ? elements * (is_l2<element> ? 2 : 1) / ceilings.ffma
                                                                  : elements / 4 / ceilings.dp4a;
    line(call, bench::measure(run, 30, 3, 3, true), ceiling, 0);
  }

  /// Prints the line of a call by mma.sync.
  void mma_line(const char* call, const bench::timing& t) const {
    const double products = static_cast<double>(n) * static_cast<double>(n) * dimensions / 64;
    line(call, t, products / ceilings.half_mma, ceilings.wgmma == 0 ? 0 : products / ceilings.wgmma);
  }

 private:
  using floats = std::vector<float>;

  problem(std::int64_t count, const std::pair<floats, floats>& made)
      : n(count), images(elements(made.first), elements(made.second), dimensions) {}

  void line(const char* call, const bench::timing& t, double ceiling, double wgmma) const {
    std::printf("%s,%s,%d,%lld,%lld,%s,%.2f,%.2f,%.2f,%.2f,%.1f,%.2f\n", name(element()), is_l2<element> ? "l2" : "dot",
                dimensions, static_cast<long long>(n), static_cast<long long>(n), call, t.median, t.low, t.high,
                ceiling, 100 * ceiling / t.median, wgmma);
    std::fflush(stdout);
  }

  static std::pair<floats, floats> make(std::int64_t count) {
    std::mt19937 random(1);
    const auto row = [&](float* out, const float* near) {
      double norm = 0;
      for (int k = 0; k < dimensions; ++k) {
        const float x = static_cast<float>(random()) * 0x1p-32f - 0.5f;
        out[k] = near == nullptr ? x : near[k] + 0.02f * x;
        norm += double{out[k]} * out[k];
      }
      for (int k = 0; k < dimensions; ++k) out[k] = static_cast<float>(out[k] / std::sqrt(norm));
    };
    std::pair<floats, floats> images;
    images.first.resize(static_cast<std::size_t>(count * dimensions)), images.second = images.first;
    for (std::int64_t i = 0; i < count; ++i) row(images.first.data() + i * dimensions, nullptr);
    for (std::int64_t j = 0; j < count; ++j) {
      const float* const near = j % 3 == 0 ? images.first.data() + j * 7 % count * dimensions : nullptr;
      row(images.second.data() + j * dimensions, near);
    }
    return images;
  }

  static std::vector<element> elements(const floats& values) {
    std::vector<element> all(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) assign(all[i], values[i]);
    return all;
  }
};

template <class Policy>
void run_match(std::int64_t n) {
  const problem<Policy> images(n);
  const serac::match_options options;
  const std::size_t bytes = serac::device::match_workspace<Policy>(images.rows(), images.columns(), options);
  const bench::device_array<std::uint8_t> workspace(bytes);
  const bench::device_array<serac::match_pair> pairs(static_cast<std::size_t>(n));
  const bench::device_array<std::uint32_t> count(1);
  const serac::basic_euclidean_acceptance<typename Policy::element> accept;
  images.line("match", [&](cudaStream_t stream) {
    serac::throw_on_error(serac::device::match<Policy>(images.rows(), images.columns(), options, accept,
                                                       {pairs.data(), n, count.data()}, workspace.data(), bytes,
                                                       stream));
  });
}

template <class Element, int Dimensions>
void run_mma(std::int64_t n) {
  if (ceilings.half_mma == 0) return;
  using policy = serac::mma_policy_for<Dimensions * 2, Element>;
  const problem<policy> images(n);
  const serac::basic_euclidean_acceptance<Element> accept;
  images.mma_line("match mma", bench::time_pair<policy>(images.images, accept).us);
  images.mma_line("batch mma", bench::time_batched_pair<policy>(images.images, accept));
}

template <class Policy, int K>
void run_nearest(std::int64_t n) {
  const problem<Policy> images(n);
  const std::size_t bytes = serac::device::nearest_workspace<K, Policy>(images.rows(), images.columns(), false);
  const bench::device_array<std::uint8_t> workspace(bytes);
  const bench::device_array<serac::neighbors<K>> lists(static_cast<std::size_t>(n));
  images.line(("nearest " + std::to_string(K)).c_str(), [&](cudaStream_t stream) {
    serac::throw_on_error(serac::device::nearest<K, Policy>(images.rows(), images.columns(), {lists.data(), nullptr},
                                                            workspace.data(), bytes, stream));
  });
}

/// 128 bytes by DP4A, for which there are no matches here: lists of the nearest alone.
using bytes_128 = serac::policy_for<128>;
template <class Element, int Dimensions>
using floats_of = serac::float_policy_for<Dimensions* static_cast<int>(sizeof(Element)), Element>;

}  // namespace

int main() try {
  using serac::l2;
  ceilings = {ffma_ceiling(), 32 * bench::dp4a_ceiling(), bench::half_mma_ceiling(), bench::half_wgmma_ceiling()};
  std::printf(
      "element,score,dimensions,rows,columns,call,median_us,low_us,high_us,ceiling_us,percent_of_ceiling,wgmma_us\n");
  for (const std::int64_t n : {2048, 10400}) {
    run_match<floats_of<float, 64>>(n);
    run_match<floats_of<float, 128>>(n);
    run_match<floats_of<float, 256>>(n);
    run_match<floats_of<l2<float>, 64>>(n);
    run_match<floats_of<l2<float>, 128>>(n);
    run_match<floats_of<l2<float>, 256>>(n);
    run_match<floats_of<serac::float16, 128>>(n);
    run_match<floats_of<serac::float16, 256>>(n);
    run_match<floats_of<serac::bfloat16, 128>>(n);
    run_mma<serac::float16, 128>(n);
    run_mma<serac::float16, 256>(n);
    run_mma<serac::bfloat16, 128>(n);
    run_match<floats_of<l2<serac::float16>, 128>>(n);
    run_nearest<floats_of<float, 128>, 1>(n);
    run_nearest<floats_of<float, 128>, 2>(n);
    run_nearest<floats_of<float, 128>, 8>(n);
    run_nearest<floats_of<float, 256>, 8>(n);
    run_nearest<bytes_128, 1>(n);
    run_nearest<bytes_128, 8>(n);
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "floats: %s\n", failure.what());
  return 1;
}
