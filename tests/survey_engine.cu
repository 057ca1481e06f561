// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <serac/survey/device_worker.cuh>
#include <serac/survey/host_worker.hpp>
#include <support/survey_checks.cuh>

using namespace serac;
using namespace serac::test;

namespace {

using hooks = hooked_worker<>::hooks;

struct colmap_ties : policy_for<128> {
  using tie = tie_break::siftgpu;
};

}  // namespace

TEST_CASE("random surveys on one GPU give the lists of their pairs one by one", "[survey]") {
  check_random_surveys(gpus(1), 1);
}

TEST_CASE("a GPU and the host share one survey", "[survey]") {
  auto workers = gpus(1);
  workers.push_back(std::make_unique<survey::host_worker<>>(1));
  check_random_surveys(workers, 301);
}

TEST_CASE("two workers on one GPU share one survey", "[survey]") {
  auto workers = gpus(1);
  workers.push_back(std::make_unique<survey::device_worker<>>(0));
  check_random_surveys(workers, 401);
}

TEST_CASE("ties as COLMAP's matcher breaks them", "[survey]") {
  random_source random(6);
  const auto batch = random_batch(random, 10, 300, by_run_size(40, 40, 10));
  match_options match;
  match.max_ratio = 1.1f;
  const batch_lists expected = expected_lists<tie_break::siftgpu>(batch, match);
  survey::worker_list<std::uint8_t> workers;
  workers.push_back(std::make_unique<survey::device_worker<colmap_ties>>());
  std::vector<match_pair> all;
  checked_survey<> survey(batch, match);
  survey::run<std::uint8_t>(
      survey.images(), survey.pairs(),
      [&](const survey::matched_pair& list) { all.insert(all.end(), list.matches, list.matches + list.count); },
      workers, match);
  REQUIRE_SAME(all, expected.pairs);
}

TEST_CASE("faults on a GPU that pass leave no trace", "[survey]") {
  std::int64_t retries = 0;
  for (std::uint64_t seed = 1; seed <= (small_run() ? 2 : 12); ++seed) {
    random_source random(500 + seed), dice(seed);
    INFO("seed " << seed);
    const auto batch = random_batch(random, 1 + random.below(20), 200, 150);
    checked_survey<> survey(batch, loose());
    int quiet = 0;  // calls that will succeed, so that no pair fails its second try
    const auto maybe_fail = [&] {
      if (quiet-- > 0 || dice.below(6) != 0) return;
      quiet = 12;
      if (dice.below(2) == 0) throw std::bad_alloc();
      throw error({errc::out_of_memory, "injected"});
    };
    hooks before;
    before.stage = before.upload = before.finish = maybe_fail;
    before.start = [&](const survey::worker_batch&) { maybe_fail(); };
    const auto workers = gpus(1, before);
    const auto options = random_run_options(random, *workers.front(), survey.images(), loose());
    retries += survey.run(workers, options, 1 + random.below(100)).retries;
  }
  CHECK(retries > 0);
}

TEST_CASE("a run on a GPU keeps to its budget, and ends when it is cancelled", "[survey]") {
  random_source random(9);
  const auto batch = random_batch(random, 40, by_run_size(500, 500, 50), by_run_size(2000, 2000, 400));
  checked_survey<> survey(batch, loose());
  survey.run(gpus(1), {});  // loads the kernels
  for (const std::size_t more : {std::size_t{0}, std::size_t{4} << 20, std::size_t{64} << 20}) {
    const std::size_t before = free_device_memory();
    const auto workers = gpus(1);
    survey::run_options options;
    options.memory_budget = survey::least_memory_budget(*workers.front(), survey.images(), loose()) + more;
    std::size_t least = before;
    survey::run<std::uint8_t>(
        survey.images(), survey.pairs(),
        [&, inner = survey.sink()](const survey::matched_pair& list) {
          if (list.number % 100 == 0) least = std::min(least, free_device_memory());
          inner(list);
        },
        workers, loose(), options);
    CHECK(survey.delivered() == survey.pair_count());
    INFO(before - least << " bytes used of " << options.memory_budget);
    const std::size_t pages = std::size_t{16} << 20;                           // that the driver rounds up to
    if (!small_run()) CHECK(before - least <= options.memory_budget + pages);  // a sanitizer, and others, take more
  }
  const auto workers = gpus(1);
  std::atomic<bool> cancel{false};
  survey::run_options options;
  options.cancel = &cancel;
  options.batch_pairs = 10;
  const auto result = survey::run<std::uint8_t>(
      survey.images(), survey.pairs(),
      [&, inner = survey.sink()](const survey::matched_pair& list) {
        inner(list);
        if (list.number == 50) cancel = true;
      },
      workers, loose(), options);
  CHECK(result.cancelled);
  CHECK(result.pairs == survey.delivered());
  survey.run(workers, {});
}

TEST_CASE("the time that a GPU is busy is measured", "[survey]") {
  random_source random(10);
  const auto batch = random_batch(random, 20, by_run_size(1000, 1000, 100), by_run_size(400, 400, 20));
  checked_survey<> survey(batch, loose());
  const auto result = survey.run(gpus(1), {});
  CHECK(result.busy_seconds.front() > 0);
  CHECK(result.busy_seconds.front() < result.total_seconds);
}
