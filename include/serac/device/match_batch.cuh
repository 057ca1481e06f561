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

#pragma GCC visibility push(hidden)  // see launch.cuh
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
    ranges.left.count = (std::min)(ranges.left.count, options.max_features);
    ranges.right.count = (std::min)(ranges.right.count, options.max_features);
    return ranges;
  }
};

/// The descriptors of one image of a batch.
template <class T>
descriptor_view<T> image_of(const batch_view<T>& batch, const image_range& range) noexcept {
  descriptor_view<T> view = batch.descriptors;
  view.data += range.first * view.stride;
  view.count = range.count;
  return view;
}

/// Where the lists of the pairs from number `first` on go.
inline kernel::batch_lists lists_from(const batch_output& output, std::int64_t first) noexcept {
  return {output.pairs, output.offsets + first, first == 0};
}

/// Calls `body(count, ranges)` for one wave of at most `wave_pairs` pairs after the other, `ranges` being the
/// batch_ranges of its `count` pairs, up to the first that fails.
template <class T, class Body>
status for_each_wave(const batch_view<T>& batch, const match_options& options, std::int64_t wave_pairs,
                     const Body& body) noexcept {
  for (std::int64_t first = 0; first < batch.pair_count; first += wave_pairs) {
    const std::int64_t count = (std::min)(wave_pairs, batch.pair_count - first);
    if (auto s = body(count, batch_ranges<T>{batch, options, first}); !s.ok()) return s;
  }
  return {};
}

/// The most that `bytes_of(count, ranges)` says of any wave.
template <class T, class BytesOf>
std::size_t largest_wave(const batch_view<T>& batch, const match_options& options, std::int64_t wave_pairs,
                         const BytesOf& bytes_of) noexcept {
  std::size_t most = 0;
  static_cast<void>(for_each_wave(batch, options, wave_pairs, [&](std::int64_t count, const batch_ranges<T>& ranges) {
    most = (std::max)(most, bytes_of(count, ranges));
    return status{};
  }));
  return most;
}

/// The most workspace that a pair of a batch takes by the classic path.
template <class T>
std::size_t classic_batch_workspace(const batch_view<T>& batch, const match_options& options) noexcept {
  return largest_wave(batch, options, 1, [&](std::int64_t, const batch_ranges<T>& ranges) {
    const range_pair pair = ranges(0);
    workspace_carver carver(nullptr);
    match_scratch(carver, pair.left.count, pair.right.count, options.cross_check);
    return carver.used();
  });
}

/// The path that all pairs of a batch take: that of a pair large enough for any.
template <class Policy>
match_path choose_batch_path(const batch_view<typename Policy::element>& batch, bool ties_are_rejected) noexcept {
  if (batch.descriptors.count > most_tensor_features) return Policy::path;
  return choose_path<Policy>(1 << 16, 1 << 16, ties_are_rejected);
}

/// match_batch_workspace of a batch whose lists are valid.
template <class Policy>
std::size_t checked_batch_workspace(const batch_view<typename Policy::element>& batch, const match_options& options,
                                    std::int64_t wave_pairs) noexcept {
  std::size_t bytes = 0;
  const auto take_tensor = [&](auto tensor) {
    using policy = typename decltype(tensor)::type;
    if (batch.descriptors.count > most_tensor_features) return;  // no path by tensor cores will be taken
    bytes = (std::max)(bytes, largest_wave(batch, options, wave_pairs, [](std::int64_t count, const auto& ranges) {
                         return wave_workspace<policy>(count, ranges);
                       }));
  };
  if constexpr (may_take<Policy, match_path::wgmma>) {
    take_tensor(type_tag<tensor_policy_of<Policy, match_path::wgmma>>());
  }
  if constexpr (may_take<Policy, match_path::mma>) {
    take_tensor(type_tag<tensor_policy_of<Policy, match_path::mma>>());
  }
  if constexpr (Policy::path == match_path::classic) {
    bytes = (std::max)(bytes, classic_batch_workspace(batch, options));
  }
  return bytes;
}

template <class Traits, class T>
status check_device_batch(const batch_view<T>& batch, std::int64_t wave_pairs) noexcept {
  if (auto s = check_lists(batch); !s.ok()) return s;
  if (auto s = check_view(batch.descriptors, batch_names, elements_of<Traits>, Traits::load_bytes); !s.ok()) return s;
  if (wave_pairs < 1) return {errc::invalid_option, "wave_pairs"};
  return {};
}

}  // namespace detail

/// The path that `match_batch` takes for all pairs of the batch on the current device. Host; no synchronisation.
template <class Policy = default_policy>
match_path path_of_batch(const batch_view<typename Policy::element>& batch, const match_options& options) noexcept {
  return detail::choose_batch_path<Policy>(batch, options.max_ratio <= 1);
}

