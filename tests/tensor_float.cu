// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <serac/device/match_batch.cuh>
#include <serac/matcher.cuh>
#include <support/nearest2_checks.cuh>
#include <support/tensor_floats.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// Signed bytes of norm 512, divided by 512: sums of their products are exact in whatever order.
template <class T>
two_images<T> exact_images(input_kind kind, random_source& random, std::int64_t rows, std::int64_t columns, int width) {
  const auto bytes = random_images<std::int8_t>(kind, random, rows, columns, width);
  const auto converted = [](const descriptors<std::int8_t>& from) {
    descriptors<T> to(from.count, from.width);
    for (std::size_t i = 0; i < to.data.size(); ++i) to.data[i] = number<T>(from.data[i] / 512.0);
    return to;
  };
  return {converted(bytes.left), converted(bytes.right)};
}

}  // namespace

TEMPLATE_TEST_CASE("halves by mma.sync equal the host where sums are exact", "[float]", half_64, half_128, half_256,
                   bfloat_128) {
  using Policy = TestType;
  using T = typename Policy::element;
  std::uint64_t seed = 5100;
  std::size_t matches = 0;
  for (const input_kind kind : kinds_of_run()) {
    for (const shape& s : shapes_of_run<Policy>()) {
      INFO("seed " << ++seed << ": " << name(kind) << ", " << s.rows << " x " << s.columns);
      random_source random(seed);
      const auto images = exact_images<T>(kind, random, s.rows, s.columns, elements_of<Policy>);
      const int gap = seed % 3 == 0 ? 8 : 0;
      const device_descriptors<T> left(images.left, gap), right(images.right, gap);
      const auto expected = expected_nearest2<tie_break::smallest_index>(images.left, images.right);
      const auto states = nearest2_of<tensor_path<Policy>>(left.view(), right.view(), true);
      REQUIRE_SAME(states.rows, expected.rows);
      REQUIRE_SAME(states.columns, expected.columns);
      if (!is_small(images.left, images.right)) continue;
      const auto lists = lists_of<Policy>(left.view(), right.view());
      for (std::size_t n = 0; n < lists.size(); ++n) {
        INFO(untied_judges[n / 2] << ", cross_check " << (n % 2 == 0));
        match_options options;
        options.cross_check = n % 2 == 0;
        REQUIRE_SAME(lists[n], expected_float_match(images, options, [&](const top2& state) {
                       return untied_judges[n / 2].accepts<T>(state);
                     }));
        matches += lists[n].size();
      }
    }
  }
  if (!tiny_run()) CHECK(matches > (small_run() ? 5u : 100u));
}

TEMPLATE_TEST_CASE("a batch of halves gives the lists of its pairs one by one", "[float]", half_128, half_256,
                   bfloat_128) {
  using Policy = TestType;
  using T = typename Policy::element;
  random_source random(54);
  const auto images = random_images<T>(input_kind::planted, random, 500, 700, elements_of<Policy>);
  descriptors<T> both(1200, elements_of<Policy>);
  for (int i = 0; i < 500; ++i) both.assign(i, images.left, i);
  for (int j = 0; j < 700; ++j) both.assign(500 + j, images.right, j);
  const image_range ranges[] = {{0, 500}, {500, 700}, {3, 301}, {700, 0}, {511, 400}};
  const image_pair pairs[] = {{0, 1}, {1, 0}, {2, 4}, {3, 1}, {2, 3}, {0, 0}, {4, 2}};
  const device_descriptors<T> memory(both);
  const batch_view<T> batch{memory.view(), ranges, 5, pairs, 7};
  const auto accept = untied_judges[0].acceptance<T>();
  std::vector<match_pair> expected;
  std::vector<std::int64_t> ends{0};
  for (const image_pair pair : pairs) {
    const auto image = [&](std::int32_t number) {
      auto view = memory.view();
      view.data += ranges[number].first * view.stride;
      view.count = ranges[number].count;
      return view;
    };
    const auto list = judged_list<Policy>(image(pair.left), image(pair.right), accept, {});
    expected.insert(expected.end(), list.begin(), list.end());
    ends.push_back(static_cast<std::int64_t>(expected.size()));
  }
  CHECK(expected.size() > 200);
  for (const std::int64_t wave_pairs : {std::int64_t{3}, std::int64_t{100}}) {
    device_array<match_pair> lists(4000);
    device_array<std::int64_t> offsets(8);
    device_array<std::uint8_t> workspace(device::match_batch_workspace<Policy>(batch, {}, wave_pairs));
    require_ok(device::match_batch<Policy>(batch, {}, accept, {lists.data(), 4000, offsets.data()}, wave_pairs,
                                           workspace.data(), workspace.size(), nullptr));
    workspace.values();
    REQUIRE_SAME(offsets.values(), ends);
    auto got = lists.values();
    got.resize(expected.size());
    REQUIRE_SAME(got, expected);
  }
}

TEST_CASE("an automatic policy of halves takes mma.sync where the GPU has it", "[float]") {
  using automatic = automatic_policy<256, float16>;
  int device = 0, major = 0;
  require_cuda(cudaGetDevice(&device));
  require_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  const match_path best = major >= 8 ? match_path::mma : match_path::classic;
  random_source random(55);
  const auto images = exact_images<float16>(input_kind::planted, random, 2050, 2100, 128);
  const device_descriptors<float16> left(images.left), right(images.right);
  CHECK((device::path_of_match<automatic>(left.view(), right.view(), {}) == best));
  CHECK((device::path_of_nearest2<automatic>(60, 70, true) == best));
  CHECK((device::path_of_nearest2<automatic_policy<512>>(9000, 9000, false) == match_path::classic));
  CHECK((device::path_of_nearest2<automatic_policy<256, l2<float16>>>(9000, 9000, false) == match_path::classic));
  for (const float_judge& judge : float_judges) {  // by either path
    INFO(judge);
    const auto accept = judge.acceptance<float16>();
    std::vector<match_pair> expected(2050);
    std::uint32_t count = 0;
    require_ok(host::match(images.left.view(), images.right.view(), match_options(), accept,
                           match_output{expected.data(), 2050, &count}));
    expected.resize(count);
    CHECK_FALSE(expected.empty());
    REQUIRE_SAME(basic_matcher<automatic>().match(images.left.view(), images.right.view(), accept).pairs, expected);
  }
}
