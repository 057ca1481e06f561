// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <serac/host/matcher.hpp>
#include <support/cases.hpp>
#include <support/gpu.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// An image in managed memory, its descriptors `gap` bytes apart.
class managed_descriptors {
 public:
  explicit managed_descriptors(const descriptors<>& image, int gap = 0)
      : count_(image.count), width_(image.width), stride_(image.width + gap) {
    void* memory = nullptr;
    require_cuda(cudaMallocManaged(&memory, static_cast<std::size_t>(count_ * stride_)));
    memory_.reset(static_cast<std::uint8_t*>(memory));
    for (std::int64_t i = 0; i < count_; ++i) std::copy_n(image[i], width_, memory_.get() + i * stride_);
  }
  sift_view view() const { return {memory_.get(), count_, width_, stride_}; }

 private:
  struct free_memory {
    void operator()(std::uint8_t* memory) const { cudaFree(memory); }
  };
  std::int64_t count_;
  int width_;
  std::int64_t stride_;
  std::unique_ptr<std::uint8_t, free_memory> memory_;
};

/// An image in host memory of any alignment.
struct misaligned_descriptors {
  misaligned_descriptors(const descriptors<>& image, int offset, int gap)
      : count(image.count), width(image.width), stride(image.width + gap), start(offset) {
    memory.assign(static_cast<std::size_t>(offset + count * stride), poison_byte);
    for (std::int64_t i = 0; i < count; ++i) std::copy_n(image[i], width, memory.begin() + offset + i * stride);
  }
  sift_view view() const { return {memory.data() + start, count, width, stride}; }

  std::int64_t count;
  int width;
  std::int64_t stride;
  int start;
  std::vector<std::uint8_t> memory;
};

match_options with_ratio(float ratio) {
  match_options o;
  o.max_ratio = ratio;
  return o;
}

}  // namespace

TEMPLATE_TEST_CASE("one matcher serves images of changing size and kind as the host's does", "[matcher]",
                   default_policy, siftgpu_ties<tile_32x128>, siftgpu_ties<signed_bytes<sift>>) {
  using T = typename TestType::element;
  using tie = typename TestType::tie;
  const match_options options = with_ratio(1.1f);
  basic_matcher<TestType> matcher(options);
  host::basic_matcher<T, tie> host_matcher(options);
  std::uint64_t seed = 40;
  for (const input_kind kind : kinds_of_run()) {
    for (const auto& [rows, columns] :
         {std::pair{200, 3000}, std::pair{60, 300}, std::pair{5, 7}, std::pair{0, 4}, std::pair{4, 0}, std::pair{1300, 650}}) {
      if (small_run() && rows * columns >= 600000) continue;
      if (tiny_run() && rows < 60) continue;
      random_source random(++seed);
      INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns);
      const auto images = random_images<T>(kind, random, rows, columns, 128);
      const device_descriptors<T> left_on_device(images.left, 16), right_on_device(images.right);
      const auto left = images.left.view(), right = images.right.view();

      const auto expected = host_matcher.match(left, right);
      REQUIRE_SAME(matcher.match(left, right).pairs, expected.pairs);
      REQUIRE_SAME(matcher.match(left_on_device.view(), right).pairs, expected.pairs);
      REQUIRE_SAME(matcher.match(left, right_on_device.view()).pairs, expected.pairs);
      REQUIRE_SAME(matcher.match(left_on_device.view(), right_on_device.view()).pairs, expected.pairs);

      const auto states = host_matcher.nearest2(left, right, true);
      for (const auto& view : {left, left_on_device.view()}) {
        const auto got = matcher.nearest2(view, right, true);
        REQUIRE_SAME(got.rows, states.rows);
        REQUIRE_SAME(got.columns, states.columns);
      }
      const auto rows_only = matcher.nearest2(left, right);
      REQUIRE_SAME(rows_only.rows, states.rows);
      CHECK(rows_only.columns.empty());
    }
  }
}

