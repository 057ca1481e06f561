// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <support/nearest2_checks.cuh>
#include <support/tensor_floats.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// The scores of all pairs, by the products that a score is documented to be made of (mma_traits): step k takes two
/// neighbouring words of the pieces 4 p + q, q < 4, in the order of the pieces. A warp for each 16 rows and 8 columns.
template <class T, int Width>
__global__ void score_all(const std::uint8_t* rows, int row_count, const std::uint8_t* columns, int column_count,
                          std::int32_t* scores) {
  constexpr int piece_words = Width < 64 ? 2 : 4;
  const int lane = static_cast<int>(threadIdx.x), r = lane / 4, q = lane % 4;
  const int first_row = static_cast<int>(blockIdx.x) * 16, first_column = static_cast<int>(blockIdx.y) * 8;
  const auto word = [](const std::uint8_t* image, int descriptor, int count, int number) {
    return descriptor < count ? reinterpret_cast<const std::uint32_t*>(image)[descriptor * (Width / 4) + number] : 0u;
  };
  std::int32_t sums[4] = {};
  for (int k = 0; k < Width / 32; ++k) {
    const int piece = k / (piece_words / 2), within = k % (piece_words / 2) * 2;
    const int w = (4 * piece + q) * piece_words + within;
    serac::detail::mma_16x8x32<T>(
        sums, word(rows, first_row + r, row_count, w), word(rows, first_row + r + 8, row_count, w),
        word(rows, first_row + r, row_count, w + 1), word(rows, first_row + r + 8, row_count, w + 1),
        word(columns, first_column + r, column_count, w), word(columns, first_column + r, column_count, w + 1));
  }
  for (int i = 0; i < 4; ++i) {
    const int row = first_row + r + i / 2 * 8, column = first_column + 2 * q + i % 2;
    if (row < row_count && column < column_count) scores[row * column_count + column] = sums[i] > 0 ? sums[i] : 0;
  }
}

/// All scores of two images, and the states that they make.
template <class Policy>
struct all_scores {
  using T = typename Policy::element;

  std::int64_t rows, columns;
  std::vector<std::int32_t> scores;
  nearest2_list states;

  all_scores(const descriptor_view<T>& left, const descriptor_view<T>& right) : rows(left.count), columns(right.count) {
    const device_array<std::int32_t> memory(static_cast<std::size_t>(rows * columns));
    score_all<T, Policy::width>
        <<<dim3(static_cast<unsigned>((rows + 15) / 16), static_cast<unsigned>((columns + 7) / 8)), 32>>>(
            reinterpret_cast<const std::uint8_t*>(left.data), static_cast<int>(rows),
            reinterpret_cast<const std::uint8_t*>(right.data), static_cast<int>(columns), memory.data());
    require_cuda(cudaGetLastError());
    scores = memory.values();
    const auto smaller = [](std::int64_t a, std::int64_t b) { return a < b; };
    for (std::int64_t i = 0; i < rows; ++i) {
      states.rows.push_back(host::reference::scan(
          columns, [&](std::int64_t j) { return at(i, j); }, smaller));
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      states.columns.push_back(host::reference::scan(
          rows, [&](std::int64_t i) { return at(i, j); }, smaller));
    }
  }

  std::int32_t at(std::int64_t i, std::int64_t j) const { return scores[static_cast<std::size_t>(i * columns + j)]; }

