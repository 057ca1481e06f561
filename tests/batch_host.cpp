// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <serac/host/match_batch.hpp>
#include <support/batches.hpp>
#include <support/catch.hpp>

using namespace serac;
using namespace serac::test;

namespace {

constexpr match_pair poison{0xdeadbeefu, 0xdeadbeefu};

/// host::match_batch into memory of the least size, canaries behind it.
template <class Tie, class T>
batch_lists lists_of(const image_batch<T>& batch, const match_options& options, int threads) {
  const auto capacity = static_cast<std::size_t>(batch.capacity(options));
  batch_lists lists{std::vector<match_pair>(capacity + 1, poison),
                    std::vector<std::int64_t>(batch.pairs.size() + 2, -7)};
  const batch_output output{lists.pairs.data(), static_cast<std::int64_t>(capacity), lists.offsets.data()};
  const status s = host::match_batch<Tie>(batch.view(), options, output, threads);
  INFO(s.message());
  REQUIRE(s.ok());
  REQUIRE(lists.offsets.back() == -7);
  lists.offsets.pop_back();
  REQUIRE(lists.pairs.back() == poison);
  lists.pairs.resize(static_cast<std::size_t>(lists.offsets.back()));
  return lists;
}

}  // namespace

TEMPLATE_TEST_CASE("a batch gives the lists of its pairs one by one", "[match_batch]",
                   (setting<std::uint8_t, tie_break::smallest_index>), (setting<std::uint8_t, tie_break::siftgpu>),
                   (setting<std::int8_t, tie_break::smallest_index>)) {
  using T = typename TestType::T;
  using Tie = typename TestType::Tie;
  std::size_t matches = 0, self_pairs = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    random_source random(seed);
    const auto batch =
        random_batch<T>(random, 1 + random.below(12), random.below(200), random.below(40), seed % 2 == 0 ? 128 : 32);
    match_options options;
    options.max_ratio = seed % 3 == 0 ? 1.1f : 0.9f;
    options.cross_check = seed % 4 != 0;
    if (seed % 5 == 0) options.max_matches = 7;
    if (seed % 7 == 0) options.max_features = 50;
    const batch_lists expected = expected_lists<Tie>(batch, options);
    for (const int threads : {1, 2, 5}) {
      INFO("seed " << seed << ", " << threads << " threads");
      const batch_lists lists = lists_of<Tie>(batch, options, threads);
      REQUIRE_SAME(lists.offsets, expected.offsets);
      REQUIRE_SAME(lists.pairs, expected.pairs);
    }
    matches += expected.pairs.size();
    for (const image_pair pair : batch.pairs) self_pairs += pair.left == pair.right;
  }
  CHECK(matches > 1000);
  CHECK(self_pairs > 0);
}

TEST_CASE("a batch of nothing", "[match_batch]") {
  std::int64_t offset = -1;
  REQUIRE(host::match_batch(batch_view<std::uint8_t>{}, match_options{}, batch_output{nullptr, 0, &offset}).ok());
  CHECK(offset == 0);

  const image_range empty[] = {{0, 0}, {0, 0}};
  const image_pair pairs[] = {{0, 1}, {1, 1}};
  std::int64_t offsets[] = {-1, -1, -1};
  REQUIRE(
      host::match_batch(batch_view<std::uint8_t>{{}, empty, 2, pairs, 2}, match_options{}, {nullptr, 0, offsets}).ok());
  for (const std::int64_t each : offsets) CHECK(each == 0);
}

TEST_CASE("match_batch names what is wrong with its arguments and writes nothing", "[match_batch]") {
  random_source random(3);
  const auto image = sift_like(random, 10);
  std::vector<image_range> images{{0, 4}, {4, 6}};
  std::vector<image_pair> pairs{{0, 1}, {1, 0}};
  std::vector<match_pair> out(10, poison);
  std::vector<std::int64_t> offsets(3, -7);
  batch_view<std::uint8_t> batch{image.view(), images.data(), 2, pairs.data(), 2};
  const batch_view<std::uint8_t> good = batch;
  batch_output output{out.data(), 10, offsets.data()};
  const batch_output good_output = output;
  match_options options;
  int threads = 1;
  const auto fault = [&](errc code, const char* argument) {
    const status s = host::match_batch(batch, options, output, threads);
    INFO(s.message());
    CHECK(s.code == code);
    CHECK(s.argument == std::string(argument));
    CHECK(out == std::vector<match_pair>(10, poison));
    CHECK(offsets == std::vector<std::int64_t>(3, -7));
    batch = good, output = good_output, options = {}, threads = 1;
    images = {{0, 4}, {4, 6}}, pairs = {{0, 1}, {1, 0}};
  };
  options.max_distance = 0, fault(errc::invalid_option, "options.max_distance");
  batch.image_count = -1, fault(errc::negative_count, "batch.image_count");
  batch.pair_count = -1, fault(errc::negative_count, "batch.pair_count");
  batch.images = nullptr, fault(errc::null_pointer, "batch.images");
  batch.pairs = nullptr, fault(errc::null_pointer, "batch.pairs");
  batch.descriptors.data = nullptr, fault(errc::null_pointer, "batch.descriptors.data");
  batch.descriptors.width = 126, fault(errc::unsupported_width, "batch.descriptors.width");
  batch.descriptors.stride = 127, fault(errc::invalid_stride, "batch.descriptors.stride");
  batch.descriptors.count = -1, fault(errc::negative_count, "batch.descriptors.count");
  images[1].count = -1, fault(errc::negative_count, "batch.images");
  images[1].count = 7, fault(errc::invalid_option, "batch.images");
  images[1].first = -1, fault(errc::invalid_option, "batch.images");
  images[1].first = std::numeric_limits<std::int64_t>::max(), fault(errc::invalid_option, "batch.images");
  images[1].count = std::int64_t{1} << 31, fault(errc::too_many_features, "batch.images");
  pairs[1].left = 2, fault(errc::invalid_option, "batch.pairs");
  pairs[1].right = -1, fault(errc::invalid_option, "batch.pairs");
  output.capacity = 9, fault(errc::output_too_small, "output.capacity");
  output.capacity = -1, fault(errc::negative_count, "output.capacity");
  output.pairs = nullptr, fault(errc::null_pointer, "output.pairs");
  output.offsets = nullptr, fault(errc::null_pointer, "output.offsets");
  threads = -1, fault(errc::negative_count, "threads");
  REQUIRE(host::match_batch(batch, options, output, threads).ok());
  CHECK(offsets[0] == 0);
}
