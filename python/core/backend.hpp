// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What matches, without a word of Python: arguments as they come, types known when the program runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include <serac/acceptance.hpp>
#include <serac/admissible.hpp>
#include <serac/batch.hpp>
#include <serac/lists.hpp>
#include <serac/options.hpp>
#include <serac/score.hpp>

namespace serac_python {

/// What the elements of descriptors are: the element types of score.hpp.
enum class element { unsigned_byte, signed_byte, bits, float32, float16, l2_float32, l2_float16 };

/// Calls `visit` with a value of the type that `type` stands for. A new element type is added here, to the table of
/// arguments.cpp and to the widths of cuda_backend.cuh.
template <class Visit>
decltype(auto) with_element(element type, Visit visit) {
  switch (type) {
    case element::unsigned_byte:
      return visit(std::uint8_t{});
    case element::signed_byte:
      return visit(std::int8_t{});
    case element::bits:
      return visit(serac::bits8{});
    case element::float32:
      return visit(float{});
    case element::float16:
      return visit(serac::float16{});
    case element::l2_float32:
      return visit(serac::l2<float>{});
    case element::l2_float16:
      return visit(serac::l2<serac::float16>{});
  }
  throw std::logic_error("element");
}

/// Where memory is, and behind which work it is ready.
struct place {
  static constexpr int host = -1;

  int device = host;       ///< number of the GPU
  void* stream = nullptr;  ///< of that GPU

  bool on_host() const { return device == host; }
};

/// Descriptors of one image.
struct image {
  const void* data = nullptr;
  std::int64_t count = 0;
  int width = 0;            ///< elements of a descriptor
  std::int64_t stride = 0;  ///< elements from one descriptor to the next
  element type = element::unsigned_byte;
  place where;
};

/// Locations of the features of one image.
struct locations {
  serac::keypoint_view points;
  place where;
};

/// How matches are accepted: by the options, whose ratio and distance are of angles where the elements are bytes and of
/// Euclidean distances where they are floats; by their ratio, of Hamming distances, and max_bits where they are bits.
struct judgement {
  serac::match_options options;
  std::int32_t max_bits = serac::equal_bits_score;
};

/// The acceptance of a judgement.
template <class T>
auto acceptance_of(const judgement& by) {
  if constexpr (serac::score_traits<T>::has_angle) {
    return serac::acceptance_of<T>(by.options);
  } else if constexpr (serac::score_traits<T>::is_float) {
    return serac::basic_euclidean_acceptance<T>{by.options.max_ratio, by.options.max_distance};
  } else {
    return serac::hamming_acceptance{by.options.max_ratio, by.max_bits};
  }
}

/// Takes the list of pair number `number`, in order.
using list_taker = std::function<void(const serac::match_pair* matches, std::int64_t count)>;

/// Matches images of one element type and width: the host, or one GPU. Ties are broken as COLMAP breaks them where the
/// elements are unsigned bytes, except in nearest2; by the smallest index else. Throws serac::error,
/// std::invalid_argument for a width that it does not take, and what the taker throws.
class backend {
 public:
  virtual ~backend() = default;
  virtual serac::match_list match(const image& a, const image& b, const judgement& by) = 0;
  virtual serac::match_list match_guided(const image& a, const image& b, const locations& points_a,
                                         const locations& points_b, const serac::two_view_geometry& geometry,
                                         const judgement& by) = 0;
  virtual serac::nearest2_list nearest2(const image& a, const image& b, bool with_columns) = 0;
  virtual void match_batch(const std::vector<image>& images, const std::vector<serac::image_pair>& pairs,
                           const judgement& by, const list_taker& take) = 0;
};

/// `threads` of the host, all of them if it is not above 0.
std::unique_ptr<backend> make_host_backend(int threads);

/// GPU number `device`; batches of images in host memory are shared out among all GPUs where `all` is set. Defined in
/// cuda_backend.cu, which only a build with CUDA has. Throws serac::error.
std::unique_ptr<backend> make_cuda_backend(int device, bool all);
/// The GPUs that there are; 0 also where there is no driver.
int cuda_device_count() noexcept;
/// The GPU that a pointer is of. Throws serac::error for what is no GPU's memory.
int device_of_pointer(const void* pointer);

}  // namespace serac_python
