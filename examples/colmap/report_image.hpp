// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Images of a survey, small enough for a page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace serac_colmap {

/// Whether this program was built with stb, and so can read images.
bool can_read_images();

/// An image: its size, and a smaller one as a JPEG file.
struct small_image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> jpeg;
};

/// Reads an image (JPEG, PNG, BMP, TGA, PSD, GIF, HDR or PNM) and makes its longer side `size` pixels, or leaves it if
/// it has less. Throws std::runtime_error saying why it cannot, without the path.
small_image read_small_image(const std::string& path, int size);

}  // namespace serac_colmap
