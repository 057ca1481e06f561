// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <type_traits>
#include <vector>

#include <serac/matcher.cuh>
#include <support/binary.hpp>
#include <support/nearest2_checks.cuh>
#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// The judges that reject ties, without which there are no tensor cores; and every best that is not tied.
std::vector<binary_judge> untied_judges(int width) {
  std::vector<binary_judge> judges = binary_judges(width);
  judges.erase(std::remove_if(judges.begin(), judges.end(), [](const binary_judge& judge) { return judge.ratio > 1; }),
               judges.end());
  judges.push_back({1.0f, 4097});
  return judges;
}

/// Requires the lists by mma.sync to be the reference's or, where that takes long, those of the classic path, by all
/// these judges. Returns the matches in all.
template <int Width>
std::size_t check_images(const two_images<bits8>& images, const std::vector<match_options>& grid, int gap = 0,
                         const std::vector<binary_judge>& judges = untied_judges(Width)) {
  const device_descriptors<bits8> left(images.left, gap), right(images.right, gap);
  std::size_t matches = 0;
  for (const binary_judge& judge : judges) {
    for (const match_options& o : grid) {
      INFO(images.left.count << " x " << images.right.count << ", width " << Width << ", gap " << gap << ", " << judge
                             << ", cross_check " << o.cross_check << ", max_matches " << o.max_matches
                             << ", max_features " << o.max_features);
      const auto expected = is_small(images.left, images.right) ? expected_binary_match(images, judge, o)
                                                                : judged_list<hamming_policy_for<Width>>(
                                                                      left.view(), right.view(), judge.acceptance(), o);
      REQUIRE_SAME(judged_list<bits_policy<Width>>(left.view(), right.view(), judge.acceptance(), o), expected);
      matches += expected.size();
    }
  }
  return matches;
}

template <int Width>
std::size_t check_images(input_kind kind, std::uint64_t seed, std::int64_t rows, std::int64_t columns,
                         const std::vector<match_options>& grid, int gap = 0,
                         const std::vector<binary_judge>& judges = untied_judges(Width)) {
  INFO("seed " << seed << ": " << name(kind));
  random_source random(seed);
  return check_images<Width>(random_images<bits8>(kind, random, rows, columns, Width), grid, gap, judges);
}

/// Cross-check and none.
std::vector<match_options> two_options() {
  std::vector<match_options> options(2);
  options[1].cross_check = false;
  return options;
}

/// Bits of `width` bytes of which the first `used` are random and the others 0.
descriptors<bits8> padded_bits(random_source& random, std::int64_t count, int used, int width) {
  descriptors<bits8> image(count, width);
  for (std::int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < used; ++k) image[i][k] = static_cast<bits8>(random.below(256));
  }
  return image;
}

}  // namespace

TEMPLATE_TEST_CASE("lists of bits by mma.sync equal the reference's and the classic path's", "[binary]", bits_path<32>,
                   bits_path<64>, bits_path<128>) {
  using path = TestType;
  constexpr int Width = path::width;
  std::uint64_t seed = 300;
  std::size_t matches = 0;
  SECTION("every kind of input, dense and with gaps") {
    for (const input_kind kind : kinds_of_run()) {
      for (const int gap : {0, 16}) {
        matches += check_images<Width>(kind, ++seed, 150, 200, small_run() ? two_options() : binary_options(), gap);
        if (!small_run()) matches += check_images<Width>(kind, ++seed, 777, 1001, two_options(), gap);
      }
    }
  }
  SECTION("sizes around the edges of tiles, warps, windows and chunks") {
    std::vector<std::int64_t> sizes{1, 2, 15, 17, 255, 257, 511, 513};
    for (const std::int64_t edge : {path::tile_rows, path::tile_columns, 4 * path::tile_columns}) {
      for (const std::int64_t size : {edge - 1, edge, edge + 1}) sizes.push_back(size);
    }
    if (small_run()) sizes = {1, path::tile_columns + 1, 2 * path::tile_columns - 1};
    const std::vector<binary_judge> judges = untied_judges(Width);
    for (const std::int64_t rows : sizes) {
      for (const std::int64_t columns : sizes) {
        ++seed;
        for (const input_kind kind : {input_kind::planted, input_kinds[seed % std::size(input_kinds)]}) {
          matches += check_images<Width>(kind, seed, rows, columns, two_options(), 0, {judges[seed % judges.size()]});
        }
      }
    }
  }
  SECTION("large and very unequal images") {
    if (small_run()) return;
    struct shape {
      std::int64_t rows, columns;
    };
    for (const shape s : std::vector<shape>{{3, 70000}, {70000, 3}, {300, 140000}, {10000, 333}, {9000, 11000}}) {
      for (const input_kind kind : {input_kind::planted, input_kind::repeated}) {
        matches += check_images<Width>(kind, ++seed, s.rows, s.columns, two_options());
      }
    }
  }
  CHECK(matches > (tiny_run() ? 20 : 100));  // the inputs do hold matches
}

