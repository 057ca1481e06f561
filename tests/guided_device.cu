// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <string>
#include <vector>

#include <serac/device/match_guided.cuh>
#include <serac/host/match_guided.hpp>
#include <support/gpu.cuh>
#include <support/guided.hpp>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// The order of COLMAP's ties by ordered features.
struct mma_siftgpu : mma_policy {
  using tie = tie_break::siftgpu;
};

/// A guided match in device memory: the output has the least capacity, the workspace the size asked for.
template <class Policy>
class guided_run {
 public:
  using element = typename Policy::element;

  guided_run(const guided_problem<element>& problem, const match_options& options, int gap = 0)
      : left_(problem.left, gap),
        right_(problem.right, gap),
        left_points_(problem.left_points),
        right_points_(problem.right_points),
        geometry_(problem.geometry),
        options_(options),
        list_(std::min({problem.left.count, options.max_features, options.max_matches})),
        workspace_(device::match_guided_workspace<Policy>(left_.view(), right_.view(), options)) {}

  guided_by<> guide() const {
    return {{left_points_.data(), left_.view().count}, {right_points_.data(), right_.view().count}, geometry_};
  }

  void poison() {
    list_.poison();
    workspace_.poison();
  }

  template <class Admissible>
  void launch(const Admissible& admissible, cudaStream_t stream = nullptr) {
    require_ok(device::match_guided<Policy>(left_.view(), right_.view(), admissible, options_, list_.output(),
                                            workspace_.data(), workspace_.size(), stream));
  }

  /// The list, when the device has finished; nothing is written behind its end.
  std::vector<match_pair> list() const {
    workspace_.values();
    return list_.list();
  }

 private:
  device_descriptors<element> left_, right_;
  device_array<float> left_points_, right_points_;
  two_view_geometry geometry_;
  match_options options_;
  list_room list_;
  device_array<std::uint8_t> workspace_;
};

/// The right list: the host asks about every pair.
template <class Tie, class T>
std::vector<match_pair> expected_of(const guided_problem<T>& problem, const match_options& options) {
  std::vector<match_pair> pairs(static_cast<std::size_t>(problem.left.count));
  std::uint32_t count = 0;
  const guided_by<> guide = problem.guide();
  const auto admissible = [&](std::int64_t i, std::int64_t j) { return guide(i, j); };
  throw_on_error(host::match_guided<Tie>(problem.left.view(), problem.right.view(), admissible, options,
                                         match_output{pairs.data(), problem.left.count, &count}));
  pairs.resize(count);
  return pairs;
}

match_options options_of(std::uint64_t seed) {
  match_options options;
  options.cross_check = seed % 3 != 0;
  if (seed % 4 == 0) options.max_ratio = 1.1f, options.max_distance = 3.2f;
  if (seed % 7 == 0) options.max_matches = 5;
  if (seed % 11 == 0) options.max_features = 60;
  return options;
}

/// Whether the fast form is there; the policies that name it are tested only then.
bool has_mma() {
  return device::path_of_match<default_policy>(sift_view(nullptr, 1 << 14), sift_view(nullptr, 1 << 14), {}) !=
         match_path::classic;
}

}  // namespace

