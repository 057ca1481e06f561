// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The tensor-core matcher for one pair of images: workspace, and the launches of both passes.
#pragma once

#include <algorithm>
#include <cstdint>

#include <serac/chunk_maxima.hpp>
#include <serac/detail/launch.cuh>
#include <serac/detail/workspace.hpp>
#include <serac/device/chunk_scan.cuh>
#include <serac/device/list.cuh>
#include <serac/device/path.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/kernel/rescore.cuh>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <serac/top2.hpp>

namespace serac::kernel {

/// Brings a pair's description to device memory and sets the unit counter to zero. One thread.
template <class Pair>
__global__ void publish_pair(Pair pair, Pair* destination, unsigned long long* next_unit) {
  *destination = pair;
  *next_unit = 0;
}

}  // namespace serac::kernel

namespace serac::device::detail {

/// What the tensor-core path keeps in its workspace for one pair.
template <class Policy>
struct tensor_scratch {
  chunk_pair* pair;
  unsigned long long* next_unit;
  chunk_maxima maxima;
  std::size_t row_maxima_bytes;
  row_verdicts verdicts;
  std::uint32_t* block_counts;

  tensor_scratch(workspace_carver& carver, std::int64_t left_count, std::int64_t right_count) {
    using pass1 = detail::pass1<Policy>;
    using traits = typename pass1::traits;
    const chunk_pair plan = pass1::plan(left_count, right_count, 1);
    const std::int64_t row_values = std::int64_t{plan.column_chunks} * plan.row_stride;
    const std::int64_t groups = std::int64_t{traits::column_tiles(plan)} * traits::tile_groups;
    const std::int64_t verdict_rows =
        (left_count + kernel::rescore_run - 1) / kernel::rescore_run * kernel::rescore_run;
    pair = carver.take<chunk_pair>(1);
    next_unit = carver.take<unsigned long long>(1);
    maxima.rows = carver.take<std::int32_t>(row_values);
    maxima.columns = carver.take<std::int32_t>(groups * pass1::most_row_chunks(plan));
    row_maxima_bytes = static_cast<std::size_t>(row_values) * sizeof(std::int32_t);
    verdicts.best = carver.take<std::int32_t>(verdict_rows);
    verdicts.second = carver.take<std::int32_t>(verdict_rows);
    verdicts.chunk = carver.take<std::uint8_t>(verdict_rows);
    verdicts.columns = carver.take<std::uint32_t>(verdict_rows);
    block_counts = carver.take<std::uint32_t>(blocks_for(left_count, kernel::compact_threads));
  }
};

/// Bytes of workspace of tensor_match and tensor_rows for one pair, neither image empty. Host; pure.
template <class Policy>
std::size_t tensor_workspace(std::int64_t left_count, std::int64_t right_count) noexcept {
  workspace_carver carver(nullptr);
  tensor_scratch<Policy>(carver, left_count, right_count);
  return carver.used();
}

/// The most that the tensor-core paths of a policy need; 0 if it takes none or an image is empty. Host; pure.
template <class Policy>
std::size_t tensor_workspace_of(std::int64_t left_count, std::int64_t right_count) noexcept {
  std::size_t bytes = 0;
  if (left_count == 0 || right_count == 0) return bytes;
  if (std::max(left_count, right_count) > most_tensor_features) return bytes;  // automatic policies are classic there
  if constexpr (may_take<Policy, match_path::wgmma>) {
    bytes = std::max(bytes, tensor_workspace<tensor_policy_of<Policy, match_path::wgmma>>(left_count, right_count));
  }
  if constexpr (may_take<Policy, match_path::mma>) {
    if (Policy::path == match_path::mma || left_count * right_count <= most_mma_scores) {
      bytes = std::max(bytes, tensor_workspace<tensor_policy_of<Policy, match_path::mma>>(left_count, right_count));
    }
  }
  return bytes;
}

/// One pair under way: pass 1 and the scan of its rows, then whatever is to be rescored.
template <class Policy>
class tensor_pair {
 public:
  using pass1 = detail::pass1<Policy>;
  using traits = typename pass1::traits;
  using view = descriptor_view<typename Policy::element>;

  tensor_pair(const view& left, const view& right, void* workspace, cudaStream_t stream) noexcept
      : left_(left), right_(right), carver_(workspace), scratch_(carver_, left.count, right.count), stream_(stream) {}

  const tensor_scratch<Policy>& scratch() const noexcept { return scratch_; }

