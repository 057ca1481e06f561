// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <serac/acceptance.hpp>
#include <serac/kernel/rescore.cuh>
#include <support/gpu.cuh>

using namespace serac;
using namespace serac::test;

namespace {

constexpr unsigned threads = 256;
constexpr unsigned blocks = unit_score / threads + 1;

/// Thread: distances[score] for the scores 0..unit_score.
__global__ void all_distances(float* distances) {
  const unsigned score = blockIdx.x * threads + threadIdx.x;
  if (score <= unit_score) distances[score] = angular_distance(static_cast<std::int32_t>(score));
}

/// The decisions on one best at its boundary: bit 0 at the greatest second that the table accepts, bit 1 at the next.
template <class Acceptance>
SERAC_HOST_DEVICE std::uint8_t decisions(const Acceptance& accept, std::int32_t best, std::int32_t limit) {
  const bool at = limit >= 0 && accept(best, limit);
  const bool behind = accept(best, limit + 1);
  return static_cast<std::uint8_t>(at | behind << 1);
}

/// Thread: by_table[best] and by_formula[best].
__global__ void all_decisions(acceptance_view table, angular_acceptance formula, std::uint8_t* by_table,
                              std::uint8_t* by_formula) {
  const unsigned best = blockIdx.x * threads + threadIdx.x;
  if (best > unit_score) return;
  const std::int32_t limit = table.limit[best];
  by_table[best] = decisions(table, static_cast<std::int32_t>(best), limit);
  by_formula[best] = decisions(formula, static_cast<std::int32_t>(best), limit);
}

/// Thread: accepted[i] = table and formula, in bits 0 and 1, on any score.
__global__ void judge(acceptance_view table, angular_acceptance formula, const int2* states, unsigned count,
                      std::uint8_t* accepted) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  if (i >= count) return;
  const bool by_table = table(states[i].x, states[i].y), by_formula = formula(states[i].x, states[i].y);
  accepted[i] = static_cast<std::uint8_t>(by_table | by_formula << 1);
}

/// Accepts the seconds below `end`.
struct below {
  std::int32_t end;
  SERAC_HOST_DEVICE bool operator()(std::int32_t, std::int32_t second) const { return second >= 0 && second < end; }
};

/// Blocks of Threads threads: least[i] = least_rejected beside bests[i].
template <int Threads, class Acceptance>
__global__ void search_least(const Acceptance* accept, const std::int32_t* bests, unsigned count, std::int32_t* least) {
  for (unsigned i = blockIdx.x; i < count; i += gridDim.x) {
    const std::int32_t found = kernel::least_rejected<Threads>(accept[i], bests[i]);
    if (threadIdx.x == 0) least[i] = found;
  }
}

template <int Threads, class Acceptance>
std::vector<std::int32_t> least_rejected(const std::vector<Acceptance>& accept,
                                         const std::vector<std::int32_t>& bests) {
  const device_array<Acceptance> asked(accept);
  const device_array<std::int32_t> on_device(bests), least(bests.size());
  search_least<Threads>
      <<<256, Threads>>>(asked.data(), on_device.data(), static_cast<unsigned>(bests.size()), least.data());
  require_cuda(cudaGetLastError());
  return least.values();
}

}  // namespace

TEST_CASE("the least rejected second of a best is found, as the table has it", "[acceptance]") {
  for (const float ratio : {0.5f, 0.8f, 1.0f}) {
    const acceptance_table table(ratio, 0.7f);
    std::vector<std::int32_t> bests, expected;
    for (std::int32_t best = 0; best <= unit_score; best += by_run_size(1, 61, 4093)) {
      bests.push_back(best);
      expected.push_back(table.limits()[static_cast<std::size_t>(best)] + 1);
    }
    const std::vector<angular_acceptance> formula(bests.size(), {ratio, 0.7f});
    REQUIRE_SAME((least_rejected<128>(formula, bests)), expected);
    REQUIRE_SAME((least_rejected<384>(formula, bests)), expected);
    const device_array<std::int32_t> limits(table.limits());
    const std::vector<acceptance_view> view(bests.size(), {limits.data(), true});
    REQUIRE_SAME((least_rejected<128>(view, bests)), expected);
  }
}

