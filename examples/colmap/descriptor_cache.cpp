// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "descriptor_cache.hpp"

#include <stdexcept>
#include <string>

namespace serac_colmap {

bool has_sift_size(const descriptor_header& header) {
  return header.bytes % sift_width == 0 && header.rows == header.bytes / sift_width;
}

void check_is_sift(const descriptor_header& header, const std::string& image_name) {
  const auto refuse = [&](const std::string& what) {
    throw std::runtime_error("image '" + image_name + "' (id " + std::to_string(header.image_id) +
                             "): its descriptors " + what);
  };
  const std::string shape = std::to_string(header.rows) + " x " + std::to_string(header.cols);
  if (header.rows < 0) refuse("have " + shape + " bytes");
  if (header.rows == 0 && header.bytes == 0 && (header.cols == 0 || header.cols == sift_width)) return;
  if (header.type != descriptor_header::sift) {
    refuse("have type " + std::to_string(header.type) + ", not SIFT (0): this tool matches SIFT only");
  }
  if (header.cols != sift_width)
    refuse("have " + shape + " bytes, but SIFT has " + std::to_string(sift_width) + " columns");
  if (!has_sift_size(header)) {
    refuse("are damaged: " + std::to_string(header.bytes) + " bytes stored for " + shape);
  }
}

descriptor_cache::descriptor_cache(database& source, const std::vector<descriptor_header>& headers,
                                   std::size_t capacity_bytes)
    : source_(source),
      cache_(
          capacity_bytes, [this](std::uint32_t image) { return read(image); },
          [](const features& read) { return read.data.size(); }) {
  for (const descriptor_header& header : headers) {
    headers_.emplace(static_cast<std::uint32_t>(header.image_id), header);
  }
}

features descriptor_cache::read(std::uint32_t image) const {
  descriptor_header header;
  header.image_id = image;
  if (const auto found = headers_.find(image); found != headers_.end()) header = found->second;
  features read{header, source_.descriptors(image)};
  if (static_cast<std::int64_t>(read.data.size()) != header.bytes) {
    throw std::runtime_error(source_.path() + ": the descriptors of image " + std::to_string(image) +
                             " changed while it was being matched");
  }
  return read;
}

}  // namespace serac_colmap
