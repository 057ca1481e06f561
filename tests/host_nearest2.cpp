// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <serac/host/nearest2.hpp>
#include <serac/host/reference.hpp>
#include <support/catch.hpp>
#include <support/random.hpp>

using namespace serac;
using namespace serac::test;
namespace reference = serac::host::reference;

namespace {

constexpr top2 poison{-7, -7, -7};
constexpr int canaries = 8;

/// Runs host::nearest2 into poisoned memory with canaries behind it.
template <class Tie, class T>
nearest2_list nearest2_of(const descriptor_view<T>& left, const descriptor_view<T>& right, int threads,
                          bool with_columns = true) {
  nearest2_list list;
  list.rows.assign(static_cast<std::size_t>(left.count) + canaries, poison);
  list.columns.assign(static_cast<std::size_t>(right.count) + canaries, poison);
  REQUIRE(
      host::nearest2<Tie>(left, right, {list.rows.data(), with_columns ? list.columns.data() : nullptr}, threads).ok());
  REQUIRE(std::all_of(list.rows.end() - canaries, list.rows.end(), [](const top2& s) { return s == poison; }));
  REQUIRE(std::all_of(with_columns ? list.columns.end() - canaries : list.columns.begin(), list.columns.end(),
                      [](const top2& s) { return s == poison; }));
  list.rows.resize(static_cast<std::size_t>(left.count));
  list.columns.resize(with_columns ? static_cast<std::size_t>(right.count) : 0);
  return list;
}

template <class Tie, class T>
void compare(const two_images<T>& images) {
  const nearest2_list expected = reference::nearest2<Tie>(images.left.view(), images.right.view());
  for (const int threads : {1, 2, 5}) {
    INFO(threads << " threads");
    const nearest2_list got = nearest2_of<Tie>(images.left.view(), images.right.view(), threads);
    REQUIRE_SAME(got.rows, expected.rows);
    REQUIRE_SAME(got.columns, expected.columns);
  }
  const nearest2_list rows_only = nearest2_of<Tie>(images.left.view(), images.right.view(), 0, false);
  REQUIRE_SAME(rows_only.rows, expected.rows);
}

constexpr int widths[] = {4, 8, 12, 20, 32, 60, 64, 68, 128, 132, 256, 508, 512};

}  // namespace

TEMPLATE_TEST_CASE("nearest2 equals the reference on random problems of every kind and width", "[nearest2]",
                   (setting<std::uint8_t, tie_break::smallest_index>), (setting<std::uint8_t, tie_break::siftgpu>),
                   (setting<std::int8_t, tie_break::smallest_index>), (setting<std::int8_t, tie_break::siftgpu>)) {
  std::uint64_t seed = 100;
  for (const input_kind kind : input_kinds) {
    for (const int width : widths) {
      for (int repeat = 0; repeat < 2; ++repeat) {
        random_source random(++seed);
        const std::int64_t rows = 1 + random.below(150), columns = 1 + random.below(150);
        INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns << ", width " << width);
        compare<typename TestType::Tie>(random_images<typename TestType::T>(kind, random, rows, columns, width));
      }
    }
  }
}

TEMPLATE_TEST_CASE("nearest2 equals the reference around every edge of tiles, blocks and chunks", "[nearest2]",
                   (setting<std::uint8_t, tie_break::smallest_index>), (setting<std::uint8_t, tie_break::siftgpu>)) {
  std::uint64_t seed = 1000;
  for (const std::int64_t rows : {1, 3, 4, 5, 7, 8, 63, 64, 65, 127, 128, 129}) {
    for (const std::int64_t columns : {1, 15, 16, 17, 31, 32, 33, 2047, 2048, 2049, 4097}) {
      for (const input_kind kind : {input_kind::bytes, input_kind::repeated}) {
        random_source random(++seed);
        INFO("seed " << seed << ": " << name(kind) << ", " << rows << " x " << columns);
        compare<typename TestType::Tie>(random_images(kind, random, rows, columns, 8));
      }
    }
  }
}

TEMPLATE_TEST_CASE("nearest2 equals the reference over several strips of columns", "[nearest2]",
                   tie_break::smallest_index, tie_break::siftgpu) {
  for (const auto& [columns, width] : {std::pair{40000, 4}, std::pair{9000, 512}}) {
    for (const input_kind kind : {input_kind::bytes, input_kind::repeated}) {
      random_source random(7);
      INFO("seed 7: " << name(kind) << ", 70 x " << columns << ", width " << width);
      compare<TestType>(random_images(kind, random, 70, columns, width));
    }
  }
}

