// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Every path on problems of a few tiles: what the slow tool that looks for races between threads runs.
// No setmaxnreg here: code of racecheck needs registers as well, and where too few are left kernels wait for ever.
// (Then ptxas says that products by wgmma are serialised. That is so.)
#ifndef SERAC_QUICK_TESTS
#define SERAC_QUICK_TESTS
#endif

#include <serac/serac.cuh>
#include <support/catch.hpp>
#include <support/gpu.cuh>
#include <support/guided.hpp>
#include <support/policies.cuh>
#include <support/random.hpp>
#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// Lists and states of 300 x 700 descriptors, a third of which match.
template <class Path>
void check() {
  random_source random(7);
  const two_images<> images = random_images(input_kind::planted, random, 300, 700, Path::width);
  CHECK(match_of<Path>(images.left, images.right) == expected_match<typename Path::tie>(images.left, images.right));
  const device_descriptors<> left(images.left), right(images.right);
  const nearest2_list expected = expected_nearest2<typename Path::tie>(images.left, images.right);
  const nearest2_list states = nearest2_of<Path>(left.view(), right.view(), true);
  CHECK(states.rows == expected.rows);
  CHECK(states.columns == expected.columns);
}

}  // namespace

TEST_CASE("the classic path on a few tiles", "[races]") {
  check<path_of<sift>>();
  check<path_of<scalar>>();
  check<path_of<one_stage>>();
  check<path_of<sliced<32>>>();
}

TEST_CASE("the path by mma.sync on a few tiles", "[races]") { check<tensor_path<mma_policy_for<128>>>(); }

TEST_CASE("the path by wgmma on a few tiles", "[races]") {
  if (device::detail::best_path() != match_path::wgmma) return skip("no wgmma: its kernels were not tested");
  // In every unit both warpgroups of consumers have a tile of columns. Else the one without waits at a barrier of its
  // own, behind which racecheck (of CUDA 13.0) sees what its threads write as if no later barrier of the block counted.
  using path = tensor_path<wgmma_policy_for<128>>;
  constexpr int columns = path::traits::consumers * path::tile_columns;
  check<path>();
  random_source random(8);
  // More rows than a block takes at a time; fewer than a warp; none that can match, where the launch ends early.
  for (const two_images<>& images : {random_images(input_kind::planted, random, 1700, 3 * columns - 9, 128),
                                     random_images(input_kind::planted, random, 3, columns, 128),
                                     two_images<>{descriptors<>(300), sift_like(random, columns - 5)}}) {
    check_lists<path, false>(images, few_options());
  }
}

TEST_CASE("guided matching of a few tiles, both forms", "[races]") {
  for (const char* const kind : {"plane seen from above", "epipole inside", "none"}) {
    random_source random(7);
    const auto problem = random_guided(kind, random, 200, 300);
    host::matcher expected;
    matcher ordered;
    basic_matcher<sift> classic;
    const auto list = expected.match_guided(problem.left.view(), problem.right.view(), problem.guide()).pairs;
    CHECK_FALSE(list.empty());
    CHECK(ordered.match_guided(problem.left.view(), problem.right.view(), problem.guide()).pairs == list);
    CHECK(classic.match_guided(problem.left.view(), problem.right.view(), problem.guide()).pairs == list);
  }
}
