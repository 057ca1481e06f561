// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <serac/matcher.cuh>
#include <support/floats.hpp>
#include <support/nearest2_checks.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// 64 halves, as XFeat's descriptors would be: squared distances, one stage.
struct one_stage_halves : float_policy_for<128, l2<float16>> {
  static constexpr int stages = 1;
};
/// Words alone, a padded slice, COLMAP's tie order, and tiles of no power of two.
struct odd_floats : tile<48, 96, 6, float_policy_for<100, bfloat16>> {
  using tie = tie_break::siftgpu;
};

__global__ void convert(const std::uint16_t* bits, float* halves, float* uppers, const float* floats,
                        std::uint16_t* rounded_halves, std::uint16_t* rounded_uppers, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  halves[i] = to_float(static_cast<float16>(bits[i]));
  uppers[i] = to_float(static_cast<bfloat16>(bits[i]));
  rounded_halves[i] = static_cast<std::uint16_t>(to_float16(floats[i]));
  rounded_uppers[i] = static_cast<std::uint16_t>(to_bfloat16(floats[i]));
}

std::vector<std::int32_t> bits_of_numbers(const std::vector<float>& floats) {
  std::vector<std::int32_t> bits;
  for (const float x : floats) bits.push_back(std::isnan(x) ? -1 : host::reference::bits(x));
  return bits;
}

}  // namespace

TEST_CASE("the GPU converts floats as the host does", "[float]") {
  constexpr unsigned count = 65536;
  random_source random(1);
  std::vector<std::uint16_t> bits(count), rounded_halves(count), rounded_uppers(count);
  std::vector<float> halves(count), uppers(count), floats(count);
  for (unsigned i = 0; i < count; ++i) {
    bits[i] = static_cast<std::uint16_t>(i);
    halves[i] = to_float(static_cast<float16>(i));
    uppers[i] = to_float(static_cast<bfloat16>(i));
    const std::int64_t any = random.below(std::int64_t{1} << 32);
    floats[i] = i % 2 == 0 ? float_with_bits(static_cast<std::int32_t>(any))
                           : std::ldexp(static_cast<float>(any & 4095), static_cast<int>(any % 45) - 36);
    rounded_halves[i] = static_cast<std::uint16_t>(to_float16(floats[i]));
    rounded_uppers[i] = static_cast<std::uint16_t>(to_bfloat16(floats[i]));
  }
  const device_array<std::uint16_t> in(bits), half_results(count), upper_results(count);
  const device_array<float> float_in(floats), half_floats(count), upper_floats(count);
  convert<<<count / 256, 256>>>(in.data(), half_floats.data(), upper_floats.data(), float_in.data(),
                                half_results.data(), upper_results.data(), count);
  require_cuda(cudaGetLastError());
  REQUIRE_SAME(bits_of_numbers(half_floats.values()), bits_of_numbers(halves));
  REQUIRE_SAME(bits_of_numbers(upper_floats.values()), bits_of_numbers(uppers));
  REQUIRE_SAME(half_results.values(), rounded_halves);
  REQUIRE_SAME(upper_results.values(), rounded_uppers);
}

TEMPLATE_TEST_CASE("float nearest2 equals the reference", "[float]", path_of<float_policy_for<512>>,
                   (path_of<float_policy_for<1024, l2<float>>>), path_of<one_stage_halves>, path_of<odd_floats>) {
  check_nearest2_path<TestType>();
}

TEST_CASE("float nearest2 equals the reference: one image far larger than the other", "[float]") {
  check_unequal_shapes<path_of<one_stage_halves>>();
}

TEST_CASE("infinities and NaNs score on the GPU as on the host", "[float]") {
  using policy = float_policy_for<512>;
  random_source random(9);
  auto images = random_images<float>(input_kind::planted, random, 150, 170, 128);
  for (auto* image : {&images.left, &images.right}) {
    for (int n = 0; n < 300; ++n) {
      const float infinity = std::numeric_limits<float>::infinity();
      const float special[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 3e38f, -3e38f, -0.0f};
      image->data[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(image->data.size())))] =
          special[random.below(6)];
    }
  }
  const auto expected = host::reference::nearest2(images.left.view(), images.right.view());
  const auto states = basic_matcher<policy>().nearest2(images.left.view(), images.right.view(), true);
  REQUIRE_SAME(states.rows, expected.rows);
  REQUIRE_SAME(states.columns, expected.columns);
}

TEMPLATE_TEST_CASE("float match, guided match and batches equal the reference", "[float]", float_policy_for<512>,
                   one_stage_halves) {
  using T = typename TestType::element;
  std::uint64_t seed = 700;
  for (const input_kind kind : {input_kind::planted, input_kind::repeated}) {
    random_source random(++seed);
    INFO("seed " << seed << ": " << name(kind));
    constexpr int width = elements_of<TestType>;
    const auto images = random_images<T>(kind, random, 150, 170, width);
    const device_descriptors<T> left(images.left), right(images.right);
    for (const float_judge& judge : float_judges) {
      INFO(judge);
      const auto accept = judge.template acceptance<T>();
      const auto accepts = [&](const top2& state) { return judge.template accepts<T>(state); };
      const auto expected = expected_float_match(images, {}, accepts);
      const auto list = basic_matcher<TestType>().match(images.left.view(), images.right.view(), accept);
      REQUIRE_SAME(list.pairs, expected);
      if (tiny_run()) continue;

      std::vector<std::uint32_t> mask(150 * 6);
      for (std::uint32_t& word : mask) word = static_cast<std::uint32_t>(random.below(std::int64_t{1} << 32));
      const auto admissible = [&](std::int64_t i, std::int64_t j) {
        return (mask[static_cast<std::size_t>(i * 6 + j / 32)] >> j % 32 & 1) != 0;
      };
      const device_array<std::uint32_t> bits(mask);
      list_room guided(150);
      device_array<std::uint8_t> workspace(device::match_guided_workspace<TestType>(left.view(), right.view(), {}));
      require_ok(device::match_guided<TestType>(left.view(), right.view(), admissible_bits{bits.data(), 6}, {}, accept,
                                                guided.output(), workspace.data(), workspace.size(), nullptr));
      REQUIRE_SAME(guided.list(), host::reference::judged_match<tie_break::smallest_index>(
                                      images.left.view(), images.right.view(), {}, admissible, accepts)
                                      .pairs);

      const image_range ranges[] = {{0, 150}, {30, 100}};
      const image_pair pairs[] = {{0, 1}};
      const batch_view<T> batch{left.view(), ranges, 2, pairs, 1};
      device_array<match_pair> lists(150);
      device_array<std::int64_t> offsets(2);
      device_array<std::uint8_t> scratch(device::match_batch_workspace<TestType>(batch, {}, 1));
      require_ok(device::match_batch<TestType>(batch, {}, accept, {lists.data(), 150, offsets.data()}, 1,
                                               scratch.data(), scratch.size(), nullptr));
      two_images<T> parts{images.left, descriptors<T>(100, width)};
      for (int j = 0; j < 100; ++j) parts.right.assign(j, images.left, 30 + j);
      auto batched = lists.values();
      batched.resize(static_cast<std::size_t>(offsets.values()[1]));
      REQUIRE_SAME(batched, expected_float_match(parts, {}, accepts));
    }
    const auto mutual = basic_matcher<TestType>().match(images.left.view(), images.right.view(), accept_all());
    REQUIRE_SAME(mutual.pairs, expected_float_match(images, {}, [](const top2& state) { return state.index >= 0; }));
    CHECK_FALSE(mutual.pairs.empty());
  }
}
