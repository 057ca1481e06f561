// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the dot-product instructions alone reach on the GPU at hand: the ceilings that every path is measured against.
#pragma once

#include <cstdint>

#include <serac/detail/wgmma.cuh>
#include <serac/device/chunk_scan.cuh>

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

/// The 16 x 8 products of mma.sync, 32 bytes of Element deep.
template <class Element>
struct mma_products {
  __device__ static void add(std::int32_t (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    serac::detail::mma_16x8x32<Element>(sums, a[0], a[1], a[2], a[3], b[0], b[1]);
  }
};

/// Independent chains of Products from registers; with Maxima those of the sums are taken after every fourth, as scores
/// of 128 bytes need.
template <class Products, int Chains, bool Maxima>
__global__ void mma_chains(int iterations, std::uint32_t seed, std::uint32_t* sink) {
#if __CUDA_ARCH__ >= 800
  std::int32_t sums[Chains][4] = {}, maxima[Chains][2] = {};
  std::uint32_t a[4], b[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = seed * (threadIdx.x + i + 1);
#pragma unroll
  for (int i = 0; i < 2; ++i) b[i] = seed ^ (threadIdx.x * 0x9e3779b9u + i);
  for (int i = 0; i < iterations; i += 4) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int c = 0; c < Chains; ++c) Products::add(sums[c], a, b);
    }
    if constexpr (Maxima) {
#pragma unroll
      for (int c = 0; c < Chains; ++c) {
#pragma unroll
        for (int h = 0; h < 2; ++h) maxima[c][h] = __vimax3_s32(maxima[c][h], sums[c][2 * h], sums[c][2 * h + 1]);
      }
    }
  }
  std::uint32_t total = 0;
#pragma unroll
  for (int c = 0; c < Chains; ++c) {
    total += sums[c][0] + sums[c][1] + sums[c][2] + sums[c][3] + maxima[c][0] + maxima[c][1];
  }
  if (total == seed) *sink = total;
#endif
}

// clang-format off
/// sums += A x B^T: 64 rows and 256 rows of 16 halves, given by descriptors. All threads of a warpgroup.
__device__ inline void add_half_products(float (&sums)[128], std::uint64_t a, std::uint64_t b) {
#ifdef SERAC_HAS_WGMMA
#define BENCH_EIGHT(i) \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), "+f"(sums[i + 5]), \
  "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define BENCH_THIRTY_TWO(i) BENCH_EIGHT(i), BENCH_EIGHT(i + 8), BENCH_EIGHT(i + 16), BENCH_EIGHT(i + 24)
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
               "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
               "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
               "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
               "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
               "}, %128, %129, 1, 1, 1, 0, 0;"
               : BENCH_THIRTY_TWO(0), BENCH_THIRTY_TWO(32), BENCH_THIRTY_TWO(64), BENCH_THIRTY_TWO(96)
               : "l"(a), "l"(b));
#undef BENCH_EIGHT
#undef BENCH_THIRTY_TWO
#endif
}
// clang-format on

/// wgmma.m64n256k32 on bytes.
struct byte_wgmma {
  using sum = std::int32_t;

  /// A word of a tile, of a random one.
  __device__ static std::uint32_t word(std::uint32_t random) { return random; }
  __device__ static void add(sum (&sums)[128], std::uint64_t a, std::uint64_t b) {
    serac::detail::wgmma<std::uint8_t, 256>(sums, a, b, true);
  }
  __device__ static void wait(sum (&sums)[128]) { serac::detail::wgmma_wait<0>(sums); }
};

/// wgmma.m64n256k16 on halves, with sums in float.
struct half_wgmma {
  using sum = float;

  /// Numbers of magnitude 1/4 to 1/2.
  __device__ static std::uint32_t word(std::uint32_t random) { return (random & 0x83ff83ffu) | 0x34003400u; }
  __device__ static void add(sum (&sums)[128], std::uint64_t a, std::uint64_t b) { add_half_products(sums, a, b); }
  __device__ static void wait(sum (&sums)[128]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int n = 0; n < 128; ++n) asm volatile("" : "+f"(sums[n])::"memory");
  }
};

