// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The device code of one element type: policies for the widths at hand, images as kernels want them, lists back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <serac/detail/validate.hpp>
#include <serac/device/match.cuh>
#include <serac/device/match_guided.cuh>
#include <serac/device/nearest2.cuh>
#include <serac/policy.hpp>

#include "cuda_backend.cuh"
#include "survey_batch.hpp"

namespace serac_python {

/// The widths, in elements, that there is device code for, ascending. A narrower descriptor is padded with zeros, which
/// change no score.
template <class T>
inline constexpr std::integer_sequence<int, 128> device_widths;
template <>
inline constexpr std::integer_sequence<int, 32, 64> device_widths<serac::bits8>;
template <>
inline constexpr std::integer_sequence<int, 128, 256> device_widths<float>;
template <>
inline constexpr std::integer_sequence<int, 128, 256> device_widths<serac::float16>;
template <class T>
inline constexpr std::integer_sequence<int, 128, 256> device_widths<serac::l2<T>>;

/// The policy of an element type and a width in elements.
template <class T, int Width>
using policy_of = serac::automatic_policy<Width* static_cast<int>(sizeof(T)), T>;

/// COLMAP's order of ties, which shows in its lists for max_ratio above 1.
template <int Width>
struct colmap_ties : serac::policy_for<Width> {
  using tie = serac::tie_break::siftgpu;
};

template <class T, class Visit, int... Widths>
auto with_width(int width, Visit visit, std::integer_sequence<int, Widths...>) {
  constexpr int widths[] = {Widths...};
  using result = decltype(visit(std::integral_constant<int, widths[0]>()));
  result made{};
  const bool found = ((width <= Widths && (made = visit(std::integral_constant<int, Widths>()), true)) || ...);
  if (!found) {
    throw std::invalid_argument(
        "a: a width of " + std::to_string(width) + " is above " + std::to_string(widths[sizeof...(Widths) - 1]) +
        ", the widest that the GPU part of this build has for this dtype; device='cpu' has more");
  }
  return made;
}

/// Calls `visit(integral_constant<int, W>())` with the least W of T that holds `width`.
template <class T, class Visit>
auto with_width(int width, Visit visit) {
  return with_width<T>(width, visit, device_widths<T>);
}

/// Calls `visit(type_tag<Policy>())` with the policy of lists of descriptors of T. Of a width that is empty, any.
template <class T, class Visit>
auto with_policy(int width, const judgement& by, Visit visit) {
  return with_width<T>(width, [&](auto w) {
    constexpr int wide = decltype(w)::value;
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      if (by.options.max_ratio > 1) return visit(serac::device::detail::type_tag<colmap_ties<wide>>());
    }
    return visit(serac::device::detail::type_tag<policy_of<T, wide>>());
  });
}

/// Copies descriptors, padded with zeros to `width` elements, from any memory to any.
template <class T>
void copy_padded(const image& from, std::int64_t count, T* destination, int width, cudaStream_t stream) {
  const std::size_t wide = static_cast<std::size_t>(width) * sizeof(T);
  if (from.width < width) {
    check_cuda(cudaMemsetAsync(destination, 0, static_cast<std::size_t>(count) * wide, stream), "descriptors");
  }
  check_cuda(cudaMemcpy2DAsync(destination, wide, from.data, static_cast<std::size_t>(from.stride) * sizeof(T),
                               static_cast<std::size_t>(from.width) * sizeof(T), static_cast<std::size_t>(count),
                               cudaMemcpyDefault, stream),
             "descriptors");
}

/// What an image is to a kernel of a policy: itself if it lies on the GPU as the policy's loads require, else a copy.
template <class Policy>
serac::descriptor_view<typename Policy::element> device_view(const image& from, serac::detail::device_buffer& buffer,
                                                             cudaStream_t stream) {
  using T = typename Policy::element;
  constexpr std::size_t alignment = serac::device::detail::traits_of<Policy>::load_bytes;
  constexpr int width = serac::elements_of<Policy>;
  const T* const data = static_cast<const T*>(from.data);
  if (from.count == 0) return {data, 0, width};
  const bool usable = !from.where.on_host() && from.width == width && serac::detail::is_aligned(data, alignment) &&
                      from.stride >= from.width && static_cast<std::size_t>(from.stride) * sizeof(T) % alignment == 0;
  if (usable) return {data, from.count, from.width, from.stride};
  T* const copy =
      static_cast<T*>(buffer.reserve(static_cast<std::size_t>(from.count) * width * sizeof(T), "descriptors"));
  copy_padded(from, from.count, copy, width, stream);
  return {copy, from.count, width};
}

/// Locations on the GPU: themselves, or a copy.
inline serac::keypoint_view device_points(const locations& from, serac::detail::device_buffer& buffer,
                                          cudaStream_t stream) {
  const serac::keypoint_view& points = from.points;
  if (points.count == 0 || !from.where.on_host()) return points;
  constexpr std::size_t bytes = 2 * sizeof(float);
  const auto count = static_cast<std::size_t>(points.count);
  auto* const copy = static_cast<float*>(buffer.reserve(count * bytes, "keypoints"));
  check_cuda(cudaMemcpy2DAsync(copy, bytes, points.data, static_cast<std::size_t>(points.stride) * sizeof(float), bytes,
                               count, cudaMemcpyDefault, stream),
             "keypoints");
  return {copy, points.count};
}

