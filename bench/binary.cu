// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How long does one pair of images with binary descriptors take, device to device, and how far is it from what
/// population counts, products of bits and products of bytes could do?
///
/// Usage: binary
/// Prints CSV: the time of a captured call replayed (median, and the middle 80 %) by the classic path, and for the same
/// scores the time of population counts alone (popc: one for each word; the library needs three for four), of mma.sync
/// on bits (bmma: one product for each score), and of wgmma on bytes that hold a bit each; then the time by the mma
/// path of the pair alone, and of the pair in a batch of 132, with shares of bmma at the products that the path needs:
/// two for each score from sm_90 on, one before. All measured in the same run.
#include <cstdio>
#include <stdexcept>

#include "ceilings.cuh"
#include "elements.cuh"
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

/// Products of bits for each score, where the GPU has them: see serac::detail::mma_16x8x32.
double bmma_products() {
  if (serac::device::detail::best_path<serac::bits8>() != serac::match_path::mma) return 0;
  int device = 0, major = 0;
  BENCH_CHECK(cudaGetDevice(&device));
  BENCH_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major < 9 ? 1 : 2;
}

struct {
  double products, popc, bmma, wgmma;
} ceilings;

/// `n` random descriptors, every third of the right ones a copy with noise of a left one.
template <int Width>
void run(std::int64_t n) {
  std::mt19937 random(1);
  std::vector<serac::bits8> images[2];
  for (auto& image : images) {
    for (std::int64_t k = 0; k < n * Width; ++k) image.push_back(static_cast<serac::bits8>(random() & 255));
  }
  for (std::int64_t j = 0; j < n; j += 3) {
    for (int k = 0; k < Width; ++k) {
      const auto original = static_cast<unsigned>(images[0][j * 7 % n * Width + k]);
      images[1][j * Width + k] = static_cast<serac::bits8>(original ^ 1u << random() % 8);
    }
  }
  const bench::two_images<serac::bits8> on_device(images[0], images[1], Width);
  const serac::hamming_acceptance accept;
  const bench::pair_time classic = bench::time_pair<serac::hamming_policy_for<Width>>(on_device, accept);
  bench::pair_time mma{};
  double mma_batch = 0;
  if (ceilings.products > 0) {
    using policy = serac::mma_policy_for<Width, serac::bits8>;
    mma = bench::time_pair<policy>(on_device, accept);
    mma_batch = bench::time_batched_pair<policy>(on_device, accept).median;
    if (mma.matches != classic.matches) throw std::runtime_error("lists of unlike lengths");
  }

  const double words = static_cast<double>(n) * static_cast<double>(n) * Width / 4;
  const double popc = words / ceilings.popc, bmma = words / ceilings.bmma;
  const double wgmma = ceilings.wgmma == 0 ? 0 : words / (4 * ceilings.wgmma);  // 128 bytes are 4 words of bits
  const auto percent = [&](double us) { return us == 0 ? 0 : 100 * ceilings.products * bmma / us; };
  std::printf("%d,%lld,%lld,%u,%.2f,%.2f,%.2f,%.2f,%.1f,%.2f,%.2f,%.2f,%.2f,%.2f,%.1f,%.2f,%.1f\n", 8 * Width,
              static_cast<long long>(n), static_cast<long long>(n), classic.matches, classic.us.median, classic.us.low,
              classic.us.high, popc, 100 * popc / classic.us.median, bmma, wgmma, mma.us.median, mma.us.low,
              mma.us.high, percent(mma.us.median), mma_batch, percent(mma_batch));
  std::fflush(stdout);
}

}  // namespace

int main() try {
  ceilings = {bmma_products(), popc_ceiling(), bmma_ceiling(), bench::wgmma_ceiling()};
  std::printf(
      "bits,rows,columns,matches,median_us,low_us,high_us,popc_us,percent_of_popc,bmma_us,wgmma_us,mma_us,mma_low_us,"
      "mma_high_us,mma_percent,mma_batch_us,mma_batch_percent\n");
  for (const std::int64_t n : {2048, 4096, 10400, 20000}) {
    run<32>(n);
    run<64>(n);
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "binary: %s\n", failure.what());
  return 1;
}