/// Products (64 x 256, 32 bytes deep) by two warpgroups a block, from tiles in shared memory filled at random.
template <class Products>
__global__ void __launch_bounds__(256, 1) wgmma_chains(int iterations, std::uint32_t seed, std::uint32_t* sink) {
#ifdef SERAC_HAS_WGMMA
  namespace sd = serac::detail;
  extern __shared__ std::uint8_t unaligned[];
  std::uint8_t* const shared = unaligned + (-static_cast<std::uint32_t>(__cvta_generic_to_shared(unaligned)) & 1023);
  constexpr int a_bytes = 64 * 128, b_bytes = 256 * 128;
  for (int i = threadIdx.x; i < (2 * a_bytes + b_bytes) / 4; i += blockDim.x) {
    reinterpret_cast<std::uint32_t*>(shared)[i] = Products::word((seed + i) * 2654435761u);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0);
  const sd::wgmma_tile<128> a(shared + warpgroup * a_bytes), b(shared + 2 * a_bytes);
  typename Products::sum sums[128] = {};
  for (int i = 0; i < iterations; ++i) {
    sd::wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) Products::add(sums, a.at(32 * k), b.at(32 * k));
    sd::wgmma_commit();
    Products::wait(sums);
  }
  typename Products::sum total = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) total += sums[i];
  if (total == static_cast<typename Products::sum>(seed)) *sink = seed;
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
  const timing t = measure(
      [&](cudaStream_t s) { dp4a_chains<chains><<<blocks, threads, 0, s>>>(iterations, 0x01234567u, sink.data()); });
  return scores_per_us(4.0 * chains * threads * iterations * blocks, t.median);
}

/// Results of mma.sync, 16 x 8 for each product, a microsecond.
template <class Products, bool Maxima = false>
double mma_products_per_us() {
  constexpr int chains = 8, threads = 256, iterations = 4096;
  const int blocks = multiprocessors() * 4;
  device_array<std::uint32_t> sink(1);
  const timing t = measure([&](cudaStream_t s) {
    mma_chains<Products, chains, Maxima><<<blocks, threads, 0, s>>>(iterations, 0x01234567u, sink.data());
  });
  return 16.0 * 8 * chains * (threads / 32) * iterations * blocks / t.median;
}

/// Ceiling of mma.sync.m16n8k32 u8 in 128-byte scores a microsecond, and what is left of it beside the maxima of the
/// scores.
inline double mma_ceiling() { return 32 * mma_products_per_us<mma_products<std::uint8_t>>() / 128; }
inline double mma_ceiling_with_maxima() { return 32 * mma_products_per_us<mma_products<std::uint8_t>, true>() / 128; }

/// What chains of wgmma reach in 128-byte scores a microsecond; 0 where there is none.
template <class Chains>
double wgmma_scores_per_us(Chains chains) {
  if (serac::device::detail::best_path() != serac::match_path::wgmma) return 0;
  constexpr int iterations = 4096, shared_bytes = 1024 + 2 * 64 * 128 + 256 * 128;
  const int blocks = multiprocessors();
  device_array<std::uint32_t> sink(1);
  BENCH_CHECK(cudaFuncSetAttribute(chains, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  const timing t =
      measure([&](cudaStream_t s) { chains<<<blocks, 256, shared_bytes, s>>>(iterations, 0x01234567u, sink.data()); });
  return 2.0 * 64 * 256 * iterations * blocks / t.median;
}

/// Ceiling of wgmma.m64n256k32 u8 in 128-byte scores a microsecond; 0 where there is none.
inline double wgmma_ceiling() { return wgmma_scores_per_us(wgmma_chains<byte_wgmma>); }

/// Ceilings of mma.sync.m16n8k16 and wgmma.m64n256k16 on halves, in 128-byte scores (64 halves) a microsecond; 0 where
/// there is none.
inline double half_mma_ceiling() {
  if (serac::device::detail::best_path<serac::float16>() != serac::match_path::mma) return 0;
  return 32 * mma_products_per_us<mma_products<serac::float16>>() / 128;
}
inline double half_wgmma_ceiling() { return wgmma_scores_per_us(wgmma_chains<half_wgmma>); }

}  // namespace bench
