// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The tensor-core matcher for a wave of pairs: how much workspace they take, and the launches of both passes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <serac/acceptance.hpp>
#include <serac/batch.hpp>
#include <serac/chunk_maxima.hpp>
#include <serac/detail/launch.cuh>
#include <serac/detail/tensor_map.cuh>
#include <serac/detail/workspace.hpp>
#include <serac/device/chunk_scan.cuh>
#include <serac/device/list.cuh>
#include <serac/device/path.cuh>
#include <serac/kernel/compact.cuh>
#include <serac/kernel/rescore.cuh>
#include <serac/kernel/scan_rows.cuh>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <serac/top2.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac::device::detail {

/// Pairs that one launch brings to the device in its parameters: nearly 4 KiB of them, or 32 where the toolkit allows.
inline constexpr int most_published = (CUDART_VERSION >= 12010 ? 32000 : 3584) / static_cast<int>(sizeof(chunk_pair));

template <int Count>
struct published {
  static constexpr int count = Count;
  chunk_pair pairs[Count];
};

}  // namespace serac::device::detail

namespace serac::kernel {

/// A pointer whose origin the compiler does not know: from what it knows to be parameters, threads read in turn.
template <class T>
SERAC_DEVICE const T* of_unknown_origin(const T* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

/// Copies `count` values. All threads of the block.
template <class T>
SERAC_DEVICE void copy_words(const T* source, int count, T* destination) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(source);
  for (int i = static_cast<int>(threadIdx.x); i < count * static_cast<int>(sizeof(T) / 8);
       i += static_cast<int>(blockDim.x)) {
    reinterpret_cast<std::uint64_t*>(destination)[i] = words[i];
  }
}

/// Makes the maps of right images: that of the buffer they lie in, moved and cut to each.
struct right_maps {
  CUtensorMap of_buffer;
  const std::uint8_t* data;
  std::int64_t stride;
  CUtensorMap* maps;

  SERAC_DEVICE void make(int number, const chunk_pair& pair) const {
#ifdef SERAC_HAS_WGMMA
    if (pair.right_count > 0) {
      detail::write_map(maps[number], of_buffer, data + pair.right_first * stride, pair.right_count);
    }
#else
    __trap();  // compiled for an architecture without wgmma; the host never launches it there
#endif
  }
};

/// Where pass 1 needs no maps.
struct no_maps {
  SERAC_DEVICE void make(int, const chunk_pair&) const {}
};

/// Brings `count` pairs to device memory, from number `first` on, with the maps of their right images, and sets all
/// counters to zero. One block of any size.
template <class Published, class Maps>
__global__ void publish_pairs(const SERAC_GRID_CONSTANT Published source, int first, int count,
                              const SERAC_GRID_CONSTANT Maps maps, chunk_pair* pairs, row_verdicts verdicts,
                              wave_progress progress) {
  detail::wait_for_previous_kernel();
  if (first == 0 && threadIdx.x == 0) {
    *progress.next_unit = 0;
    *progress.next_window = 0;
  }
  const chunk_pair* const published = of_unknown_origin(source.pairs);
  copy_words(published, count, pairs + first);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    maps.make(first + i, published[i]);
    verdicts.candidate_count[first + i] = 0;
    verdicts.matched_count[first + i] = 0;
    verdicts.taken_back[first + i] = 0;
    progress.units_done[first + i] = 0;
  }
}

}  // namespace serac::kernel

namespace serac::device::detail {

/// Two images of a wave, as places in the left and the right buffer.
struct range_pair {
  image_range left, right;
};

/// What the pairs of a wave need together.
template <class Policy>
struct wave_extent {
  using pass1 = detail::pass1<Policy>;
  using traits = typename pass1::traits;

  std::int64_t pairs = 0, units = 0, rows = 0, chunks = 0, bins = 0, row_maxima = 0;
  int most_rows = 0, most_column_chunks = 0;
  bool shared_chunks = false;  ///< a column chunk of some pair has several tiles