/// Bytes of workspace that `match_batch` needs on any device: those of its largest wave, for each pair of it about what
/// `match_workspace` says. The batch is valid; where it is not, the number means nothing and match_batch says why.
/// Host; pure; looks at every pair.
template <class Policy = default_policy>
std::size_t match_batch_workspace(const batch_view<typename Policy::element>& batch, const match_options& options,
                                  std::int64_t wave_pairs) noexcept {
  if (wave_pairs < 1 || !detail::check_lists(batch).ok()) return 0;
  return detail::checked_batch_workspace<Policy>(batch, options, (std::min)(wave_pairs, detail::most_wave_pairs));
}

/// The match lists of the pairs of a batch, judged by `accept` (see acceptance.hpp) instead of the options' ratio and
/// distance. Otherwise as `match_batch` below.
template <class Policy = default_policy, class Acceptance>
status match_batch(const batch_view<typename Policy::element>& batch, const match_options& options,
                   const Acceptance& accept, const batch_output& output, std::int64_t wave_pairs, void* workspace,
                   std::size_t workspace_bytes, cudaStream_t stream) noexcept {
  using traits = detail::traits_of<Policy>;
  if (auto s = validate(options); !s.ok()) return s;
  if (auto s = detail::check_device_batch<traits>(batch, wave_pairs); !s.ok()) return s;
  if (auto s = detail::check_output(output, batch, options); !s.ok()) return s;
  wave_pairs = (std::min)(wave_pairs, detail::most_wave_pairs);
  const std::size_t needed = detail::checked_batch_workspace<Policy>(batch, options, wave_pairs);
  if (auto s = detail::check_workspace(workspace, workspace_bytes, needed); !s.ok()) return s;
  if (batch.pair_count == 0) {
    return detail::to_status(cudaMemsetAsync(output.offsets, 0, sizeof *output.offsets, stream), "output.offsets");
  }

  const bool ties_are_rejected = detail::ties_rejected<Acceptance>::by(accept);
  const match_path path = detail::choose_batch_path<Policy>(batch, ties_are_rejected);
  if (path != match_path::classic && !ties_are_rejected) {
    return {errc::invalid_option, "options.max_ratio (above 1 needs the classic path)"};
  }
  if (path != match_path::classic && batch.descriptors.count > detail::most_tensor_features) {
    return {errc::too_many_features, detail::batch_names.count};
  }
  if (auto s = detail::check_path<typename Policy::element>(path, 0, 0); !s.ok()) return s;
  return detail::take_path<Policy>(
      path,
      [&](auto tensor) {
        using policy = typename decltype(tensor)::type;
        return detail::for_each_wave(batch, options, wave_pairs, [&](std::int64_t count, const auto& ranges) {
          detail::tensor_wave<policy> wave(batch.descriptors, batch.descriptors, count, workspace, stream);
          return wave.match(ranges, options, accept, detail::lists_from(output, ranges.first));
        });
      },
      [&](auto classic) {
        using policy = typename decltype(classic)::type;
        return detail::for_each_wave(batch, options, 1, [&](std::int64_t, const auto& ranges) {
          const detail::range_pair pair = ranges(0);
          const kernel::batch_lists lists = detail::lists_from(output, ranges.first);
          if (pair.left.count == 0 || pair.right.count == 0) {
            return detail::write_lists(nullptr, kernel::one_pair_rows{0}, 1, 0, options, lists, stream);
          }
          return detail::classic_match<policy>(detail::image_of(batch, pair.left), detail::image_of(batch, pair.right),
                                               options, accept, lists, workspace, stream);
        });
      });
}

/// The match lists of the pairs of a batch, each as `match` makes it, in the order of the pairs (see batch.hpp).
///
/// Host; asynchronous on `stream` of the current device; no allocation, no synchronisation; may be captured in a graph.
/// Descriptors, output and workspace are device memory; the workspace is 16-byte aligned and free again when the stream
/// has passed. Images of unlike sizes, empty ones, overlapping ones, repeated pairs and pairs of an image with itself
/// are all right. The width of the descriptors is Policy::width; data and stride are multiples of 16 bytes (of 8 or 4
/// where the width is not). `wave_pairs`, at least 1, is the number of pairs under way at a time: about 100 of
/// 10,000 features fill a GPU, and ten times as many of 2,000; the lists do not depend on it. All pairs take one path,
/// see path_of_batch.
/// Cost: by the tensor-core paths four or five launches a wave and one for each few hundred pairs of it, by the classic
/// one three a pair.
template <class Policy = default_policy>
status match_batch(const batch_view<typename Policy::element>& batch, const match_options& options,
                   const batch_output& output, std::int64_t wave_pairs, void* workspace, std::size_t workspace_bytes,
                   cudaStream_t stream) noexcept {
  return match_batch<Policy>(batch, options, acceptance_of<typename Policy::element>(options), output, wave_pairs,
                             workspace, workspace_bytes, stream);
}

}  // namespace serac::device

#pragma GCC visibility pop
