// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <string>
#include <vector>

#include <support/tensor_checks.cuh>

using namespace serac;
using namespace serac::test;

namespace {

using wgmma_path = tensor_path<wgmma_policy>;
using mma_path = tensor_path<mma_policy>;

/// Writes the best path that the code running on the device was compiled for.
template <class Path = match_path>
__global__ void tell_path(Path* path) {
#if defined(SERAC_HAS_WGMMA)
  *path = Path::wgmma;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  *path = Path::mma;
#else
  *path = Path::classic;
#endif
}

match_path path_compiled() {
  const device_array<match_path> path(1);
  tell_path<><<<1, 1>>>(path.data());
  require_cuda(cudaGetLastError());
  return path.values()[0];
}

}  // namespace

// The first test of this program: no kernel of these paths is loaded before the capture.
TEMPLATE_TEST_CASE("case 39: a captured match by tensor cores, replayed with new inputs", "[tensor]", wgmma_path,
                   mma_path) {
  check_capture<TestType>();
}

TEMPLATE_TEST_CASE("tensor-core lists equal the reference's and the classic path's", "[tensor]", wgmma_path, mma_path) {
  using path = TestType;
  SECTION("every kind of input, all options, dense and with gaps") { check_list_kinds<path>(); }
  SECTION("sizes around the edges of the path") { check_list_shapes<path>(own_edges<path>()); }
  SECTION("sizes around all edges") {
    if (small_run()) return;
    check_list_shapes<path>({1, 63, 64, 65, 159, 160, 161, 255, 256, 257, 319, 320, 321, 640, 1000, 2049});
  }
  SECTION("large and very unequal images") { check_large_lists<path>(); }
  SECTION("hub columns") { check_hub_columns<path>(); }
  SECTION("duplicates across edges") { check_duplicates_across_edges<path>(); }
}

TEMPLATE_TEST_CASE("a hundred repeats by tensor cores are equal", "[tensor]", wgmma_path, mma_path) {
  using path = TestType;
  random_source random(17);
  const auto images = random_images(input_kind::planted, random, small_run() ? 300 : 1500, 2000, 128);
  const device_descriptors<> left(images.left), right(images.right);
  const auto expected = list_of<classic_of<path>>(left.view(), right.view(), {});
  CHECK_FALSE(expected.empty());
  match_run<path> run(left.view(), right.view());
  for (int repeat = 0; repeat < by_run_size(100, 10, 2); ++repeat) {
    INFO("repeat " << repeat);
    run.poison();
    run.launch();
    REQUIRE_SAME(run.list(), expected);
  }
}

TEMPLATE_TEST_CASE("a tensor-core policy refuses max_ratio above 1", "[tensor]", wgmma_policy, mma_policy) {
  random_source random(11);
  const device_descriptors<> image(sift_like(random, 100));
  match_options options;
  match_run<tensor_path<TestType>> run(image.view(), image.view(), options);
  run.launch();  // the same arguments are right with 0.8
  CHECK(run.list().size() == 100);

  run.poison();
  options.max_ratio = 1.1f;
  device_array<std::uint8_t> workspace(device::match_workspace<TestType>(image.view(), image.view(), options));
  const status s = device::match<TestType>(image.view(), image.view(), options, run.output(), workspace.data(),
                                           workspace.size(), nullptr);
  CHECK(s.code == errc::invalid_option);
  CHECK(std::string(s.argument).rfind("options.max_ratio", 0) == 0);
  workspace.require_untouched();
}

TEST_CASE("the default policy takes the best path where ties are rejected, and is right by any", "[tensor]") {
  random_source random(12);
  const auto images = random_images(input_kind::planted, random, 2950, 3000, 128);
  const device_descriptors<> left(images.left), right(images.right);
  const match_path best = path_compiled();
  for (const float ratio : {0.8f, 1.0f, 1.1f}) {
    CAPTURE(ratio);
    match_options options;
    options.max_ratio = ratio;
    CHECK((device::path_of_match(left.view(), right.view(), options) == (ratio <= 1 ? best : match_path::classic)));
    const auto expected = expected_match<tie_break::smallest_index>(images.left, images.right, options);
    CHECK_FALSE(expected.empty());
    REQUIRE_SAME(list_of<path_of<default_policy>>(left.view(), right.view(), options), expected);
  }

  // Ties that only max_ratio > 1 shows.
  const auto repeated = random_images(input_kind::repeated, random, 700, 800, 128);
  match_options ties;
  ties.max_ratio = 1.1f, ties.max_distance = 3.2f, ties.cross_check = false;
  const auto expected = expected_match<tie_break::smallest_index>(repeated.left, repeated.right, ties);
  REQUIRE_SAME(match_of<path_of<default_policy>>(repeated.left, repeated.right, ties), expected);

  CHECK((device::path_of_match<wgmma_policy>(left.view(), right.view(), {}) == match_path::wgmma));
  CHECK((device::path_of_match<mma_policy>(left.view(), right.view(), {}) == match_path::mma));
  CHECK((device::path_of_match<policy_for<128>>(left.view(), right.view(), {}) == match_path::classic));
  int device = 0, major = 0;
  require_cuda(cudaGetDevice(&device));
  require_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major == 9 && best != match_path::wgmma) {
    skip("compiled for this GPU without its architecture-specific code (90a): the wgmma path was not tested");
  }
}
