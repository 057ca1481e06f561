// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <string>
#include <vector>

#include <serac/device/match_batch.cuh>
#include <support/batches.hpp>
#include <support/gpu.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// match_batch of a batch whose descriptors lie in device memory: the least capacity, the workspace asked for.
template <class Policy>
class batch_run {
 public:
  using element = typename Policy::element;

  batch_run(const image_batch<element>& batch, const match_options& options, std::int64_t wave_pairs)
      : descriptors_(batch.all),
        view_(batch.view_of(descriptors_.view())),
        options_(options),
        wave_pairs_(wave_pairs),
        pairs_(static_cast<std::size_t>(batch.capacity(options))),
        offsets_(batch.pairs.size() + 1),
        workspace_(device::match_batch_workspace<Policy>(batch.view(), options, wave_pairs)) {}

  void poison() {
    pairs_.poison();
    offsets_.poison();
    workspace_.poison();
  }

  void launch(cudaStream_t stream = nullptr) {
    require_ok(device::match_batch<Policy>(view_, options_,
                                           {pairs_.data(), static_cast<std::int64_t>(pairs_.size()), offsets_.data()},
                                           wave_pairs_, workspace_.data(), workspace_.size(), stream));
  }

  /// The lists, when the device has finished; nothing is written behind the last.
  batch_lists lists() const {
    batch_lists lists{pairs_.values(), offsets_.values()};
    workspace_.values();
    const auto end = static_cast<std::size_t>(lists.offsets.back());
    REQUIRE(end <= lists.pairs.size());
    REQUIRE(poisoned(lists.pairs.data() + end, lists.pairs.data() + lists.pairs.size()));
    lists.pairs.resize(end);
    return lists;
  }

 private:
  device_descriptors<element> descriptors_;
  batch_view<element> view_;
  match_options options_;
  std::int64_t wave_pairs_;
  device_array<match_pair> pairs_;
  device_array<std::int64_t> offsets_;
  device_array<std::uint8_t> workspace_;
};

void require_same(const batch_lists& lists, const batch_lists& expected) {
  REQUIRE_SAME(lists.offsets, expected.offsets);
  REQUIRE_SAME(lists.pairs, expected.pairs);
}

/// Every option and limit in turn.
match_options options_of(std::uint64_t seed, float max_ratio) {
  match_options options;
  options.max_ratio = max_ratio;
  if (seed % 2 == 0) options.max_distance = 3.2f;
  options.cross_check = seed % 4 != 0;
  if (seed % 5 == 0) options.max_matches = 7;
  if (seed % 7 == 0) options.max_features = 50;
  return options;
}

}  // namespace

TEMPLATE_TEST_CASE("a batch on the device gives the lists of its pairs one by one", "[match_batch]", default_policy,
                   wgmma_policy, mma_policy, policy_for<128>, policy_for<100>, (wgmma_policy_for<32, std::int8_t>),
                   (mma_policy_for<256>), (wgmma_policy_for<256>)) {
  using Policy = TestType;
  using element = typename Policy::element;
  std::size_t matches = 0;
  for (std::uint64_t seed = 1; seed <= by_run_size<std::uint64_t>(28, 4, 1); ++seed) {
    random_source random(seed);
    const std::int64_t most_features = seed % 4 == 1 && !tiny_run() ? 900 : 200;
    const auto batch =
        random_batch<element>(random, 1 + random.below(12), most_features, random.below(40), Policy::width);
    const match_options options = options_of(seed, seed % 3 == 0 ? 1.0f : 0.9f);
    const batch_lists expected = expected_lists<tie_break::smallest_index>(batch, options);
    for (const std::int64_t wave_pairs : few_if_tiny<std::int64_t>({3, 1, 1000000}, 2)) {
      INFO("seed " << seed << ", waves of " << wave_pairs);
      batch_run<Policy> run(batch, options, wave_pairs);
      run.launch();
      require_same(run.lists(), expected);
    }
    matches += expected.pairs.size();
  }
  if (!tiny_run()) CHECK(matches > (small_run() ? 50 : 1000));
}

TEMPLATE_TEST_CASE("more pairs than one launch publishes, each of images that touch", "[match_batch]", default_policy,
                   mma_policy) {
  random_source random(5);
  constexpr std::int64_t at_once = device::detail::most_published;
  const auto batch =
      random_batch<std::uint8_t>(random, 30, small_run() ? 40 : 300, (small_run() ? 1 : 2) * at_once + 50, 128);
  const match_options options = options_of(2, 1.0f);
  const batch_lists expected = expected_lists<tie_break::smallest_index>(batch, options);
  for (const std::int64_t wave_pairs : few_if_tiny<std::int64_t>({at_once + 1, at_once, 4 * at_once}, 1)) {
    batch_run<TestType> run(batch, options, wave_pairs);
    run.launch();
    require_same(run.lists(), expected);
  }
}

