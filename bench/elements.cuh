// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Times of matching descriptors of any element: one pair, and a pair of a batch.
#pragma once

#include <cstdint>
#include <vector>

#include <serac/device/match_batch.cuh>

#include "measure.cuh"

namespace bench {

/// Two images in device memory, one behind the other.
template <class T>
class two_images {
 public:
  two_images(const std::vector<T>& left, const std::vector<T>& right, int width)
      : all_(joined(left, right)), width_(width) {
    const std::int64_t rows = static_cast<std::int64_t>(left.size()) / width;
    ranges_ = {{0, rows}, {rows, static_cast<std::int64_t>(right.size()) / width}};
  }

  serac::descriptor_view<T> left() const { return {all_.data(), ranges_[0].count, width_}; }
  serac::descriptor_view<T> right() const {
    return {all_.data() + ranges_[1].first * width_, ranges_[1].count, width_};
  }
  /// The pair, both ways round in turn.
  serac::batch_view<T> batch(const std::vector<serac::image_pair>& pairs) const {
    return {{all_.data(), ranges_[1].first + ranges_[1].count, width_},
            ranges_.data(),
            2,
            pairs.data(),
            static_cast<std::int64_t>(pairs.size())};
  }

 private:
  static std::vector<T> joined(std::vector<T> left, const std::vector<T>& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
  }

  device_array<T> all_;
  int width_;
  std::vector<serac::image_range> ranges_;
};

/// A captured call of device::match, replayed, and the length of its list.
struct pair_time {
  timing us;
  std::uint32_t matches;
};
template <class Policy, class Acceptance>
pair_time time_pair(const two_images<typename Policy::element>& images, const Acceptance& accept) {
  const serac::match_options options;
  const auto rows = images.left(), columns = images.right();
  const std::size_t bytes = serac::device::match_workspace<Policy>(rows, columns, options);
  const device_array<std::uint8_t> workspace(bytes);
  const device_array<serac::match_pair> pairs(static_cast<std::size_t>(rows.count));
  const device_array<std::uint32_t> count(1);
  const timing us = measure(
      [&](cudaStream_t stream) {
        serac::throw_on_error(serac::device::match<Policy>(
            rows, columns, options, accept, {pairs.data(), rows.count, count.data()}, workspace.data(), bytes, stream));
      },
      30, 3, 3, true);
  return {us, count.host()[0]};
}

/// A pair in a wave of 132: the pair, both ways round in turn.
template <class Policy, class Acceptance>
timing time_batched_pair(const two_images<typename Policy::element>& images, const Acceptance& accept) {
  constexpr std::int64_t wave = 132;
  const serac::match_options options;
  std::vector<serac::image_pair> pairs;
  for (std::int32_t i = 0; i < wave; ++i) pairs.push_back({i % 2, 1 - i % 2});
  const auto batch = images.batch(pairs);
  const std::int64_t capacity = wave / 2 * (images.left().count + images.right().count);
  const std::size_t bytes = serac::device::match_batch_workspace<Policy>(batch, options, wave);
  const device_array<std::uint8_t> workspace(bytes);
  const device_array<serac::match_pair> lists(static_cast<std::size_t>(capacity));
  const device_array<std::int64_t> offsets(static_cast<std::size_t>(wave + 1));
  timing us = measure([&](cudaStream_t stream) {
    serac::throw_on_error(serac::device::match_batch<Policy>(
        batch, options, accept, {lists.data(), capacity, offsets.data()}, wave, workspace.data(), bytes, stream));
  });
  for (double* each : {&us.median, &us.low, &us.high}) *each /= static_cast<double>(wave);
  return us;
}

}  // namespace bench
