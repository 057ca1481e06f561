// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <vector>

#include <serac/thread/packed_top2.cuh>
#include <serac/thread/top2_cell.cuh>
#include <serac/top2.hpp>
#include <serac/warp/reduce.cuh>
#include <support/gpu.cuh>

using namespace serac;
using namespace serac::test;

namespace {

constexpr unsigned threads = 256;

unsigned blocks_of(std::size_t count) { return static_cast<unsigned>((count + threads - 1) / threads); }

/// The merge of states, one after the other.
template <class Tie>
top2 merged(const std::vector<top2>& states) {
  top2 all;
  for (const top2& state : states) all = merge<Tie>(all, state);
  return all;
}

/// Random states of disjoint sets of columns; scores below `bound`, so that a small one makes ties and zeros.
std::vector<top2> random_states(random_source& random, std::size_t count, std::int64_t bound) {
  std::vector<top2> states(count);
  std::vector<std::int32_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = static_cast<std::int32_t>(7 * i + random.below(7));
  for (std::size_t i = count; i > 1; --i) {
    std::swap(indices[i - 1], indices[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto best = static_cast<std::int32_t>(random.below(bound));
    if (best > 0) states[i] = {best, indices[i], static_cast<std::int32_t>(random.below(best + 1))};
  }
  return states;
}

constexpr std::int64_t score_bounds[] = {2, 4, 1000, 33292801};

// Packed states.

constexpr int keys_per_thread = 37;

/// Thread: top-2 of its keys, pushed one by one, in twos, and as the merge of two halves.
__global__ void push_keys(const std::uint32_t* keys, unsigned count, thread::packed_top2* singly,
                          thread::packed_top2* in_twos, thread::packed_top2* in_halves) {
  const unsigned thread = blockIdx.x * threads + threadIdx.x;
  if (thread >= count) return;
  keys += thread * keys_per_thread;
  thread::packed_top2 one, two, half, other_half;
  for (int i = 0; i < keys_per_thread; ++i) one.push(keys[i]);
  for (int i = 0; i + 1 < keys_per_thread; i += 2) two.push(keys[i], keys[i + 1]);
  two.push(keys[keys_per_thread - 1]);
  for (int i = 0; i < keys_per_thread; ++i) (i < keys_per_thread / 3 ? half : other_half).push(keys[i]);
  half.merge(other_half);
  singly[thread] = one, in_twos[thread] = two, in_halves[thread] = half;
}

// Cells.

/// Thread i pushes state order[i] into cell order[i] % cells, with the floor that it finds or with none.
template <class Tie>
__global__ void push_states(const top2* states, const std::uint32_t* order, unsigned count, bool with_floor,
                            thread::top2_cell* cells, unsigned cell_count) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  if (i >= count) return;
  thread::top2_cell* const cell = cells + order[i] % cell_count;
  thread::push<Tie>(cell, states[order[i]], with_floor ? thread::second_so_far(cell) : 0);
}

template <class Tie>
__global__ void load_cells(const thread::top2_cell* cells, unsigned count, top2* states) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  if (i < count) states[i] = thread::load<Tie>(cells[i]);
}

// Warps.

/// Each lane's result of warp::reduce over its warp's states.
template <class Tie>
__global__ void reduce_warps(const top2* states, top2* results) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  results[i] = warp::reduce<Tie>(states[i]);
}

}  // namespace

TEST_CASE("packed states hold the greatest keys, whatever way they are pushed", "[thread]") {
  constexpr unsigned count = 1000;
  constexpr int bits = 9;
  for (const std::int64_t bound : {1, 2, 4, 8323201}) {
    INFO("scores below " << bound);
    random_source random(static_cast<std::uint64_t>(bound));
    std::vector<std::uint32_t> keys;
    std::vector<thread::packed_top2> expected;
    for (unsigned t = 0; t < count; ++t) {
      std::vector<std::uint32_t> mine;
      for (std::uint32_t i = 0; i < keys_per_thread; ++i) {
        mine.push_back(static_cast<std::uint32_t>(random.below(bound)) << bits | ((1u << bits) - 1 - i));
      }
      std::shuffle(mine.begin(), mine.end(), std::mt19937_64(t));
      keys.insert(keys.end(), mine.begin(), mine.end());
      std::sort(mine.begin(), mine.end());
      thread::packed_top2 two;
      two.best = mine[keys_per_thread - 1], two.second = mine[keys_per_thread - 2];
      expected.push_back(two);
    }
    const device_array<std::uint32_t> on_device(keys);
    const device_array<thread::packed_top2> singly(count), in_twos(count), in_halves(count);
    push_keys<<<blocks_of(count), threads>>>(on_device.data(), count, singly.data(), in_twos.data(), in_halves.data());
    require_cuda(cudaGetLastError());
    for (const auto* const results : {&singly, &in_twos, &in_halves}) {
      const auto got = results->values();
      for (std::size_t i = 0; i < count; ++i) {
        CAPTURE(i);
        REQUIRE(got[i].best == expected[i].best);
        REQUIRE(got[i].second == expected[i].second);
      }
    }
  }
}

