// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The match lists of many pairs of images in device memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include <serac/batch.hpp>
#include <serac/detail/check_batch.hpp>
#include <serac/device/match.cuh>

namespace serac::device {

namespace detail {

/// Pairs of a wave that a launch can number.
inline constexpr std::int64_t most_wave_pairs = 65535;

/// Where the images of a batch's pairs lie, as the options let a match look at them.
template <class T>
struct batch_ranges {
  const batch_view<T>& batch;
  const match_options& options;
  std::int64_t first = 0;  ///< pair that counts as number 0

  range_pair operator()(std::int64_t pair) const noexcept {
    const image_pair images = batch.pairs[first + pair];
    range_pair ranges{batch.images[images.left], batch.images[images.right]};
    ranges.left.count = std::min(ranges.left.count, options.max_features);
    ranges.right.count = std::min(ranges.right.count, options.max_features);
    return ranges;
  }
};

/// The path that all pairs of a batch take: that of a pair large enough for any, unless one is too large for it.
template <class Policy>
match_path choose_batch_path(const batch_view<typename Policy::element>& batch, const match_options& options,
                             bool ties_are_rejected) noexcept {
  const batch_ranges<typename Policy::element> ranges{batch, options};
  std::int64_t most_rows = 1 << 16, most_columns = 1 << 16;
  if (batch.descriptors.count > most_tensor_features) return Policy::path;
  for (std::int64_t p = 0; p < batch.pair_count; ++p) {
    const range_pair pair = ranges(p);
    if (pair.left.count * pair.right.count > most_rows * most_columns ||
        std::max(pair.left.count, pair.right.count) > most_tensor_features) {
      most_rows = pair.left.count, most_columns = pair.right.count;
    }
  }
  return choose_path<Policy>(most_rows, most_columns, ties_are_rejected);
}

/// The most workspace that a wave of a batch takes by a tensor-core path.
template <class Policy, class T>
std::size_t batch_wave_workspace(const batch_view<T>& batch, const match_options& options,
                                 std::int64_t wave_pairs) noexcept {
  std::size_t bytes = 0;
  for (std::int64_t first = 0; first < batch.pair_count; first += wave_pairs) {
    const std::int64_t count = std::min(wave_pairs, batch.pair_count - first);
    bytes = std::max(bytes, wave_workspace<Policy>(count, batch_ranges<T>{batch, options, first}));
  }
  return bytes;
}

template <class T>
status check_device_batch(const batch_view<T>& batch, int width, int alignment, std::int64_t wave_pairs) noexcept {
  if (auto s = check_lists(batch); !s.ok()) return s;
  if (auto s = check_view(batch.descriptors, batch_names, width, alignment); !s.ok()) return s;
  if (wave_pairs < 1) return {errc::invalid_option, "wave_pairs"};
  return {};
}

}  // namespace detail

/// The path that `match_batch` takes for all pairs of the batch on the current device. Host; no synchronisation.
template <class Policy = default_policy>
match_path path_of_batch(const batch_view<typename Policy::element>& batch, const match_options& options) noexcept {
  return detail::choose_batch_path<Policy>(batch, options, options.max_ratio <= 1);
}

/// Bytes of workspace that `match_batch` needs on any device: those of its largest wave, for each pair of it about what
/// `match_workspace` says. The batch is valid; where it is not, the number means nothing and match_batch says why.
/// Host; pure; looks at every pair.
template <class Policy = default_policy>
std::size_t match_batch_workspace(const batch_view<typename Policy::element>& batch, const match_options& options,
                                  std::int64_t wave_pairs) noexcept {
  using element = typename Policy::element;
  if (wave_pairs < 1 || !detail::check_lists(batch).ok()) return 0;
  wave_pairs = std::min(wave_pairs, detail::most_wave_pairs);
  std::size_t bytes = 0;
  if constexpr (detail::may_take<Policy, match_path::wgmma>) {
    using policy = detail::tensor_policy_of<Policy, match_path::wgmma>;
    bytes = std::max(bytes, detail::batch_wave_workspace<policy>(batch, options, wave_pairs));
  }
  if constexpr (detail::may_take<Policy, match_path::mma>) {
    using policy = detail::tensor_policy_of<Policy, match_path::mma>;
    bytes = std::max(bytes, detail::batch_wave_workspace<policy>(batch, options, wave_pairs));
  }
  if constexpr (Policy::path == match_path::classic) {
    for (std::int64_t p = 0; p < batch.pair_count; ++p) {
      const detail::range_pair pair = detail::batch_ranges<element>{batch, options}(p);
      detail::workspace_carver carver(nullptr);
      detail::match_scratch(carver, pair.left.count, pair.right.count, options.cross_check);
      bytes = std::max(bytes, carver.used());
    }
  }
  return bytes;
}

/// The match lists of the pairs of a batch, judged by `accept` (see acceptance.hpp) instead of the options' ratio and
/// distance. Otherwise as `match_batch` below.
template <class Policy = default_policy, class Acceptance>
status match_batch(const batch_view<typename Policy::element>& batch, const match_options& options,
                   const Acceptance& accept, const batch_output& output, std::int64_t wave_pairs, void* workspace,
                   std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  using element = typename Policy::element;
  using traits = detail::traits_of<Policy>;
  if (auto s = validate(options); !s.ok()) return s;
  if (auto s = detail::check_device_batch(batch, traits::width, traits::load_bytes, wave_pairs); !s.ok()) return s;
  if (auto s = detail::check_output(output, batch, options); !s.ok()) return s;
  const std::size_t needed = match_batch_workspace<Policy>(batch, options, wave_pairs);
  if (auto s = detail::check_workspace(workspace, workspace_bytes, needed); !s.ok()) return s;
  if (batch.pair_count == 0) {
    return detail::to_status(cudaMemsetAsync(output.offsets, 0, sizeof *output.offsets, stream), "output.offsets");
  }

  const bool ties_are_rejected = detail::ties_rejected<Acceptance>::by(accept);
  const match_path path = detail::choose_batch_path<Policy>(batch, options, ties_are_rejected);
  if (path != match_path::classic && !ties_are_rejected) {
    return {errc::invalid_option, "options.max_ratio (above 1 needs the classic path)"};
  }
  if (path != match_path::classic && batch.descriptors.count > detail::most_tensor_features) {
    return {errc::too_many_features, detail::batch_names.count};
  }
  if (auto s = detail::check_path(path, 0, 0); !s.ok()) return s;
  wave_pairs = std::min(wave_pairs, detail::most_wave_pairs);
  return detail::take_path<Policy>(
      path,
      [&](auto tensor) {
        using policy = typename decltype(tensor)::type;
        for (std::int64_t first = 0; first < batch.pair_count; first += wave_pairs) {
          const std::int64_t count = std::min(wave_pairs, batch.pair_count - first);
          const detail::batch_ranges<element> ranges{batch, options, first};
          detail::tensor_wave<policy> wave(batch.descriptors, batch.descriptors, count, workspace, stream);
          const kernel::batch_lists lists{output.pairs, output.offsets + first, first == 0};
          if (auto s = wave.match(ranges, options, accept, lists); !s.ok()) return s;
        }
        return status{};
      },
      [&](auto classic) {
        using policy = typename decltype(classic)::type;
        for (std::int64_t p = 0; p < batch.pair_count; ++p) {
          const detail::range_pair ranges = detail::batch_ranges<element>{batch, options}(p);
          const kernel::batch_lists lists{output.pairs, output.offsets + p, p == 0};
          if (ranges.left.count == 0 || ranges.right.count == 0) {
            if (auto s = detail::write_lists(nullptr, kernel::one_pair_rows{0}, 1, 0, options, lists, stream);
                !s.ok()) {
              return s;
            }
            continue;
          }
          const auto image = [&](const image_range& range) {
            descriptor_view<element> view = batch.descriptors;
            view.data += range.first * view.stride;
            view.count = range.count;
            return view;
          };
          if (auto s = detail::classic_match<policy>(image(ranges.left), image(ranges.right), options, accept, lists,
                                                     workspace, stream);
              !s.ok()) {
            return s;
          }
        }
        return status{};
      });
}

/// The match lists of the pairs of a batch, each as `match` makes it, in the order of the pairs (see batch.hpp).
///
/// Host; asynchronous on `stream` of the current device; no allocation, no synchronisation; may be captured in a graph.
/// Descriptors, output and workspace are device memory; the workspace is 16-byte aligned and free again when the stream
/// has passed. Images of unlike sizes, empty ones, overlapping ones, repeated pairs and pairs of an image with itself
/// are all right. The width of the descriptors is Policy::width; data and stride are multiples of 16 bytes (of 8 or 4
/// where the width is not). `wave_pairs`, at least 1, is the number of pairs under way at a time: about 100 fill a GPU
/// with pairs of any size; the lists do not depend on it. All pairs take one path, see path_of_batch.
/// Cost: by the tensor-core paths six launches and one for each 138 pairs a wave, by the classic one three a pair.
template <class Policy = default_policy>
status match_batch(const batch_view<typename Policy::element>& batch, const match_options& options,
                   const batch_output& output, std::int64_t wave_pairs, void* workspace, std::size_t workspace_bytes,
                   cudaStream_t stream) noexcept {
  return match_batch<Policy>(batch, options, acceptance_of<typename Policy::element>(options), output, wave_pairs,
                             workspace, workspace_bytes, stream);
}

}  // namespace serac::device
