// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <serac/compat/sift_match_gpu.hpp>
#include <serac/host/matcher.hpp>
#include <support/golden.hpp>
#include <support/guided.hpp>
#include <support/options.hpp>
#include <support/random.hpp>

using namespace serac;
using namespace serac::test;
using serac::compat::SiftMatchGPU;

namespace {

using match_vector = std::vector<match_pair>;

/// A matcher and the reasons that it gave. It stays where it is.
struct logged_matcher {
  SiftMatchGPU gpu;
  std::vector<std::string> reasons;

  explicit logged_matcher(int max_sift = 32768) : gpu(max_sift) {
    gpu.SetLog([this](const std::string& reason) { reasons.push_back(reason); });
  }

  void set(int index, const descriptors<>& image, int id = -1) {
    gpu.SetDescriptors(index, static_cast<int>(image.count), image.data.data(), id);
  }
  void set(int index, const descriptors<>& image, const std::vector<float>& points) {
    set(index, image);
    gpu.SetFeatureLocation(index, points.data());
  }

  /// What `call(max_match, buffer)` writes, which is no more than it says.
  template <class Call>
  match_vector list(int max_match, Call call) {
    const std::uint32_t untouched = 0xCDCDCDCD;
    match_vector pairs(static_cast<std::size_t>(max_match) + 1, {untouched, untouched});
    const int count = call(max_match, reinterpret_cast<std::uint32_t(*)[2]>(pairs.data()));
    for (const std::string& reason : reasons) UNSCOPED_INFO(reason);
    REQUIRE(count >= 0);
    REQUIRE(count <= max_match);
    REQUIRE(pairs[static_cast<std::size_t>(count)] == match_pair{untouched, untouched});
    pairs.resize(static_cast<std::size_t>(count));
    return pairs;
  }
  match_vector match(const match_options& o = {}, int max_match = 32768) {
    return list(max_match, [&](int most, std::uint32_t(*buffer)[2]) {
      return gpu.GetSiftMatch(most, buffer, o.max_distance, o.max_ratio, o.cross_check);
    });
  }
  match_vector match_guided(const two_view_geometry& g, const match_options& o = {}, int max_match = 32768) {
    return list(max_match, [&](int most, std::uint32_t(*buffer)[2]) {
      return gpu.GetGuidedSiftMatch(most, buffer, g.has_homography ? g.homography.matrix : nullptr,
                                    g.has_epipolar ? g.epipolar.matrix : nullptr, o.max_distance, o.max_ratio,
                                    g.homography.max_squared_error, g.epipolar.max_squared_error, o.cross_check);
    });
  }
};

match_vector on_host(const descriptors<>& left, const descriptors<>& right, const match_options& options = {}) {
  return host::matcher(options).match(left.view(), right.view()).pairs;
}

/// The first `count` features.
descriptors<> first_of(const descriptors<>& image, std::int64_t count) {
  descriptors<> first(count);
  first.data.assign(image.data.begin(), image.data.begin() + count * 128);
  return first;
}

two_images<> planted(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  random_source random(seed);
  return random_images(input_kind::planted, random, rows, columns, 128);
}

}  // namespace

TEST_CASE("the class makes COLMAP's lists of real images, bit for bit", "[survey8]") {
  if (!survey8_present()) return;
  const std::string directory = real_data_directory();
  const auto images = read_survey8(directory);
  for (const golden_set& set : golden_sets) {
    INFO("golden/" << set.name);
    logged_matcher matcher;
    list_file file;
    for (std::uint32_t i = 0; i < images.size(); ++i) {
      matcher.set(0, images[i]);
      for (std::uint32_t j = i + 1; j < images.size(); ++j) {
        matcher.set(1, images[j]);
        file.add(i, j, matcher.match(set.options()));
      }
    }
    record_hash(set.name, "compat", file.bytes());
    check_golden(directory, set.name, set.stored, file.bytes());
  }
}

