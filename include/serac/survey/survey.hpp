// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What goes into a run of the survey engine and what comes out of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <serac/batch.hpp>
#include <serac/output.hpp>
#include <serac/status.hpp>
#include <serac/survey/worker.hpp>

namespace serac::survey {

/// Where images come from.
template <class T = std::uint8_t>
struct image_source {
  std::vector<std::int64_t> counts;  ///< features of each image; its place here is its number
  int width = 128;                   ///< elements of a descriptor
  /// Writes the first `count` descriptors of an image, without gaps. Called from one thread at a time, not always the
  /// same, and again for an image that had to go. May throw.
  std::function<void(std::int32_t image, std::int64_t count, T* destination)> read;
};

/// Where pairs come from: writes the next ones, at most `room`, and returns how many; 0 is the end, and below 0 there
/// are none at present: ask again in a moment. Called from one thread, which is not the caller's. May throw; a run that
/// ends early waits for it to return.
using pair_source = std::function<std::int64_t(image_pair* destination, std::int64_t room)>;

/// The list of one pair. It lives until the sink returns.
struct matched_pair {
  std::int64_t number;  ///< of the pair, counted from 0 as they came from their source
  image_pair pair;
  const match_pair* matches;
  std::int64_t count;
};

/// Where lists go: called on the caller's thread for one pair after the other, in order, so that it also knows how far
/// the run is. May take its time, and throw.
using list_sink = std::function<void(const matched_pair& list)>;

/// What a run may use, and how to stop it.
struct run_options {
  std::size_t memory_budget = std::size_t{4} << 30;  ///< bytes of device memory, for each worker
  std::size_t list_budget = std::size_t{1} << 30;    ///< bytes of host memory for lists that wait for the sink
  std::int64_t batch_pairs = 8192;                   ///< pairs of a batch, at most
  std::int64_t wave_pairs = 8192;                    ///< pairs that a worker has under way at a time, at most
  const std::atomic<bool>* cancel =
      nullptr;  ///< true, at any time: begin no more batches, deliver what is ready, return
};

/// What a run has done.
struct run_result {
  bool cancelled = false;
  std::int64_t pairs = 0;    ///< delivered
  std::int64_t matches = 0;  ///< delivered
  std::int64_t batches = 0, retries = 0;
  std::int64_t images_read = 0, descriptors_read = 0;
  double read_seconds = 0;           ///< in image_source::read
  double sink_seconds = 0;           ///< in the sink
  double total_seconds = 0;          ///< from the first batch's beginning to the last list's delivery
  std::vector<double> busy_seconds;  ///< each worker's, matching
};

/// A pair that cannot be matched: its batch failed, and its halves, and it failed alone once more.
class pair_error : public error {
 public:
  pair_error(const serac::status& s, image_pair pair, const std::string& worker)
      : error(s),
        pair_(pair),
        text_("images number " + std::to_string(pair.left) + " and " + std::to_string(pair.right) + ", on " + worker +
              ": " + s.message()) {}
  const char* what() const noexcept override { return text_.c_str(); }
  image_pair pair() const noexcept { return pair_; }

 private:
  image_pair pair_;
  std::string text_;
};

/// Workers of a run. They are prepared anew and may have had other runs before.
template <class T>
using worker_list = std::vector<std::unique_ptr<worker<T>>>;

}  // namespace serac::survey
