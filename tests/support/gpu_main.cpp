// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The main function of tests that need a GPU: without a usable one nothing is run and CTest is told "skipped".

#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include <support/catch.hpp>

#include <cuda_runtime.h>

#include <cstdio>

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  int devices = 0;
  cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) error = cudaFree(nullptr);  // creates the context
  if (error != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "SKIPPED: nothing was tested, there is no usable CUDA device (%s)\n",
                 cudaGetErrorString(error));
    return skipped;
  }
  const int failures = Catch::Session().run(argc, argv);
  if (failures != 0) return 1;  // never 77 for as many failures
  return serac::test::any_skipped() ? skipped : 0;
}