TEST_CASE("a matcher takes host memory of any alignment, pinned and managed memory", "[matcher]") {
  random_source random(2);
  const auto images = random_images(input_kind::planted, random, 130, 260, 128);
  const auto expected = expected_match<tie_break::smallest_index>(images.left, images.right);
  REQUIRE_FALSE(expected.empty());
  matcher m;
  for (const int offset : {0, 1, 7}) {
    for (const int gap : {0, 3}) {
      const misaligned_descriptors left(images.left, offset, gap), right(images.right, offset + 1, 2 * gap);
      REQUIRE_SAME(m.match(left.view(), right.view()).pairs, expected);
    }
  }

  const managed_descriptors left(images.left), right(images.right, 32);
  REQUIRE_SAME(m.match(left.view(), right.view()).pairs, expected);
  REQUIRE_SAME(m.match(left.view(), images.right.view()).pairs, expected);

  void* pinned = nullptr;
  require_cuda(cudaMallocHost(&pinned, images.left.data.size()));
  std::copy(images.left.data.begin(), images.left.data.end(), static_cast<std::uint8_t*>(pinned));
  const auto list = m.match({static_cast<const std::uint8_t*>(pinned), 130}, right.view()).pairs;
  require_cuda(cudaFreeHost(pinned));
  REQUIRE_SAME(list, expected);
}

TEST_CASE("work on the legacy default stream comes first", "[matcher]") {
  random_source random(3);
  const auto images = random_images(input_kind::planted, random, 500, 500, 128);
  const auto expected = expected_match<tie_break::smallest_index>(images.left, images.right);
  const device_array<std::uint8_t> source(images.right.data);
  const device_descriptors<> left(images.left);
  device_array<std::uint8_t> right(images.right.data.size());
  matcher m;
  for (int repeat = 0; repeat < by_run_size(20, 2, 1); ++repeat) {
    right.poison();
    require_cuda(cudaMemcpyAsync(right.data(), source.data(), right.size(), cudaMemcpyDeviceToDevice, nullptr));
    REQUIRE_SAME(m.match(left.view(), {right.data(), 500}).pairs, expected);
  }
}

TEST_CASE("set_options takes effect on the next match", "[matcher]") {
  random_source random(2);
  const auto image = ten_of_162(random, 4);
  matcher m;
  CHECK(m.match(image.view(), image.view()).pairs == diagonal(4));
  match_options options;
  options.max_matches = 2;
  m.set_options(options);
  CHECK(m.match(image.view(), image.view()).pairs == diagonal(2));
  options.max_matches = 0;
  m.set_options(options);
  CHECK(m.match(image.view(), image.view()).pairs.empty());
  options = {};
  options.max_features = 3;
  m.set_options(options);
  const match_list cut = m.match(image.view(), image.view());
  CHECK(cut.pairs == diagonal(3));
  CHECK(cut.truncated);
  CHECK(m.nearest2(image.view(), image.view()).rows.size() == 4);
  options.max_features = 4;
  m.set_options(options);
  CHECK_FALSE(m.match(image.view(), image.view()).truncated);

  // Ratio and distance, each alone.
  const auto images = random_images(input_kind::planted, random, 200, 300, 128);
  for (const float ratio : few_if_tiny<float>({0.8f, 0.5f, 1.1f}, 1)) {
    for (const float distance : {0.7f, 0.045f, 3.2f}) {
      match_options o;
      o.max_ratio = ratio, o.max_distance = distance;
      m.set_options(o);
      CHECK(m.options().max_ratio == ratio);
      INFO("max_ratio " << ratio << ", max_distance " << distance);
      REQUIRE_SAME(m.match(images.left.view(), images.right.view()).pairs,
                   expected_match<tie_break::smallest_index>(images.left, images.right, o));
    }
  }
}

TEST_CASE("truncation of either image, and of both", "[matcher]") {
  random_source random(7);
  const auto images = random_images(input_kind::planted, random, 120, 250, 128);
  for (const std::int64_t cap : few_if_tiny<std::int64_t>({0, 1, 100, 120, 249, 250, 1000}, 3)) {
    match_options options;
    options.max_features = cap;
    matcher m(options);
    const auto expected =
        host::reference::match<tie_break::smallest_index>(images.left.view(), images.right.view(), options);
    const auto got = m.match(images.left.view(), images.right.view());
    CAPTURE(cap);
    REQUIRE_SAME(got.pairs, expected.pairs);
    CHECK(got.truncated == expected.truncated);
  }
}

