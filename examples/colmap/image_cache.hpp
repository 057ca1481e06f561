// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Data of the images used last, kept in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

namespace serac_colmap {

/// Reads a T of images and keeps them up to a number of bytes; what was used longest ago goes first.
template <class T>
class image_cache {
 public:
  /// `read` reads the T of an image; `bytes` says how much memory one takes.
  image_cache(std::size_t capacity_bytes, std::function<T(std::uint32_t)> read,
              std::function<std::size_t(const T&)> bytes)
      : capacity_(capacity_bytes), read_(std::move(read)), bytes_(std::move(bytes)) {}

  /// The image's T, read now if need be. It lives as long as the pointer, whatever the cache drops.
  std::shared_ptr<const T> get(std::uint32_t image) {
    if (const auto place = places_.find(image); place != places_.end()) {
      recent_.splice(recent_.begin(), recent_, place->second);
      return recent_.front().data;
    }
    auto data = std::make_shared<const T>(read_(image));
    used_ += bytes_(*data);
    recent_.push_front({image, std::move(data)});
    places_[image] = recent_.begin();
    while (used_ > capacity_ && recent_.size() > 1) {
      used_ -= bytes_(*recent_.back().data);
      places_.erase(recent_.back().image);
      recent_.pop_back();
    }
    return recent_.front().data;
  }

 private:
  struct entry {
    std::uint32_t image;
    std::shared_ptr<const T> data;
  };

  std::size_t capacity_, used_ = 0;
  std::function<T(std::uint32_t)> read_;
  std::function<std::size_t(const T&)> bytes_;
  std::list<entry> recent_;  // the one used last comes first
  std::unordered_map<std::uint32_t, typename std::list<entry>::iterator> places_;
};

}  // namespace serac_colmap