  /// Plans the next pair, of `pairs_at_a_time` like it, and places it behind those before.
  chunk_pair add(const range_pair& ranges, std::int64_t pairs_at_a_time, int multiprocessors) noexcept {
    chunk_pair pair{};
    pair.left_first = static_cast<std::int32_t>(ranges.left.first);
    pair.left_count = static_cast<std::int32_t>(ranges.left.count);
    pair.right_first = static_cast<std::int32_t>(ranges.right.first);
    pair.right_count = static_cast<std::int32_t>(ranges.right.count);
    pair.chunk_tiles = pair.segment_tiles = 1;
    if (pair.left_count > 0 && pair.right_count > 0) pass1::plan(pair, pairs_at_a_time, multiprocessors);
    pair.first_unit = units;
    pair.first_row = rows;
    pair.first_chunk = chunks;
    pair.first_bin = bins;
    pair.row_maxima = row_maxima;

    ++pairs;
    units += traits::unit_count(pair);
    rows += std::int64_t{row_windows(pair.left_count)} * row_window;
    chunks += pair.column_chunks;
    bins += std::int64_t{row_windows(pair.left_count)} * pair.column_chunks;
    row_maxima += std::int64_t{pair.column_chunks} * pair.row_stride;
    most_rows = (std::max)(most_rows, pair.left_count);
    most_column_chunks = (std::max)(most_column_chunks, pair.column_chunks);
    shared_chunks = shared_chunks || pair.chunk_tiles > 1;
    return pair;
  }
};

/// What the tensor-core path keeps in its workspace for a wave.
struct wave_scratch {
  chunk_pair* pairs;
  CUtensorMap* maps;
  wave_progress progress;
  std::int32_t* maxima;  // see chunk_pair
  row_verdicts verdicts;

  /// Takes what a number of pairs needs, whatever they are.
  void take_pairs(workspace_carver& carver, std::int64_t count) {
    pairs = carver.take<chunk_pair>(count);
    constexpr std::uintptr_t alignment = alignof(CUtensorMap);  // more than a workspace's
    auto* const room = carver.take<std::uint8_t>(count * sizeof(CUtensorMap) + alignment);
    maps = reinterpret_cast<CUtensorMap*>((reinterpret_cast<std::uintptr_t>(room) + alignment - 1) / alignment *
                                          alignment);
    progress.next_unit = carver.take<unsigned long long>(1);
    progress.next_window = carver.take<std::uint32_t>(1);
    progress.units_done = carver.take<std::uint32_t>(count);
    verdicts.candidate_count = carver.take<std::uint32_t>(count);
    verdicts.matched_count = carver.take<std::uint32_t>(count);
    verdicts.taken_back = carver.take<std::uint32_t>(count);
  }

  /// Takes the rest.
  template <class Extent>
  void take_features(workspace_carver& carver, const Extent& extent) {
    maxima = carver.take<std::int32_t>(extent.row_maxima);
    verdicts.columns = carver.take<std::uint32_t>(extent.rows);
    verdicts.candidates = carver.take<candidate_row>(extent.rows);
    verdicts.chunk_matches = carver.take<std::uint32_t>(extent.chunks);
    verdicts.bins = carver.take<std::uint32_t>(extent.bins);
    verdicts.matched = carver.take<matched_row>(extent.rows);
  }
};

/// Bytes of workspace for a wave of `pair_count` pairs; `pair_at(i)` is the range_pair of pair i. Host; pure.
template <class Policy, class PairAt>
std::size_t wave_workspace(std::int64_t pair_count, PairAt pair_at) noexcept {
  wave_extent<Policy> extent;
  constexpr int any = 1;  // multiprocessors: their number decides how units are cut, which takes no room
  for (std::int64_t i = 0; i < pair_count; ++i) extent.add(pair_at(i), pair_count, any);
  workspace_carver carver(nullptr);
  wave_scratch scratch{};
  scratch.take_pairs(carver, pair_count);
  scratch.take_features(carver, extent);
  return carver.used();
}

/// A wave of pairs under way: pass 1 and the scan of its rows, then whatever is to be rescored.
template <class Policy>
class tensor_wave {
 public:
  using pass1 = detail::pass1<Policy>;
  using traits = typename pass1::traits;
  using view = descriptor_view<typename Policy::element>;
  /// How a kernel follows the one before. (By mma.sync a pair whose kernels overlap takes a tenth longer.)
  static constexpr launch_order order =
      Policy::path == match_path::wgmma ? launch_order::overlapping : launch_order::after_previous;

  /// `left` and `right` are the buffers that the images of the `pair_count` pairs lie in; the workspace is that of
  /// wave_workspace.
  tensor_wave(const view& left, const view& right, std::int64_t pair_count, void* workspace,
              cudaStream_t stream) noexcept
      : left_(left), right_(right), pair_count_(pair_count), carver_(workspace), stream_(stream) {}

  const row_verdicts& verdicts() const noexcept { return scratch_.verdicts; }

  /// Plans all pairs and brings the plan to the device; the first step. `pair_at(i)` is the range_pair of pair i.
  template <class PairAt>
  status publish(PairAt pair_at) noexcept {
    if (auto s = multiprocessor_count(multiprocessors_); !s.ok()) return s;
    scratch_.take_pairs(carver_, pair_count_);
    auto s = pair_count_ == 1 ? publish_by<published<1>>(pair_at) : publish_by<published<most_published>>(pair_at);
    scratch_.take_features(carver_, extent_);
    return s;
  }

