// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <serac/device/match_batch.cuh>
#include <serac/device/match_guided.cuh>
#include <serac/matcher.cuh>
#include <support/binary.hpp>
#include <support/nearest2_checks.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

using orb = hamming_policy_for<32>;
using orb_matcher = basic_matcher<orb>;

/// Words alone, COLMAP's tie order, and tiles of no power of two.
struct odd_bits : tile<48, 96, 6, hamming_policy_for<60>> {
  using tie = tie_break::siftgpu;
};
/// Several slices, one stage.
struct widest_bits : hamming_policy_for<512> {
  static constexpr int stages = 1;
};

/// The nth acceptance of the tests.
template <int Nth>
struct judged : path_of<orb> {
  static binary_judge judge() { return binary_judges(width)[Nth]; }

  static status match(const view& left, const view& right, const match_options& options, const match_output& output,
                      void* workspace, std::size_t bytes, cudaStream_t stream) {
    return device::match<orb>(left, right, options, judge().acceptance(), output, workspace, bytes, stream);
  }
};

template <int Nth>
void check_lists(const two_images<bits8>& images) {
  const auto judge = judged<Nth>::judge();
  for (const match_options& options : few_if_tiny(binary_options(), 3)) {
    INFO(judge << ", cross_check " << options.cross_check << ", max_matches " << options.max_matches
               << ", max_features " << options.max_features);
    REQUIRE_SAME(match_of<judged<Nth>>(images.left, images.right, options),
                 expected_binary_match(images, judge, options));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("binary nearest2 equals the reference", "[binary]", path_of<orb>, path_of<hamming_policy_for<64>>,
                   path_of<odd_bits>, path_of<widest_bits>) {
  check_nearest2_path<TestType>();
}

TEST_CASE("binary nearest2 equals the reference: one image far larger than the other", "[binary]") {
  check_unequal_shapes<path_of<orb>>();
}

TEST_CASE("binary match equals the reference", "[binary]") {
  std::uint64_t seed = 700;
  for (const input_kind kind : kinds_of_run()) {
    random_source random(++seed);
    INFO("seed " << seed << ": " << name(kind));
    const auto images = random_images<bits8>(kind, random, 150, 290, orb::width);
    check_lists<0>(images);
    check_lists<1>(images);
    check_lists<2>(images);
    check_lists<3>(images);

    const auto mutual = orb_matcher().match(images.left.view(), images.right.view(), accept_all());
    REQUIRE_SAME(mutual.pairs, expected_mutual(images));
    CHECK_FALSE(mutual.pairs.empty());
    const auto states = orb_matcher().nearest2(images.left.view(), images.right.view(), true);
    const auto expected = host::reference::nearest2(images.left.view(), images.right.view());
    REQUIRE_SAME(states.rows, expected.rows);
    REQUIRE_SAME(states.columns, expected.columns);
  }
}

TEST_CASE("descriptors that differ in every bit are neighbours", "[binary]") {
  const descriptors<bits8> zeros(3, 32), ones(2, 32, bits8{255});
  const auto list = orb_matcher().match(zeros.view(), ones.view(), accept_all());
  CHECK(list.pairs == std::vector<match_pair>{{0, 0}});
  const top2 furthest{equal_bits_score - 256, 0, equal_bits_score - 256};
  CHECK(orb_matcher().nearest2(zeros.view(), ones.view()).rows == std::vector<top2>(3, furthest));
}

TEST_CASE("binary match among admissible pairs equals the reference", "[binary]") {
  random_source random(8);
  const auto images = random_images<bits8>(input_kind::planted, random, 190, 210, orb::width);
  std::vector<std::uint32_t> mask(190 * 7);
  for (std::uint32_t& word : mask) word = static_cast<std::uint32_t>(random.below(std::int64_t{1} << 32));
  const auto admissible = [&](std::int64_t i, std::int64_t j) {
    return (mask[static_cast<std::size_t>(i * 7 + j / 32)] >> j % 32 & 1) != 0;
  };
  const binary_judge judge{0.9f, 200};
  const auto expected = host::reference::judged_match<tie_break::smallest_index>(
      images.left.view(), images.right.view(), {}, admissible, [&](const top2& s) { return judge.accepts(s); });

  const device_descriptors<bits8> left(images.left), right(images.right);
  const device_array<std::uint32_t> bits(mask);
  list_room list(190);
  device_array<std::uint8_t> workspace(device::match_guided_workspace<orb>(left.view(), right.view(), {}));
  require_ok(device::match_guided<orb>(left.view(), right.view(), admissible_bits{bits.data(), 7}, {},
                                       judge.acceptance(), list.output(), workspace.data(), workspace.size(), nullptr));
  REQUIRE_SAME(list.list(), expected.pairs);
  CHECK_FALSE(expected.pairs.empty());
}

TEST_CASE("a batch of binary images gives each pair's list", "[binary]") {
  random_source random(9);
  const auto images = random_images<bits8>(input_kind::planted, random, 160, 180, orb::width);
  descriptors<bits8> both(340, orb::width);
  for (int i = 0; i < 160; ++i) both.assign(i, images.left, i);
  for (int j = 0; j < 180; ++j) both.assign(160 + j, images.right, j);
  const image_range ranges[] = {{0, 160}, {160, 180}};
  const image_pair pairs[] = {{0, 1}, {1, 0}};
  const binary_judge judge{0.9f, 300};

  const device_descriptors<bits8> memory(both);
  const batch_view<bits8> batch{memory.view(), ranges, 2, pairs, 2};
  device_array<match_pair> lists(340);
  device_array<std::int64_t> offsets(3);
  device_array<std::uint8_t> workspace(device::match_batch_workspace<orb>(batch, {}, 2));
  require_ok(device::match_batch<orb>(batch, {}, judge.acceptance(), {lists.data(), 340, offsets.data()}, 2,
                                      workspace.data(), workspace.size(), nullptr));
  const auto all = lists.values();
  const auto ends = offsets.values();
  REQUIRE_SAME(std::vector<match_pair>(all.begin(), all.begin() + ends[1]), expected_binary_match(images, judge, {}));
  REQUIRE_SAME(std::vector<match_pair>(all.begin() + ends[1], all.begin() + ends[2]),
               expected_binary_match({images.right, images.left}, judge, {}));
}
