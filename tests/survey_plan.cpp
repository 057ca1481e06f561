// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <serac/survey/image_arena.hpp>
#include <serac/survey/plan.hpp>
#include <support/catch.hpp>
#include <support/random.hpp>

using namespace serac;
using namespace serac::test;

TEST_CASE("batches hold every pair once and keep to their limits", "[survey]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    random_source random(seed);
    INFO("seed " << seed);
    survey::image_sizes sizes;
    for (std::int64_t i = 1 + random.below(40); i > 0; --i) sizes.counts.push_back(random.below(100));
    if (seed % 4 == 0) sizes.options.max_matches = 30;
    const auto images = static_cast<std::int64_t>(sizes.counts.size());
    std::vector<image_pair> pairs;
    for (std::int64_t p = random.below(200); p > 0; --p) {
      pairs.push_back(
          {static_cast<std::int32_t>(random.below(images)), static_cast<std::int32_t>(random.below(images))});
    }
    const survey::batch_limits limits{1 + random.below(1000), 1 + random.below(2000), 1 + random.below(50),
                                      1 + random.below(100000)};
    std::vector<int> seen(pairs.size(), 0);
    bool in_order = true;
    std::int32_t last = -1;
    for (const survey::batch_indices& batch : survey::plan_batches(pairs, sizes, limits)) {
      REQUIRE_FALSE(batch.empty());
      std::set<std::int32_t> used;
      std::int64_t matches = 0, scores = 0, descriptors = 0;
      for (const std::int32_t p : batch) {
        const image_pair pair = pairs[static_cast<std::size_t>(p)];
        ++seen[static_cast<std::size_t>(p)];
        used.insert({pair.left, pair.right});
        matches += std::min(sizes.of(pair.left), sizes.options.max_matches);
        scores += sizes.of(pair.left) * sizes.of(pair.right);
        in_order = in_order && p > last;
        last = p;
      }
      for (const std::int32_t image : used) descriptors += sizes.of(image);
      if (batch.size() > 1) {
        CHECK(static_cast<std::int64_t>(batch.size()) <= limits.pairs);
        CHECK(matches <= limits.matches);
        CHECK(scores <= limits.scores);
        CHECK(descriptors <= limits.descriptors);
      }
    }
    CHECK(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(pairs.size()));
    std::int64_t all = 0;
    std::set<std::int32_t> used;
    for (const image_pair pair : pairs) used.insert({pair.left, pair.right});
    for (const std::int32_t image : used) all += sizes.of(image);
    if (all <= limits.descriptors) CHECK(in_order);
  }
}

TEST_CASE("an arena gives images places that do not overlap, and the oldest goes first", "[survey]") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    random_source random(seed);
    INFO("seed " << seed);
    const std::int64_t size = 1 + random.below(300);
    survey::image_arena arena(size);
    std::map<std::int32_t, std::pair<image_range, int>> pinned;  // place and pins
    for (int step = 0; step < 400; ++step) {
      const auto image = static_cast<std::int32_t>(random.below(30));
      const auto mine = pinned.find(image);
      if (mine != pinned.end() && random.below(2) == 0) {
        arena.unpin(image);
        if (--mine->second.second == 0) pinned.erase(mine);
        continue;
      }
      std::optional<image_range> place = arena.pin(image);
      if (mine != pinned.end()) {
        REQUIRE(place.has_value());
        REQUIRE(place->first == mine->second.first.first);
        ++mine->second.second;
        continue;
      }
      const std::int64_t count = place ? place->count : 1 + random.below(size);
      if (!place) place = arena.insert(image, count);
      if (!place) {
        REQUIRE_FALSE(pinned.empty());  // without pins there is always room
        continue;
      }
      REQUIRE(place->count == count);
      REQUIRE(place->first >= 0);
      REQUIRE(place->first + count <= size);
      for (const auto& [other, held] : pinned) {
        REQUIRE((held.first.first + held.first.count <= place->first || place->first + count <= held.first.first));
      }
      if (random.below(8) == 0) {
        arena.erase(image);
        REQUIRE_FALSE(arena.pin(image).has_value());
      } else {
        pinned[image] = {*place, 1};
      }
    }
  }

  survey::image_arena arena(30);
  for (const std::int32_t image : {1, 2, 3}) {
    REQUIRE(arena.insert(image, 10).has_value());
    arena.unpin(image);
  }
  REQUIRE(arena.pin(1).has_value());  // used again: 2 is the oldest now
  arena.unpin(1);
  REQUIRE(arena.insert(4, 10)->first == 10);
  CHECK_FALSE(arena.pin(2).has_value());
  CHECK(arena.pin(1).has_value());
  CHECK(arena.pin(3).has_value());
}