  /// Pass 1: the chunk maxima.
  status take_maxima() noexcept { return take_maxima(kernel::nothing_behind{}); }

  /// Of every row the best chunk and whether `accept` lets it match.
  template <class Acceptance>
  status scan(const Acceptance& accept) noexcept {
    if (extent_.rows == 0) return {};
    return launch(order, "scan_rows", kernel::scan_rows<Acceptance>,
                  dim3(static_cast<unsigned>(row_windows(extent_.most_rows)), pair_blocks()), row_window, 0, stream_,
                  scratch_.pairs, scratch_.maxima, accept, scratch_.verdicts);
  }

  /// Both: the scan of a pair while the maxima of the next are taken, where there are enough pairs that it matters more
  /// than the scan of the last one, which takes longer so. (Of a wave of one pair that is not compiled.)
  template <bool OfOnePair = false, class Acceptance>
  status take_maxima_and_scan(const Acceptance& accept) noexcept {
    if constexpr (pass1::can_scan && !OfOnePair) {
      constexpr std::int64_t enough_pairs = 16;
      if (extent_.pairs >= enough_pairs && extent_.units > 0 && !extent_.shared_chunks) {
        return take_maxima(kernel::scan_behind<Acceptance>{
            scratch_.pairs, static_cast<int>(extent_.pairs), static_cast<std::uint32_t>(extent_.rows / row_window),
            scratch_.maxima, accept, scratch_.verdicts, scratch_.progress});
      }
    }
    if (auto s = take_maxima(); !s.ok()) return s;
    return scan(accept);
  }

  /// The exact state of every row that can match, to `judge`.
  template <class Judge>
  status rescore(const Judge& judge) noexcept {
    if (extent_.units == 0) return {};
    constexpr int threads = kernel::rescore_threads<traits>;
    return launch(order, "rescore_rows", kernel::rescore_rows<traits, Judge>,
                  dim3(static_cast<unsigned>(extent_.most_column_chunks),
                       parts(threads, threads, kernel::rescore_rows_at_once), pair_blocks()),
                  threads, 0, stream_, scratch_.pairs, left_, right_, scratch_.verdicts, judge);
  }

  /// Takes back the matches that their columns do not return.
  template <class Acceptance>
  status test_columns(const Acceptance& accept) noexcept {
    if (extent_.units == 0) return {};
    return launch(order, "test_columns", kernel::test_columns<traits, Acceptance>,
                  dim3(static_cast<unsigned>(extent_.most_column_chunks),
                       parts(kernel::column_threads, kernel::column_rows, extent_.most_rows), pair_blocks()),
                  kernel::column_threads, 0, stream_, scratch_.pairs, left_, right_, scratch_.maxima, accept,
                  scratch_.verdicts);
  }

  /// The match lists by all steps, to `lists`.
  template <class PairAt, class Acceptance, class Lists>
  status match(PairAt pair_at, const match_options& options, const Acceptance& accept, const Lists& lists) noexcept {
    const auto& verdicts = scratch_.verdicts;
    if (auto s = publish(pair_at); !s.ok()) return s;
    constexpr bool of_one_pair = std::is_same_v<Lists, kernel::one_list>;
    if (auto s = take_maxima_and_scan<of_one_pair>(accept); !s.ok()) return s;
    if (auto s = rescore(kernel::keep_accepted<Acceptance>{accept, verdicts}); !s.ok()) return s;
    if (options.cross_check) {
      if (auto s = test_columns(accept); !s.ok()) return s;
    }
    return write_lists(verdicts.columns, kernel::many_pairs_rows{scratch_.pairs, verdicts}, extent_.pairs,
                       extent_.most_rows, options, lists, stream_, order);
  }

 private:
  template <class Behind>
  status take_maxima(const Behind& behind) noexcept {
    if (extent_.units == 0) return {};
    launch_order pass1_order = order;
    if (extent_.shared_chunks) {
      pass1_order = launch_order::after_previous;  // of no kernel
      const std::size_t bytes = static_cast<std::size_t>(extent_.row_maxima) * sizeof(std::int32_t);
      if (auto s = to_status(cudaMemsetAsync(scratch_.maxima, 0, bytes, stream_), "workspace"); !s.ok()) return s;
    }
    return pass1::launch_kernel(left_, right_, scratch_.pairs, static_cast<int>(extent_.pairs), extent_.units,
                                extent_.shared_chunks, scratch_.maps, scratch_.progress.next_unit, scratch_.maxima,
                                multiprocessors_, pass1_order, stream_, behind);
  }

  using right_maps = std::conditional_t<Policy::path == match_path::wgmma, kernel::right_maps, kernel::no_maps>;

