// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <serac/survey/host_worker.hpp>
#include <serac/survey/run.hpp>
#include <support/surveys.hpp>

using namespace serac;
using namespace serac::test;

namespace {

using hooks = hooked_worker<>::hooks;

std::unique_ptr<survey::worker<std::uint8_t>> one_thread() { return std::make_unique<survey::host_worker<>>(1); }

/// `count` host workers, with hooks if there are any.
survey::worker_list<std::uint8_t> workers_of(int count, const hooks& before = {}) {
  survey::worker_list<std::uint8_t> workers;
  for (int w = 0; w < count; ++w) workers.push_back(std::make_unique<hooked_worker<>>(one_thread(), before));
  return workers;
}

image_batch<> all_pairs(random_source& random, std::int64_t images, std::int64_t features) {
  image_batch<> batch = random_batch(random, images, features, 0);
  for (std::int32_t i = 0; i < images; ++i) {
    for (std::int32_t j = 0; j < i; ++j) batch.pairs.push_back({i, j});
  }
  return batch;
}

match_options loose() {
  match_options options;
  options.max_ratio = 0.95f;
  return options;
}

/// What a call throws, as text; empty if nothing.
template <class Call>
std::string thrown_by(Call call) {
  try {
    call();
  } catch (const std::exception& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace

TEST_CASE("random surveys give the lists of their pairs one by one, whatever the budget", "[survey]") {
  std::int64_t matches = 0, rereads = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    random_source random(seed);
    INFO("seed " << seed);
    const auto batch =
        random_batch(random, 1 + random.below(seed % 10 == 0 ? 200 : 30), random.below(60), random.below(300));
    match_options match = loose();
    if (seed % 5 == 0) match.max_matches = 9;
    if (seed % 7 == 0) match.max_features = 20;
    if (seed % 3 == 0) match.cross_check = false;
    checked_survey<> survey(batch, match);
    const auto workers = workers_of(static_cast<int>(1 + random.below(3)));
    const auto options = random_run_options(random, *workers.front(), survey.images(), match);
    const auto result = survey.run(workers, options, 1 + random.below(200));
    CHECK(result.retries == 0);
    matches += result.matches;
    rereads += result.images_read > static_cast<std::int64_t>(batch.images.size());
  }
  CHECK(matches > 10000);
  CHECK(rereads > 10);  // the budgets do bite
}

TEST_CASE("signed bytes and other widths", "[survey]") {
  random_source random(5);
  const auto batch = random_batch<std::int8_t>(random, 12, 40, 60, 32);
  checked_survey<std::int8_t> survey(batch, loose());
  survey::worker_list<std::int8_t> workers;
  workers.push_back(std::make_unique<survey::host_worker<std::int8_t>>(2));
  survey::run_options options;
  options.memory_budget = survey::least_memory_budget(*workers.front(), survey.images(), loose());
  survey.run(workers, options);
}

TEST_CASE("workers keep to the budget, and one that is too small is refused", "[survey]") {
  random_source random(8);
  const auto batch = all_pairs(random, 20, 100);
  checked_survey<> survey(batch, loose());
  for (const std::size_t more : {std::size_t{0}, std::size_t{5000}, std::size_t{1} << 20, std::size_t{1} << 30}) {
    std::atomic<std::size_t> most{0};
    hooks before;
    before.prepare = [&](const survey::worker_memory& memory) {
      most = survey::detail::bytes_of<std::uint8_t>(memory);
    };
    const auto workers = workers_of(1, before);
    survey::run_options options;
    options.memory_budget = survey::least_memory_budget(*workers.front(), survey.images(), loose()) + more;
    survey.run(workers, options);
    CHECK(most > 0);
    CHECK(most <= options.memory_budget);

    options.memory_budget -= more + 1;
    const std::string text = thrown_by([&] { survey.run(workers, options); });
    CHECK(text.find("options.memory_budget") != std::string::npos);
    CHECK(survey.delivered() == 0);
  }
}

TEST_CASE("images are used again while they are there", "[survey]") {
  random_source random(9);
  image_batch<> batch;
  const auto image = sift_like(random, 30);
  batch.all = image;
  for (int i = 0; i < 60; ++i) batch.images.push_back({0, 30});
  for (int p = 0; p < 4000; ++p) {
    batch.pairs.push_back({static_cast<std::int32_t>(random.below(60)), static_cast<std::int32_t>(random.below(60))});
  }
  checked_survey<> survey(batch, loose());
  const auto workers = workers_of(1);
  survey::run_options options;
  options.memory_budget = survey::least_memory_budget(*workers.front(), survey.images(), loose());
  const auto none = survey.run(workers, options);
  options.memory_budget += 22 * 30 * 128 * 4 / 3;
  const auto some = survey.run(workers, options);
  options.memory_budget *= 4;
  const auto all = survey.run(workers, options);
  INFO(none.images_read << ", " << some.images_read << ", " << all.images_read << " images read");
  CHECK(none.images_read > 1500);
  CHECK(some.images_read < 900);
  CHECK(all.images_read == 60);
}

TEST_CASE("waves are as long as workspace, options and a quarter of a batch's scores allow", "[survey]") {
  random_source random(13);
  image_batch<> batch;
  constexpr std::int64_t features = 30, pair_scores = features * features;
  batch.all = sift_like(random, features);
  for (int i = 0; i < 9; ++i) batch.images.push_back({0, features});
  batch.images.push_back({0, 0});
  for (int p = 0; p < 640; ++p) {
    batch.pairs.push_back({static_cast<std::int32_t>(random.below(9)), static_cast<std::int32_t>(random.below(9))});
  }
  for (int p = 0; p < 100; ++p) batch.pairs.push_back({static_cast<std::int32_t>(random.below(9)), 9});
  checked_survey<> survey(batch, loose());

  struct greedy_worker : survey::host_worker<> {
    greedy_worker() : host_worker<>(1) {}
    std::size_t workspace(const batch_view<std::uint8_t>&, const match_options&,
                          std::int64_t wave_pairs) const noexcept override {
      return static_cast<std::size_t>(wave_pairs) * 1000;
    }
    std::int64_t batch_scores() const noexcept override { return 64 * pair_scores; }
  };
  struct seen {
    std::int64_t workspace = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> batches;  // pairs and pairs of a wave
  };
  const auto run = [&](std::size_t more, std::int64_t wave_pairs) {
    seen all;
    hooks before;
    before.prepare = [&](const survey::worker_memory& memory) {
      all.workspace = static_cast<std::int64_t>(memory.workspace);
    };
    before.start = [&](const survey::worker_batch& each) {
      all.batches.emplace_back(static_cast<std::int64_t>(each.pairs.size()), each.wave_pairs);
    };
    survey::worker_list<std::uint8_t> workers;
    workers.push_back(std::make_unique<hooked_worker<>>(std::make_unique<greedy_worker>(), before));
    survey::run_options options;
    options.memory_budget = survey::least_memory_budget(*workers.front(), survey.images(), loose()) + more;
    options.wave_pairs = wave_pairs;
    survey.run(workers, options);
    return all;
  };

  constexpr std::size_t plenty = std::size_t{1} << 24;
  using batches = std::vector<std::pair<std::int64_t, std::int64_t>>;
  batches by_scores(9, {64, 16}), by_options(9, {64, 5});
  by_scores.emplace_back(164, 15);  // with the pairs that have no scores, but workspace
  by_options.emplace_back(164, 5);
  CHECK(run(plenty, survey::run_options{}.wave_pairs).batches == by_scores);
  CHECK(run(plenty, 5).batches == by_options);
  for (const std::size_t more : {10000, 30000, 50000}) {
    const seen by_workspace = run(more, 1000);
    REQUIRE(by_workspace.workspace < 16000);
    for (const auto& [pairs, wave] : by_workspace.batches) {
      INFO(pairs << " pairs in waves of " << wave << ", workspace " << by_workspace.workspace);
      CHECK(wave * 1000 <= by_workspace.workspace);
      CHECK((wave == pairs || 2 * wave * 1000 > by_workspace.workspace || wave == (pairs + 3) / 4));
    }
  }
}

TEST_CASE("faults that pass leave no trace", "[survey]") {
  std::int64_t retries = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    random_source random(100 + seed);
    INFO("seed " << seed);
    const auto batch = random_batch(random, 1 + random.below(20), 40, 150);
    checked_survey<> survey(batch, loose());
    std::mutex mutex;
    random_source dice(seed);
    std::int64_t left = 40;
    int quiet = 0;  // calls that will succeed, so that no pair fails its second try
    const auto maybe_fail = [&] {
      const std::lock_guard lock(mutex);
      if (quiet-- > 0 || left == 0 || dice.below(6) != 0) return;
      quiet = 12;
      --left;
      if (dice.below(2) == 0) throw std::bad_alloc();
      throw error({errc::out_of_memory, "injected"});
    };
    hooks before;
    const bool one_worker = seed % 2 == 0;
    if (one_worker) {
      before.stage = before.upload = before.finish = maybe_fail;
      before.start = [&](const survey::worker_batch&) { maybe_fail(); };
    } else {  // batches of more than one pair fail at random, alone they succeed
      before.start = [&](const survey::worker_batch& each) {
        if (each.pairs.size() > 1) maybe_fail();
      };
    }
    const auto workers = workers_of(one_worker ? 1 : 3, before);
    const auto options = random_run_options(random, *workers.front(), survey.images(), loose());
    retries += survey.run(workers, options, 1 + random.below(100)).retries;
  }
  CHECK(retries > 100);
}

TEST_CASE("the pair that always fails is named, and all before it are delivered once", "[survey]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    random_source random(200 + seed);
    INFO("seed " << seed);
    auto batch = random_batch(random, 15, 30, 200);
    batch.images[3].count = 31, batch.images[7].count = 32;  // how the hook tells them
    batch.images[3].first = batch.images[7].first = 0;
    if (batch.all.count < 32) continue;
    const auto place = static_cast<std::size_t>(random.below(200));
    batch.pairs.erase(std::remove(batch.pairs.begin(), batch.pairs.end(), image_pair{3, 7}), batch.pairs.end());
    batch.pairs.insert(batch.pairs.begin() + static_cast<std::ptrdiff_t>(std::min(place, batch.pairs.size())), {3, 7});
    checked_survey<> survey(batch, loose());
    hooks before;
    before.start = [](const survey::worker_batch& each) {
      for (const image_pair pair : each.pairs) {
        if (each.images[static_cast<std::size_t>(pair.left)].count == 31 &&
            each.images[static_cast<std::size_t>(pair.right)].count == 32) {
          throw error({errc::device_failure, "injected"});
        }
      }
    };
    const auto workers = workers_of(static_cast<int>(1 + seed % 2), before);
    auto options = random_run_options(random, *workers.front(), survey.images(), loose());
    image_pair named{-1, -1};
    std::string text;
    try {
      survey::run<std::uint8_t>(survey.images(), survey.pairs(), survey.sink(), workers, loose(), options);
    } catch (const survey::pair_error& failure) {
      named = failure.pair();
      text = failure.what();
    }
    CHECK(named == image_pair{3, 7});
    CHECK(text.find("images number 3 and 7, on hooked the host") != std::string::npos);
    CHECK(text.find("injected") != std::string::npos);
    CHECK(survey.delivered() <= static_cast<std::int64_t>(place));
    if (seed % 2 == 0 && options.memory_budget > (std::size_t{1} << 28)) {
      CHECK(survey.delivered() == static_cast<std::int64_t>(place));  // no order but the pairs' own: all before it
    }
  }
}