TEST_CASE("the least rejected second is found in the whole range of scores", "[acceptance]") {
  std::vector<below> accept;
  std::vector<std::int32_t> bests, expected;
  for (const std::int32_t best : {1, 2, 127, 128, 129, 130, 1 << 18, 0x7f800000, 0x7fffffff}) {
    for (const std::int32_t end : {0, 1, best / 3, best / 2, best - 1, best}) {
      bests.push_back(best), accept.push_back({end}), expected.push_back(end);
    }
  }
  REQUIRE_SAME((least_rejected<128>(accept, bests)), expected);
  REQUIRE_SAME((least_rejected<384>(accept, bests)), expected);
}

TEST_CASE("the GPU's distances are the host's, bit for bit", "[acceptance]") {
  const device_array<float> distances(unit_score + 1);
  all_distances<<<blocks, threads>>>(distances.data());
  require_cuda(cudaGetLastError());
  const std::vector<float> got = distances.values();
  long different = 0;
  for (std::int32_t score = 0; score <= unit_score; ++score) {
    const float host = angular_distance(score);
    if (std::memcmp(&got[static_cast<std::size_t>(score)], &host, sizeof host) != 0) ++different;
  }
  CHECK(different == 0);
}

TEST_CASE("table and formula on the GPU decide as the host, for every best score at its boundary", "[acceptance]") {
  std::vector<std::pair<float, float>> settings{{0.8f, 0.7f}};
  for (const float ratio : {0.5f, 0.95f, 1.0f, 1.1f, 3.2f}) {
    for (const float distance : {0.25f, 0.7f, 1.5f, 3.2f}) {
      if (!small_run() || distance == 3.2f) settings.emplace_back(ratio, distance);
    }
  }
  for (const auto& [ratio, distance] : settings) {
    INFO("max_ratio " << ratio << ", max_distance " << distance);
    const acceptance_table table(ratio, distance);
    const angular_acceptance formula{ratio, distance};
    const device_array<std::int32_t> limits(table.limits());
    const device_array<std::uint8_t> by_table(unit_score + 1), by_formula(unit_score + 1);
    all_decisions<<<blocks, threads>>>({limits.data()}, formula, by_table.data(), by_formula.data());
    require_cuda(cudaGetLastError());

    std::vector<std::uint8_t> expected(unit_score + 1);
    long boundaries = 0, accepted = 0;
    for (std::int32_t best = 0; best <= unit_score; ++best) {
      const std::int32_t limit = table.limits()[static_cast<std::size_t>(best)];
      const std::uint8_t host = expected[static_cast<std::size_t>(best)] = decisions(formula, best, limit);
      boundaries += host == (limit >= 0 ? 1 : 0);
      accepted += limit >= 0;
    }
    CHECK(boundaries == unit_score + 1);
    CHECK(accepted > 0);
    REQUIRE_SAME(by_formula.values(), expected);
    REQUIRE_SAME(by_table.values(), expected);
  }
}

TEST_CASE("cases 16 and 16b and scores above 2^18 on the GPU", "[acceptance]") {
  const std::vector<int2> states{{200499, 0},
                                 {200498, 0},
                                 {250000, 243252},
                                 {250000, 243253},
                                 {8323200, 243253},
                                 {8323200, unit_score - 1},
                                 {263820, 263820},
                                 {33292800, 0},
                                 {std::numeric_limits<std::int32_t>::max(), 0},
                                 {0, 0}};
  const std::vector<std::uint8_t> expected{3, 0, 3, 0, 3, 3, 0, 3, 3, 0};
  const match_options defaults;
  const acceptance_table table(defaults);
  const device_array<std::int32_t> limits(table.limits());
  const device_array<int2> on_device(states);
  const device_array<std::uint8_t> accepted(states.size());
  judge<<<1, threads>>>({limits.data()}, {defaults.max_ratio, defaults.max_distance}, on_device.data(),
                        static_cast<unsigned>(states.size()), accepted.data());
  require_cuda(cudaGetLastError());
  REQUIRE_SAME(accepted.values(), expected);
}