  /// Chunk maxima, and of every row the best chunk and whether `accept` lets it match.
  template <class Acceptance>
  status scan(const Acceptance& accept) noexcept {
    if (auto s = multiprocessor_count(multiprocessors_); !s.ok()) return s;
    plan_ = pass1::plan(left_.count, right_.count, multiprocessors_);
    if (auto s = launch("publish_pair", kernel::publish_pair<chunk_pair>, dim3(1), 1, 0, stream_, plan_, scratch_.pair,
                        scratch_.next_unit);
        !s.ok()) {
      return s;
    }
    if (plan_.chunk_tiles > 1) {
      const cudaError_t cleared = cudaMemsetAsync(scratch_.maxima.rows, 0, scratch_.row_maxima_bytes, stream_);
      if (auto s = to_status(cleared, "workspace"); !s.ok()) return s;
    }
    if (auto s = pass1::launch_kernel(left_, right_, plan_, scratch_.pair, scratch_.next_unit, scratch_.maxima,
                                      multiprocessors_, stream_);
        !s.ok()) {
      return s;
    }
    return launch("scan_rows", kernel::scan_rows<Acceptance>, dim3(blocks_for(left_.count, kernel::scan_rows_threads)),
                  kernel::scan_rows_threads, 0, stream_, scratch_.pair, scratch_.maxima, accept, scratch_.verdicts);
  }

  /// The exact state of every row that can match, to `judge`.
  template <class Judge>
  status rescore(const Judge& judge) noexcept {
    return launch("rescore_rows", kernel::rescore_rows<traits, Judge>,
                  dim3(static_cast<unsigned>(plan_.column_chunks), splits(plan_.column_chunks)),
                  kernel::rescore_threads, 0, stream_, scratch_.pair, left_, right_, scratch_.verdicts, judge);
  }

  /// Takes back the matches that their columns do not return.
  template <class Acceptance>
  status test_columns(const Acceptance& accept) noexcept {
    return launch("test_columns", kernel::test_columns<traits, Acceptance>,
                  dim3(static_cast<unsigned>(plan_.segments), splits(plan_.segments)), kernel::rescore_threads, 0,
                  stream_, scratch_.pair, left_, right_, scratch_.maxima, accept, scratch_.verdicts);
  }

 private:
  /// Blocks that share the rows of each chunk or segment, so that a single pair fills the device.
  unsigned splits(int parts) const noexcept {
    constexpr int blocks_at_a_time = 4;  // on a multiprocessor
    const int wanted = ceil_div(blocks_at_a_time * multiprocessors_, parts);
    return static_cast<unsigned>(std::min<std::int64_t>(wanted, (left_.count + 255) / 256));
  }

  view left_, right_;
  workspace_carver carver_;
  tensor_scratch<Policy> scratch_;
  cudaStream_t stream_;
  chunk_pair plan_{};
  int multiprocessors_ = 0;
};

/// Every state becomes the identity.
inline status clear_states(top2* states, std::int64_t count, cudaStream_t stream) noexcept {
  if (count == 0) return {};
  return launch("clear_states", kernel::clear_states<>, dim3(blocks_for(count, 256)), 256, 0, stream, states, count);
}

/// The match list of one pair by tensor cores. Arguments as device::match, already checked; both images hold something.
/// `Acceptance` rejects a tied best.
template <class Policy, class Acceptance>
status tensor_match(const descriptor_view<typename Policy::element>& left,
                    const descriptor_view<typename Policy::element>& right, const match_options& options,
                    const Acceptance& accept, const match_output& output, void* workspace,
                    cudaStream_t stream) noexcept {
  tensor_pair<Policy> pair(left, right, workspace, stream);
  const auto& scratch = pair.scratch();
  if (auto s = pair.scan(accept); !s.ok()) return s;
  if (auto s = pair.rescore(kernel::keep_accepted<Acceptance>{accept, scratch.verdicts.columns}); !s.ok()) return s;
  if (options.cross_check) {
    if (auto s = pair.test_columns(accept); !s.ok()) return s;
  }
  if (auto s = launch("count_matches", kernel::count_matches<>, dim3(blocks_for(left.count, kernel::compact_threads)),
                      kernel::compact_threads, 0, stream, scratch.verdicts.columns, left.count, scratch.block_counts);
      !s.ok()) {
    return s;
  }
  return write_list(scratch.verdicts.columns, left.count, scratch.block_counts, options, output, stream);
}

/// The exact top-2 of every row by tensor cores: all rows are rescored. Ties go to the smallest column. Both images
/// hold something; arguments as device::nearest2, already checked.
template <class Policy>
status tensor_rows(const descriptor_view<typename Policy::element>& left,
                   const descriptor_view<typename Policy::element>& right, top2* states, void* workspace,
                   cudaStream_t stream) noexcept {
  tensor_pair<Policy> pair(left, right, workspace, stream);
  if (auto s = pair.scan(kernel::accept_all()); !s.ok()) return s;
  if (auto s = clear_states(states, left.count, stream); !s.ok()) return s;
  return pair.rescore(kernel::keep_state{states});
}

}  // namespace serac::device::detail