TEST_CASE("the class makes COLMAP's 51 guided lists of real images, bit for bit", "[survey8]") {
  if (!survey8_present()) return;
  const std::string directory = real_data_directory();
  const auto images = read_survey8(directory);
  const auto points = read_survey8_points(directory);
  logged_matcher matcher;
  list_file file;
  for (const guided_case& c : read_guided_cases(directory)) {
    matcher.set(0, images[c.i], points[c.i]);
    matcher.set(1, images[c.j], points[c.j]);
    file.add(c.i, c.j, matcher.match_guided(c.geometry));
  }
  record_hash("guided", "compat", file.bytes());
  check_golden(directory, "guided", true, file.bytes());
}

TEST_CASE("a GPU that matches is a usable context", "[compat]") {
  logged_matcher matcher;
  CHECK(matcher.gpu.VerifyContextGL() != 0);
  CHECK(matcher.gpu.CreateContextGL() != 0);
  CHECK(matcher.gpu.Allocate(5000, 1) != 0);
  CHECK(matcher.gpu.GetMaxSift() == 5024);
  CHECK(matcher.reasons.empty());

  matcher.gpu.SetLanguage(SiftMatchGPU::SIFTMATCH_CUDA_DEVICE0 + 1000);
  CHECK(matcher.gpu.VerifyContextGL() == 0);
  CHECK(matcher.gpu.Allocate(5000, 1) == 0);
  REQUIRE(matcher.reasons.size() == 2);
  CHECK(matcher.reasons[0].find("SiftMatchGPU::VerifyContextGL: ") == 0);
  matcher.gpu.SetLanguage(SiftMatchGPU::SIFTMATCH_CUDA_DEVICE0);
  CHECK(matcher.gpu.VerifyContextGL() != 0);
}

TEST_CASE("options of every call are those of the lists", "[compat]") {
  const auto images = planted(1, 700, 900);
  logged_matcher matcher;
  matcher.set(0, images.left), matcher.set(1, images.right);
  for (const match_options& options : few_if_tiny(all_options({0.8f, 0.95f, 1.0f}, {0.25f, 0.7f, 3.2f}), 3)) {
    INFO("ratio " << options.max_ratio << " distance " << options.max_distance << " mutual " << options.cross_check);
    REQUIRE_SAME(matcher.match(options), on_host(images.left, images.right, options));
  }
  match_options ties;
  ties.max_ratio = 1.1f;
  const auto repeated = [] {
    random_source random(2);
    return random_images(input_kind::repeated, random, 300, 400, 128);
  }();
  matcher.set(0, repeated.left), matcher.set(1, repeated.right);
  host::basic_matcher<std::uint8_t, tie_break::siftgpu> by_colmaps_ties(ties);
  REQUIRE_SAME(matcher.match(ties), by_colmaps_ties.match(repeated.left.view(), repeated.right.view()).pairs);
}

TEST_CASE("an id says that data is unchanged", "[compat]") {
  const auto old = planted(3, 500, 600), other = planted(4, 500, 600);
  logged_matcher matcher;
  matcher.set(0, old.left, 7), matcher.set(1, old.right, 8);
  const match_vector before = matcher.match();
  REQUIRE_SAME(before, on_host(old.left, old.right));
  REQUIRE_FALSE(before.empty());
  matcher.set(0, other.left, 7), matcher.set(1, other.right, 8);
  REQUIRE_SAME(matcher.match(), before);
  matcher.set(0, other.left, 8), matcher.set(1, other.right, 9);
  REQUIRE_SAME(matcher.match(), on_host(other.left, other.right));
  matcher.set(0, old.left), matcher.set(1, old.right);
  REQUIRE_SAME(matcher.match(), before);
  matcher.set(0, other.left), matcher.set(1, other.right);
  REQUIRE_SAME(matcher.match(), on_host(other.left, other.right));
}

