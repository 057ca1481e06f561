// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The match lists of images in device memory, of which only admissible pairs of features may match.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <serac/acceptance.hpp>
#include <serac/admissible.hpp>
#include <serac/detail/check_batch.hpp>
#include <serac/device/match_batch.cuh>
#include <serac/guided_batch.hpp>
#include <serac/kernel/fused_top2.cuh>
#include <serac/kernel/guided.cuh>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac::device {

namespace detail {

/// Whether an admissibility is one of locations, whose features can be ordered.
template <class Admissible>
inline constexpr bool is_guide = false;
template <class Constraint>
inline constexpr bool is_guide<guided_by<Constraint>> = true;

/// Whether a policy may match under a geometry by ordered features: one of bytes that leaves the path to the library,
/// or names a tensor-core path.
template <class Policy>
inline constexpr bool may_order = score_traits<typename Policy::element>::has_angle &&
                                  (Policy::path != match_path::classic ||
                                   (is_automatic<Policy> && is_tensor_width(Policy::width)));

/// The tie order of a policy; tensor-core policies need not name one.
template <class Policy, class = void>
struct tie_of {
  using type = tie_break::smallest_index;
};
template <class Policy>
struct tie_of<Policy, std::void_t<typename Policy::tie>> {
  using type = typename Policy::tie;
};

/// What the pairs of a guided wave need together.
struct guided_extent {
  std::int64_t rows = 0, columns = 0, tasks = 0;
  int most_rows = 0, most_features = 0;

  /// Places the next pair behind those before.
  kernel::guided_pair add(const range_pair& ranges, const two_view_geometry& geometry = {}) noexcept {
    const auto whole_tiles = [](std::int64_t count) { return (count + guided_tile - 1) / guided_tile * guided_tile; };
    kernel::guided_pair pair{};
    pair.left_first = ranges.left.first;
    pair.right_first = ranges.right.first;
    pair.left_count = static_cast<std::int32_t>(ranges.left.count);
    pair.right_count = static_cast<std::int32_t>(ranges.right.count);
    pair.first_row = rows;
    pair.first_column = columns;
    pair.geometry = geometry;
    tasks += whole_tiles(pair.left_count) / guided_tile * kernel::guided_chunks(pair.right_count).count;
    rows += whole_tiles(pair.left_count);
    columns += whole_tiles(pair.right_count);
    most_rows = (std::max)(most_rows, pair.left_count);
    most_features = (std::max)({most_features, pair.left_count, pair.right_count});
    return pair;
  }
};

/// What a guided wave keeps in its workspace.
struct guided_scratch {
  kernel::guided_arrays arrays{};
  kernel::guided_pair* pairs = nullptr;

  /// Takes what a number of pairs needs, whatever they are.
  void take_pairs(workspace_carver& carver, std::int64_t count) {
    arrays.pairs = pairs = carver.take<kernel::guided_pair>(count);
    for (kernel::guided_features* f : {&arrays.rows, &arrays.columns}) {
      f->counts = carver.take<std::int32_t>(count);
      f->reaches = carver.take<float>(count);
      f->orders = carver.take<feature_order>(count);
    }
    arrays.task_counts = carver.take<kernel::guided_task_counts>(1);
    arrays.match_counts = carver.take<std::uint32_t>(count);
  }
  /// Takes the rest.
  void take_features(workspace_carver& carver, const guided_extent& extent, bool cross_check) {
    for (kernel::guided_features* f : {&arrays.rows, &arrays.columns}) {
      const std::int64_t places = f == &arrays.rows ? extent.rows : extent.columns;
      f->bins = carver.take<std::int16_t>(places);
      f->index = carver.take<std::int32_t>(places);
      f->tiles = carver.take<tile_bounds>(places / guided_tile);
    }
    arrays.column_terms = carver.take<epipolar::column_terms>(extent.columns);
    arrays.tasks = carver.take<kernel::guided_task>(extent.tasks);
    arrays.row_cells = carver.take<thread::top2_cell>(extent.rows);
    arrays.column_cells = cross_check ? carver.take<thread::top2_cell>(extent.columns) : nullptr;
    arrays.matches = carver.take<std::uint32_t>(extent.rows);
  }
};

/// Bytes of workspace that a wave of `count` pairs takes; `range_at(i)` is the range_pair of pair i.
template <class RangeAt>
std::size_t guided_workspace(std::int64_t count, RangeAt range_at, bool cross_check) noexcept {
  guided_extent extent;
  for (std::int64_t i = 0; i < count; ++i) extent.add(range_at(i));
  workspace_carver carver(nullptr);
  guided_scratch scratch;
  scratch.take_pairs(carver, count);
  scratch.take_features(carver, extent, cross_check);
  return carver.used();
}

/// A wave of at most most_wave_pairs pairs under way by ordered features; the steps in the order of matching. Arguments
/// already checked.
template <class Policy>
class guided_wave {
 public:
  using element = typename Policy::element;
  using view = descriptor_view<element>;
  using tie = typename tie_of<Policy>::type;