TEMPLATE_TEST_CASE("cells that many threads push into hold the merge, whatever the order", "[thread]",
                   tie_break::smallest_index, tie_break::siftgpu) {
  const std::size_t count = small_run() ? 3000 : 100000;
  std::uint64_t seed = 80;
  for (const std::int64_t bound : score_bounds) {
    for (const unsigned cell_count : {1u, 7u, 1000u}) {
      random_source random(++seed);
      INFO("seed " << seed << ": scores below " << bound << ", " << cell_count << " cells");
      const std::vector<top2> states = random_states(random, count, bound);
      std::vector<std::vector<top2>> of_cell(cell_count);
      std::vector<std::uint32_t> order;
      for (std::uint32_t i = 0; i < count; ++i) {
        of_cell[i % cell_count].push_back(states[i]);
        order.push_back(i);
      }
      std::vector<top2> expected;
      for (const auto& of_one : of_cell) expected.push_back(merged<TestType>(of_one));

      const device_array<top2> states_on_device(states);
      for (int shuffle = 0; shuffle < 4; ++shuffle) {
        std::shuffle(order.begin(), order.end(), std::mt19937_64(seed * 10 + static_cast<std::uint64_t>(shuffle)));
        const bool with_floor = shuffle % 2 == 0;
        CAPTURE(shuffle, with_floor);
        const device_array<std::uint32_t> order_on_device(order);
        const device_array<thread::top2_cell> cells(std::vector<thread::top2_cell>(cell_count, thread::top2_cell{}));
        const device_array<top2> results(cell_count);
        push_states<TestType><<<blocks_of(count), threads>>>(states_on_device.data(), order_on_device.data(),
                                                             static_cast<unsigned>(count), with_floor, cells.data(),
                                                             cell_count);
        require_cuda(cudaGetLastError());
        load_cells<TestType><<<blocks_of(cell_count), threads>>>(cells.data(), cell_count, results.data());
        require_cuda(cudaGetLastError());
        REQUIRE_SAME(results.values(), expected);
        cells.values();  // their canaries
      }
    }
  }
}

TEST_CASE("cells of all-zero bytes are empty", "[thread]") {
  const device_array<std::uint8_t> zero(std::vector<std::uint8_t>(40 * sizeof(thread::top2_cell), 0));
  const device_array<top2> results(40);
  load_cells<tie_break::siftgpu>
      <<<1, threads>>>(reinterpret_cast<const thread::top2_cell*>(zero.data()), 40, results.data());
  require_cuda(cudaGetLastError());
  CHECK(results.values() == std::vector<top2>(40));
}

TEMPLATE_TEST_CASE("warp::reduce gives every lane the merge of its warp", "[warp]", tie_break::smallest_index,
                   tie_break::siftgpu) {
  const std::size_t count = threads * (small_run() ? 2 : 40);
  for (const std::int64_t bound : score_bounds) {
    INFO("scores below " << bound);
    random_source random(90 + static_cast<std::uint64_t>(bound));
    const std::vector<top2> states = random_states(random, count, bound);
    std::vector<top2> expected;
    for (std::size_t first = 0; first < count; first += 32) {
      const auto begin = states.begin() + static_cast<std::ptrdiff_t>(first);
      expected.insert(expected.end(), 32, merged<TestType>({begin, begin + 32}));
    }
    const device_array<top2> on_device(states), results(count);
    reduce_warps<TestType><<<blocks_of(count), threads>>>(on_device.data(), results.data());
    require_cuda(cudaGetLastError());
    REQUIRE_SAME(results.values(), expected);
  }
}