TEST_CASE("features beyond the maximum and matches beyond max_match are left out, the first ones kept", "[compat]") {
  const auto images = planted(5, 700, 650);
  match_options options;
  options.cross_check = false;
  logged_matcher matcher(100);
  CHECK(matcher.gpu.GetMaxSift() == 128);
  matcher.set(0, images.left, 1), matcher.set(1, images.right, 2);
  REQUIRE_SAME(matcher.match(options), on_host(first_of(images.left, 128), first_of(images.right, 128), options));

  matcher.gpu.SetMaxSift(640);  // the same id, but more of the image is wanted
  matcher.set(0, images.left, 1), matcher.set(1, images.right, 2);
  const match_vector all = matcher.match(options);
  REQUIRE_SAME(all, on_host(first_of(images.left, 640), first_of(images.right, 640), options));
  REQUIRE(all.size() > 20);
  for (const int most : {0, 1, 19, static_cast<int>(all.size()) - 1, static_cast<int>(all.size())}) {
    REQUIRE_SAME(matcher.match(options, most), match_vector(all.begin(), all.begin() + most));
  }

  matcher.gpu.SetMaxSift(64);  // what is set is looked at no further
  REQUIRE_SAME(matcher.match(options), on_host(first_of(images.left, 64), first_of(images.right, 64), options));
  CHECK(matcher.reasons.empty());
}

TEST_CASE("descriptors of norm 1 become int(512 x + 0.5)", "[compat]") {
  const auto images = planted(6, 600, 700);
  random_source random(6);
  const auto floats_of = [&](const descriptors<>& image) {
    std::vector<float> floats;
    for (const std::uint8_t x : image.data) {
      const double off = x == 255 ? random.unit() : random.unit() * 0.98 - 0.49;  // more than 255 is 255
      floats.push_back(static_cast<float>((x + off) / 512));
    }
    return floats;
  };
  match_options options;
  options.max_ratio = 0.95f, options.cross_check = false;
  const auto left = floats_of(images.left), right = floats_of(images.right);
  logged_matcher matcher;
  matcher.gpu.SetDescriptors(0, 600, left.data(), 1);
  matcher.gpu.SetDescriptors(1, 700, right.data(), 2);
  const match_vector list = matcher.match(options);
  REQUIRE_SAME(list, on_host(images.left, images.right, options));
  REQUIRE_FALSE(list.empty());

  const std::vector<float> others(left.size(), 0.1f);
  matcher.gpu.SetDescriptors(0, 600, others.data(), 1);  // the same id
  REQUIRE_SAME(matcher.match(options), list);
}

TEST_CASE("guided lists are the host's, whatever stands between locations", "[compat]") {
  for (const char* const kind : few_if_tiny<const char*>(
           {"none", "tilted plane, horizon in the image", "epipole inside", "homography and epipolar"}, 2)) {
    INFO(kind);
    random_source random(9);
    const guided_problem<> problem = random_guided(kind, random, 800, 700);
    const auto expected = host::matcher().match_guided(problem.left.view(), problem.right.view(), problem.guide());
    for (const int gap : few_if_tiny<int>({0, 2, 4}, 1)) {
      INFO("gap " << gap);
      const auto spread = [&](const std::vector<float>& points) {
        std::vector<float> spread;
        for (std::size_t i = 0; i < points.size(); i += 2) {
          if (i > 0) spread.insert(spread.end(), static_cast<std::size_t>(gap), -1.0f);
          spread.insert(spread.end(), {points[i], points[i + 1]});
        }
        return spread;
      };
      const auto left = spread(problem.left_points), right = spread(problem.right_points);
      logged_matcher matcher;
      matcher.set(0, problem.left), matcher.set(1, problem.right);
      matcher.gpu.SetFeatureLocation(0, left.data(), gap);
      matcher.gpu.SetFeautreLocation(1, right.data(), gap);
      REQUIRE_SAME(matcher.match_guided(problem.geometry), expected.pairs);
    }
  }
}