TEMPLATE_TEST_CASE("guided lists are the host's under every kind of geometry", "[guided]", default_policy,
                   policy_for<128>, mma_policy, mma_siftgpu, siftgpu_ties<sift>, (mma_policy_for<32, std::int8_t>),
                   (automatic_policy<256>), (automatic_policy<64, std::int8_t>), policy_for<100>, wgmma_policy) {
  using Policy = TestType;
  using element = typename Policy::element;
  using tie = typename device::detail::tie_of<Policy>::type;
  if (Policy::path != match_path::classic && !has_mma()) return skip("no mma.sync here: a policy was not tested");
  std::uint64_t seed = 40;
  std::size_t matches = 0;
  for (const std::string& kind : few_if_tiny<std::string>({std::begin(geometry_kinds), std::end(geometry_kinds)}, 3)) {
    for (int repeat = 0; repeat < (small_run() ? 1 : 6); ++repeat) {
      random_source random(++seed);
      const std::int64_t most = small_run() ? 150 : repeat == 0 ? 2500 : 400;
      const std::int64_t rows = random.below(most), columns = random.below(most);
      INFO("seed " << seed << ": " << kind << ", " << rows << " x " << columns);
      const auto problem = random_guided<element>(kind, random, rows, columns, Policy::width, input_kinds[seed % 7]);
      const match_options options = options_of(seed);
      const auto expected = expected_of<tie>(problem, options);
      guided_run<Policy> run(problem, options, repeat % 2 * 16);
      run.launch(run.guide());
      REQUIRE_SAME(run.list(), expected);
      matches += expected.size();
    }
  }
  if (!tiny_run()) CHECK(matches > (small_run() ? 20 : 100));
}

TEST_CASE("the columns of a guided match are cut into at most 32 chunks", "[guided]") {
  for (const std::int32_t columns : {0, 1, 32, 33, 1023, 1024, 1025, 32767, 32768, 32769, 40000, 1 << 20, 2147483647}) {
    INFO(columns);
    const kernel::guided_chunks chunks(columns);
    CHECK(chunks.tiles % 32 == 0);
    CHECK(chunks.count <= 32);
    CHECK(std::int64_t{chunks.count} * chunks.tiles * 32 >= columns);
    CHECK(std::int64_t{chunks.count - 1} * chunks.tiles * 32 < std::max(columns, 1));
  }
  for (const std::string& kind :
       few_if_tiny<std::string>({"epipole inside", "tilted plane, horizon in the image", "none"}, 1)) {
    random_source random(4);
    const std::int64_t rows = small_run() ? 5 : 150, columns = kind == "none" ? 33000 : 70000;
    const auto problem = random_guided(kind, random, rows, columns);
    INFO(kind);
    match_options options;
    options.max_ratio = 1.1f, options.max_distance = 3.2f;
    const auto expected = expected_of<tie_break::smallest_index>(problem, options);
    guided_run<default_policy> run(problem, options);
    run.launch(run.guide());
    REQUIRE_SAME(run.list(), expected);
    CHECK((small_run() || !expected.empty()));
  }
}

TEST_CASE("any admissibility works with the classic path", "[guided]") {
  random_source random(12);
  const auto problem = random_guided("plane seen from above", random, 300, 280);
  guided_run<default_policy> run(problem, {});
  const std::int64_t stride = 9;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(300 * stride));
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.below(std::int64_t{1} << 32));
  const device_array<std::uint32_t> device_words(words);
  const auto expect = [&](const auto& admissible, const auto& mirrored) {
    const auto expected =
        host::reference::match(problem.left.view(), problem.right.view(), match_options(), mirrored).pairs;
    run.poison();
    run.launch(admissible);
    REQUIRE_SAME(run.list(), expected);
    CHECK(expected.size() > 2);
  };
  const admissible_bits bits{device_words.data(), stride}, host_bits{words.data(), stride};
  const auto near = problem.reference();
  expect(admit_all(), [](std::int64_t, std::int64_t) { return true; });
  expect(bits, host_bits);
  expect(admit_both<admissible_bits, guided_by<>>{bits, run.guide()},
         [&](std::int64_t i, std::int64_t j) { return host_bits(i, j) && near(i, j); });
  expect(guided_by<homography>{run.guide().left, run.guide().right, problem.geometry.homography}, near);
}

