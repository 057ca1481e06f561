// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Case 10: a program without code for the GPU at hand says so. It is compiled for one architecture alone, whose major
/// number is COMPILED_FOR_MAJOR.

#include <algorithm>
#include <string>

#include <support/cases.hpp>
#include <support/gpu.cuh>

using namespace serac;
using namespace serac::test;

namespace {

bool has_code_for_this_gpu() {
  int device = 0, major = 0;
  require_cuda(cudaGetDevice(&device));
  require_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major == COMPILED_FOR_MAJOR;
}

constexpr char has_code[] = "this program does hold code for the GPU at hand: configure with its CUDA_ARCHITECTURES";

}  // namespace

TEST_CASE("case 10: match and nearest2 report that there is no kernel image", "[no_kernel_image]") {
  if (has_code_for_this_gpu()) return skip(has_code);
  random_source random(10);
  const device_descriptors<> image(ten_of_162(random, 20));
  const sift_view view = image.view();
  const device_array<match_pair> pairs(20);
  const device_array<std::uint32_t> count(1);
  const device_array<top2> states(20);
  const device_array<std::uint8_t> workspace(
      std::max(device::match_workspace(view, view, {}), device::nearest2_workspace(view, view, false)));
  for (int repeat = 0; repeat < 2; ++repeat) {
    const status matched =
        device::match(view, view, {}, {pairs.data(), 20, count.data()}, workspace.data(), workspace.size(), nullptr);
    INFO(matched.message());
    CHECK(matched.code == errc::no_kernel_image);
    CHECK(matched.message().find("no kernel image for this device") != std::string::npos);
    const status scored =
        device::nearest2(view, view, {states.data(), nullptr}, workspace.data(), workspace.size(), nullptr);
    INFO(scored.message());
    CHECK(scored.code == errc::no_kernel_image);
  }
  cudaGetLastError();
  pairs.require_untouched();
  count.require_untouched();
  states.require_untouched();
}

TEST_CASE("case 10: a matcher throws that there is no kernel image, each time", "[no_kernel_image]") {
  if (has_code_for_this_gpu()) return skip(has_code);
  random_source random(10);
  const auto image = ten_of_162(random, 20);
  matcher m;
  for (int repeat = 0; repeat < 2; ++repeat) {
    errc code = errc::ok;
    try {
      m.match(image.view(), image.view());
    } catch (const error& e) {
      INFO(e.what());
      code = e.status().code;
    }
    CHECK(code == errc::no_kernel_image);
  }
  cudaGetLastError();
}