  template <class Published, class PairAt>
  status publish_by(PairAt pair_at) noexcept {
    right_maps maps{};
    if (auto s = describe_right(maps); !s.ok()) return s;
    Published part{};
    while (extent_.pairs < pair_count_) {
      const auto first = static_cast<int>(extent_.pairs);
      const int count = static_cast<int>(std::min<std::int64_t>(Published::count, pair_count_ - first));
      for (int i = 0; i < count; ++i) part.pairs[i] = extent_.add(pair_at(first + i), pair_count_, multiprocessors_);
      // Before the first the stream has anything, before the others this kernel.
      const launch_order part_order = first == 0 ? launch_order::after_previous : order;
      if (auto s = launch(part_order, "publish_pairs", kernel::publish_pairs<Published, right_maps>, dim3(1),
                          count == 1 ? 32 : 512, 0, stream_, part, first, count, maps, scratch_.pairs,
                          scratch_.verdicts, scratch_.progress);
          !s.ok()) {
        return s;
      }
    }
    return {};
  }

  status describe_right(kernel::right_maps& maps) const noexcept {
    maps.data = reinterpret_cast<const std::uint8_t*>(right_.data);
    maps.stride = right_.stride;
    maps.maps = scratch_.maps;
    if (right_.count == 0) return {};  // as are all images
    return make_tensor_map(right_, traits::tile_columns, traits::swizzle, maps.of_buffer);
  }
  status describe_right(kernel::no_maps&) const noexcept { return {}; }

  unsigned pair_blocks() const noexcept { return static_cast<unsigned>(extent_.pairs); }

  /// Blocks of `threads` that share `most_rows` rows of each chunk, multiples of `rows` for each, so that a few pairs
  /// fill the device.
  unsigned parts(int threads, int rows, int most_rows) const noexcept {
    constexpr int threads_at_a_time = 512;  // on a multiprocessor
    const std::int64_t blocks = extent_.most_column_chunks * extent_.pairs;
    const std::int64_t wanted = (threads_at_a_time / threads * multiprocessors_ + blocks - 1) / blocks;
    return static_cast<unsigned>(
        std::min<std::int64_t>(wanted, ceil_div((std::min)(most_rows, extent_.most_rows), rows)));
  }

  view left_, right_;
  std::int64_t pair_count_;
  wave_extent<Policy> extent_;  // of the pairs published
  workspace_carver carver_;
  wave_scratch scratch_{};
  cudaStream_t stream_;
  int multiprocessors_ = 0;
};

/// The one pair of two images that fill their buffers.
struct whole_images {
  std::int64_t left_count, right_count;

  range_pair operator()(std::int64_t) const noexcept { return {{0, left_count}, {0, right_count}}; }
};

/// The most that the tensor-core paths of a policy need for one pair; 0 if it takes none or an image is empty. Host;
/// pure.
template <class Policy>
std::size_t tensor_workspace_of(std::int64_t left_count, std::int64_t right_count) noexcept {
  std::size_t bytes = 0;
  if (left_count == 0 || right_count == 0) return bytes;
  if ((std::max)(left_count, right_count) > most_tensor_features) return bytes;  // automatic policies are classic there
  const whole_images images{left_count, right_count};
  if constexpr (may_take<Policy, match_path::wgmma>) {
    bytes = (std::max)(bytes, wave_workspace<tensor_policy_of<Policy, match_path::wgmma>>(1, images));
  }
  if constexpr (may_take<Policy, match_path::mma>) {
    bytes = (std::max)(bytes, wave_workspace<tensor_policy_of<Policy, match_path::mma>>(1, images));
  }
  return bytes;
}

/// Every state becomes the identity.
template <class State>
status clear_states(State* states, std::int64_t count, cudaStream_t stream) noexcept {
  if (count == 0) return {};
  return launch("clear_states", kernel::clear_states<State>, dim3(blocks_for(count, 256)), 256, 0, stream, states,
                count);
}

/// The exact top-2 of every row by tensor cores: all rows are rescored. Ties go to the smallest column. Both images
/// hold something; arguments as device::nearest2, already checked.
template <class Policy>
status tensor_rows(const descriptor_view<typename Policy::element>& left,
                   const descriptor_view<typename Policy::element>& right, top2* states, void* workspace,
                   cudaStream_t stream) noexcept {
  const whole_images images{left.count, right.count};
  tensor_wave<Policy> wave(left, right, 1, workspace, stream);
  if (auto s = wave.publish(images); !s.ok()) return s;
  if (auto s = wave.take_maxima(); !s.ok()) return s;
  if (auto s = wave.scan(accept_all()); !s.ok()) return s;
  if (auto s = clear_states(states, left.count, stream); !s.ok()) return s;
  return wave.rescore(kernel::keep_state{states});
}

}  // namespace serac::device::detail

#pragma GCC visibility pop