TEST_CASE("the work of a lost worker goes to the others", "[survey]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    random_source random(300 + seed);
    INFO("seed " << seed);
    const auto batch = random_batch(random, 20, 40, 300);
    checked_survey<> survey(batch, loose());
    std::atomic<int> calls{0};
    const int last = static_cast<int>(random.below(40));
    const auto fail = [&] {
      if (calls++ >= last) throw error({errc::device_failure, "injected"});
    };
    hooks dies;
    if (seed % 3 == 0) dies.upload = fail;
    if (seed % 3 == 1) dies.finish = fail;
    if (seed % 3 == 2) dies.start = [&](const survey::worker_batch&) { fail(); };
    dies.usable = [&] { return calls <= last; };
    auto workers = workers_of(1, dies);
    const auto options = random_run_options(random, *workers.front(), survey.images(), loose());
    const std::string text = thrown_by([&] { survey.run(workers, options); });
    if (calls > last) {
      CHECK(text.find("which is lost") != std::string::npos);
      CHECK(survey.delivered() < survey.pair_count());
    }
    calls = 0;
    workers.push_back(one_thread());
    survey.run(workers, options);
  }
}

TEST_CASE("what the sources and the sink throw ends the run without a gap", "[survey]") {
  struct planned_failure : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    random_source random(400 + seed);
    INFO("seed " << seed);
    const auto batch = random_batch(random, 20, 40, 300);
    checked_survey<> survey(batch, loose());
    const auto workers = workers_of(static_cast<int>(1 + random.below(3)));
    const auto options = random_run_options(random, *workers.front(), survey.images(), loose());
    const auto run = [&](const auto& images, const auto& pairs, const auto& sink) {
      survey::run<std::uint8_t>(images, pairs, sink, workers, loose(), options);
    };
    const std::int64_t last = random.below(300);

    const auto sink = [&, inner = survey.sink()](const survey::matched_pair& list) {
      if (list.number == last) throw planned_failure("the sink fails");
      inner(list);
    };
    CHECK(thrown_by([&] { run(survey.images(), survey.pairs(), survey::list_sink(sink)); }) == "the sink fails");
    CHECK(survey.delivered() == last);

    auto images = survey.images();
    std::int64_t reads = 0;
    images.read = [&, inner = images.read](std::int32_t image, std::int64_t count, std::uint8_t* destination) {
      if (++reads > 5) throw planned_failure("the image source fails");
      inner(image, count, destination);
    };
    const std::string text = thrown_by([&] { run(images, survey.pairs(), survey.sink()); });
    CHECK((reads > 5 ? text == "the image source fails" : text.empty()));

    std::int64_t pulls = 0;
    const survey::pair_source pairs = [&, inner = survey.pairs(40)](image_pair* destination, std::int64_t room) {
      if (++pulls > 3) throw planned_failure("the pair source fails");
      return inner(destination, room);
    };
    CHECK(thrown_by([&] { run(survey.images(), pairs, survey.sink()); }) == "the pair source fails");
    CHECK(survey.delivered() <= 120);
  }

  random_source random(1);
  auto batch = random_batch(random, 3, 10, 5);
  checked_survey<> survey(batch, loose());
  const auto images = survey.images();
  const auto workers = workers_of(1);
  batch.pairs.push_back({0, 3});
  const std::string text = thrown_by([&] {
    survey::run<std::uint8_t>(
        images, survey.pairs(), [](const survey::matched_pair&) {}, workers, loose());
  });
  CHECK(text.find("an image that is not there") != std::string::npos);
  CHECK_FALSE(thrown_by([&] { survey.run({}, {}); }).empty());
  survey::run_options none;
  none.batch_pairs = 0;
  CHECK(thrown_by([&] { survey.run(workers, none); }).find("options.batch_pairs") != std::string::npos);
}

