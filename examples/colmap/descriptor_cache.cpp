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
    : source_(source), capacity_(capacity_bytes) {
  for (const descriptor_header& header : headers) {
    headers_.emplace(static_cast<std::uint32_t>(header.image_id), header);
  }
}

void descriptor_cache::load(const std::vector<std::uint32_t>& images) {
  source_.snapshot([&] {
    std::size_t bytes = 0;
    for (const std::uint32_t image : images) {
      bytes += static_cast<std::size_t>(header_of(image).bytes);
      if (bytes > capacity_) break;
      get(image);
    }
  });
}

std::shared_ptr<const features> descriptor_cache::get(std::uint32_t image) {
  if (const auto place = places_.find(image); place != places_.end()) {
    recent_.splice(recent_.begin(), recent_, place->second);
    return recent_.front();
  }

  const descriptor_header header = header_of(image);
  auto read = std::make_shared<features>(features{header, source_.descriptors(image)});
  if (static_cast<std::int64_t>(read->data.size()) != header.bytes) {
    throw std::runtime_error(source_.path() + ": the descriptors of image " + std::to_string(image) +
                             " changed while it was being matched");
  }
  used_ += read->data.size();
  recent_.push_front(std::move(read));
  places_[image] = recent_.begin();
  while (used_ > capacity_ && recent_.size() > 1) {
    const features& oldest = *recent_.back();
    used_ -= oldest.data.size();
    places_.erase(static_cast<std::uint32_t>(oldest.header.image_id));
    recent_.pop_back();
  }
  return recent_.front();
}

descriptor_header descriptor_cache::header_of(std::uint32_t image) const {
  if (const auto found = headers_.find(image); found != headers_.end()) return found->second;
  descriptor_header none;
  none.image_id = image;
  return none;
}

}  // namespace serac_colmap