TEST_CASE("COLMAP's own guided cases, empty images and hopeless geometry on the device", "[guided]") {
  const auto list_of = [](const guided_problem<>& problem) {
    guided_run<default_policy> fast(problem, {});
    guided_run<policy_for<128>> classic(problem, {});
    fast.launch(fast.guide());
    classic.launch(classic.guide());
    const auto list = fast.list();
    REQUIRE_SAME(classic.list(), list);
    return list;
  };
  CHECK(list_of(two_features(1)) == std::vector<match_pair>{{0, 1}, {1, 0}});
  CHECK(list_of(two_features(100)) == std::vector<match_pair>{{1, 0}});
  auto none = two_features(1);
  none.left = descriptors<>(0), none.left_points.clear();
  CHECK(list_of(none).empty());
  none = two_features(1);
  none.right = descriptors<>(0), none.right_points.clear();
  CHECK(list_of(none).empty());
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const two_view_geometry& geometry :
       {two_view_geometry(epipolar{{}, 1e30f}), two_view_geometry(epipolar{{0, 0, 1, 0, 0, nan, -1, 0, 0}, infinity}),
        two_view_geometry(homography{{1, 0, 0, 0, 1, 0, 0, 0, 0}, infinity})}) {
    none = two_features(1);
    none.geometry = geometry;
    CHECK(list_of(none).empty());
  }
}

TEST_CASE("a guided match is captured in a graph and replayed", "[guided]") {
  random_source random(39);
  const auto problem = random_guided("epipole inside", random, 700, 600);
  const auto expected = expected_of<tie_break::smallest_index>(problem, {});
  guided_run<default_policy> run(problem, {});
  const test_stream stream;
  captured_graph graph(stream, [&](cudaStream_t s) { run.launch(run.guide(), s); });
  for (int replay = 0; replay < by_run_size(10, 10, 2); ++replay) {
    run.poison();
    graph.replay();
    REQUIRE_SAME(run.list(), expected);
  }
  CHECK_FALSE(expected.empty());
}

TEMPLATE_TEST_CASE("a guided batch gives the lists of its pairs one by one", "[guided]", default_policy,
                   policy_for<128>) {
  using Policy = TestType;
  for (const std::uint64_t seed : few_if_tiny<std::uint64_t>({1, 2, 3}, 1)) {
    random_source random(seed);
    const int pair_count = small_run() ? 5 : seed == 1 ? 60 : 15;
    descriptors<> all(0);
    std::vector<float> points;
    std::vector<image_range> ranges;
    std::vector<serac::image_pair> pairs;
    std::vector<two_view_geometry> geometries;
    std::vector<std::vector<match_pair>> expected;
    const match_options options = options_of(seed + 5);
    std::int64_t capacity = 0;
    for (int p = 0; p < pair_count; ++p) {
      const auto problem = random_guided(geometry_kinds[random.below(std::size(geometry_kinds))], random,
                                         random.below(300), random.below(300));
      const auto append = [&](const descriptors<>& image, const std::vector<float>& where) {
        const std::int64_t gap = random.below(3);
        ranges.push_back({all.count + gap, image.count});
        all.data.resize(static_cast<std::size_t>((all.count + gap) * 128), 77);
        all.data.insert(all.data.end(), image.data.begin(), image.data.end());
        points.resize(static_cast<std::size_t>((all.count + gap) * 2));
        points.insert(points.end(), where.begin(), where.end());
        all.count += gap + image.count;
      };
      append(problem.left, problem.left_points);
      append(problem.right, problem.right_points);
      pairs.push_back({2 * p, 2 * p + 1});
      geometries.push_back(problem.geometry);
      expected.push_back(expected_of<tie_break::smallest_index>(problem, options));
      capacity += std::min({problem.left.count, options.max_features, options.max_matches});
    }

    const device_descriptors<> descriptors_there(all);
    const device_array<float> points_there(points);
    const guided_batch_view<std::uint8_t> batch{
        {descriptors_there.view(), ranges.data(), static_cast<std::int64_t>(ranges.size()), pairs.data(), pair_count},
        {points_there.data(), all.count},
        geometries.data()};
    for (const std::int64_t wave : few_if_tiny<std::int64_t>({1, 7, 1000}, 2)) {
      INFO("seed " << seed << ", waves of " << wave);
      device_array<match_pair> list(static_cast<std::size_t>(capacity));
      device_array<std::int64_t> offsets(static_cast<std::size_t>(pair_count) + 1);
      device_array<std::uint8_t> workspace(device::match_guided_batch_workspace<Policy>(batch.images, options, wave));
      require_ok(device::match_guided_batch<Policy>(batch, options, {list.data(), capacity, offsets.data()}, wave,
                                                    workspace.data(), workspace.size(), nullptr));
      const auto places = offsets.values();
      const auto found = list.values();
      workspace.values();
      REQUIRE(places[0] == 0);
      for (int p = 0; p < pair_count; ++p) {
        INFO("pair " << p);
        REQUIRE(places[p] <= places[p + 1]);
        REQUIRE(places[p + 1] <= capacity);
        REQUIRE_SAME(std::vector<match_pair>(found.begin() + places[p], found.begin() + places[p + 1]), expected[p]);
      }
    }

    // Faults are named, and nothing is written.
    device_array<match_pair> list(static_cast<std::size_t>(capacity));
    device_array<std::int64_t> offsets(static_cast<std::size_t>(pair_count) + 1);
    device_array<std::uint8_t> workspace(device::match_guided_batch_workspace<Policy>(batch.images, options, 8));
    const auto fault = [&](guided_batch_view<std::uint8_t> faulty, errc code, const char* argument) {
      const status s = device::match_guided_batch<Policy>(faulty, options, {list.data(), capacity, offsets.data()}, 8,
                                                          workspace.data(), workspace.size(), nullptr);
      CHECK(s.code == code);
      CHECK(s.argument == std::string(argument));
    };
    auto faulty = batch;
    faulty.keypoints.count -= 1;
    fault(faulty, errc::count_mismatch, "batch.keypoints.count");
    faulty = batch;
    faulty.geometries = nullptr;
    fault(faulty, errc::null_pointer, "batch.geometries");
    auto worse = geometries;
    worse.back() = two_view_geometry(homography{{1}, -1});
    faulty = batch;
    faulty.geometries = worse.data();
    fault(faulty, errc::invalid_option, "batch.geometries");
    list.require_untouched();
    offsets.require_untouched();
  }
}

