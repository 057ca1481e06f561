// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How long does one pair of images with binary descriptors take, device to device, and how far is it from what
/// population counts, products of bits and products of bytes could do?
///
/// Usage: binary
/// Prints CSV: the time of a captured call replayed (median, and the middle 80 %), and for the same scores the time of
/// population counts alone (popc: one for each word; the library needs three for four), of mma.sync on bits (bmma), and
/// of wgmma on bytes that hold a bit each, all measured in the same run.
#include <cstdio>

#include <serac/device/match.cuh>

#include "ceilings.cuh"
#include "measure.cuh"

namespace {

/// Independent chains of exclusive or, population count and addition.
template <int Chains>
__global__ void popc_chains(int iterations, std::uint32_t seed, std::uint32_t* sink) {
  std::uint32_t sums[Chains];
#pragma unroll
  for (int c = 0; c < Chains; ++c) sums[c] = seed * (threadIdx.x + c);
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int c = 0; c < Chains; ++c) sums[c] += __popc(sums[c] ^ seed);
  }
  std::uint32_t total = 0;
#pragma unroll
  for (int c = 0; c < Chains; ++c) total += sums[c];
  if (total == seed) *sink = total;
}

/// The 16 x 8 products of mma.sync.m16n8k256 on bits.
struct bit_products {
  __device__ static void add(std::int32_t (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

/// Ceilings in scores of 32 bits a microsecond.
double popc_ceiling() {
  constexpr int chains = 16, threads = 256, iterations = 2048;
  const int blocks = bench::multiprocessors() * 8;
  bench::device_array<std::uint32_t> sink(1);
  const bench::timing t = bench::measure(
      [&](cudaStream_t s) { popc_chains<chains><<<blocks, threads, 0, s>>>(iterations, 0x01234567u, sink.data()); });
  return double{chains} * threads * iterations * blocks / t.median;
}

double bmma_ceiling() { return 256 / 32 * bench::mma_products_per_us<bit_products>(); }

struct {
  double popc, bmma, wgmma;
} ceilings;

/// `n` random descriptors, every third of the right ones a copy with noise of a left one.
template <int Width>
void run(std::int64_t n) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> images[2];
  for (auto& image : images) {
    for (std::int64_t k = 0; k < n * Width; ++k) image.push_back(static_cast<std::uint8_t>(random()));
  }
  for (std::int64_t j = 0; j < n; j += 3) {
    for (int k = 0; k < Width; ++k) images[1][j * Width + k] = images[0][j * 7 % n * Width + k] ^ 1 << random() % 8;
  }
  using policy = serac::hamming_policy_for<Width>;
  const bench::device_array<std::uint8_t> left(images[0]), right(images[1]);
  const serac::binary_view rows = serac::as_bits(left.data(), n, Width),
                           columns = serac::as_bits(right.data(), n, Width);
  const serac::match_options options;
  const std::size_t bytes = serac::device::match_workspace<policy>(rows, columns, options);
  const bench::device_array<std::uint8_t> workspace(bytes);
  const bench::device_array<serac::match_pair> pairs(static_cast<std::size_t>(n));
  const bench::device_array<std::uint32_t> count(1);
  const bench::timing t = bench::measure(
      [&](cudaStream_t stream) {
        serac::throw_on_error(serac::device::match<policy>(rows, columns, options, serac::hamming_acceptance{},
                                                           {pairs.data(), n, count.data()}, workspace.data(), bytes,
                                                           stream));
      },
      30, 3, 3, true);

  const double words = static_cast<double>(n) * static_cast<double>(n) * Width / 4;
  const double popc = words / ceilings.popc, bmma = words / ceilings.bmma;
  const double wgmma = ceilings.wgmma == 0 ? 0 : words / (4 * ceilings.wgmma);  // 128 bytes are 4 words of bits
  std::printf("%d,%lld,%lld,%u,%.2f,%.2f,%.2f,%.2f,%.1f,%.2f,%.2f\n", 8 * Width, static_cast<long long>(n),
              static_cast<long long>(n), count.host()[0], t.median, t.low, t.high, popc, 100 * popc / t.median, bmma,
              wgmma);
  std::fflush(stdout);
}

}  // namespace

int main() try {
  ceilings = {popc_ceiling(), bmma_ceiling(), bench::wgmma_ceiling()};
  std::printf("bits,rows,columns,matches,median_us,low_us,high_us,popc_us,percent_of_popc,bmma_us,wgmma_us\n");
  for (const std::int64_t n : {2048, 4096, 10400, 20000}) {
    run<32>(n);
    run<64>(n);
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "binary: %s\n", failure.what());
  return 1;
}
