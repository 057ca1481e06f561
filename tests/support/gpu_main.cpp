// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The main function of tests that need a GPU: without a usable one nothing is run and CTest is told "skipped".

#include <cuda_runtime.h>

#include <cstdio>

#include <support/runner.hpp>

int main(int argc, char** argv) {
  int devices = 0;
  cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) error = cudaFree(nullptr);  // creates the context
  if (error != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "SKIPPED: nothing was tested, there is no usable CUDA device (%s)\n",
                 cudaGetErrorString(error));
    return serac::test::exit_skipped;
  }
  return serac::test::run_tests(argc, argv);
}
