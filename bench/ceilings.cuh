// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the dot-product instructions alone reach on the GPU at hand: the ceilings that every path is measured against.
#pragma once

#include <cstdint>

#include "measure.cuh"

namespace bench {

/// Independent DP4A chains from registers; every result is consumed.
template <int Chains>
__global__ void dp4a_chains(int iterations, std::uint32_t seed, std::uint32_t* sink) {
  std::uint32_t sums[Chains];
  const std::uint32_t a = seed * (threadIdx.x + 1), b = seed ^ (blockIdx.x * 0x9e3779b9u);
#pragma unroll
  for (int c = 0; c < Chains; ++c) sums[c] = c;
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int c = 0; c < Chains; ++c) sums[c] = __dp4a(a + i, b, sums[c]);
  }
  std::uint32_t total = 0;
#pragma unroll
  for (int c = 0; c < Chains; ++c) total += sums[c];
  if (total == seed) *sink = total;
}

/// Independent mma.sync.m16n8k32 u8 chains from registers.
template <int Chains>
__global__ void mma_chains(int iterations, std::uint32_t seed, std::uint32_t* sink) {
#if __CUDA_ARCH__ >= 800
  std::int32_t sums[Chains][4] = {};
  std::uint32_t a[4], b[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = seed * (threadIdx.x + i + 1);
#pragma unroll
  for (int i = 0; i < 2; ++i) b[i] = seed ^ (threadIdx.x * 0x9e3779b9u + i);
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int c = 0; c < Chains; ++c) {
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+r"(sums[c][0]), "+r"(sums[c][1]), "+r"(sums[c][2]), "+r"(sums[c][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  }
  std::uint32_t total = 0;
#pragma unroll
  for (int c = 0; c < Chains; ++c) total += sums[c][0] + sums[c][1] + sums[c][2] + sums[c][3];
  if (total == seed) *sink = total;
#endif
}

/// Scores of 128 bytes a microsecond.
inline double scores_per_us(double bytes_products, double us) { return bytes_products / 128 / us; }

inline int multiprocessors() {
  int device = 0, count = 0;
  BENCH_CHECK(cudaGetDevice(&device));
  BENCH_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

/// Ceiling of __dp4a in 128-byte scores a microsecond.
inline double dp4a_ceiling() {
  constexpr int chains = 32, threads = 256, iterations = 2048;
  const int blocks = multiprocessors() * 4;
  device_array<std::uint32_t> sink(1);
  const timing t =
      measure([&](cudaStream_t s) { dp4a_chains<chains><<<blocks, threads, 0, s>>>(iterations, 0x01234567u, sink.data()); });
  return scores_per_us(4.0 * chains * threads * iterations * blocks, t.median);
}

/// Ceiling of mma.sync.m16n8k32 u8 in 128-byte scores a microsecond.
inline double mma_ceiling() {
  constexpr int chains = 8, threads = 256, iterations = 4096;
  const int blocks = multiprocessors() * 4;
  device_array<std::uint32_t> sink(1);
  const timing t =
      measure([&](cudaStream_t s) { mma_chains<chains><<<blocks, threads, 0, s>>>(iterations, 0x01234567u, sink.data()); });
  return scores_per_us(16.0 * 8 * 32 * chains * (threads / 32) * double(iterations) * blocks, t.median);
}

}  // namespace bench
