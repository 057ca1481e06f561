// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <string>
#include <vector>

#include <serac/host/match.hpp>
#include <serac/host/reference.hpp>
#include <support/catch.hpp>
#include <support/options.hpp>
#include <support/random.hpp>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

namespace {

constexpr match_pair poison{0xdeadbeefu, 0xdeadbeefu};

/// Runs host::match into poisoned memory with canaries behind it.
template <class Tie, class T>
std::vector<match_pair> match_of(const descriptor_view<T>& left, const descriptor_view<T>& right,
                                 const match_options& options, int threads) {
  constexpr std::size_t canaries = 4;
  const auto capacity = static_cast<std::size_t>(std::min(left.count, options.max_matches));
  std::vector<match_pair> pairs(capacity + canaries, poison);
  std::uint32_t count = 0xdeadbeefu;
  REQUIRE(host::match<Tie>(left, right, options,
                           match_output{pairs.data(), static_cast<std::int64_t>(capacity), &count}, threads)
              .ok());
  REQUIRE(count <= capacity);
  for (std::size_t i = count; i < pairs.size(); ++i) REQUIRE(pairs[i] == poison);
  pairs.resize(count);
  return pairs;
}

std::vector<match_options> option_grid() {
  std::vector<match_options> grid = all_options({0.8f, 1.0f, 1.1f}, {0.7f, 3.2f});
  match_options few;
  few.max_matches = 5;
  grid.push_back(few);
  match_options cut;
  cut.max_features = 60;
  cut.max_ratio = 1.1f;
  grid.push_back(cut);
  return grid;
}

}  // namespace

TEMPLATE_TEST_CASE("match equals the reference on random problems of every kind", "[match]",
                   (setting<std::uint8_t, tie_break::smallest_index>), (setting<std::uint8_t, tie_break::siftgpu>),
                   (setting<std::int8_t, tie_break::smallest_index>), (setting<std::int8_t, tie_break::siftgpu>)) {
  using T = typename TestType::T;
  using Tie = typename TestType::Tie;
  std::uint64_t seed = 500;
  std::size_t matches = 0;
  for (const input_kind kind : input_kinds) {
    for (const int width : {4, 12, 64, 128, 132, 512}) {
      random_source random(++seed);
      const std::int64_t rows = 1 + random.below(120), columns = 1 + random.below(120);
      INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << width);
      const two_images<T> images = random_images<T>(kind, random, rows, columns, width);
      for (const match_options& o : option_grid()) {
        INFO("max_ratio " << o.max_ratio << ", max_distance " << o.max_distance << ", cross_check " << o.cross_check
                          << ", max_matches " << o.max_matches << ", max_features " << o.max_features);
        const auto expected = reference::match<Tie>(images.left.view(), images.right.view(), o).pairs;
        for (const int threads : {1, 3}) {
          REQUIRE_SAME(match_of<Tie>(images.left.view(), images.right.view(), o, threads), expected);
        }
        matches += expected.size();
      }
    }
  }
  CHECK(matches > 1000);  // the inputs do hold matches
}

TEST_CASE("match takes an acceptance of the caller's", "[match]") {
  random_source random(3);
  const auto left = random_bytes(random, 50), right = random_bytes(random, 40);
  const auto expected = reference::nearest2(left.view(), right.view());
  std::vector<match_pair> pairs(50), wanted;
  std::uint32_t count = 0;
  match_options options;
  options.cross_check = false;
  const auto margin = [](std::int32_t best, std::int32_t second) { return best - second > 20000; };
  REQUIRE(host::match(left.view(), right.view(), options, margin, match_output{pairs.data(), 50, &count}).ok());
  pairs.resize(count);
  for (std::uint32_t i = 0; i < 50; ++i) {
    const top2& row = expected.rows[i];
    if (row.best - row.second > 20000) wanted.push_back({i, static_cast<std::uint32_t>(row.index)});
  }
  REQUIRE_SAME(pairs, wanted);
  CHECK_FALSE(wanted.empty());
}

TEST_CASE("match names what is wrong with its arguments and writes nothing", "[match]") {
  random_source random(1);
  const auto image = ten_of_162(random, 2);
  const sift_view good = image.view();
  std::vector<match_pair> pairs(2, poison);
  std::uint32_t count = 77;
  const match_output output{pairs.data(), 2, &count};
  const auto fault = [&](const sift_view& left, const sift_view& right, const match_options& options,
                         const match_output& out, int threads, errc code, const char* argument) {
    const status s = host::match(left, right, options, out, threads);
    INFO(s.message());
    CHECK(s.code == code);
    CHECK(s.argument == std::string(argument));
    CHECK(pairs == std::vector<match_pair>(2, poison));
    CHECK(count == 77);
  };
  match_options no_ratio;
  no_ratio.max_ratio = 0;
  fault(good, good, no_ratio, output, 1, errc::invalid_option, "options.max_ratio");
  fault({nullptr, 2}, good, {}, output, 1, errc::null_pointer, "left.data");
  fault(good, {image.data.data(), 2, 64}, {}, output, 1, errc::unsupported_width, "right.width");
  fault(good, good, {}, match_output{pairs.data(), 1, &count}, 1, errc::output_too_small, "output.capacity");
  fault(good, good, {}, match_output{nullptr, 2, &count}, 1, errc::null_pointer, "output.pairs");
  fault(good, good, {}, match_output{pairs.data(), 2, nullptr}, 1, errc::null_pointer, "output.count");
  fault(good, good, {}, output, -1, errc::negative_count, "threads");
  REQUIRE(host::match(good, good, match_options{}, output, 1).ok());
  CHECK(count == 2);
  CHECK(pairs == std::vector<match_pair>{{0, 0}, {1, 1}});
}
