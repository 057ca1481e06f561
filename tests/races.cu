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

/// The barrier of a grid of one block.
struct one_block {
  __device__ void sync() const { __syncthreads(); }
};

/// What match_pair_wgmma does, by one block in an ordinary launch.
__global__ void __launch_bounds__(wgmma_traits<wgmma_policy>::threads, 1)
    match_pair_by_one_block(const SERAC_GRID_CONSTANT kernel::pair_problem<wgmma_policy> problem,
                            const SERAC_GRID_CONSTANT angular_acceptance accept, bool cross_check, std::uint32_t most,
                            kernel::one_list list) {
#ifdef SERAC_HAS_WGMMA
  kernel::match_pair(one_block(), problem, accept, cross_check, most, list);
#else
  __trap();
#endif
}

/// The list of two images by one block. (The whole workspace is poison before.)
std::vector<match_pair> match_by_one_block(const two_images<>& images, const match_options& options) {
  using traits = wgmma_traits<wgmma_policy>;
  const device_descriptors<> left(images.left), right(images.right);
  const device::detail::whole_images ranges{images.left.count, images.right.count};
  const device_array<std::uint8_t> workspace(device::detail::wave_workspace<wgmma_policy>(1, ranges));
  device::detail::wave_extent<wgmma_policy> extent;
  const chunk_pair pair = extent.add(ranges(0), 1, 1);
  REQUIRE(pair.chunk_tiles == 1);
  kernel::pair_problem<wgmma_policy> problem{};
  require_ok(device::detail::describe_pair(left.view(), right.view(), extent, pair, workspace.data(), problem));

  const list_room room(images.left.count);
  const kernel::one_list list{room.output().pairs, room.output().count};
  require_ok(serac::detail::grant_shared("one block", match_pair_by_one_block, traits::shared_bytes));
  require_ok(serac::detail::launch("one block", match_pair_by_one_block, dim3(1), traits::threads, traits::shared_bytes,
                                   nullptr, problem, acceptance_of<std::uint8_t>(options), options.cross_check,
                                   static_cast<std::uint32_t>(images.left.count), list));
  workspace.values();
  return room.list();
}

}  // namespace

TEST_CASE("what is one launch by wgmma, on one block", "[races]") {
  if (device::detail::best_path() != match_path::wgmma) return skip("no wgmma: its one launch was not tested");
  // Both warpgroups of consumers have a tile of columns in every unit. Else the one without waits at a barrier of its
  // own, behind which racecheck (of CUDA 13.0) sees what its threads write as if no later __syncthreads() were there.
  using traits = wgmma_traits<wgmma_policy>;
  constexpr int columns = traits::consumers * traits::tile_columns;
  random_source random(8);
  // More rows than a block takes at a time; fewer than a warp; none that can match, where the launch ends early.
  for (const two_images<>& images : {random_images(input_kind::planted, random, 1700, 3 * columns - 9, 128),
                                     random_images(input_kind::planted, random, 3, columns, 128),
                                     two_images<>{descriptors<>(300), sift_like(random, columns - 5)}}) {
    for (const match_options& options : few_options()) {
      const auto list = match_by_one_block(images, options);
      CHECK(list == expected_match<tie_break::smallest_index>(images.left, images.right, options));
    }
  }
}

TEST_CASE("the classic path on a few tiles", "[races]") {
  check<path_of<sift>>();
  check<path_of<scalar>>();
  check<path_of<one_stage>>();
  check<path_of<sliced<32>>>();
}

TEST_CASE("the tensor-core paths on a few tiles", "[races]") {
  check<tensor_path<wgmma_policy_for<128>>>();
  check<tensor_path<mma_policy_for<128>>>();
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
