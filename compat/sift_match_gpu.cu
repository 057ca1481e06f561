// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <serac/compat/sift_match_gpu.hpp>
#include <serac/matcher.cuh>

namespace serac::compat {

/// Ties broken as COLMAP breaks them, which shows only in lists made with a ratio above 1.
struct siftgpu_ties : policy_for<128> {
  using tie = tie_break::siftgpu;
};

namespace {

constexpr int width = 128;

/// The byte of a value of a descriptor of norm 1.
std::uint8_t byte_of(float x) {
  const double scaled = 512.0 * static_cast<double>(x) + 0.5;
  return !(scaled > 0) ? 0 : static_cast<std::uint8_t>(std::min(scaled, 255.0));
}

/// An image in device memory.
struct gpu_image {
  static constexpr int unset = -1;

  int count = unset;  ///< features kept
  int id = -1;
  std::int64_t location_stride = 0;  ///< floats from one location to the next, 0 if they are not set
  detail::device_buffer descriptors, locations;

  sift_view view() const { return {static_cast<const std::uint8_t*>(descriptors.data()), count}; }
  keypoint_view points() const {
    return {static_cast<const float*>(locations.data()), count, std::max<std::int64_t>(location_stride, 2)};
  }
};

}  // namespace

struct SiftMatchGPU::implementation {
  /// Everything on one GPU.
  struct gpu {
    int device;
    detail::owned_stream stream;
    gpu_image images[2];
    basic_matcher<> matcher;
    std::optional<basic_matcher<siftgpu_ties>> ties_matcher;  // once a ratio above 1 was asked for

    explicit gpu(int device_) : device(device_), matcher({}, device_) {}
  };

  std::function<void(const std::string&)> log;
  int max_sift = 0;
  int device = -1;  // the current one
  std::optional<gpu> used;
  std::vector<std::uint8_t> bytes;  // of descriptors given as floats

  /// What `call` returns, or `failed` and a reason.
  template <class Call>
  int guarded(const char* name, int failed, Call call) {
    std::string reason = std::string("SiftMatchGPU::") + name + ": ";
    try {
      return call();
    } catch (const std::exception& e) {
      reason += e.what();
    }
    if (log) {
      log(reason);
    } else {
      std::cerr << reason + '\n' << std::flush;
    }
    return failed;
  }

  /// The GPU, from its first use on.
  gpu& on_gpu() {
    if (!used) {
      int number = device;
      if (number < 0) detail::check_cuda(cudaGetDevice(&number), "device");
      const detail::device_scope scope(number);
      used.emplace(number);
    }
    return *used;
  }

  void set_max_sift(int count) {
    if (count < 0) throw std::invalid_argument("max_sift is " + std::to_string(count));
    constexpr int most = std::numeric_limits<int>::max() / 32 * 32;
    max_sift = count > most ? most : (count + 31) / 32 * 32;
  }

  static void check_index(int index) {
    if (index != 0 && index != 1) {
      throw std::invalid_argument("index is " + std::to_string(index) + ", not 0 or 1");
    }
  }

  /// Copies to device memory of the GPU at hand, which has done it on return.
  void upload(detail::device_buffer& to, const void* from, std::size_t size, const char* name) {
    if (size == 0) return;
    if (from == nullptr) throw std::invalid_argument(std::string(name) + " is null");
    const detail::device_scope scope(used->device);
    detail::check_cuda(cudaMemcpyAsync(to.reserve(size, name), from, size, cudaMemcpyHostToDevice, used->stream), name);
    used->stream.synchronize();
  }

  /// Sets an image; `data_of(values)` is where that many bytes of descriptors are.
  template <class DataOf>
  void set_descriptors(int index, int count, int id, DataOf data_of) {
    check_index(index);
    if (count < 0) throw std::invalid_argument("count is " + std::to_string(count));
    gpu_image& image = on_gpu().images[index];
    const int kept = std::min(count, max_sift);
    if (id != -1 && id == image.id && kept == image.count) return;
    image.count = gpu_image::unset, image.id = -1, image.location_stride = 0;
    const std::size_t size = static_cast<std::size_t>(kept) * width;
    upload(image.descriptors, data_of(size), size, "descriptors");
    image.count = kept, image.id = id;
  }

  void set_locations(int index, const float* locations, int gap) {
    check_index(index);
    if (gap < 0) throw std::invalid_argument("gap is " + std::to_string(gap));
    gpu_image& image = on_gpu().images[index];
    if (image.count == gpu_image::unset) throw std::invalid_argument("the image's descriptors are not set");
    image.location_stride = 0;
    const std::int64_t stride = std::int64_t{2} + gap;
    const std::int64_t values = image.count == 0 ? 0 : (image.count - 1) * stride + 2;
    upload(image.locations, locations, static_cast<std::size_t>(values) * sizeof(float), "locations");
    image.location_stride = stride;
  }

  /// The matches of both images among those that meet `geometry`.
  int match(int max_match, std::uint32_t (*buffer)[2], const match_options& asked, const two_view_geometry& geometry) {
    if (max_match < 0) throw std::invalid_argument("max_match is " + std::to_string(max_match));
    if (max_match > 0 && buffer == nullptr) throw std::invalid_argument("buffer is null");
    gpu& here = on_gpu();
    for (const int index : {0, 1}) {
      const auto fail = [&](const char* what) {
        throw std::invalid_argument(what + std::string(" of image ") + std::to_string(index) + " are not set");
      };
      if (here.images[index].count == gpu_image::unset) fail("the descriptors");
      const bool guided = geometry.has_homography || geometry.has_epipolar;
      if (guided && here.images[index].location_stride == 0) fail("the locations");
    }
    match_options options = asked;
    options.max_matches = max_match;
    options.max_features = max_sift;
    if (!(options.max_ratio > 1)) return match_by(here.matcher, buffer, options, geometry);
    if (!here.ties_matcher) here.ties_matcher.emplace(options, here.device);
    return match_by(*here.ties_matcher, buffer, options, geometry);
  }