TEST_CASE("pairs that are not there yet are waited for, unless something fails meanwhile", "[survey]") {
  random_source random(12);
  const auto batch = random_batch(random, 20, 40, 300);
  checked_survey<> survey(batch, loose());
  const auto workers = workers_of(2);
  std::int64_t calls = 0;
  const survey::pair_source late = [&, inner = survey.pairs(30)](image_pair* destination, std::int64_t room) {
    return ++calls % 4 == 0 ? inner(destination, room) : -1;
  };
  const auto result = survey::run<std::uint8_t>(survey.images(), late, survey.sink(), workers, loose());
  CHECK_FALSE(result.cancelled);
  CHECK(result.pairs == survey.pair_count());
  CHECK(calls > 30);

  const survey::pair_source endless = [&, inner = survey.pairs(30), first = true](image_pair* destination,
                                                                                  std::int64_t room) mutable {
    return std::exchange(first, false) ? inner(destination, room) : -1;
  };
  const auto sink = [&, inner = survey.sink()](const survey::matched_pair& list) {
    inner(list);
    if (list.number == 29) throw std::runtime_error("the sink fails");
  };
  CHECK(thrown_by([&] { survey::run<std::uint8_t>(survey.images(), endless, sink, workers, loose()); }) ==
        "the sink fails");
  CHECK(survey.delivered() == 30);
}

