// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Descriptors of the images used last, kept in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <serac/view.hpp>

#include "database.hpp"
#include "image_cache.hpp"

namespace serac_colmap {

/// Bytes of a SIFT descriptor.
inline constexpr std::int64_t sift_width = 128;

/// The descriptors of one image.
struct features {
  descriptor_header header;
  std::vector<std::uint8_t> data;

  serac::sift_view view() const { return {data.data(), header.rows}; }
};

/// Whether the data is as long as `rows` SIFT descriptors, whatever number `rows` is.
bool has_sift_size(const descriptor_header& header);

/// Throws std::runtime_error that names the image unless its descriptors are SIFT: rows of sift_width bytes, or none at
/// all.
void check_is_sift(const descriptor_header& header, const std::string& image_name);

/// Reads descriptors and keeps those of the images used last.
class descriptor_cache {
 public:
  /// `headers` are those of all images that will be asked for; an image without one has no descriptors.
  descriptor_cache(database& source, const std::vector<descriptor_header>& headers, std::size_t capacity_bytes);
  descriptor_cache(const descriptor_cache&) = delete;
  descriptor_cache& operator=(const descriptor_cache&) = delete;

  std::shared_ptr<const features> get(std::uint32_t image) { return cache_.get(image); }

 private:
  features read(std::uint32_t image) const;

  database& source_;
  std::unordered_map<std::uint32_t, descriptor_header> headers_;
  image_cache<features> cache_;
};

}  // namespace serac_colmap