TEST_CASE("a ratio above 1 takes the classic path, and a forced tensor-core path refuses it", "[match_batch]") {
  random_source random(6);
  const auto batch = random_batch<std::uint8_t>(random, 6, 200, 20, 128);
  const match_options options = options_of(2, 1.2f);
  CHECK(device::path_of_batch<>(batch.view(), options) == match_path::classic);
  batch_run<default_policy> run(batch, options, 8);
  run.launch();
  require_same(run.lists(), expected_lists<tie_break::smallest_index>(batch, options));

  const device_descriptors<> descriptors(batch.all);
  const batch_view<std::uint8_t> view = batch.view_of(descriptors.view());
  device_array<match_pair> pairs(static_cast<std::size_t>(batch.capacity(options)));
  device_array<std::int64_t> offsets(batch.pairs.size() + 1);
  device_array<std::uint8_t> workspace(device::match_batch_workspace<mma_policy>(view, options, 8));
  const batch_output output{pairs.data(), static_cast<std::int64_t>(pairs.size()), offsets.data()};
  CHECK(device::match_batch<mma_policy>(view, options, output, 8, workspace.data(), workspace.size(), nullptr).code ==
        errc::invalid_option);

  // Each fault is named, and nothing is written.
  const auto call = [&](const batch_view<std::uint8_t>& v, const batch_output& o, std::int64_t wave,
                        std::size_t bytes) {
    return device::match_batch<>(v, {}, o, wave, workspace.data(), bytes, nullptr);
  };
  CHECK(std::string(call(view, output, 0, workspace.size()).argument) == "wave_pairs");
  CHECK(call(view, output, 8, 0).code == errc::workspace_too_small);
  const std::size_t least = device::match_batch_workspace<>(view, {}, 8);
  CHECK(call(view, output, 8, least - 1).code == errc::workspace_too_small);
  CHECK(call(view, {pairs.data(), 0, offsets.data()}, 8, workspace.size()).code == errc::output_too_small);
  CHECK(call(view, {pairs.data(), output.capacity, nullptr}, 8, workspace.size()).code == errc::null_pointer);
  const image_pair wrong[] = {{0, 6}};
  batch_view<std::uint8_t> bad = view;
  bad.pairs = wrong, bad.pair_count = 1;
  CHECK(std::string(call(bad, output, 8, workspace.size()).argument) == "batch.pairs");
  offsets.require_untouched();
  pairs.require_untouched();
}

TEST_CASE("a batch of more descriptors than tensor cores take needs the classic path's workspace", "[match_batch]") {
  const std::int64_t count = (std::int64_t{1} << 31) - 1;
  const image_range images[] = {{0, count}, {0, 1}};
  const image_pair pair{0, 1};
  const batch_view<std::uint8_t> batch{{nullptr, count}, images, 2, &pair, 1};
  CHECK(device::match_batch_workspace<>(batch, {}, 1) == device::match_batch_workspace<policy_for<128>>(batch, {}, 1));
  CHECK(device::match_batch_workspace<mma_policy>(batch, {}, 1) == 0);
}

TEST_CASE("images of many row tiles with odd numbers of column tiles", "[match_batch]") {
  // The consumers of pass 1 then take every other step of rows of the last tile, over and over.
  random_source random(8);
  image_batch<std::uint8_t> batch;
  const std::vector<std::int64_t> counts =
      small_run() ? std::vector<std::int64_t>{1100, 100} : std::vector<std::int64_t>{7000, 100, 480, 881, 3001, 6999};
  std::int64_t rows = 0;
  for (const std::int64_t count : counts) batch.images.push_back({rows, count}), rows += count;
  batch.all = sift_like<std::uint8_t>(random, rows, 128);
  for (std::int64_t i = 0; i < rows; i += 3) batch.all.assign(random.below(rows), batch.all, i);
  const auto images = static_cast<std::int32_t>(counts.size());
  for (int repeat = 0; repeat < (small_run() ? 1 : 6); ++repeat) {
    for (std::int32_t left = 0; left < images; ++left) {
      for (std::int32_t right = 0; right < images; ++right) batch.pairs.push_back({left, right});
    }
  }
  match_options options;
  options.max_ratio = 1;
  batch_run<policy_for<128>> classic(batch, options, 100);
  classic.launch();
  const batch_lists expected = classic.lists();
  CHECK(expected.pairs.size() > (small_run() ? 20 : 10000));
  for (const std::int64_t wave_pairs : {7, 1000}) {
    batch_run<default_policy> run(batch, options, wave_pairs);
    run.launch();
    require_same(run.lists(), expected);
  }
}

TEST_CASE("a batch of nothing on the device", "[match_batch]") {
  device_array<std::int64_t> offsets(1);
  require_ok(
      device::match_batch<>(batch_view<std::uint8_t>{}, {}, {nullptr, 0, offsets.data()}, 4, nullptr, 0, nullptr));
  CHECK(offsets.values()[0] == 0);
}

TEST_CASE("a batch may be captured in a graph", "[match_batch]") {
  random_source random(7);
  const auto batch = random_batch<std::uint8_t>(random, 8, 300, 25, 128);
  const match_options options = options_of(2, 1.0f);
  batch_run<default_policy> run(batch, options, 10);
  const test_stream stream;
  captured_graph graph(stream, [&](cudaStream_t s) { run.launch(s); });
  for (int replay = 0; replay < 3; ++replay) {
    run.poison();
    graph.replay();
    require_same(run.lists(), expected_lists<tie_break::smallest_index>(batch, options));
  }
}
