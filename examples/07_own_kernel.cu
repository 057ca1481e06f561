// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A kernel of one's own from the parts of a block: how many descriptors of the right image are near each left one.

#include <cuda_pipeline_primitives.h>

#include <serac/acceptance.hpp>
#include <serac/block/load_tile.cuh>
#include <serac/block/score_slice.cuh>
#include <serac/policy.hpp>
#include <serac/thread/dot.cuh>

#include "support.cuh"

// [kernel]
/// Adds to counts[i] the columns that score at least `least` (above 0) with row i. A block for each tile of rows.
template <class Policy>
__global__ void __launch_bounds__(serac::policy_traits<Policy>::threads)
    count_near(serac::sift_view left, serac::sift_view right, std::int32_t least, std::int32_t* counts) {
  using traits = serac::policy_traits<Policy>;
  __shared__ alignas(16) std::uint8_t rows[traits::rows_bytes];      // (tile_rows, row_stride)
  __shared__ alignas(16) std::uint8_t columns[traits::stage_bytes];  // (tile_columns, column_stride)

  const std::int64_t tile_row = std::int64_t{blockIdx.x} * traits::tile_rows;
  serac::block::load_tile<traits::tile_rows, traits::padded_width, traits::row_stride, traits::load_bytes,
                          traits::threads>(rows, left, tile_row, 0);
  std::int32_t counted[traits::thread_rows] = {};
  for (std::int64_t tile_column = 0; tile_column < right.count; tile_column += traits::tile_columns) {
    serac::block::tile_scores<Policy> scores = {};  // this thread's: thread_rows x thread_columns
    for (int slice = 0; slice < traits::slices; ++slice) {
      __syncthreads();  // the last slice has been read
      serac::block::load_tile<traits::tile_columns, traits::slice_bytes, traits::column_stride, traits::load_bytes,
                              traits::threads>(columns, right, tile_column, slice * traits::slice_bytes);
      __pipeline_commit();
      __pipeline_wait_prior(0);
      __syncthreads();
      serac::block::score_slice<Policy>(rows + slice * traits::slice_bytes, columns, scores);
    }
    for (int r = 0; r < traits::thread_rows; ++r) {
      for (const std::int32_t score : scores[r]) counted[r] += score >= least;
    }
  }
  const std::int64_t row = tile_row + threadIdx.x / 32 * traits::thread_rows;  // a warp holds thread_rows rows
  for (int r = 0; r < traits::thread_rows && row + r < left.count; ++r) atomicAdd(&counts[row + r], counted[r]);
}
// [kernel]

int main() {
  example::require_gpu();
  const example::image left = example::random_image(500, 1);
  const example::image right = example::overlapping_image(left, 700, 2);
  constexpr std::int32_t least = serac::unit_score / 5 * 3;

  const example::device_array<std::uint8_t> left_device(left), right_device(right);
  const example::device_array<std::int32_t> counts(std::vector<std::int32_t>(500, 0));
  using traits = serac::policy_traits<serac::default_policy>;
  count_near<serac::default_policy><<<(500 + traits::tile_rows - 1) / traits::tile_rows, traits::threads>>>(
      {left_device.data(), 500}, {right_device.data(), 700}, least, counts.data());
  example::check(cudaGetLastError());

  std::vector<std::int32_t> expected(500);
  for (std::size_t i = 0; i < 500; ++i) {
    for (std::size_t j = 0; j < 700; ++j) {
      std::int32_t score = 0;
      for (std::size_t k = 0; k < 128; ++k) score += std::int32_t{left[i * 128 + k]} * right[j * 128 + k];
      expected[i] += score >= least;
    }
  }
  return example::verdict(counts.host(500), expected, "counts of near descriptors");
}
