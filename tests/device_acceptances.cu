// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <serac/host/matcher.hpp>
#include <serac/matcher.cuh>
#include <support/gpu.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// A best that is ahead of the second by more than `gap`; it must not be asked about a second above the best, for which
/// the difference wraps.
struct gap_acceptance {
  std::int32_t gap;

  SERAC_HOST_DEVICE bool rejects_ties() const { return true; }
  SERAC_HOST_DEVICE bool operator()(std::int32_t best, std::int32_t second) const {
    return static_cast<std::uint32_t>(best - second) > static_cast<std::uint32_t>(gap);
  }
};

/// Requires the GPU's lists by an acceptance of bytes to be the host's, on the classic path and, where the GPU has one
/// and ties are rejected, on a tensor-core path.
template <class Acceptance>
void check(const Acceptance& accept) {
  for (const std::int64_t size : {300, 2850}) {
    if (small_run() && size > 300) continue;
    random_source random(static_cast<std::uint64_t>(size));
    const auto images = random_images(input_kind::planted, random, size, size + 40, 128);
    for (const bool cross_check : {true, false}) {
      INFO(size << " features, cross_check " << cross_check);
      match_options options;
      options.cross_check = cross_check;
      const auto expected =
          host::basic_matcher<std::uint8_t>(options).match(images.left.view(), images.right.view(), accept);
      const auto list = matcher(options).match(images.left.view(), images.right.view(), accept);
      REQUIRE_SAME(list.pairs, expected.pairs);
      CHECK(list.pairs.size() > static_cast<std::size_t>(size / 8));
    }
  }
}

}  // namespace

TEST_CASE("the GPU accepts by Euclidean distance as the host does", "[acceptance]") {
  check(euclidean_acceptance{});
  check(euclidean_acceptance{1.2f, 0.5f});
}

TEST_CASE("the GPU accepts by cosine, and every best, as the host does", "[acceptance]") {
  check(cosine_acceptance{});
  check(accept_all{});
}

TEST_CASE("an acceptance is not asked about a second above the best", "[acceptance]") { check(gap_acceptance{3000}); }