TEST_CASE("the owning matcher takes locations in host and in device memory", "[guided]") {
  random_source random(8);
  auto problem = random_guided("epipole just outside", random, 900, 800);
  const auto expected = expected_of<tie_break::smallest_index>(problem, {});
  CHECK(expected.size() > 10);
  matcher one;
  REQUIRE_SAME(one.match_guided(problem.left.view(), problem.right.view(), problem.guide()).pairs, expected);
  guided_by<> there = problem.guide();
  const device_array<float> left(problem.left_points), right(problem.right_points);
  there.left.data = left.data(), there.right.data = right.data();
  REQUIRE_SAME(one.match_guided(problem.left.view(), problem.right.view(), there).pairs, expected);
  one.release();
  basic_matcher<policy_for<128>> classic;
  REQUIRE_SAME(classic.match_guided(problem.left.view(), problem.right.view(), problem.guide()).pairs, expected);

  // Keypoints of six floats, and a cap.
  std::vector<float> wide;
  for (std::int64_t i = 0; i < problem.left.count; ++i) {
    wide.insert(wide.end(), {problem.left_points[2 * i], problem.left_points[2 * i + 1], 9, 9, 9, 9});
  }
  guided_by<> strided = problem.guide();
  strided.left = {wide.data(), problem.left.count, 6};
  REQUIRE_SAME(one.match_guided(problem.left.view(), problem.right.view(), strided).pairs, expected);
  match_options options;
  options.max_features = 500;
  matcher capped(options);
  const match_list list = capped.match_guided(problem.left.view(), problem.right.view(), strided);
  CHECK(list.truncated);
  host::matcher on_host(options);
  REQUIRE_SAME(list.pairs, on_host.match_guided(problem.left.view(), problem.right.view(), strided).pairs);
  strided.right.count = 7;
  CHECK_THROWS_AS(one.match_guided(problem.left.view(), problem.right.view(), strided), error);
}
