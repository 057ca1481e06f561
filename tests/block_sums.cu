// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <serac/block/sums.cuh>
#include <support/gpu.cuh>

using namespace serac;
using namespace serac::test;

namespace {

template <class T>
struct sums_of_thread {
  T before, of_all, total;
};

template <int Threads, class T>
__global__ void __launch_bounds__(Threads) add_up(const T* values, int rounds, sums_of_thread<T>* results) {
  __shared__ block::sums<T, Threads> sums;
  for (int round = 0; round < rounds; ++round) {
    const int i = round * Threads + static_cast<int>(threadIdx.x);
    sums_of_thread<T> mine;
    mine.before = sums.exclusive(values[i], mine.of_all);
    __syncthreads();
    mine.total = sums.total(values[i]);
    __syncthreads();
    results[i] = mine;
  }
}

template <int Threads, class T>
void check(random_source& random, std::int64_t bound) {
  constexpr int rounds = 20;
  std::vector<T> values;
  for (int i = 0; i < rounds * Threads; ++i) values.push_back(static_cast<T>(i < Threads ? 0 : random.below(bound)));
  const device_array<T> input(values);
  const device_array<sums_of_thread<T>> output(values.size());
  add_up<Threads><<<1, Threads>>>(input.data(), rounds, output.data());
  require_cuda(cudaGetLastError());
  const auto found = output.values();
  for (int round = 0; round < rounds; ++round) {
    T sum = 0;
    for (int i = round * Threads; i < (round + 1) * Threads; ++i) {
      REQUIRE(found[i].before == sum);
      sum += values[i];
    }
    for (int i = round * Threads; i < (round + 1) * Threads; ++i) {
      REQUIRE(found[i].of_all == sum);
      REQUIRE(found[i].total == sum);
    }
  }
}

}  // namespace

TEST_CASE("sums over the threads of a block", "[block_sums]") {
  constexpr std::uint64_t seed = 30;
  INFO("seed " << seed);
  random_source random(seed);
  check<32, int>(random, 100);
  check<64, int>(random, 600);
  check<256, std::uint32_t>(random, 5);
  check<384, std::uint32_t>(random, 2);
  check<384, std::int64_t>(random, std::int64_t{1} << 40);
  check<1024, int>(random, 32);
}