/// Copies results to the host and waits for them.
template <class T>
void fetch(T* destination, const T* source, std::int64_t count, cudaStream_t stream) {
  if (count > 0) {
    check_cuda(cudaMemcpyAsync(destination, source, static_cast<std::size_t>(count) * sizeof(T), cudaMemcpyDeviceToHost,
                               stream),
               "results");
  }
  check_cuda(cudaStreamSynchronize(stream), "results");
}

/// The list that `run(output, workspace)` makes of an image of `rows`.
template <class Run>
serac::match_list fetch_list(session& on, std::int64_t rows, std::size_t workspace_bytes, cudaStream_t stream,
                             Run run) {
  const serac::match_output output{static_cast<serac::match_pair*>(on.results.reserve(
                                       static_cast<std::size_t>(rows) * sizeof(serac::match_pair), "match list")),
                                   rows,
                                   static_cast<std::uint32_t*>(on.count.reserve(sizeof(std::uint32_t), "match count"))};
  serac::throw_on_error(run(output, on.workspace.reserve(workspace_bytes, "workspace")));
  std::uint32_t count = 0;
  fetch(&count, output.count, 1, stream);
  serac::match_list list;
  list.pairs.resize(count);
  fetch(list.pairs.data(), output.pairs, count, stream);
  return list;
}

template <class T>
serac::match_list device_matching<T>::match(session& on, const image& a, const image& b, const judgement& by,
                                            cudaStream_t stream) {
  return with_policy<T>(a.width, by, [&](auto tag) {
    using policy = typename decltype(tag)::type;
    const auto left = device_view<policy>(a, on.left, stream), right = device_view<policy>(b, on.right, stream);
    const std::size_t bytes = serac::device::match_workspace<policy>(left, right, by.options);
    return fetch_list(on, a.count, bytes, stream, [&](const serac::match_output& output, void* workspace) {
      return serac::device::match<policy>(left, right, by.options, acceptance_of<T>(by), output, workspace, bytes,
                                          stream);
    });
  });
}

template <class T>
serac::match_list device_matching<T>::match_guided(session& on, const image& a, const image& b,
                                                   const locations& points_a, const locations& points_b,
                                                   const serac::two_view_geometry& geometry, const judgement& by,
                                                   cudaStream_t stream) {
  return with_policy<T>(a.width, by, [&](auto tag) {
    using policy = typename decltype(tag)::type;
    const auto left = device_view<policy>(a, on.left, stream), right = device_view<policy>(b, on.right, stream);
    const serac::guided_by<> guide{device_points(points_a, on.left_points, stream),
                                   device_points(points_b, on.right_points, stream), geometry};
    const std::size_t bytes = serac::device::match_guided_workspace<policy>(left, right, by.options);
    return fetch_list(on, a.count, bytes, stream, [&](const serac::match_output& output, void* workspace) {
      return serac::device::match_guided<policy>(left, right, guide, by.options, acceptance_of<T>(by), output,
                                                 workspace, bytes, stream);
    });
  });
}

template <class T>
serac::nearest2_list device_matching<T>::nearest2(session& on, const image& a, const image& b, bool with_columns,
                                                  cudaStream_t stream) {
  return with_width<T>(a.width, [&](auto width) {
    using policy = policy_of<T, decltype(width)::value>;
    const auto left = device_view<policy>(a, on.left, stream), right = device_view<policy>(b, on.right, stream);
    const std::int64_t columns = with_columns ? b.count : 0;
    auto* const states = static_cast<serac::top2*>(
        on.results.reserve(static_cast<std::size_t>(a.count + columns) * sizeof(serac::top2), "states"));
    const std::size_t bytes = serac::device::nearest2_workspace<policy>(left, right, columns > 0);
    serac::throw_on_error(serac::device::nearest2<policy>(left, right,
                                                          {states, columns > 0 ? states + a.count : nullptr},
                                                          on.workspace.reserve(bytes, "workspace"), bytes, stream));
    serac::nearest2_list list;
    list.rows.resize(static_cast<std::size_t>(a.count));
    list.columns.resize(static_cast<std::size_t>(columns));
    fetch(list.rows.data(), states, a.count, stream);
    fetch(list.columns.data(), states + a.count, columns, stream);
    return list;
  });
}

template <class T>
void device_matching<T>::match_batch(const std::vector<int>& devices, std::size_t memory_budget,
                                     const std::vector<image>& images, const std::vector<serac::image_pair>& pairs,
                                     const judgement& by, const list_taker& take) {
  if constexpr (serac::score_traits<T>::has_angle) {
    int width = 0;
    serac::survey::worker_list<T> workers;
    for (const int device : devices) {
      workers.push_back(with_policy<T>(images.front().width, by, [&](auto tag) {
        using policy = typename decltype(tag)::type;
        width = serac::elements_of<policy>;
        return std::unique_ptr<serac::survey::worker<T>>(new serac::survey::device_worker<policy>(device));
      }));
    }
    const auto read = [](const image& from, std::int64_t count, T* destination, int wide) {
      std::fill_n(destination, count * wide, T{});
      check_cuda(cudaMemcpy2D(destination, static_cast<std::size_t>(wide) * sizeof(T), from.data,
                              static_cast<std::size_t>(from.stride) * sizeof(T),
                              static_cast<std::size_t>(from.width) * sizeof(T), static_cast<std::size_t>(count),
                              cudaMemcpyDefault),
                 "images");
    };
    run_survey<T>(workers, memory_budget, images, width, pairs, by, read, take);
  }
}

}  // namespace serac_python