TEST_CASE("locations stay with unchanged data and go with other data", "[compat]") {
  random_source random(10);
  const guided_problem<> problem = random_guided("epipole inside", random, 300, 300);
  const auto& F = problem.geometry.epipolar.matrix;
  logged_matcher matcher;
  matcher.set(0, problem.left, 1), matcher.set(1, problem.right, 2);
  matcher.gpu.SetFeatureLocation(0, problem.left_points.data());
  matcher.gpu.SetFeatureLocation(1, problem.right_points.data());
  const match_vector list = matcher.match_guided(problem.geometry);
  matcher.set(0, problem.left, 1), matcher.set(1, problem.right, 2);
  REQUIRE_SAME(matcher.match_guided(problem.geometry), list);
  matcher.set(1, problem.right, 3);
  std::uint32_t buffer[1][2];
  CHECK(matcher.gpu.GetGuidedSiftMatch(1, buffer, nullptr, F) == -1);
  REQUIRE(matcher.reasons.size() == 1);
  CHECK(matcher.reasons[0] == "SiftMatchGPU::GetGuidedSiftMatch: the locations of image 1 are not set");
  CHECK(matcher.gpu.GetGuidedSiftMatch(1, buffer, nullptr, nullptr) >= 0);
}

TEST_CASE("a maximum of 0, as COLMAP has it where there are no features", "[compat]") {
  const auto images = planted(14, 40, 50);
  logged_matcher matcher(0);
  CHECK(matcher.gpu.VerifyContextGL() != 0);
  CHECK(matcher.gpu.Allocate(0, 1) != 0);
  CHECK(matcher.gpu.GetMaxSift() == 0);
  matcher.set(0, images.left), matcher.set(1, images.right);
  CHECK(matcher.gpu.GetSiftMatch(0, nullptr) == 0);
  CHECK(matcher.gpu.GetSiftMatch(-1, nullptr) == -1);
  CHECK(matcher.reasons.size() == 1);
  matcher.gpu.SetMaxSift(2147483647);
  CHECK(matcher.gpu.GetMaxSift() == 2147483616);
}

TEST_CASE("images without features have no matches", "[compat]") {
  const auto images = planted(11, 40, 50);
  logged_matcher matcher;
  matcher.set(0, descriptors<>(0)), matcher.set(1, images.right);
  CHECK(matcher.match().empty());
  matcher.gpu.SetFeatureLocation(0, nullptr);
  const std::vector<float> points(100);
  matcher.gpu.SetFeatureLocation(1, points.data());
  CHECK(matcher.match_guided(two_view_geometry(homography{{1, 0, 0, 0, 1, 0, 0, 0, 1}, 16})).empty());
  matcher.set(0, images.left), matcher.set(1, descriptors<>(0));
  CHECK(matcher.match().empty());
  CHECK(matcher.reasons.empty());
}

TEST_CASE("memory grows with the features, not with their pairs", "[compat]") {
  const auto count = by_run_size<std::int64_t>(100000, 5000, 2100);
  random_source random(15);
  const descriptors<> left = sift_like(random, count);
  descriptors<> right(count);
  for (std::int64_t i = 0; i < count; ++i) right.assign(i, left, count - 1 - i);
  logged_matcher matcher(static_cast<int>(count));
  matcher.set(0, first_of(left, 1)), matcher.set(1, first_of(right, 1));
  matcher.match();  // the kernels are loaded
  const auto free_memory = [] {
    std::size_t free = 0, total = 0;
    REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
    return free;
  };
  const std::size_t before = free_memory();
  matcher.set(0, left), matcher.set(1, right);
  match_options options;
  options.max_ratio = 1, options.max_distance = 3.2f;  // rows that were cut off at 255 match themselves, too
  const match_vector list = matcher.match(options, static_cast<int>(count));
  const std::size_t after = free_memory();
  if (!small_run()) {  // a sanitizer takes memory too, and programs run beside each other there
    CHECK(before - (std::min)(before, after) < static_cast<std::size_t>(2 * count * 128) + (std::size_t{64} << 20));
  }
  match_vector all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(count - 1 - i)});
  }
  REQUIRE_SAME(list, all);
}

