// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "report_image.hpp"

#include <stdexcept>

#if SERAC_COLMAP_HAS_STB

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <algorithm>
#include <memory>

namespace serac_colmap {

namespace {

constexpr int channels = 3, jpeg_quality = 80;

/// The mean colours of the rectangles that a width x height image has in each pixel of a smaller one.
std::vector<std::uint8_t> shrunk(const std::uint8_t* pixels, int width, int height, int small_width, int small_height) {
  const auto edge = [](int place, int size, int small) {
    return static_cast<int>(static_cast<std::int64_t>(place) * size / small);
  };
  std::vector<std::uint8_t> small;
  small.reserve(static_cast<std::size_t>(small_width) * small_height * channels);
  for (int y = 0; y < small_height; ++y) {
    const int top = edge(y, height, small_height), bottom = edge(y + 1, height, small_height);
    for (int x = 0; x < small_width; ++x) {
      const int left = edge(x, width, small_width), right = edge(x + 1, width, small_width);
      const std::int64_t area = static_cast<std::int64_t>(bottom - top) * (right - left);
      for (int c = 0; c < channels; ++c) {
        std::int64_t sum = area / 2;
        for (int v = top; v < bottom; ++v) {
          const std::uint8_t* const row = pixels + static_cast<std::size_t>(v) * width * channels;
          for (int u = left; u < right; ++u) sum += row[u * channels + c];
        }
        small.push_back(static_cast<std::uint8_t>(sum / area));
      }
    }
  }
  return small;
}

}  // namespace

bool can_read_images() { return true; }

small_image read_small_image(const std::string& path, int size) {
  small_image image;
  int channels_there = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load(path.c_str(), &image.width, &image.height, &channels_there, channels), stbi_image_free);
  if (pixels == nullptr) throw std::runtime_error(stbi_failure_reason());
  const int longer = std::max(image.width, image.height);
  const auto shorten = [&](int side) {
    return longer <= size ? side : std::max(1, static_cast<int>(static_cast<std::int64_t>(side) * size / longer));
  };
  const int width = shorten(image.width), height = shorten(image.height);
  const std::vector<std::uint8_t> small = shrunk(pixels.get(), image.width, image.height, width, height);
  const auto append = [](void* jpeg, void* data, int bytes) {
    const auto* const first = static_cast<const std::uint8_t*>(data);
    static_cast<std::vector<std::uint8_t>*>(jpeg)->insert(static_cast<std::vector<std::uint8_t>*>(jpeg)->end(), first,
                                                          first + bytes);
  };
  if (stbi_write_jpg_to_func(append, &image.jpeg, width, height, channels, small.data(), jpeg_quality) == 0) {
    throw std::runtime_error("it could not be made smaller");
  }
  return image;
}

}  // namespace serac_colmap

#else

namespace serac_colmap {

bool can_read_images() { return false; }

small_image read_small_image(const std::string&, int) { throw std::runtime_error("built without stb"); }

}  // namespace serac_colmap

#endif
