// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The calls that COLMAP makes of SiftGPU, in its order and with its types, by plain C++ and the header of
/// compat/colmap: it creates a matcher, matches two images, matches them again under a homography, and asks for an
/// extractor.
///
/// The lists must be right; where CUDA_VISIBLE_DEVICES is empty, so that no GPU is seen, every call must fail and say
/// why. There is no extractor in any case.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

class SiftGPU;  // a program may declare them before it includes the header
class SiftMatchGPU;
#include <SiftGPU.h>

namespace {

struct keypoint {
  float x, y, a11, a12, a21, a22;
};
struct match {
  std::uint32_t index_0, index_1;
};
static_assert(sizeof(match) == sizeof(std::uint32_t[2]));

/// What a program like COLMAP keeps for a thread that matches.
class gpu_matcher {
 public:
  static constexpr int max_num_matches = 1000;

  bool create(int gpu_index) {
    matcher_ = SiftMatchGPU(max_num_matches);
    matcher_.SetLog([this](const std::string& reason) { reasons.push_back(reason); });
    if (gpu_index >= 0) {
      matcher_.SetLanguage(SiftMatchGPU::SIFTMATCH_CUDA_DEVICE0 + gpu_index);
    } else {
      matcher_.SetLanguage(SiftMatchGPU::SIFTMATCH_CUDA);
    }
    if (matcher_.VerifyContextGL() == 0) return false;
    if (!matcher_.Allocate(max_num_matches, true)) return false;
    matcher_.gpu_index = gpu_index;
    return matcher_.GetMaxSift() >= max_num_matches;
  }

  void set(int index, const std::vector<std::uint8_t>& descriptors, const std::vector<keypoint>& keypoints) {
    matcher_.SetDescriptors(index, static_cast<int>(descriptors.size() / 128), descriptors.data());
    const float* const locations = reinterpret_cast<const float*>(keypoints.data());
    if (index == 0) {
      matcher_.SetFeautreLocation(index, locations, 4);  // its name in COLMAP 3
    } else {
      matcher_.SetFeatureLocation(index, locations, 4);  // in COLMAP 4
    }
  }

  int match_plain(std::vector<match>& matches) {
    matches.resize(max_num_matches);
    const int count =
        matcher_.GetSiftMatch(max_num_matches, reinterpret_cast<std::uint32_t(*)[2]>(matches.data()), 0.7f, 0.8f, true);
    matches.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return count;
  }

  int match_guided(float* homography, float max_residual, std::vector<match>& matches) {
    matches.resize(max_num_matches);
    float* const fundamental = nullptr;
    const int count =
        matcher_.GetGuidedSiftMatch(max_num_matches, reinterpret_cast<std::uint32_t(*)[2]>(matches.data()), homography,
                                    fundamental, 0.7f, 0.8f, max_residual, max_residual, true);
    matches.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return count;
  }

  std::vector<std::string> reasons;

 private:
  SiftMatchGPU matcher_;
};

/// Feature i has a byte of 255 in four places of its own; those of the other image are in reverse order and lie 10
/// pixels further right, but for the last one.
constexpr int features = 30;

std::vector<std::uint8_t> descriptors_of(bool reversed) {
  std::vector<std::uint8_t> descriptors(features * 128);
  for (int i = 0; i < features; ++i) {
    std::memset(&descriptors[(reversed ? features - 1 - i : i) * 128 + 4 * i], 255, 4);
  }
  return descriptors;
}

std::vector<keypoint> keypoints_of(bool reversed) {
  std::vector<keypoint> keypoints(features);
  for (int i = 0; i < features; ++i) {
    const auto x = static_cast<float>(100 * i);
    keypoints[reversed ? features - 1 - i : i] = {reversed && i < features - 1 ? x + 10 : x, 50, 1, 0, 0, 1};
  }
  return keypoints;
}

/// Whether COLMAP would get as far as extracting features on a GPU, by its own calls.
bool extracts() {
  const std::vector<const char*> arguments = {"./sift_gpu", "-cuda", "0"};
  SiftGPU extractor;
  extractor.SetVerbose(0);
  extractor.ParseParam(static_cast<int>(arguments.size()), arguments.data());
  extractor.gpu_index = 0;
  if (extractor.VerifyContextGL() != SiftGPU::SIFTGPU_FULL_SUPPORTED) return false;
  const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(extractor.GetMaxDimension()));
  if (extractor.RunSIFT(0, 0, pixels.data(), 0x1909, 0x1401) != 1) return false;  // GL_LUMINANCE, GL_UNSIGNED_BYTE
  std::vector<SiftKeypoint> points(static_cast<std::size_t>(extractor.GetFeatureNum()));
  std::vector<float> descriptors(points.size() * 128);
  extractor.GetFeatureVector(points.data(), descriptors.data());
  return true;
}

bool expect(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "FAILED: %s\n", what);
  return holds;
}

bool right(const std::vector<match>& matches, int count) {
  if (matches.size() != static_cast<std::size_t>(count)) return false;
  for (int i = 0; i < count; ++i) {
    if (matches[i].index_0 != static_cast<std::uint32_t>(i)) return false;
    if (matches[i].index_1 != static_cast<std::uint32_t>(features - 1 - i)) return false;
  }
  return true;
}

int run() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool without_gpu = visible != nullptr && *visible == '\0';
  gpu_matcher matcher;
  const bool created = matcher.create(-1);
  if (!created && !without_gpu) {
    std::fprintf(stderr, "SKIPPED: %s\n", matcher.reasons.empty() ? "no reason" : matcher.reasons[0].c_str());
    return 77;
  }
  matcher.set(0, descriptors_of(false), keypoints_of(false));
  matcher.set(1, descriptors_of(true), keypoints_of(true));
  float shift[9] = {1, 0, 10, 0, 1, 0, 0, 0, 1};
  std::vector<match> plain, guided;
  const int plain_count = matcher.match_plain(plain), guided_count = matcher.match_guided(shift, 16, guided);
  for (const std::string& reason : matcher.reasons) std::printf("%s\n", reason.c_str());
  bool good = expect(!extracts(), "nothing extracts");
  if (without_gpu) {
    good &= expect(!created, "VerifyContextGL returns 0");
    good &= expect(plain_count == -1, "GetSiftMatch returns -1");
    good &= expect(guided_count == -1, "GetGuidedSiftMatch returns -1");
    good &= expect(matcher.reasons.size() == 7, "each of the seven calls gives a reason");
    for (const std::string& reason : matcher.reasons) {
      good &=
          expect(reason.find("no CUDA device or driver is available") != std::string::npos, "the reason is the GPU");
    }
  } else {
    good &= expect(right(plain, features), "all features match");
    good &= expect(right(guided, features - 1), "all features but the last match under the homography");
    good &= expect(matcher.reasons.empty(), "nothing fails");
  }
  return good ? 0 : 1;
}

}  // namespace

int main() { return run(); }