  /// `left`, `right` and their points are the buffers that the images of the `pair_count` pairs lie in; the workspace
  /// is that of guided_workspace.
  guided_wave(const view& left, const view& right, const keypoint_view& left_points, const keypoint_view& right_points,
              std::int64_t pair_count, bool cross_check, void* workspace, cudaStream_t stream) noexcept
      : left_(left),
        right_(right),
        left_points_(left_points),
        right_points_(right_points),
        pair_count_(pair_count),
        cross_check_(cross_check),
        carver_(workspace),
        stream_(stream) {}

  /// Places all pairs and brings them to the device, 24 a launch; the first step. `range_at(i)` is the range_pair of
  /// pair i, `geometry_at(i)` its geometry.
  template <class RangeAt, class GeometryAt>
  status publish(RangeAt range_at, GeometryAt geometry_at) noexcept {
    scratch_.take_pairs(carver_, pair_count_);
    for (std::int64_t first = 0; first < pair_count_; first += kernel::guided_pair_slice::capacity) {
      kernel::guided_pair_slice slice;
      const int count = static_cast<int>(std::min<std::int64_t>(pair_count_ - first, slice.capacity));
      for (int i = 0; i < count; ++i) slice.pairs[i] = extent_.add(range_at(first + i), geometry_at(first + i));
      if (auto s = launch("publish_guided_pairs", kernel::publish_guided_pairs<>, dim3(1), 32, 0, stream_, slice, count,
                          scratch_.pairs + first, scratch_.arrays.match_counts + first, scratch_.arrays.task_counts);
          !s.ok()) {
        return s;
      }
    }
    scratch_.take_features(carver_, extent_, cross_check_);
    return {};
  }

  status order() const noexcept {
    if (extent_.most_rows == 0) return {};
    if (auto s = launch("order_features", kernel::order_features<>, dim3(2, pairs()), kernel::guided_order_threads, 0,
                        stream_, scratch_.arrays, left_points_, right_points_);
        !s.ok()) {
      return s;
    }
    const dim3 grid(blocks_for(extent_.most_features, guided_tile * kernel::guided_bound_threads / 32), pairs(), 2);
    return launch("bound_tiles", kernel::bound_tiles<tie>, grid, kernel::guided_bound_threads, 0, stream_,
                  scratch_.arrays, left_points_, right_points_);
  }

  status plan() const noexcept {
    if (extent_.tasks == 0) return {};
    return launch("plan_tasks", kernel::plan_tasks<>,
                  dim3(blocks_for(extent_.most_rows, guided_tile * kernel::guided_plan_threads / 32), pairs()),
                  kernel::guided_plan_threads, 0, stream_, scratch_.arrays);
  }

  status match() const noexcept {
    if (extent_.tasks == 0) return {};
    const auto match = scratch_.arrays.column_cells != nullptr
                           ? kernel::match_tiles<element, Policy::width, tie, true>
                           : kernel::match_tiles<element, Policy::width, tie, false>;
    std::int64_t resident = 0;
    if (auto s = resident_blocks("match_tiles", match, kernel::guided_match_threads, 0, resident); !s.ok()) return s;
    const std::int64_t useful = blocks_for(extent_.tasks, kernel::guided_match_threads / 32);
    return launch("match_tiles", match, dim3(static_cast<unsigned>((std::min)(useful, resident))),
                  kernel::guided_match_threads, 0, stream_, scratch_.arrays, left_, right_, left_points_);
  }

  template <class Acceptance>
  status judge(const Acceptance& accept) const noexcept {
    if (extent_.most_rows == 0) return {};
    return launch("judge_matches", kernel::judge_matches<tie, Acceptance>,
                  dim3(blocks_for(extent_.most_rows, kernel::guided_judge_threads), pairs()),
                  kernel::guided_judge_threads, 0, stream_, scratch_.arrays, accept);
  }

