// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A class in the shape of SiftGPU's matcher, for programs that call that one: COLMAP, and what grew out of it.
///
/// Plain C++, without CUDA's headers. What it declares is in the static library serac::compat, which holds the kernels
/// for the architectures that it was built for: `target_link_libraries(mine PRIVATE serac::compat)`, or by hand
/// `-lserac_compat -lcudart_static -ldl -lrt -lpthread`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace serac::compat {

/// Matches SIFT descriptors of two images, number 0 and 1, on one GPU; the lists are those of device::match and
/// device::match_guided, which are COLMAP's.
///
///     serac::compat::SiftMatchGPU matcher(8192);
///     if (matcher.VerifyContextGL() == 0) return false;
///     matcher.SetDescriptors(0, count_0, descriptors_0);
///     matcher.SetDescriptors(1, count_1, descriptors_1);
///     const int count = matcher.GetSiftMatch(8192, buffer);  // buffer[k][0] of image 0 is buffer[k][1] of image 1
///
/// Host; synchronous. One thread at a time; several threads use one object each. It needs no OpenGL context and no
/// display. It throws nothing but std::bad_alloc from its constructor: what fails is said in one line on std::cerr, or
/// to SetLog's function, and the call returns -1, or 0 where it says so; the object stays usable. Memory on the GPU:
/// the images' descriptors and locations, one list, and a workspace of tens of bytes a feature, all of which grow to
/// the largest call and are kept. One that was moved from may only be destroyed or assigned to.
class SiftMatchGPU {
 public:
  /// Values for SetLanguage.
  enum language : int { SIFTMATCH_GLSL = 0, SIFTMATCH_CUDA = 3, SIFTMATCH_CUDA_DEVICE0 = 3 };

  /// `max_sift` as SetMaxSift. The GPU is first used when something is asked of it.
  explicit SiftMatchGPU(int max_sift = 4096);
  ~SiftMatchGPU();
  SiftMatchGPU(SiftMatchGPU&&) noexcept;
  SiftMatchGPU& operator=(SiftMatchGPU&&) noexcept;

  /// Where reasons of failure go from now on: `log` gets a line, without its end, on the thread that calls. An empty
  /// function means std::cerr, as at first.
  void SetLog(std::function<void(const std::string&)> log);

  /// 3 + i means GPU number i; all other values are accepted and mean the GPU that is current when one is first used.
  /// Images that were set on another GPU must be set again.
  void SetLanguage(int language);

  /// Features of an image that are looked at from now on: `max_sift`, at least 0, rounded up to a multiple of 32 as
  /// COLMAP has it. Of more the first are kept.
  void SetMaxSift(int max_sift);
  int GetMaxSift() const;

  /// Whether there is a usable GPU, which has just matched something: non-zero, or 0 and a reason. The first call takes
  /// as long as CUDA takes to start.
  int VerifyContextGL();
  /// The same.
  int CreateContextGL();

  /// SetMaxSift, and memory for that many descriptors of both images: non-zero, or 0 and a reason. `mutual` is said to
  /// GetSiftMatch, and accepted here.
  int Allocate(int max_sift, int mutual);

  /// Sets an image: `count` descriptors of norm 512, 128 bytes each, copied to the GPU before it returns. An `id` other
  /// than -1 that is the image's already means unchanged data, which is not copied again; its locations stay too. The
  /// locations of other data are to be set anew.
  void SetDescriptors(int index, int count, const unsigned char* descriptors, int id = -1);
  /// The same of descriptors of norm 1: each value x becomes the byte int(512 x + 0.5), at most 255.
  void SetDescriptors(int index, int count, const float* descriptors, int id = -1);

  /// Sets the locations of an image's features, after its descriptors: x, y and `gap` floats that are skipped, for each
  /// feature that was given; the floats behind the last y are not read.
  void SetFeatureLocation(int index, const float* locations, int gap = 0);
  /// The same under the name that COLMAP 3 calls; COLMAP 4 calls the other.
  void SetFeautreLocation(int index, const float* locations, int gap = 0) { SetFeatureLocation(index, locations, gap); }

  /// Matches image 0 with image 1: the number of matches, which are written to `buffer` in ascending order of the
  /// feature of image 0, or -1. At most `max_match` are written, the first ones.
  ///
  /// `distmax` is match_options::max_distance, `ratiomax` max_ratio, `mutual` (0: off) cross_check and `max_match`
  /// max_matches. Above a ratio of 1, where exact ties show, they are broken as COLMAP breaks them
  /// (tie_break::siftgpu).
  int GetSiftMatch(int max_match, std::uint32_t (*buffer)[2], float distmax = 0.7f, float ratiomax = 0.8f,
                   int mutual = 1);

  /// The same among pairs of features that meet H, with a squared error below `hdistmax`, and F, with a squared Sampson
  /// error below `fdistmax` (see homography and epipolar in geometry.hpp). Both matrices are 3 x 3, row-major; null
  /// means not given, both null GetSiftMatch. An essential matrix serves as F where locations and error are normalised.
  int GetGuidedSiftMatch(int max_match, std::uint32_t (*buffer)[2], const float* H, const float* F,
                         float distmax = 0.7f, float ratiomax = 0.8f, float hdistmax = 32, float fdistmax = 16,
                         int mutual = 1);

  int gpu_index = 0;  ///< the caller's: COLMAP keeps the number of the GPU here; nothing follows from it

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace serac::compat
