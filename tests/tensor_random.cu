// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <vector>

#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;

namespace {

constexpr std::int64_t most_rows = 400;
constexpr int most_gap = 48;
constexpr std::size_t image_bytes = most_rows * (128 + most_gap);
constexpr std::size_t guard = 256;  // bytes behind a workspace

/// Mostly small, sometimes up to most_rows.
std::int64_t random_size(random_source& random) {
  const std::int64_t bounds[] = {8, 40, 80, 200, most_rows};
  return 1 + random.below(bounds[random.below(std::size(bounds))]);
}

match_options random_options(random_source& random) {
  const float ratios[] = {0.5f, 0.8f, 0.9f, 0.95f, 1.0f, 1.0f};
  const float distances[] = {0.25f, 0.7f, 1.2f, 3.2f};
  match_options o;
  o.max_ratio = ratios[random.below(std::size(ratios))];
  o.max_distance = distances[random.below(std::size(distances))];
  o.cross_check = random.below(3) != 0;
  if (random.below(8) == 0) o.max_matches = random.below(most_rows);
  if (random.below(8) == 0) o.max_features = random.below(most_rows);
  return o;
}

/// An image in device memory that the next one overwrites, without a canary but with poison in its gaps.
class image_slot {
 public:
  image_slot() : memory_(image_bytes) {}

  sift_view assign(const descriptors<>& image, int gap) {
    const std::int64_t stride = 128 + gap;
    std::vector<std::uint8_t> bytes(image_bytes, poison_byte);
    for (std::int64_t i = 0; i < image.count; ++i) std::copy_n(image[i], 128, bytes.begin() + i * stride);
    memory_.assign(bytes);
    return {memory_.data(), image.count, 128, stride};
  }

 private:
  device_array<std::uint8_t> memory_;
};

/// Matches by one policy in memory that every problem uses again.
template <class Policy>
class reused_run {
 public:
  reused_run() : pairs_(most_rows), count_(1), workspace_(most_workspace() + guard) {}

  std::vector<match_pair> list(const sift_view& left, const sift_view& right, const match_options& options) {
    pairs_.poison();
    count_.poison();
    workspace_.poison();
    const std::int64_t longest = std::min({left.count, options.max_features, options.max_matches});
    const std::size_t bytes = device::match_workspace<Policy>(left, right, options);
    REQUIRE(bytes + guard <= workspace_.size());
    require_ok(device::match<Policy>(left, right, options, {pairs_.data(), longest, count_.data()}, workspace_.data(),
                                     bytes, nullptr));
    std::vector<match_pair> pairs = pairs_.values();
    const std::uint32_t count = count_.values()[0];
    REQUIRE(count <= longest);
    REQUIRE(poisoned(pairs.data() + count, pairs.data() + pairs.size()));
    std::uint8_t behind[guard];
    require_cuda(cudaMemcpy(behind, workspace_.data() + bytes, guard, cudaMemcpyDeviceToHost));
    REQUIRE(poisoned(behind, behind + guard));
    pairs.resize(count);
    return pairs;
  }

 private:
  static std::size_t most_workspace() {
    const sift_view most(nullptr, most_rows, 128);
    return device::match_workspace<Policy>(most, most, {});
  }

  device_array<match_pair> pairs_;
  device_array<std::uint32_t> count_;
  device_array<std::uint8_t> workspace_;
};

}  // namespace

TEST_CASE("ten thousand random small problems by tensor cores equal the host", "[tensor]") {
  constexpr std::uint64_t first_seed = 1000000;
  const auto problems = by_run_size<std::uint64_t>(10000, 1000, 20);
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first_seed),
              static_cast<unsigned long long>(first_seed + problems - 1));
  image_slot left_slot, right_slot;
  reused_run<wgmma_policy> wgmma;
  reused_run<mma_policy> mma;
  std::vector<match_pair> expected;
  std::size_t matches = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + problems; ++seed) {
    random_source random(seed);
    const std::int64_t rows = random_size(random), columns = random_size(random);
    const input_kind kind = input_kinds[random.below(std::size(input_kinds))];
    const int gap = static_cast<int>(random.below(most_gap / 16 + 1)) * 16;
    const match_options options = random_options(random);
    INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", gap " << gap << ", max_ratio "
                 << options.max_ratio << ", max_distance " << options.max_distance << ", cross_check "
                 << options.cross_check << ", max_matches " << options.max_matches << ", max_features "
                 << options.max_features);
    const two_images<> images = random_images(kind, random, rows, columns, 128);
    std::uint32_t count = 0;
    expected.resize(static_cast<std::size_t>(rows));
    require_ok(
        host::match(images.left.view(), images.right.view(), options, match_output{expected.data(), rows, &count}, 1));
    expected.resize(count);
    matches += count;

    const sift_view left = left_slot.assign(images.left, gap), right = right_slot.assign(images.right, gap);
    REQUIRE_SAME(wgmma.list(left, right, options), expected);
    REQUIRE_SAME(mma.list(left, right, options), expected);
  }
  std::printf("%zu matches in %llu problems\n", matches, static_cast<unsigned long long>(problems));
  if (!tiny_run()) CHECK(matches > 2 * problems);  // the inputs do hold matches
}