TEST_CASE("few pairs are asked for at first, so that matching begins soon, and many later", "[survey]") {
  random_source random(14);
  const auto batch = random_batch(random, 10, 3, 30000);
  checked_survey<> survey(batch, loose());
  std::vector<std::int64_t> rooms;
  const survey::pair_source pairs = [&, inner = survey.pairs()](image_pair* destination, std::int64_t room) {
    rooms.push_back(room);
    return inner(destination, room);
  };
  survey::run<std::uint8_t>(survey.images(), pairs, survey.sink(), workers_of(1), loose());
  CHECK(survey.delivered() == survey.pair_count());
  CHECK(rooms == std::vector<std::int64_t>{1 << 12, 1 << 14, 1 << 16, 1 << 16});
}

TEST_CASE("a run that is cancelled delivers a beginning", "[survey]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    random_source random(500 + seed);
    INFO("seed " << seed);
    const auto batch = random_batch(random, 20, 60, 600);
    checked_survey<> survey(batch, loose());
    const auto workers = workers_of(2);
    auto options = random_run_options(random, *workers.front(), survey.images(), loose());
    std::atomic<bool> cancel{seed == 1};
    options.cancel = &cancel;
    options.batch_pairs = 10;
    const std::int64_t last = random.below(200);
    const auto sink = [&, inner = survey.sink()](const survey::matched_pair& list) {
      inner(list);
      if (list.number == last) cancel = true;
    };
    const auto result = survey::run<std::uint8_t>(survey.images(), survey.pairs(), sink, workers, loose(), options);
    if (!result.cancelled) CHECK(result.pairs == survey.pair_count());
    CHECK(result.pairs == survey.delivered());
    if (seed > 1) CHECK(result.pairs > last);
    if (seed == 1) CHECK(result.pairs == 0);
    cancel = false;
    survey.run(workers, options);  // the workers can go on
  }
}