  template <class Lists>
  status write(const match_options& options, const Lists& lists) const noexcept {
    return write_lists(scratch_.arrays.matches, kernel::guided_rows{scratch_.arrays}, pair_count_, extent_.most_rows,
                       options, lists, stream_);
  }

  /// All steps.
  template <class RangeAt, class GeometryAt, class Acceptance, class Lists>
  status run(RangeAt range_at, GeometryAt geometry_at, const match_options& options, const Acceptance& accept,
             const Lists& lists) noexcept {
    if (auto s = publish(range_at, geometry_at); !s.ok()) return s;
    if (auto s = order(); !s.ok()) return s;
    if (auto s = plan(); !s.ok()) return s;
    if (auto s = match(); !s.ok()) return s;
    if (auto s = judge(accept); !s.ok()) return s;
    return write(options, lists);
  }

 private:
  unsigned pairs() const noexcept { return static_cast<unsigned>(pair_count_); }

  view left_, right_;
  keypoint_view left_points_, right_points_;
  std::int64_t pair_count_;
  bool cross_check_;
  guided_extent extent_;
  workspace_carver carver_;
  guided_scratch scratch_;
  cudaStream_t stream_;
};

/// The list of one pair by the classic path: every pair of features is scored and `admissible` asked about it.
template <class Policy, class Admissible, class Acceptance, class Lists>
status classic_match_guided(const descriptor_view<typename Policy::element>& left,
                            const descriptor_view<typename Policy::element>& right, const Admissible& admissible,
                            const match_options& options, const Acceptance& accept, const Lists& lists, void* workspace,
                            cudaStream_t stream) noexcept {
  using traits = policy_traits<Policy>;
  if (left.count == 0 || right.count == 0) {
    return write_lists(nullptr, kernel::one_pair_rows{0}, 1, 0, options, lists, stream);
  }
  workspace_carver carver(workspace);
  const match_scratch scratch(carver, left.count, right.count, options.cross_check);
  const top2_cells& cells = scratch.cells;
  if (auto s = to_status(cudaMemsetAsync(cells.rows, 0, cells.bytes, stream), "workspace"); !s.ok()) return s;

  const auto fused = options.cross_check ? kernel::fused_guided_top2<Policy, true, Admissible>
                                         : kernel::fused_guided_top2<Policy, false, Admissible>;
  std::int64_t resident = 0;
  if (auto s = resident_blocks("fused_guided_top2", fused, traits::threads, traits::shared_bytes, resident); !s.ok()) {
    return s;
  }
  const std::int64_t tiles = ((left.count + traits::tile_rows - 1) / traits::tile_rows) *
                             ((right.count + traits::tile_columns - 1) / traits::tile_columns);
  if (auto s =
          launch("fused_guided_top2", fused, dim3(static_cast<unsigned>((std::min)(tiles, resident))), traits::threads,
                 traits::shared_bytes, stream, left, right, cells.rows, cells.columns, admissible);
      !s.ok()) {
    return s;
  }
  const auto mark = kernel::mark_matches<typename traits::row_tie, typename traits::column_tie, Acceptance>;
  if (auto s = launch("mark_matches", mark, dim3(blocks_for(left.count, 256)), 256, 0, stream, cells.rows, left.count,
                      cells.columns, accept, scratch.columns);
      !s.ok()) {
    return s;
  }
  return write_lists(scratch.columns, kernel::one_pair_rows{left.count}, 1, left.count, options, lists, stream);
}

/// Whether ordered features are used: always where the policy names a tensor-core path, else if the device has it.
template <class Policy>
bool orders_features() noexcept {
  return Policy::path != match_path::classic || best_path() != match_path::classic;
}

}  // namespace detail

/// Bytes of workspace that `match_guided` needs for two images, whatever is admissible: at most about 40 for each left
/// and 40 for each right feature. Host; pure.
template <class Policy = default_policy>
std::size_t match_guided_workspace(const descriptor_view<typename Policy::element>& left,
                                   const descriptor_view<typename Policy::element>& right,
                                   const match_options& options) noexcept {
  const detail::range_pair ranges{{0, detail::capped(left, options).count}, {0, detail::capped(right, options).count}};
  std::size_t bytes = 0;
  if constexpr (detail::may_order<Policy>) {
    bytes = detail::guided_workspace(
        1, [&](std::int64_t) { return ranges; }, options.cross_check);
  }
  if constexpr (Policy::path == match_path::classic) {
    detail::workspace_carver carver(nullptr);
    detail::match_scratch(carver, ranges.left.count, ranges.right.count, options.cross_check);
    bytes = (std::max)(bytes, carver.used());
  }
  return bytes;
}

