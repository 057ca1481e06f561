// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The tensor-core matcher for one pair: in one launch where there is one, else as a wave of one pair.
#pragma once

#include <algorithm>
#include <cstdint>

#include <serac/chunk_maxima.hpp>
#include <serac/detail/launch.cuh>
#include <serac/detail/tensor_map.cuh>
#include <serac/detail/workspace.hpp>
#include <serac/device/list.cuh>
#include <serac/device/tensor_wave.cuh>
#include <serac/kernel/match_pair_wgmma.cuh>
#include <serac/options.hpp>
#include <serac/policy.hpp>
#include <serac/status.hpp>
#include <serac/view.hpp>
#include <serac/wgmma_policy.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh

namespace serac::device::detail {

/// Scores of a pair that is matched in one launch, at most: of more the work hides what launches cost, and is better
/// spread by several.
inline constexpr std::int64_t most_scores_of_one_launch = std::int64_t{1} << 28;

/// Whether there is a kernel that matches a pair in one launch.
template <class Policy>
constexpr bool has_one_launch() noexcept {
  if constexpr (Policy::path == match_path::wgmma) {
    return wgmma_traits<Policy>::chunk_tiles == 1;
  } else {
    return false;
  }
}

/// Describes a pair to the one-launch matcher. `pair` is the only one of `extent`; otherwise as match_pair.
template <class Policy>
status describe_pair(const descriptor_view<typename Policy::element>& left,
                     const descriptor_view<typename Policy::element>& right, const wave_extent<Policy>& extent,
                     const chunk_pair& pair, void* workspace, kernel::pair_problem<Policy>& problem) noexcept {
  using traits = wgmma_traits<Policy>;
  workspace_carver carver(workspace);
  wave_scratch scratch{};
  scratch.take_pairs(carver, 1);
  scratch.take_features(carver, extent);

  problem.pair = pair;
  problem.left = left;
  problem.right = right;
  problem.maxima = scratch.maxima;
  problem.verdicts = scratch.verdicts;
  if (auto s = make_tensor_map(left, traits::tile_rows, traits::swizzle, problem.left_map); !s.ok()) return s;
  return make_tensor_map(right, traits::tile_columns, traits::swizzle, problem.right_map);
}

/// The match list of two images that hold something, by wgmma in one launch. Otherwise as describe_pair and match_pair.
template <class Policy, class Acceptance>
status match_in_one_launch(const descriptor_view<typename Policy::element>& left,
                           const descriptor_view<typename Policy::element>& right, const match_options& options,
                           const Acceptance& accept, const kernel::one_list& list, const wave_extent<Policy>& extent,
                           const chunk_pair& pair, int multiprocessors, void* workspace, cudaStream_t stream) noexcept {
  using traits = wgmma_traits<Policy>;
  kernel::pair_problem<Policy> problem{};
  if (auto s = describe_pair(left, right, extent, pair, workspace, problem); !s.ok()) return s;
  const auto kernel = kernel::match_pair_wgmma<Policy, Acceptance>;
  if (auto s = grant_shared("match_pair_wgmma", kernel, traits::shared_bytes); !s.ok()) return s;
  const std::int64_t useful =
      (std::max)(extent.units,
                 std::int64_t{(std::max)(kernel::blocks_of_chunk * pair.column_chunks, row_windows(pair.left_count))});
  return launch(launch_order::together, "match_pair_wgmma", kernel,
                dim3(static_cast<unsigned>((std::min<std::int64_t>)(useful, multiprocessors))), traits::threads,
                traits::shared_bytes, stream, problem, accept, options.cross_check, most_matches(options), list);
}

/// The match list of two images that hold something, by a tensor-core path. Arguments as device::match, already
/// checked.
template <class Policy, class Acceptance>
status match_pair(const descriptor_view<typename Policy::element>& left,
                  const descriptor_view<typename Policy::element>& right, const match_options& options,
                  const Acceptance& accept, const kernel::one_list& list, void* workspace,
                  cudaStream_t stream) noexcept {
  const whole_images images{left.count, right.count};
  if constexpr (has_one_launch<Policy>()) {
    if (left.count * right.count <= most_scores_of_one_launch) {
      int multiprocessors = 0;
      if (auto s = multiprocessor_count(multiprocessors); !s.ok()) return s;
      wave_extent<Policy> extent;
      const chunk_pair pair = extent.add(images(0), 1, multiprocessors);
      if (pair.chunk_tiles == 1) {  // not of very unequal images
        return match_in_one_launch<Policy>(left, right, options, accept, list, extent, pair, multiprocessors, workspace,
                                           stream);
      }
    }
  }
  tensor_wave<Policy> wave(left, right, 1, workspace, stream);
  return wave.match(images, options, accept, list);
}

}  // namespace serac::device::detail

#pragma GCC visibility pop