TEST_CASE("a slow sink stops the workers", "[survey]") {
  random_source random(11);
  const auto batch = all_pairs(random, 40, 60);
  checked_survey<> survey(batch, loose());
  std::atomic<std::int64_t> waiting{0}, most{0};
  hooks before;
  before.finished = [&](const survey::worker_lists& lists) {
    const std::int64_t now = waiting += static_cast<std::int64_t>(lists.pairs.size() * sizeof(match_pair));
    std::int64_t before_it = most;
    while (before_it < now && !most.compare_exchange_weak(before_it, now)) {
    }
  };
  const auto workers = workers_of(2, before);
  survey::run_options options;
  options.list_budget = 8000;
  options.batch_pairs = 8;
  const auto sink = [&, inner = survey.sink()](const survey::matched_pair& list) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    inner(list);
    waiting -= list.count * static_cast<std::int64_t>(sizeof(match_pair));
  };
  survey::run<std::uint8_t>(survey.images(), survey.pairs(), sink, workers, loose(), options);
  CHECK(survey.delivered() == survey.pair_count());
  INFO(most << " bytes of lists waited at most");
  CHECK(most > 0);
  CHECK(most <= 8000);
  CHECK(survey.match_count() * static_cast<std::int64_t>(sizeof(match_pair)) > 20000);
}
