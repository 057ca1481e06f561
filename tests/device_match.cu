// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <serac/acceptance.hpp>
#include <support/cases.hpp>
#include <support/gpu.cuh>
#include <support/options.hpp>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

namespace {

/// A policy that no other test of this program uses: its kernels are not loaded before the capture.
using first_used_in_a_graph = path_of<tile<32, 64>>;

std::vector<match_options> option_grid() {
  std::vector<match_options> grid = all_options({0.5f, 0.8f, 0.95f, 1.0f, 1.1f}, {0.7f, 3.2f});
  for (const std::int64_t limit : {0, 1, 60}) {
    for (const bool cross_check : {true, false}) {
      match_options matches, features;
      matches.max_matches = limit, features.max_features = limit;
      matches.cross_check = features.cross_check = cross_check;
      matches.max_ratio = features.max_ratio = 1.1f;
      grid.push_back(matches);
      grid.push_back(features);
    }
  }
  return grid;
}

/// Accepts by how far the best is ahead of the second.
struct margin {
  std::int32_t least;
  SERAC_HOST_DEVICE bool operator()(std::int32_t best, std::int32_t second) const { return best - second > least; }
};

/// The list of the reference's states that `accept` makes.
template <class Tie, class Acceptance>
std::vector<match_pair> judged(const descriptors<>& left, const descriptors<>& right, bool cross_check,
                               Acceptance accept) {
  const nearest2_list states = reference::nearest2<Tie>(left.view(), right.view());
  const auto accepted = [&](const top2& s) { return s.index >= 0 && accept(s.best, s.second); };
  std::vector<match_pair> pairs;
  for (std::uint32_t i = 0; i < states.rows.size(); ++i) {
    const top2& row = states.rows[i];
    if (!accepted(row)) continue;
    const auto j = static_cast<std::uint32_t>(row.index);
    const top2& column = states.columns[j];
    if (cross_check && (!accepted(column) || column.index != static_cast<std::int32_t>(i))) continue;
    pairs.push_back({i, j});
  }
  return pairs;
}

}  // namespace

TEMPLATE_TEST_CASE("case 39: a captured match, replayed with new inputs", "[match]", first_used_in_a_graph,
                   path_of<sift>, path_of<default_policy>) {
  check_capture<TestType>();
}

TEMPLATE_TEST_CASE("match equals the reference on random problems of every kind", "[match]", path_of<default_policy>,
                   path_of<sift>, path_of<tile_48x96>, path_of<siftgpu_ties<tile_32x32>>,
                   path_of<siftgpu_ties<signed_bytes<sift>>>) {
  using path = TestType;
  using T = typename path::element;
  std::uint64_t seed = 500;
  std::size_t matches = 0;
  for (const input_kind kind : kinds_of_run()) {
    for (int repeat = 0; repeat < (small_run() ? 1 : 3); ++repeat) {
      random_source random(++seed);
      const std::int64_t rows = 1 + random.below(200), columns = 1 + random.below(200);
      const int gap = repeat * path::load_bytes;
      INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", gap " << gap);
      const two_images<T> images = random_images<T>(kind, random, rows, columns, path::width);
      for (const match_options& o : few_if_tiny(option_grid(), 4)) {
        INFO("max_ratio " << o.max_ratio << ", max_distance " << o.max_distance << ", cross_check " << o.cross_check
                          << ", max_matches " << o.max_matches << ", max_features " << o.max_features);
        const auto expected = expected_match<typename path::tie>(images.left, images.right, o);
        REQUIRE_SAME(match_of<path>(images.left, images.right, o, gap), expected);
        matches += expected.size();
      }
    }
  }
  if (!tiny_run()) CHECK(matches > 100);  // the inputs do hold matches
}

TEST_CASE("match of so many rows that their counts are scanned in several chunks", "[match]") {
  using path = path_of<default_policy>;
  constexpr std::int64_t rows = 256 * 1024 + 300, columns = 33;  // more than scan_threads blocks of compact_threads
  random_source random(8);
  const auto right = sift_like(random, columns);
  auto left = random_bytes(random, rows);
  plant_matches(random, right, left, 2);
  match_options options;
  options.cross_check = false;
  const auto expected = expected_match<path::tie>(left, right, options);
  CHECK(expected.size() > 100000);
  CHECK(expected.back().row > 256 * 1024);
  REQUIRE_SAME(match_of<path>(left, right, options), expected);

  options.max_matches = static_cast<std::int64_t>(expected.size()) - 1;  // ends in the last chunk
  REQUIRE_SAME(match_of<path>(left, right, options), expected_match<path::tie>(left, right, options));
}

