// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <support/property_checks.hpp>
#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// A path on device memory, of descriptors in host memory.
template <class Path>
struct on_gpu : Path {
  using element = typename Path::element;

  static std::vector<match_pair> match(const descriptors<element>& left, const descriptors<element>& right,
                                       const match_options& options, int gap) {
    return match_of<Path>(left, right, options, gap);
  }
  static nearest2_list nearest2(const descriptors<element>& left, const descriptors<element>& right) {
    const device_descriptors<element> rows(left), columns(right);
    return nearest2_of<Path>(rows.view(), columns.view(), true);
  }
};

using classic = on_gpu<path_of<dp4a>>;
using colmap = on_gpu<path_of<siftgpu_ties<tile_32x32>>>;
using mma = on_gpu<tensor_path<mma_policy>>;
using wgmma = on_gpu<tensor_path<wgmma_policy>>;

}  // namespace

TEMPLATE_TEST_CASE("lists on the GPU have the properties of lists", "[properties]", classic, colmap, mma, wgmma) {
  std::uint64_t seed = 7000;
  std::size_t matches = 0;
  for (const input_kind kind : kinds_of_run()) {
    for (const std::int64_t most : {150, 1500}) {
      if (small_run() && most > 150) continue;
      random_source random(++seed);
      matches += check_properties<TestType>(kind, seed, 1 + random.below(most), 1 + random.below(most),
                                            few_if_tiny(tieless_options(), 2));
    }
  }
  if (!tiny_run()) CHECK(matches > (small_run() ? 100 : 1000));  // the inputs do hold matches
}

TEMPLATE_TEST_CASE("states on the GPU have the properties of states", "[properties]", classic, colmap, mma, wgmma) {
  std::uint64_t seed = 7100;
  for (const input_kind kind : kinds_of_run()) {
    for (const std::int64_t columns : {1, 64, 100, 3000}) {
      if (small_run() && columns > 100) continue;
      if (tiny_run() && columns < 100) continue;
      check_state_properties<TestType>(kind, ++seed, 60, columns);
    }
  }
}

TEMPLATE_TEST_CASE("distinct descriptors match themselves on the GPU", "[properties]", classic, colmap, mma, wgmma) {
  for (const std::int64_t count : few_if_tiny<std::int64_t>({1, 2, 65, 700, 2500}, 3)) {
    if (!small_run() || count == 65) check_self_match<TestType>(7200, count);
  }
}
