// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cmath>
#include <cstdint>
#include <vector>

#include <serac/acceptance.hpp>
#include <support/catch.hpp>

using namespace serac;

namespace {

constexpr std::int32_t unit = 262144;

/// Whether what is accepted with a second is accepted with each lesser one, down to none, and with a greater best; and
/// whether ties are rejected if the acceptance says so.
template <class Acceptance>
bool is_monotone(const Acceptance& accept, std::int32_t best, std::int32_t step) {
  bool accepted = accept(best, best);
  if (accept.rejects_ties() && accepted) return false;
  for (std::int32_t second = best; second >= 0; second -= step) {
    const bool now = accept(best, second);
    if ((accepted && !now) || (now && !accept(best + 1, second))) return false;
    accepted = now;
  }
  return true;
}

}  // namespace

TEST_CASE("the Hamming test is that of programs that use OpenCV, at all distances", "[acceptance]") {
  long different = 0, accepted = 0;
  for (const float ratio : {0.6f, 0.7f, 0.75f, 0.8f, 0.9f, 1.0f, 1.3f}) {
    for (const std::int32_t limit : {1, 40, 64, 4097}) {
      const hamming_acceptance accept{ratio, limit};
      for (int first = 0; first <= 512; ++first) {
        for (int next = first; next <= 512; ++next) {
          const float m0 = static_cast<float>(first), m1 = static_cast<float>(next);
          const bool expected = m0 < ratio * m1 && first < limit;
          different += accept(4097 - first, 4097 - next) != expected;
          accepted += expected;
        }
      }
    }
  }
  CHECK(different == 0);
  CHECK(accepted > 100000);
}

TEST_CASE("the Hamming test: edges", "[acceptance]") {
  const hamming_acceptance lowe;
  CHECK(lowe(4097, 4096));        // 0 < 0.8
  CHECK_FALSE(lowe(4097, 4097));  // 0 < 0
  CHECK_FALSE(lowe(4093, 4092));  // 4 < 4
  CHECK(lowe(4093, 4091));        // 4 < 4.8
  CHECK(lowe(4097 - 4096, 0));    // the furthest there is, alone
  CHECK_FALSE(hamming_acceptance{0.8f, 64}(4097 - 64, 0));
  CHECK(hamming_acceptance{0.8f, 65}(4097 - 64, 0));
  CHECK(lowe.rejects_ties());
  CHECK_FALSE(hamming_acceptance{1.1f}.rejects_ties());
  CHECK(hamming_acceptance{1.1f}(4087, 4087));
  for (std::int32_t best = 1; best <= 4097; best += 7) {
    CHECK(is_monotone(lowe, best, 1));
    CHECK(is_monotone(hamming_acceptance{1.2f, 3000}, best, 1));
  }
}

TEST_CASE("the Euclidean test is exact where the squares of its options are", "[acceptance]") {
  // d^2 = (unit - s) / 2^17: with ratio r = n/8, d1 < r d2 is 64 (unit - s1) < n^2 (unit - s2).
  long different = 0, accepted = 0;
  for (const int eighths : {4, 6, 7, 8, 9}) {
    const euclidean_acceptance accept{static_cast<float>(eighths) / 8};
    for (std::int64_t best = 1; best <= unit + 500; best += 211) {
      for (std::int64_t second = 0; second <= best; second += 97) {
        const std::int64_t first = best < unit ? unit - best : 0, next = second < unit ? unit - second : 0;
        const bool expected = 64 * first < std::int64_t{eighths} * eighths * next;
        different += accept(static_cast<std::int32_t>(best), static_cast<std::int32_t>(second)) != expected;
        accepted += expected;
      }
    }
  }
  CHECK(different == 0);
  CHECK(accepted > 100000);

  // A distance below 1/2 is a score above unit (1 - 1/8), and a distance below sqrt(2) any above 0.
  const euclidean_acceptance half{100, 0.5f};
  CHECK(half(unit - unit / 8 + 1, 0));
  CHECK_FALSE(half(unit - unit / 8, 0));
  CHECK(euclidean_acceptance{}(unit / 2, 0));
  CHECK(euclidean_acceptance{100}(1, 0));
  for (std::int32_t best = 1; best <= unit; best += 4099) CHECK(is_monotone(euclidean_acceptance{}, best, 13));
}

TEST_CASE("the cosine test compares with the score of the cosine, whatever the second", "[acceptance]") {
  for (const float cosine : {0.85f, 0.5f, 0.999f, 0.0f}) {
    const cosine_acceptance accept{cosine};
    long different = 0;
    for (std::int32_t s = 1; s <= unit + 10; ++s) {
      const bool expected = static_cast<double>(s) > static_cast<double>(cosine) * unit;
      different += accept(s, 0) != expected;
      different += accept(s, s) != expected;
    }
    CHECK(different == 0);
  }
  CHECK(cosine_acceptance{}(222823, 222823));  // 0.85 * 2^18 = 222822.4
  CHECK_FALSE(cosine_acceptance{}(222822, 0));
}

TEST_CASE("accept_all accepts", "[acceptance]") { CHECK(accept_all()(1, 1)); }