TEST_CASE("match takes an acceptance of the caller's", "[match]") {
  using path = path_of<default_policy>;
  using view = path::view;
  random_source random(3);
  const auto images = random_images(input_kind::planted, random, 150, 270, 128);
  const device_descriptors<> left(images.left), right(images.right);
  for (const bool cross_check : {true, false}) {
    CAPTURE(cross_check);
    match_options options;
    options.cross_check = cross_check;
    match_run<path> run(left.view(), right.view(), options);
    const auto list_by = [&](auto accept) {
      run.poison();
      run.launch(nullptr, [&](const view& l, const view& r, const match_options& o, const match_output& out, void* work,
                              std::size_t bytes, cudaStream_t stream) {
        return device::match(l, r, o, accept, out, work, bytes, stream);
      });
      return run.list();
    };

    // A ratio and a distance that are not the options'.
    const angular_acceptance formula{0.95f, 0.5f};
    const acceptance_table table(formula.max_ratio, formula.max_distance);
    const device_array<std::int32_t> limits(table.limits());
    match_options same = options;
    same.max_ratio = formula.max_ratio, same.max_distance = formula.max_distance;
    const auto expected = reference::match(images.left.view(), images.right.view(), same).pairs;
    REQUIRE_SAME(list_by(formula), expected);
    REQUIRE_SAME(list_by(acceptance_view{limits.data()}), expected);
    CHECK_FALSE(expected.empty());

    const margin ahead{20000};
    const auto wanted = judged<path::tie>(images.left, images.right, cross_check, ahead);
    REQUIRE_SAME(list_by(ahead), wanted);
    CHECK_FALSE(wanted.empty());
  }
}

TEST_CASE("match of an empty image writes the count 0", "[match]") {
  using path = path_of<default_policy>;
  random_source random(4);
  const auto some = random_bytes(random, 5);
  const descriptors<> none(0), nothing(0, 0);
  for (const descriptors<>* const empty : {&none, &nothing}) {
    CHECK(match_of<path>(*empty, some).empty());
    CHECK(match_of<path>(some, *empty).empty());
    CHECK(match_of<path>(*empty, *empty).empty());
  }
  match_options no_columns;
  no_columns.cross_check = false;
  CHECK(match_of<path>(some, none, no_columns).empty());

  const device_array<std::uint32_t> count(1);
  const match_output output{nullptr, 0, count.data()};
  require_ok(device::match({}, {}, {}, output, nullptr, 0, nullptr));
  CHECK(count.values()[0] == 0);
}

TEST_CASE("matches in flight on several streams do not meet", "[match]") {
  using path = path_of<default_policy>;
  constexpr int streams = 6;
  struct lane {
    explicit lane(std::uint64_t seed)
        : random(seed),
          images(random_images(input_kind::planted, random, 400 + 50 * static_cast<int>(seed), 700, 128)),
          left(images.left),
          right(images.right),
          run(left.view(), right.view()) {}
    random_source random;
    two_images<> images;
    device_descriptors<> left, right;
    match_run<path> run;
    test_stream stream;
  };
  std::vector<std::unique_ptr<lane>> lanes;
  std::vector<std::vector<match_pair>> expected;
  for (std::uint64_t seed = 0; seed < streams; ++seed) {
    lanes.push_back(std::make_unique<lane>(seed));
    expected.push_back(expected_match<path::tie>(lanes.back()->images.left, lanes.back()->images.right));
    CHECK_FALSE(expected.back().empty());
  }
  for (int repeat = 0; repeat < by_run_size(20, 2, 1); ++repeat) {
    INFO("repeat " << repeat);
    for (auto& l : lanes) l->run.poison();
    for (auto& l : lanes) l->run.launch(l->stream);
    for (std::size_t i = 0; i < lanes.size(); ++i) REQUIRE_SAME(lanes[i]->run.list(), expected[i]);
  }
}

TEMPLATE_TEST_CASE("case 17: a hundred repeats are equal, ties included", "[match]", path_of<tile_48x96>,
                   path_of<siftgpu_ties<tile_32x32>>) {
  using path = TestType;
  const std::int64_t rows = small_run() ? 300 : 1500, columns = small_run() ? 500 : 2000;
  random_source random(17);
  const auto repeat = [&](const two_images<>& images, const match_options& options) {
    const auto expected = expected_match<typename path::tie>(images.left, images.right, options);
    CHECK_FALSE(expected.empty());
    const device_descriptors<> left(images.left), right(images.right);
    match_run<path> run(left.view(), right.view(), options);
    for (int repeat = 0; repeat < by_run_size(100, 10, 2); ++repeat) {
      run.poison();
      run.launch();
      REQUIRE_SAME(run.list(), expected);
    }
  };
  SECTION("distinct rows") { repeat(random_images(input_kind::planted, random, rows, columns, 128), {}); }
  SECTION("nothing but ties") {
    // Rows of few kinds; every column is one of few noisy copies of them.
    const descriptors<> kinds = sift_like(random, 4);
    descriptors<> copies(7);
    plant_matches(random, kinds, copies, 1);
    two_images<> images{descriptors<>(rows), descriptors<>(columns)};
    for (std::int64_t i = 0; i < rows; ++i) images.left.assign(i, kinds, random.below(4));
    for (std::int64_t j = 0; j < columns; ++j) images.right.assign(j, copies, random.below(7));
    match_options options;
    options.max_ratio = 1.1f;
    options.cross_check = false;
    repeat(images, options);
  }
}
