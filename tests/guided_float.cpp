// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Compiled with fast math and, where the processor has it, fused multiply-add (tests/CMakeLists.txt): admissibility
// must not depend on what the compiler is told.

#include <cstdint>
#include <cstring>

#include <serac/geometry.hpp>
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