TEST_CASE("what is wrong is said, and the matcher stays usable", "[compat]") {
  const auto images = planted(12, 60, 70);
  logged_matcher matcher;
  std::uint32_t buffer[100][2];
  const auto requires_reason = [&](const std::string& reason) {
    REQUIRE(matcher.reasons.size() == 1);
    CHECK(matcher.reasons[0] == "SiftMatchGPU::" + reason);
    matcher.reasons.clear();
  };
  CHECK(matcher.gpu.GetSiftMatch(100, buffer) == -1);
  requires_reason("GetSiftMatch: the descriptors of image 0 are not set");
  matcher.set(2, images.left);
  requires_reason("SetDescriptors: index is 2, not 0 or 1");
  matcher.gpu.SetDescriptors(0, -1, images.left.data.data());
  requires_reason("SetDescriptors: count is -1");
  matcher.gpu.SetDescriptors(0, 1, static_cast<const float*>(nullptr));
  requires_reason("SetDescriptors: descriptors is null");
  matcher.gpu.SetFeatureLocation(0, nullptr);
  requires_reason("SetFeatureLocation: the image's descriptors are not set");
  matcher.gpu.SetMaxSift(-1);
  requires_reason("SetMaxSift: max_sift is -1");

  matcher.set(0, images.left), matcher.set(1, images.right);
  matcher.gpu.SetFeatureLocation(0, nullptr);
  requires_reason("SetFeatureLocation: locations is null");
  CHECK(matcher.gpu.GetSiftMatch(100, nullptr) == -1);
  requires_reason("GetSiftMatch: buffer is null");
  CHECK(matcher.gpu.GetSiftMatch(-1, buffer) == -1);
  requires_reason("GetSiftMatch: max_match is -1");
  CHECK(matcher.gpu.GetSiftMatch(100, buffer, 0.0f) == -1);
  requires_reason("GetSiftMatch: serac: options.max_distance is out of its range");
  CHECK(matcher.gpu.GetSiftMatch(100, buffer, 0.7f, -1.0f) == -1);
  requires_reason("GetSiftMatch: serac: options.max_ratio is out of its range");
  REQUIRE_SAME(matcher.match(), on_host(images.left, images.right));
}

TEST_CASE("a matcher can be moved into one that has worked", "[compat]") {
  const auto images = planted(13, 200, 220);
  SiftMatchGPU matcher;
  matcher.SetDescriptors(0, 200, images.left.data.data());
  matcher = SiftMatchGPU(1000);
  matcher.SetDescriptors(0, 200, images.left.data.data());
  matcher.SetDescriptors(1, 220, images.right.data.data());
  SiftMatchGPU moved(std::move(matcher));
  match_vector pairs(200);
  const int count = moved.GetSiftMatch(200, reinterpret_cast<std::uint32_t(*)[2]>(pairs.data()));
  REQUIRE(count >= 0);
  pairs.resize(static_cast<std::size_t>(count));
  REQUIRE_SAME(pairs, on_host(images.left, images.right));
}

TEST_CASE("threads match with an object each", "[compat]") {
  constexpr int threads = 4;
  const int rounds = by_run_size(10, 4, 2);
  std::vector<two_images<>> images;
  std::vector<match_vector> expected;
  for (int t = 0; t < threads * 2; ++t) {
    images.push_back(planted(20 + static_cast<std::uint64_t>(t), 300 + 100 * t, 900 - 50 * t));
    expected.push_back(on_host(images.back().left, images.back().right));
  }
  std::vector<int> right(threads, 0);
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      SiftMatchGPU matcher(2000);
      for (int round = 0; round < rounds; ++round) {
        const std::size_t at = static_cast<std::size_t>(2 * t + round % 2);
        matcher.SetDescriptors(0, static_cast<int>(images[at].left.count), images[at].left.data.data());
        matcher.SetDescriptors(1, static_cast<int>(images[at].right.count), images[at].right.data.data());
        match_vector pairs(2000);
        const int count = matcher.GetSiftMatch(2000, reinterpret_cast<std::uint32_t(*)[2]>(pairs.data()));
        pairs.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
        right[static_cast<std::size_t>(t)] += count >= 0 && pairs == expected[at];
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(right == std::vector<int>(threads, rounds));
}
