// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Compiled with fast math and, where the processor has it, fused multiply-add (tests/CMakeLists.txt): admissibility
// must not depend on what the compiler is told.

#include <cmath>
#include <cstdint>
#include <cstring>

#include <serac/geometry.hpp>
#include <serac/guided_tiles.hpp>
#include <support/catch.hpp>
#include <support/random.hpp>

using namespace serac;
using namespace serac::test;

namespace {

/// A float of any bits, so that fast math knows nothing of it.
float float_of(std::uint32_t bits) {
  volatile std::uint32_t kept = bits;
  const std::uint32_t read = kept;
  float x;
  std::memcpy(&x, &read, sizeof x);
  return x;
}

/// Round to nearest of a number given exactly as x + rest, |rest| less than half a unit of the double x.
float rounded(double x, double rest) {
  volatile float nearest = static_cast<float>(x);
  const double error = x - static_cast<double>(nearest);  // exact
  // A double that lies between two floats exactly rounds to even; the rest decides instead.
  volatile float other = nearest + (error > 0 ? 1.0f : -1.0f) * (nearest == 0 ? 0.0f : static_cast<float>(error * 2));
  const double to_other = x - static_cast<double>(other);
  if (error == 0 || error != -to_other || rest == 0) return nearest;
  return (rest > 0) == (static_cast<double>(other) > static_cast<double>(nearest)) ? other : nearest;
}

}  // namespace

TEST_CASE("operations round once, whatever the compiler is told", "[guided]") {
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) return skip("the processor has no fused multiply-add: nothing was tested");
#endif
  random_source random(4);
  int products_that_differ = 0;
  for (int k = 0; k < 200000; ++k) {
    const auto draw = [&] {
      return static_cast<float>((random.unit() - 0.5) * static_cast<double>(std::int64_t{1} << random.below(20)));
    };
    const float a = draw(), b = draw(), c = draw();
    const double da = a, db = b, dc = c;
    volatile double product = da * db;  // exact
    volatile float single_product = static_cast<float>(product);
    volatile double sum = product + dc;  // rounded: by Knuth's two-sum the rest is exact
    volatile double part = sum - product, rest = (product - (sum - part)) + (dc - part);
    volatile double plain_sum = static_cast<double>(single_product) + dc;

    REQUIRE(detail::mul_rn(a, b) == single_product);
    REQUIRE(detail::add_rn(a, b) == static_cast<float>(da + db));
    REQUIRE(detail::sub_rn(a, b) == static_cast<float>(da - db));
    REQUIRE(detail::div_rn(a, b) == static_cast<float>(da / db));
    const float fused = rounded(sum, rest);
    REQUIRE(detail::fma_rn(a, b, c) == fused);
    REQUIRE(detail::add_rn(detail::mul_rn(a, b), c) == static_cast<float>(plain_sum));
    products_that_differ += detail::add_rn(detail::mul_rn(a, b), c) != fused;
  }
  CHECK(products_that_differ > 1000);
}

TEST_CASE("comparisons know NaN and infinity, whatever the compiler is told", "[guided]") {
  const float nan = float_of(0x7fc00000), negative_nan = float_of(0xffc00000), infinity = float_of(0x7f800000);
  for (const float x : {nan, negative_nan}) {
    CHECK_FALSE(detail::is_less(x, 1));
    CHECK_FALSE(detail::is_less(x, infinity));
    CHECK_FALSE(detail::is_less(0, x));
    CHECK_FALSE(detail::is_finite(x));
  }
  CHECK_FALSE(detail::is_less(infinity, infinity));
  CHECK(detail::is_less(3e38f, infinity));
  CHECK(detail::is_less(0, float_of(1)));
  CHECK_FALSE(detail::is_less(1, 1));
  CHECK_FALSE(detail::is_finite(infinity));
  CHECK(detail::is_finite(-3e38f));

  const epipolar zeros{{}, infinity};
  CHECK_FALSE(zeros.admits(zeros.row({1, 2}), zeros.column({3, 4})));
  const homography flat{{1, 0, 0, 0, 1, 0, 0, 0, 0}, infinity};
  CHECK_FALSE(flat.admits(flat.row({1, 2}), flat.column({3, 4})));
  CHECK_FALSE(validate(two_view_geometry(homography{{}, nan})).ok());
  CHECK_FALSE(validate(two_view_geometry(homography{{}, -1})).ok());
  CHECK(validate(two_view_geometry(homography{{}, infinity})).ok());
}