TEST_CASE("two thousand random small problems of bits by mma.sync equal the host", "[binary]") {
  constexpr std::uint64_t first_seed = 4000000;
  const auto problems = by_run_size<std::uint64_t>(2000, 200, 10);
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first_seed),
              static_cast<unsigned long long>(first_seed + problems - 1));
  std::size_t matches = 0;
  const auto check = [&](auto width, std::uint64_t seed) {
    constexpr int bytes = decltype(width)::value;
    random_source random(seed);
    const auto size = [&] { return 1 + random.below(random.below(2) == 0 ? 40 : 400); };
    const std::int64_t rows = size(), columns = size();
    const input_kind kind = input_kinds[random.below(std::size(input_kinds))];
    const auto images = random_images<bits8>(kind, random, rows, columns, bytes);
    const float ratios[] = {0.5f, 0.8f, 0.95f, 1.0f};
    const int limits[] = {bytes, 2 * bytes, 4 * bytes, 4097};
    const binary_judge judge{ratios[random.below(4)], limits[random.below(4)]};
    match_options options;
    options.cross_check = random.below(3) != 0;
    if (random.below(8) == 0) options.max_matches = random.below(400);
    if (random.below(8) == 0) options.max_features = random.below(400);
    INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << bytes << ", "
                 << judge << ", cross_check " << options.cross_check << ", max_matches " << options.max_matches
                 << ", max_features " << options.max_features);
    std::vector<match_pair> expected(static_cast<std::size_t>(rows));
    std::uint32_t count = 0;
    require_ok(host::match(images.left.view(), images.right.view(), options, judge.acceptance(),
                           match_output{expected.data(), rows, &count}, 1));
    expected.resize(count);
    matches += count;
    const int gap = static_cast<int>(random.below(3)) * 16;
    const device_descriptors<bits8> left(images.left, gap), right(images.right, gap);
    REQUIRE_SAME(judged_list<bits_policy<bytes>>(left.view(), right.view(), judge.acceptance(), options), expected);
  };
  for (std::uint64_t seed = first_seed; seed < first_seed + problems; ++seed) {
    if (seed % 2 == 0) {
      check(std::integral_constant<int, 32>(), seed);
    } else {
      check(std::integral_constant<int, 64>(), seed);
    }
  }
  if (!tiny_run()) CHECK(matches > 2 * problems);
}

TEST_CASE("the bits that AKAZE does not have change nothing by mma.sync", "[binary]") {
  random_source random(61);
  const two_images<bits8> images{padded_bits(random, 333, 61, 64), padded_bits(random, 400, 61, 64)};
  CHECK(check_images<64>(images, two_options()) > 100);
  const device_descriptors<bits8> left(images.left), right(images.right);
  const auto states = nearest2_of<bits_path<64>>(left.view(), right.view(), false).rows;
  for (std::int64_t i = 0; i < images.left.count; ++i) {
    int least = 4097, next = 4097;
    for (std::int64_t j = 0; j < images.right.count; ++j) {
      int distance = 0;
      for (int k = 0; k < 61; ++k) {
        for (int x = static_cast<int>(images.left[i][k]) ^ static_cast<int>(images.right[j][k]); x != 0; x &= x - 1) {
          ++distance;
        }
      }
      next = std::min(next, std::max(least, distance));
      least = std::min(least, distance);
    }
    const top2& state = states[static_cast<std::size_t>(i)];
    REQUIRE(hamming_distance(state.best) == least);
    REQUIRE(hamming_distance(state.second) == next);
  }
}

TEST_CASE("an automatic policy of bits takes mma.sync where the GPU has it, and is right by any path", "[binary]") {
  using automatic = automatic_policy<32, bits8>;
  int device = 0, major = 0;
  require_cuda(cudaGetDevice(&device));
  require_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  const match_path best = major == 8 || major == 9 ? match_path::mma : match_path::classic;

  random_source random(12);
  const auto images = random_images<bits8>(input_kind::planted, random, 3100, 3150, 32);
  const device_descriptors<bits8> left(images.left), right(images.right), few(padded_bits(random, 60, 32, 32));
  CHECK((device::path_of_nearest2<automatic>(3100, 3150, false) == best));
  CHECK((device::path_of_nearest2<automatic>(3100, 3150, true) == match_path::classic));
  CHECK((device::path_of_nearest2<automatic>(5400, 5500, true) == best));
  CHECK((device::path_of_match<automatic>(left.view(), right.view(), {}) == best));
  CHECK((device::path_of_match<automatic>(left.view(), few.view(), {}) == match_path::classic));
  CHECK((device::path_of_match<hamming_policy_for<32>>(left.view(), right.view(), {}) == match_path::classic));

  basic_matcher<automatic> matcher;
  for (const binary_judge& judge : binary_judges(32)) {
    INFO(judge);
    const auto expected = judged_list<hamming_policy_for<32>>(left.view(), right.view(), judge.acceptance(),
                                                              {});  // by classic, ties or not
    REQUIRE_SAME(matcher.match(images.left.view(), images.right.view(), judge.acceptance()).pairs, expected);
  }
  const auto expected = expected_nearest2<tie_break::smallest_index>(images.left, images.right);
  for (const bool with_columns : {false, true}) {  // by mma.sync and by the classic path
    const auto states = matcher.nearest2(images.left.view(), images.right.view(), with_columns);
    REQUIRE_SAME(states.rows, expected.rows);
    if (with_columns) REQUIRE_SAME(states.columns, expected.columns);
  }
}