TEST_CASE("release gives the memory back and the matcher goes on", "[matcher]") {
  if (small_run()) return;  // it takes a large image
  random_source random(4);
  const auto left = ten_of_162(random, 60000), right = ten_of_162(random, 20);
  matcher m;
  m.release();
  const auto expected = m.match(left.view(), right.view()).pairs;
  const std::size_t before = free_device_memory();
  m.release();
  CHECK(free_device_memory() >= before + (std::size_t{4} << 20));  // the left image had 7 MiB
  REQUIRE_SAME(m.match(left.view(), right.view()).pairs, expected);
  REQUIRE_SAME(m.match(right.view(), right.view()).pairs, diagonal(20));
}

TEST_CASE("a matcher moves with its memory, options and stream", "[matcher]") {
  random_source random(5);
  const auto images = random_images(input_kind::planted, random, 150, 200, 128);
  const auto left = images.left.view(), right = images.right.view();
  const auto list_at = [&](float ratio) {
    return expected_match<tie_break::smallest_index>(images.left, images.right, with_ratio(ratio));
  };
  REQUIRE(list_at(0.5f) != list_at(1.1f));

  matcher first(with_ratio(0.5f));
  REQUIRE_SAME(first.match(left, right).pairs, list_at(0.5f));
  matcher second(std::move(first));
  CHECK(second.options().max_ratio == 0.5f);
  REQUIRE_SAME(second.match(left, right).pairs, list_at(0.5f));

  matcher third(with_ratio(1.1f));
  REQUIRE_SAME(third.match(left, right).pairs, list_at(1.1f));
  third = std::move(second);
  CHECK(third.options().max_ratio == 0.5f);
  REQUIRE_SAME(third.match(left, right).pairs, list_at(0.5f));

  std::vector<matcher> several;
  for (const float ratio : {0.5f, 1.1f, 0.8f}) several.emplace_back(with_ratio(ratio));  // grows, so it moves them
  REQUIRE_SAME(several[0].match(left, right).pairs, list_at(0.5f));
  REQUIRE_SAME(several[1].match(left, right).pairs, list_at(1.1f));
  REQUIRE_SAME(several[2].match(left, right).pairs, list_at(0.8f));
}

TEST_CASE("two matchers in two threads", "[matcher]") {
  constexpr int workers = 2;
  const int repeats = by_run_size(100, 5, 2);
  two_images<> images[workers];
  std::vector<match_pair> expected[workers];
  for (int w = 0; w < workers; ++w) {
    random_source random(static_cast<std::uint64_t>(60 + w));
    images[w] = random_images(input_kind::planted, random, 400 + 300 * w, 900, 128);
    expected[w] = expected_match<tie_break::smallest_index>(images[w].left, images[w].right);
    REQUIRE_FALSE(expected[w].empty());
  }
  int equal[workers] = {};
  std::string thrown[workers];
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] {
      try {
        matcher m;
        for (int repeat = 0; repeat < repeats; ++repeat) {
          if (repeat % 10 == 4) m.release();
          equal[w] += m.match(images[w].left.view(), images[w].right.view()).pairs == expected[w];
        }
      } catch (const std::exception& e) {
        thrown[w] = e.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int w = 0; w < workers; ++w) {
    CHECK(thrown[w] == "");
    CHECK(equal[w] == repeats);
  }
}

TEST_CASE("a matcher on a device by its number leaves the current device as it was", "[matcher]") {
  random_source random(9);
  const auto image = ten_of_162(random, 10);
  int current = -1, devices = 0;
  require_cuda(cudaGetDevice(&current));
  require_cuda(cudaGetDeviceCount(&devices));
  for (int device = 0; device < devices; ++device) {
    CAPTURE(device);
    matcher m({}, device);
    CHECK(m.match(image.view(), image.view()).pairs == diagonal(10));
    int now = -1;
    require_cuda(cudaGetDevice(&now));
    CHECK(now == current);
  }
}