TEST_CASE("where the screen decides, it decides as the constraint", "[guided]") {
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) return skip("the processor has no fused multiply-add: nothing was tested");
#endif
  random_source random(77);
  const auto any_bits = [&] { return float_of(static_cast<std::uint32_t>(random.below(std::int64_t{1} << 32))); };
  const auto power = [&](int low, int high) {
    return std::ldexp(1.0f, low + static_cast<int>(random.below(high - low)));
  };
  const auto draw = [&] { return static_cast<float>(2 * random.unit() - 1); };
  int decided = 0, undecided = 0, unsuited = 0, admitted = 0;
  for (int k = 0; k < 1000000; ++k) {
    const int kind = k % 8;
    epipolar f{{}, 1};
    epipolar::row_terms row{draw() * 2000, draw() * 2000, 0, 0};
    epipolar::column_terms column{draw(), draw(), draw() * power(-40, 30), draw() * power(-40, 30)};
    row.z = -(row.x * column.x + row.y * column.y) * (1 + draw() * power(-24, 1));
    if (kind < 6) {  // near the threshold: within a few units in the last place, at the margin, far
      const float scale = power(-30, 20);
      row.x *= scale, row.y *= scale, row.z *= scale;
      row.squared = detail::two_products(row.x, row.x, row.y, row.y);
      const float error = epipolar::error(row, column.x, column.y);
      const float exact = error * error / (row.squared + column.fx * column.fx + column.fy * column.fy);
      f.max_squared_error = exact * (1 + draw() * power(kind < 3 ? -24 : -18, kind < 3 ? -20 : -10));
    } else if (kind == 6) {  // any scale, about the threshold
      f.max_squared_error = power(-148, 120);
      const double normal = std::ldexp(1 / std::sqrt(static_cast<double>(f.max_squared_error)), -34 + k / 8 % 68);
      column = {0, 0, static_cast<float>(normal), 0};
      row = {static_cast<float>(normal * random.unit()) * power(-10, 10), 0, 0, 0};
      row.squared = detail::two_products(row.x, row.x, row.y, row.y);
      const double scale = static_cast<double>(row.squared) + static_cast<double>(column.fx) * column.fx;
      row.z = static_cast<float>(std::sqrt(f.max_squared_error * scale)) * (1 + draw() * power(-18, -3));
    } else {
      row = {any_bits(), any_bits(), any_bits(), 0};
      row.squared = detail::two_products(row.x, row.x, row.y, row.y);
      column = {any_bits(), any_bits(), any_bits(), any_bits()};
      f.max_squared_error = random.below(2) == 0 ? any_bits() : power(-45, 45);
    }
    if (!validate(two_view_geometry(f)).ok()) continue;
    // The greatest of a tile, which ignores NaN.
    float greatest = random.below(2) == 0 ? 0 : row.squared * 8;
    greatest = detail::greater_of(row.squared, detail::is_less(0, greatest) ? greatest : 0);
    const detail::epipolar_screen screen{f.max_squared_error, greatest};
    const auto seen = screen.of(column);
    if (!screen.suits(seen)) {
      ++unsuited;
      continue;
    }
    const float excess = screen.excess(row, seen);
    if (!screen.decides(excess, seen)) {
      ++undecided;
      continue;
    }
    const bool negative = detail::bits_of(excess) >> 31 != 0;
    INFO(k);
    REQUIRE(negative == f.admits(row, column));
    ++decided, admitted += negative;
  }
  CHECK(decided > 50000);
  CHECK(undecided > 100000);
  CHECK(unsuited > 10000);
  CHECK(admitted > 25000);
  CHECK(decided - admitted > 25000);
}