/// The match list of two images, judged by `accept` (see acceptance.hpp) instead of the options' ratio and distance.
/// Otherwise as `match_guided` below.
template <class Policy = default_policy, class Admissible, class Acceptance>
status match_guided(const descriptor_view<typename Policy::element>& left,
                    const descriptor_view<typename Policy::element>& right, const Admissible& admissible,
                    const match_options& options, const Acceptance& accept, const match_output& output, void* workspace,
                    std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  static_assert((detail::is_guide<Admissible> && detail::may_order<Policy>) || Policy::path == match_path::classic,
                "tensor-core policies match bytes, and under guided_by only; others need a classic policy");
  using traits = detail::traits_of<Policy>;
  if (auto s = validate(options); !s.ok()) return s;
  if (auto s = detail::check_views<traits>(left, right); !s.ok()) return s;
  if (auto s = detail::check_admissible(admissible, left.count, right.count); !s.ok()) return s;
  const auto rows = detail::capped(left, options);
  const auto columns = detail::capped(right, options);
  if (auto s = detail::check_output(output, rows.count, options); !s.ok()) return s;
  const std::size_t needed = match_guided_workspace<Policy>(left, right, options);
  if (auto s = detail::check_workspace(workspace, workspace_bytes, needed); !s.ok()) return s;

  const kernel::one_list list{output.pairs, output.count};
  if constexpr (detail::is_guide<Admissible> && detail::may_order<Policy>) {
    if (detail::orders_features<Policy>()) {
      if (auto s = detail::check_path<typename Policy::element>(Policy::path, rows.count, columns.count); !s.ok()) {
        return s;
      }
      const auto range_at = [&](std::int64_t) { return detail::range_pair{{0, rows.count}, {0, columns.count}}; };
      detail::guided_wave<Policy> wave(rows, columns, admissible.left, admissible.right, 1, options.cross_check,
                                       workspace, stream);
      return wave.run(
          range_at, [&](std::int64_t) { return two_view_geometry(admissible.geometry); }, options, accept, list);
    }
  }
  if constexpr (Policy::path == match_path::classic) {
    return detail::classic_match_guided<Policy>(rows, columns, admissible, options, accept, list, workspace, stream);
  }
  return {errc::unsupported_device, "policy"};
}

/// The ordered match list of two images when pairs that `admissible` refuses score 0: `*output.count` pairs, ascending
/// in row, exactly those that the angular ratio test, the distance limit and, if asked, the cross-check of `options`
/// accept among the admissible ones.
///
/// Host; asynchronous on `stream` of the current device; otherwise as `match`. `admissible` is an admissibility
/// (admissible.hpp), which the device calls; with `guided_by` the keypoints are device memory, one for each feature.
/// Under `guided_by` an automatic or tensor-core policy orders the features along the constraint and scores those near
/// it by mma.sync (sm_80 and later; docs/guided.md); any other admissibility, or policy of the classic path, is asked
/// about every pair of features, all of which are scored.
template <class Policy = default_policy, class Admissible>
status match_guided(const descriptor_view<typename Policy::element>& left,
                    const descriptor_view<typename Policy::element>& right, const Admissible& admissible,
                    const match_options& options, const match_output& output, void* workspace,
                    std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  return match_guided<Policy>(left, right, admissible, options, acceptance_of<typename Policy::element>(options),
                              output, workspace, workspace_bytes, stream);
}

namespace detail {

/// match_guided_batch_workspace of a batch whose lists are valid.
template <class Policy>
std::size_t checked_guided_workspace(const batch_view<typename Policy::element>& images, const match_options& options,
                                     std::int64_t wave_pairs) noexcept {
  std::size_t bytes = 0;
  if constexpr (may_order<Policy>) {
    bytes = largest_wave(images, options, wave_pairs, [&](std::int64_t count, const auto& ranges) {
      return guided_workspace(count, ranges, options.cross_check);
    });
  }
  if constexpr (Policy::path == match_path::classic) {
    bytes = (std::max)(bytes, classic_batch_workspace(images, options));
  }
  return bytes;
}

/// The keypoints of one image of a batch.
inline keypoint_view points_of(const keypoint_view& all, const image_range& range) noexcept {
  return {all.data + range.first * all.stride, range.count, all.stride};
}

}  // namespace detail

