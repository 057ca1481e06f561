// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Matching on one GPU: what the host code of cuda_backend.cu asks of the device code of each element type.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include <serac/detail/device_memory.cuh>
#include <serac/survey/device_worker.cuh>

#include "backend.hpp"

namespace serac_python {

using serac::detail::check_cuda;

/// A stream and memory of one GPU that calls use one after the other, and what is kept between them.
struct session {
  explicit session(int number) : device(number) {}

  const int device;
  serac::survey::detail::free_stream stream;
  serac::detail::device_buffer left, right, left_points, right_points, results, count, workspace;
};

/// Descriptors of T on the current GPU. The functions enqueue on `stream`, where the images are ready, and return when
/// they are done. Defined in device_matching.cuh, compiled in a file for each T.
template <class T>
struct device_matching {
  static serac::match_list match(session& on, const image& a, const image& b, const judgement& by, cudaStream_t stream);
  static serac::match_list match_guided(session& on, const image& a, const image& b, const locations& points_a,
                                        const locations& points_b, const serac::two_view_geometry& geometry,
                                        const judgement& by, cudaStream_t stream);
  static serac::nearest2_list nearest2(session& on, const image& a, const image& b, bool with_columns,
                                       cudaStream_t stream);
  /// By the survey engine, where it takes T, on the GPUs of these numbers. The images may lie anywhere and are ready.
  static void match_batch(const std::vector<int>& devices, std::size_t memory_budget, const std::vector<image>& images,
                          const std::vector<serac::image_pair>& pairs, const judgement& by, const list_taker& take);
};

}  // namespace serac_python
