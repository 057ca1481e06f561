// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What matches the batches of a survey: a GPU, or the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <serac/batch.hpp>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <serac/score.hpp>

namespace serac::survey {

/// Batches that a worker has under way at a time: while one is computed, the lists of the one before travel to the host
/// and the images of the next one arrive.
inline constexpr int slot_count = 3;

/// What a worker has to hold.
struct worker_memory {
  std::int64_t descriptors = 0;    ///< of the images that it keeps
  int width = 128;                 ///< elements of a descriptor
  std::int64_t largest_image = 0;  ///< descriptors
  std::int64_t matches = 0;        ///< of a batch; in each slot
  std::int64_t pairs = 0;          ///< of a batch; in each slot
  std::size_t workspace = 0;       ///< bytes
};

/// A batch that a worker is to match. Ranges are places of descriptors among those that the worker keeps.
struct worker_batch {
  std::vector<image_range> images;
  std::vector<image_pair> pairs;
  std::int64_t capacity = 0;    ///< the most matches that its lists can have
  std::int64_t wave_pairs = 1;  ///< pairs under way at a time
};

/// The lists of a batch, laid out as by batch_output, and how long the worker was busy with them.
struct worker_lists {
  std::vector<match_pair> pairs;
  std::vector<std::int64_t> offsets;
  double seconds = 0;
};

/// Matches batches of images that it keeps. The engine calls the functions of a worker from one thread at a time; apart
/// from destructor, name, workspace, batch_scores and usable they throw serac::error or std::bad_alloc, and the worker
/// can go on with other batches then, if it is `usable`.
template <class T>
class worker {
 public:
  static_assert(score_traits<T>::has_angle, "surveys are judged by the angles of options: bytes, signed or unsigned");

  virtual ~worker() = default;

  /// For people.
  virtual std::string name() const = 0;

  /// Bytes of workspace that a batch needs with `wave_pairs` pairs under way. Pure; the descriptors are not looked at.
  virtual std::size_t workspace(const batch_view<T>& batch, const match_options& options,
                                std::int64_t wave_pairs) const noexcept = 0;

  /// About how many scores (products of two descriptors) make a batch that is worth its overhead and soon done.
  virtual std::int64_t batch_scores() const noexcept = 0;

  /// Allocates; called before all that follow. Batches before it are forgotten.
  virtual void prepare(const worker_memory& memory, const match_options& options) = 0;

  /// Where the engine writes the image that is to lie at `place`; then `upload` takes it there. Batches under way do
  /// not read that place.
  virtual T* stage(image_range place) = 0;
  virtual void upload(image_range place) = 0;

  /// Begins to match a batch; its images have been uploaded. The slot is free.
  virtual void start(int slot, const worker_batch& batch) = 0;

  /// Waits for the batch of a slot, which is free afterwards, whether or not this throws.
  virtual worker_lists finish(int slot) = 0;

  /// False when the worker is lost: nothing will ever succeed on it.
  virtual bool usable() noexcept = 0;
};

}  // namespace serac::survey