/// Bytes of workspace that `match_guided_batch` needs: those of its largest wave, for each pair of it what
/// `match_guided_workspace` says. The batch is valid; where it is not, the number means nothing. Host; pure.
template <class Policy = default_policy>
std::size_t match_guided_batch_workspace(const batch_view<typename Policy::element>& images,
                                         const match_options& options, std::int64_t wave_pairs) noexcept {
  if (wave_pairs < 1 || !detail::check_lists(images).ok()) return 0;
  return detail::checked_guided_workspace<Policy>(images, options, (std::min)(wave_pairs, detail::most_wave_pairs));
}

/// The match lists of the pairs of a batch, judged by `accept` (see acceptance.hpp) instead of the options' ratio and
/// distance. Otherwise as `match_guided_batch` below.
template <class Policy = default_policy, class Acceptance>
status match_guided_batch(const guided_batch_view<typename Policy::element>& batch, const match_options& options,
                          const Acceptance& accept, const batch_output& output, std::int64_t wave_pairs,
                          void* workspace, std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  using traits = detail::traits_of<Policy>;
  const batch_view<typename Policy::element>& images = batch.images;
  if (auto s = validate(options); !s.ok()) return s;
  if (auto s = detail::check_device_batch<traits>(images, wave_pairs); !s.ok()) return s;
  if (auto s = detail::check_guides(batch); !s.ok()) return s;
  if (auto s = detail::check_output(output, images, options); !s.ok()) return s;
  wave_pairs = (std::min)(wave_pairs, detail::most_wave_pairs);
  const std::size_t needed = detail::checked_guided_workspace<Policy>(images, options, wave_pairs);
  if (auto s = detail::check_workspace(workspace, workspace_bytes, needed); !s.ok()) return s;
  if (images.pair_count == 0) {
    return detail::to_status(cudaMemsetAsync(output.offsets, 0, sizeof *output.offsets, stream), "output.offsets");
  }

  if constexpr (detail::may_order<Policy>) {
    if (detail::orders_features<Policy>()) {
      if (auto s = detail::check_path<typename Policy::element>(Policy::path, 0, 0); !s.ok()) return s;
      return detail::for_each_wave(images, options, wave_pairs, [&](std::int64_t count, const auto& ranges) {
        detail::guided_wave<Policy> wave(images.descriptors, images.descriptors, batch.keypoints, batch.keypoints,
                                         count, options.cross_check, workspace, stream);
        const auto geometry_at = [&](std::int64_t pair) { return batch.geometries[ranges.first + pair]; };
        return wave.run(ranges, geometry_at, options, accept, detail::lists_from(output, ranges.first));
      });
    }
  }
  if constexpr (Policy::path == match_path::classic) {
    return detail::for_each_wave(images, options, 1, [&](std::int64_t, const auto& ranges) {
      const detail::range_pair pair = ranges(0);
      const guided_by<> guide{detail::points_of(batch.keypoints, pair.left),
                              detail::points_of(batch.keypoints, pair.right), batch.geometries[ranges.first]};
      return detail::classic_match_guided<Policy>(detail::image_of(images, pair.left),
                                                  detail::image_of(images, pair.right), guide, options, accept,
                                                  detail::lists_from(output, ranges.first), workspace, stream);
    });
  }
  return {errc::unsupported_device, "policy"};
}

/// The match lists of the pairs of a batch under a geometry each, as `match_guided` makes them, in the order of the
/// pairs (see batch.hpp).
///
/// Host; asynchronous on `stream` of the current device; no allocation, no synchronisation; may be captured in a graph.
/// Descriptors, keypoints, output and workspace are device memory. Geometries may be of all kinds, and some pairs may
/// have none. `wave_pairs`, at least 1, is the number of pairs under way at a time: about 100 fill a GPU; the lists do
/// not depend on it. Otherwise as `match_batch`. Cost: six launches and one for each 24 pairs a wave; by a policy of
/// the classic path four a pair.
template <class Policy = default_policy>
status match_guided_batch(const guided_batch_view<typename Policy::element>& batch, const match_options& options,
                          const batch_output& output, std::int64_t wave_pairs, void* workspace,
                          std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  return match_guided_batch<Policy>(batch, options, acceptance_of<typename Policy::element>(options), output,
                                    wave_pairs, workspace, workspace_bytes, stream);
}

}  // namespace serac::device

#pragma GCC visibility pop