TEST_CASE("the portable tile equals the machine's own", "[nearest2]") {
  random_source random(5);
  namespace d = host::detail;
  for (const int slices : {2, 64, 256}) {
    std::vector<d::row_slice> rows(static_cast<std::size_t>(slices));
    std::vector<d::column_slice> columns(static_cast<std::size_t>(slices));
    for (auto& s : rows) {
      for (auto& e : s.element) e[0] = static_cast<std::int16_t>(random.below(256)), e[1] = 255;
    }
    for (auto& s : columns) {
      for (auto& e : s.element) {
        e[0] = static_cast<std::int16_t>(random.below(511) - 255);
        e[1] = static_cast<std::int16_t>(random.below(511) - 255);
      }
    }
    std::vector<d::packed_top2<d::lanes>> row_states[2];
    d::packed_top2<d::tile_columns> column_states[2] = {};
    for (auto& r : row_states) r.resize(d::tile_rows);
    for (const int column_code : {63, 62, 0}) {  // several tiles into the same states
      d::score_tile<true, true>(rows.data(), columns.data(), slices - (63 - column_code) % 2, column_code, 60,
                                row_states[0].data(), 16, &column_states[0]);
      d::best_tile_function<true, true>()(rows.data(), columns.data(), slices - (63 - column_code) % 2, column_code, 60,
                                          row_states[1].data(), 16, &column_states[1]);
    }
    const auto same = [](const auto& a, const auto& b) {
      return std::equal(std::begin(a.best), std::end(a.best), std::begin(b.best)) &&
             std::equal(std::begin(a.second), std::end(a.second), std::begin(b.second));
    };
    for (int r = 0; r < d::tile_rows; ++r) {
      CHECK(same(row_states[0][static_cast<std::size_t>(r)], row_states[1][static_cast<std::size_t>(r)]));
      CHECK(row_states[0][static_cast<std::size_t>(r)].best[16] > 0);
      CHECK(row_states[0][static_cast<std::size_t>(r)].best[15] == 0);
    }
    CHECK(same(column_states[0], column_states[1]));
  }
}

TEST_CASE("nearest2 takes any stride and alignment", "[nearest2]") {
  random_source random(11);
  constexpr int width = 20, stride = 33;
  const auto dense = random_images<std::uint8_t>(input_kind::bytes, random, 70, 90, width);
  std::vector<std::uint8_t> memory[2];
  const descriptors<>* const images[2] = {&dense.left, &dense.right};
  for (int side = 0; side < 2; ++side) {
    memory[side].assign(static_cast<std::size_t>(1 + (images[side]->count - 1) * stride + width), 255);
    for (std::int64_t i = 0; i < images[side]->count; ++i) {
      std::copy_n((*images[side])[i], width, memory[side].data() + 1 + i * stride);
    }
  }
  const sift_view left(memory[0].data() + 1, 70, width, stride), right(memory[1].data() + 1, 90, width, stride);
  const auto expected = reference::nearest2(dense.left.view(), dense.right.view());
  const auto got = nearest2_of<tie_break::smallest_index>(left, right, 2);
  REQUIRE_SAME(got.rows, expected.rows);
  REQUIRE_SAME(got.columns, expected.columns);
}

TEST_CASE("an empty image leaves initial states", "[nearest2]") {
  random_source random(1);
  const auto some = random_bytes(random, 5);
  const auto rows = nearest2_of<tie_break::smallest_index>(some.view(), sift_view{}, 2);
  CHECK(rows.rows == std::vector<top2>(5));
  const auto columns = nearest2_of<tie_break::smallest_index>(sift_view{nullptr, 0, 0, 0}, some.view(), 2);
  CHECK(columns.columns == std::vector<top2>(5));
  CHECK(host::nearest2(sift_view{}, sift_view{}, nearest2_output{}).ok());
}

TEST_CASE("the widest range of scores is exact", "[nearest2]") {
  const descriptors<> u(3, 512, 255);
  CHECK(nearest2_of<tie_break::smallest_index>(u.view(), u.view(), 1).rows[2] == top2{33292800, 0, 33292800});
  const descriptors<std::int8_t> s(3, 512, -128);
  CHECK(nearest2_of<tie_break::siftgpu>(s.view(), s.view(), 1).columns[2] == top2{8388608, 0, 8388608});
  const descriptors<std::int8_t> opposite(3, 512, 127);
  CHECK(nearest2_of<tie_break::siftgpu>(s.view(), opposite.view(), 1).columns[2] == top2{});
}

TEST_CASE("nearest2 names what is wrong with its arguments and writes nothing", "[nearest2]") {
  const descriptors<> image(2);
  const sift_view good = image.view();
  std::vector<top2> rows(2, poison), columns(2, poison);
  const auto fault = [&](const sift_view& left, const sift_view& right, errc code, const char* argument) {
    const status s = host::nearest2(left, right, nearest2_output{rows.data(), columns.data()}, 1);
    INFO(s.message());
    CHECK(s.code == code);
    CHECK(s.argument == std::string(argument));
    CHECK(rows == std::vector<top2>(2, poison));
    CHECK(columns == std::vector<top2>(2, poison));
  };
  const std::uint8_t* const data = image.data.data();
  fault({nullptr, 2}, good, errc::null_pointer, "left.data");
  fault(good, {nullptr, 2}, errc::null_pointer, "right.data");
  fault({data, -1}, good, errc::negative_count, "left.count");
  fault(good, {data, -1}, errc::negative_count, "right.count");
  fault(good, {data, std::int64_t{1} << 31}, errc::too_many_features, "right.count");
  fault({data, 2, 64}, good, errc::unsupported_width, "right.width");
  fault(good, {data, 2, 64}, errc::unsupported_width, "right.width");
  for (const int width : {-4, 0, 2, 6, 127, 516}) {
    fault({data, 1, width, 1024}, {data, 1, width, 1024}, errc::unsupported_width, "left.width");
    fault({data, 0}, {data, 1, width, 1024}, errc::unsupported_width, "right.width");
  }
  fault(good, {data, 2, 128, 127}, errc::invalid_stride, "right.stride");
  CHECK(host::nearest2(good, good, nearest2_output{nullptr, columns.data()}).argument == std::string("output.rows"));
  CHECK(host::nearest2(good, good, nearest2_output{rows.data(), nullptr}, -1).argument == std::string("threads"));
}
