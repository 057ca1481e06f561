// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <vector>

#include <serac/device/match_batch.cuh>
#include <support/binary.hpp>
#include <support/nearest2_checks.cuh>
#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;

TEMPLATE_TEST_CASE("nearest2 of bits by mma.sync equals the host", "[binary]", bits_path<32>, bits_path<64>,
                   bits_path<128>, bits_path<256>) {
  using path = TestType;
  SECTION("around the edges of tiles") { check_tile_edges<path>(); }
  SECTION("every kind of input, dense and with gaps") { check_kinds<path>(); }
  SECTION("several chunks, and chunks of several tiles") {
    std::uint64_t seed = 8000;
    for (const input_kind kind : kinds_of_run()) {
      if (small_run()) break;
      check_nearest2<path>(kind, ++seed, 1025, 1300);
      check_nearest2<path>(kind, ++seed, 70, 4 * device::detail::most_column_chunks * path::tile_columns + 1);
    }
  }
  SECTION("one image far larger than the other") {
    if (path::width == 32) check_unequal_shapes<path>();
  }
}

TEMPLATE_TEST_CASE("a batch of bits gives each pair's list", "[binary]", bits_policy<32>, bits_policy<64>,
                   (automatic_policy<32, bits8>)) {
  using Policy = TestType;
  const binary_judge judge{0.9f, 4097};
  std::size_t matches = 0;
  for (std::uint64_t seed = 1; seed <= by_run_size<std::uint64_t>(12, 3, 1); ++seed) {
    random_source random(seed);
    // Images that touch, of which some are empty, and pairs of all with all.
    const auto scene = random_images<bits8>(input_kind::planted, random, 700, 1500, Policy::width);
    std::vector<image_range> ranges;
    for (std::int64_t first = 0; first < scene.right.count; first += ranges.back().count) {
      ranges.push_back({first, std::min(random.below(400), scene.right.count - first)});
      if (ranges.back().count == 0) ranges.push_back({first, 1});
    }
    std::vector<image_pair> pairs;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      pairs.push_back({static_cast<std::int32_t>(i),
                       static_cast<std::int32_t>(random.below(static_cast<std::int64_t>(ranges.size())))});
    }
    match_options options;
    options.cross_check = seed % 3 != 0;
    const device_descriptors<bits8> memory(scene.right);
    const batch_view<bits8> batch{memory.view(), ranges.data(), static_cast<std::int64_t>(ranges.size()), pairs.data(),
                                  static_cast<std::int64_t>(pairs.size())};
    std::vector<match_pair> expected;
    std::vector<std::int64_t> ends{0};
    std::int64_t capacity = 0;
    for (const image_pair pair : pairs) {
      const auto image = [&](std::int32_t number) {
        const image_range range = ranges[static_cast<std::size_t>(number)];
        return binary_view{scene.right[range.first], range.count, Policy::width};
      };
      const auto list = host::reference::judged_match<tie_break::smallest_index>(
          image(pair.left), image(pair.right), options, host::reference::all_pairs(),
          [&](const top2& state) { return judge.accepts(state); });
      expected.insert(expected.end(), list.pairs.begin(), list.pairs.end());
      ends.push_back(static_cast<std::int64_t>(expected.size()));
      capacity += image(pair.left).count;
    }
    for (const std::int64_t wave_pairs : {std::int64_t{3}, std::int64_t{1000}}) {
      INFO("seed " << seed << ", waves of " << wave_pairs);
      device_array<match_pair> lists(static_cast<std::size_t>(capacity));
      device_array<std::int64_t> offsets(pairs.size() + 1);
      device_array<std::uint8_t> workspace(device::match_batch_workspace<Policy>(batch, options, wave_pairs));
      require_ok(device::match_batch<Policy>(batch, options, judge.acceptance(),
                                             {lists.data(), capacity, offsets.data()}, wave_pairs, workspace.data(),
                                             workspace.size(), nullptr));
      workspace.values();
      REQUIRE_SAME(offsets.values(), ends);
      std::vector<match_pair> got = lists.values();
      got.resize(expected.size());
      REQUIRE_SAME(got, expected);
    }
    matches += expected.size();
  }
  CHECK(matches > (tiny_run() ? 10 : 100));
}