  std::vector<match_pair> list(const float_judge& judge, bool cross_check) const {
    std::vector<match_pair> pairs;
    for (std::int64_t i = 0; i < rows; ++i) {
      const top2& row = states.rows[static_cast<std::size_t>(i)];
      if (!judge.accepts<T>(row)) continue;
      const top2& column = states.columns[static_cast<std::size_t>(row.index)];
      if (cross_check && !(judge.accepts<T>(column) && column.index == i)) continue;
      pairs.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(row.index)});
    }
    return pairs;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("halves by mma.sync: every score is made of the same products, wherever it is asked for", "[float]",
                   half_128, half_256, bfloat_128, small_tiles) {
  using Policy = TestType;
  using T = typename Policy::element;
  std::uint64_t seed = 5200;
  std::size_t matches = 0;
  for (const input_kind kind : {input_kind::bytes, input_kind::sift_like, input_kind::planted, input_kind::repeated}) {
    for (const shape& s : shapes_of_run<Policy>()) {
      INFO("seed " << ++seed << ": " << name(kind) << ", " << s.rows << " x " << s.columns);
      random_source random(seed);
      const auto images = random_images<T>(kind, random, s.rows, s.columns, elements_of<Policy>);
      const device_descriptors<T> left(images.left), right(images.right);
      const all_scores<Policy> all(left.view(), right.view());
      const auto states = nearest2_of<tensor_path<Policy>>(left.view(), right.view(), true);
      REQUIRE_SAME(states.rows, all.states.rows);
      REQUIRE_SAME(states.columns, all.states.columns);
      const auto lists = lists_of<Policy>(left.view(), right.view());
      for (std::size_t n = 0; n < lists.size(); ++n) {
        INFO(untied_judges[n / 2] << ", cross_check " << (n % 2 == 0));
        REQUIRE_SAME(lists[n], all.list(untied_judges[n / 2], n % 2 == 0));
        matches += lists[n].size();
      }
    }
  }
  CHECK(matches > (tiny_run() ? 10 : 100));
}

// Products of halves are exact in float. A tensor core aligns those of an instruction, 16 or fewer at a time, and the
// sum so far with the greatest of them, and cuts off what is below its last bit, at the least the 24th of the greatest;
// then it cuts the sum to a float. So each product, and each sum so far, loses less than 2^-23 of the greatest number
// at that step, and each sum 2^-23 of itself. No number of them is above the sum S of all magnitudes (but for what they
// have lost, of the order 2^-23 of it): at one sum for each 4 products at worst, n products cost n + n / 4 + n / 4
// such losses, and with a lot to spare for that order the error is below 2 n 2^-23 S.
TEMPLATE_TEST_CASE("halves by mma.sync are as near to the exact sums as their products allow", "[float]", half_128,
                   half_256, bfloat_128) {
  using Policy = TestType;
  using T = typename Policy::element;
  constexpr int width = elements_of<Policy>;
  std::uint64_t seed = 5300;
  std::int64_t decided = 0;
  for (const input_kind kind : {input_kind::bytes, input_kind::sift_like, input_kind::planted, input_kind::sparse}) {
    if (kind == input_kind::sparse && !std::is_same_v<T, float16>) continue;  // products of others may underflow
    INFO("seed " << ++seed << ": " << name(kind));
    random_source random(seed);
    const auto images = random_images<T>(kind, random, small_run() ? 40 : 300, small_run() ? 50 : 400, width);
    const device_descriptors<T> left(images.left), right(images.right);
    const auto states = nearest2_of<tensor_path<Policy>>(left.view(), right.view(), false).rows;
    const all_scores<Policy> all(left.view(), right.view());
    for (std::int64_t i = 0; i < images.left.count; ++i) {
      double best = 0, second = 0, most_error = 0;
      std::int64_t index = -1;
      for (std::int64_t j = 0; j < images.right.count; ++j) {
        double exact = 0, magnitudes = 0;
        for (int k = 0; k < width; ++k) {
          const double product = double{to_float(images.left[i][k])} * to_float(images.right[j][k]);
          exact += product;
          magnitudes += std::abs(product);
        }
        const double error = 2 * width * 0x1p-23 * magnitudes;
        const double dot = static_cast<double>(float_with_bits(all.at(i, j)));
        if (!(std::abs(dot - std::max(exact, 0.0)) <= error)) {
          CAPTURE(i, j, dot, exact, error);
          FAIL("a score is further from the exact sum than it can be");
        }
        most_error = std::max(most_error, error);
        if (exact > best) {
          second = best, best = exact, index = j;
        } else {
          second = std::max(second, exact);
        }
      }
      if (best - second <= 2 * most_error) continue;  // rounding may decide
      ++decided;
      REQUIRE(states[static_cast<std::size_t>(i)].index == index);
    }
  }
  CHECK(decided > (small_run() ? 40 : 300));
}
