// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What COLMAP includes as thirdparty/SiftGPU/SiftGPU.h, where this folder takes the place of that one: the names that
/// COLMAP's own sources use, and nothing more.
///
/// SiftMatchGPU matches, by serac::compat::SiftMatchGPU. SiftGPU, which would extract features on the GPU, says that it
/// does not.
#pragma once

#include <iostream>

#include <serac/compat/sift_match_gpu.hpp>

/// A class, not another name for one: it may have been declared as one before.
class SiftMatchGPU : public serac::compat::SiftMatchGPU {
 public:
  using serac::compat::SiftMatchGPU::SiftMatchGPU;
};

/// A feature as SiftGPU::GetFeatureVector would give it: location in pixels, scale, orientation in radians.
struct SiftKeypoint {
  float x, y, s, o;
};

/// No GPU extracts features here: VerifyContextGL returns 0 and says so, upon which COLMAP makes no extractor and calls
/// nothing further.
class SiftGPU {
 public:
  enum { SIFTGPU_FULL_SUPPORTED = 1 };

  int VerifyContextGL() {
    std::cerr << "SiftGPU: this COLMAP has no SiftGPU, and extracts features on the CPU only: use_gpu 0\n"
              << std::flush;
    return 0;
  }

  void SetVerbose(int) {}
  void ParseParam(int, const char* const*) {}
  int GetMaxDimension() const { return 0; }
  int RunSIFT(int, int, const void*, unsigned, unsigned) { return 0; }
  int GetFeatureNum() const { return 0; }
  void GetFeatureVector(SiftKeypoint*, float*) const {}

  int gpu_index = 0;  ///< the caller's
};