  template <class Matcher>
  int match_by(Matcher& matcher, std::uint32_t (*buffer)[2], const match_options& options,
               const two_view_geometry& geometry) {
    const gpu_image &left = used->images[0], &right = used->images[1];
    matcher.set_options(options);
    const match_list list =
        geometry.has_homography || geometry.has_epipolar
            ? matcher.match_guided(left.view(), right.view(), guided_by<>{left.points(), right.points(), geometry})
            : matcher.match(left.view(), right.view());
    for (std::size_t k = 0; k < list.pairs.size(); ++k) {
      buffer[k][0] = list.pairs[k].row, buffer[k][1] = list.pairs[k].column;
    }
    return static_cast<int>(list.pairs.size());
  }

  /// Has the GPU match a feature with itself, which shows whether there is one, and code for it.
  void verify() {
    const std::uint8_t feature[width] = {255, 255, 255, 255};
    gpu& here = on_gpu();
    here.matcher.set_options({});
    if (here.matcher.match({feature, 1}, {feature, 1}).pairs != std::vector<match_pair>{{0, 0}}) {
      throw std::runtime_error("the GPU does not match a feature with itself");
    }
  }
};

SiftMatchGPU::SiftMatchGPU(int max_sift) : implementation_(std::make_unique<implementation>()) {
  implementation_->set_max_sift(4096);
  SetMaxSift(max_sift);
}
SiftMatchGPU::~SiftMatchGPU() = default;
SiftMatchGPU::SiftMatchGPU(SiftMatchGPU&&) noexcept = default;
SiftMatchGPU& SiftMatchGPU::operator=(SiftMatchGPU&&) noexcept = default;

void SiftMatchGPU::SetLog(std::function<void(const std::string&)> log) { implementation_->log = std::move(log); }

void SiftMatchGPU::SetLanguage(int language) {
  const int device = language < SIFTMATCH_CUDA_DEVICE0 ? -1 : language - SIFTMATCH_CUDA_DEVICE0;
  if (device != implementation_->device) implementation_->used.reset();
  implementation_->device = device;
}

void SiftMatchGPU::SetMaxSift(int max_sift) {
  implementation_->guarded("SetMaxSift", 0, [&] { return implementation_->set_max_sift(max_sift), 1; });
}

int SiftMatchGPU::GetMaxSift() const { return implementation_->max_sift; }

int SiftMatchGPU::VerifyContextGL() {
  return implementation_->guarded("VerifyContextGL", 0, [&] { return implementation_->verify(), 1; });
}

int SiftMatchGPU::CreateContextGL() {
  return implementation_->guarded("CreateContextGL", 0, [&] { return implementation_->verify(), 1; });
}

int SiftMatchGPU::Allocate(int max_sift, int) {
  return implementation_->guarded("Allocate", 0, [&] {
    implementation_->set_max_sift(max_sift);
    implementation::gpu& here = implementation_->on_gpu();
    const detail::device_scope scope(here.device);
    for (gpu_image& image : here.images) {
      image.count = gpu_image::unset, image.id = -1, image.location_stride = 0;  // memory that grows is emptied
      image.descriptors.reserve(static_cast<std::size_t>(implementation_->max_sift) * width, "descriptors");
    }
    return 1;
  });
}

void SiftMatchGPU::SetDescriptors(int index, int count, const unsigned char* descriptors, int id) {
  implementation_->guarded("SetDescriptors", 0, [&] {
    implementation_->set_descriptors(index, count, id, [&](std::size_t) { return descriptors; });
    return 1;
  });
}

void SiftMatchGPU::SetDescriptors(int index, int count, const float* descriptors, int id) {
  implementation_->guarded("SetDescriptors", 0, [&] {
    implementation_->set_descriptors(index, count, id, [&](std::size_t size) -> const std::uint8_t* {
      if (descriptors == nullptr) return nullptr;
      implementation_->bytes.resize(size);
      std::transform(descriptors, descriptors + size, implementation_->bytes.begin(), byte_of);
      return implementation_->bytes.data();
    });
    return 1;
  });
}

void SiftMatchGPU::SetFeatureLocation(int index, const float* locations, int gap) {
  implementation_->guarded("SetFeatureLocation", 0,
                           [&] { return implementation_->set_locations(index, locations, gap), 1; });
}

int SiftMatchGPU::GetSiftMatch(int max_match, std::uint32_t (*buffer)[2], float distmax, float ratiomax, int mutual) {
  return implementation_->guarded("GetSiftMatch", -1, [&] {
    return implementation_->match(max_match, buffer, {ratiomax, distmax, mutual != 0}, {});
  });
}

int SiftMatchGPU::GetGuidedSiftMatch(int max_match, std::uint32_t (*buffer)[2], const float* H, const float* F,
                                     float distmax, float ratiomax, float hdistmax, float fdistmax, int mutual) {
  return implementation_->guarded("GetGuidedSiftMatch", -1, [&] {
    two_view_geometry geometry;
    if (H != nullptr) {
      geometry.has_homography = true;
      std::copy_n(H, 9, geometry.homography.matrix);
      geometry.homography.max_squared_error = hdistmax;
    }
    if (F != nullptr) {
      geometry.has_epipolar = true;
      std::copy_n(F, 9, geometry.epipolar.matrix);
      geometry.epipolar.max_squared_error = fdistmax;
    }
    return implementation_->match(max_match, buffer, {ratiomax, distmax, mutual != 0}, geometry);
  });
}

}  // namespace serac::compat
