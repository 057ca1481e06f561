// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The owning matcher: descriptors in host or device memory in, lists in host memory out, nothing to manage.
#pragma once

#include <cstdint>

#include <serac/acceptance.hpp>
#include <serac/admissible.hpp>
#include <serac/detail/device_memory.cuh>
#include <serac/detail/validate.hpp>
#include <serac/device/match.cuh>
#include <serac/device/match_guided.cuh>
#include <serac/device/nearest.cuh>
#include <serac/device/nearest2.cuh>
#include <serac/lists.hpp>
#include <serac/options.hpp>
#include <serac/policy.hpp>

namespace serac {

#pragma GCC visibility push(hidden)  // see launch.cuh

/// Matches pairs of images on one GPU and keeps its memory between calls. One that was moved from may only be destroyed
/// or assigned to.
///
/// Host. Not for two threads at once; use one object each. Views may be host memory (any alignment) or memory that
/// the GPU can read (aligned as device::match asks; work that writes it must be finished or on the legacy default
/// stream). Every member that fails throws serac::error and leaves the object usable. Memory: the uploaded images,
/// one match list, and about 20 bytes a feature; it grows to the largest call and is freed by release().
template <class Policy = default_policy>
class basic_matcher {
 public:
  using element = typename Policy::element;
  using view = descriptor_view<element>;

  /// On `device`, or on the current one if negative.
  explicit basic_matcher(const match_options& options = {}, int device = -1)
      : device_(device < 0 ? current_device() : device), stream_(make_stream(device_)) {
    set_options(options);
  }

  const match_options& options() const noexcept { return options_; }

  /// Later calls follow `options`. Cost: the acceptance table, about a millisecond, when ratio or distance change.
  void set_options(const match_options& options) {
    throw_on_error(validate(options));
    if (limits_.data() == nullptr || options.max_ratio != options_.max_ratio ||
        options.max_distance != options_.max_distance) {
      const detail::device_scope scope(device_);
      const acceptance_table table(options);
      const std::size_t bytes = table.limits().size() * sizeof(std::int32_t);
      void* const limits = limits_.reserve(bytes, "acceptance table");
      detail::check_cuda(cudaMemcpy(limits, table.limits().data(), bytes, cudaMemcpyHostToDevice), "acceptance table");
    }
    options_ = options;
  }

  /// The ordered match list of two images (see device::match). Synchronous.
  match_list match(const view& left, const view& right) { return match(left, right, angles()); }

  /// The same, judged by `accept` (see acceptance.hpp) instead of options().max_ratio and max_distance.
  template <class Acceptance>
  match_list match(const view& left, const view& right, const Acceptance& accept) {
    const detail::device_scope scope(device_);
    check(left, right);
    return list_of(
        left, right, device::match_workspace<Policy>(left, right, options_),
        [&](const view& rows, const view& columns, const match_output& output, void* workspace, std::size_t bytes) {
          return device::match<Policy>(rows, columns, options_, accept, output, workspace, bytes, stream_);
        });
  }

  /// The same among the pairs that `admissible` admits (see device::match_guided). The keypoints of a `guided_by` may
  /// be host memory too; any other admissibility must be one that the device can call.
  template <class Admissible>
  match_list match_guided(const view& left, const view& right, const Admissible& admissible) {
    const detail::device_scope scope(device_);
    check(left, right);
    throw_on_error(detail::check_admissible(admissible, left.count, right.count));
    return list_of(
        left, right, device::match_guided_workspace<Policy>(left, right, options_),
        [&](const view& rows, const view& columns, const match_output& output, void* workspace, std::size_t bytes) {
          return device::match_guided<Policy>(rows, columns, on_device(admissible, rows, columns), options_, angles(),
                                              output, workspace, bytes, stream_);
        });
  }

  /// Top-2 of every row and, if asked, of every column (see device::nearest2); options().max_features does not cut
  /// here. Synchronous.
  nearest2_list nearest2(const view& left, const view& right, bool with_columns = false) {
    const detail::device_scope scope(device_);
    check(left, right);
    const view rows = upload(left, left_, "left.data");
    const view columns = upload(right, right_, "right.data");

    const std::int64_t column_count = with_columns ? columns.count : 0;
    auto* const states = static_cast<top2*>(
        pairs_.reserve(static_cast<std::size_t>(rows.count + column_count) * sizeof(top2), "states"));
    const nearest2_output output{states, column_count > 0 ? states + rows.count : nullptr};
    const std::size_t bytes = device::nearest2_workspace<Policy>(rows, columns, column_count > 0);
    throw_on_error(
        device::nearest2<Policy>(rows, columns, output, workspace_.reserve(bytes, "workspace"), bytes, stream_));

    nearest2_list list;
    list.rows.resize(static_cast<std::size_t>(rows.count));
    list.columns.resize(static_cast<std::size_t>(column_count));
    download(list.rows.data(), output.rows, rows.count);
    download(list.columns.data(), output.columns, column_count);
    return list;
  }

  /// The K nearest of every row and, if asked, of every column (see device::nearest); options().max_features does not
  /// cut here. Synchronous.
  template <int K>
  neighbor_lists<K> nearest(const view& left, const view& right, bool with_columns = false) {
    const detail::device_scope scope(device_);
    check(left, right);
    const view rows = upload(left, left_, "left.data");
    const view columns = upload(right, right_, "right.data");

    const std::int64_t column_count = with_columns ? columns.count : 0;
    auto* const lists = static_cast<neighbors<K>*>(
        pairs_.reserve(static_cast<std::size_t>(rows.count + column_count) * sizeof(neighbors<K>), "lists"));
    const nearest_output<K> output{lists, column_count > 0 ? lists + rows.count : nullptr};
    const std::size_t bytes = device::nearest_workspace<K, Policy>(rows, columns, column_count > 0);
    throw_on_error(
        device::nearest<K, Policy>(rows, columns, output, workspace_.reserve(bytes, "workspace"), bytes, stream_));

    neighbor_lists<K> found;
    found.rows.resize(static_cast<std::size_t>(rows.count));
    found.columns.resize(static_cast<std::size_t>(column_count));
    download(found.rows.data(), output.rows, rows.count);
    download(found.columns.data(), output.columns, column_count);
    return found;
  }

  /// Frees the memory kept for images, lists and workspace.
  void release() {
    const detail::device_scope scope(device_);
    detail::device_buffer* const buffers[] = {&left_,  &right_, &left_points_, &right_points_,
                                              &pairs_, &count_, &workspace_};
    for (detail::device_buffer* buffer : buffers) buffer->release();
  }

 private:
  static int current_device() {
    int device = 0;
    detail::check_cuda(cudaGetDevice(&device), "device");
    return device;
  }

  static detail::owned_stream make_stream(int device) {
    const detail::device_scope scope(device);
    return detail::owned_stream();
  }

  static void check(const view& left, const view& right) {
    // Host memory needs no alignment; device::match checks what it is given once more.
    throw_on_error(detail::check_view(left, detail::left_names, elements_of<Policy>, 1));
    throw_on_error(detail::check_view(right, detail::right_names, elements_of<Policy>, 1));
  }

  acceptance_view angles() const noexcept {
    acceptance_of<element>(options_);  // only where there are any
    return {static_cast<const std::int32_t*>(limits_.data()), options_.max_ratio <= 1};
  }

  /// The list that `run(rows, columns, output, workspace, bytes)` makes of the uploaded images.
  template <class Run>
  match_list list_of(const view& left, const view& right, std::size_t bytes, Run run) {
    const view rows = upload(detail::capped(left, options_), left_, "left.data");
    const view columns = upload(detail::capped(right, options_), right_, "right.data");
    const std::int64_t longest = rows.count < options_.max_matches ? rows.count : options_.max_matches;
    const match_output output{
        static_cast<match_pair*>(pairs_.reserve(static_cast<std::size_t>(longest) * sizeof(match_pair), "match list")),
        longest, static_cast<std::uint32_t*>(count_.reserve(sizeof(std::uint32_t), "match count"))};
    throw_on_error(run(rows, columns, output, workspace_.reserve(bytes, "workspace"), bytes));

    match_list list;
    list.truncated = rows.count < left.count || columns.count < right.count;
    std::uint32_t count = 0;
    download(&count, output.count, 1);
    list.pairs.resize(count);
    download(list.pairs.data(), output.pairs, count);
    return list;
  }

  template <class Admissible>
  const Admissible& on_device(const Admissible& admissible, const view&, const view&) {
    return admissible;
  }
  template <class Constraint>
  guided_by<Constraint> on_device(const guided_by<Constraint>& guide, const view& rows, const view& columns) {
    return {upload(guide.left, rows.count, left_points_, "admissible.left.data"),
            upload(guide.right, columns.count, right_points_, "admissible.right.data"), guide.geometry};
  }

  static bool is_on_device(const void* pointer) {
    cudaPointerAttributes attributes{};
    detail::check_cuda(cudaPointerGetAttributes(&attributes, pointer), "descriptors");
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  }

  view upload(const view& source, detail::device_buffer& buffer, const char* name) {
    if (source.count == 0 || is_on_device(source.data)) return source;
    const auto count = static_cast<std::size_t>(source.count);
    auto* const data = static_cast<element*>(buffer.reserve(count * Policy::width, name));
    detail::check_cuda(
        cudaMemcpy2DAsync(data, Policy::width, source.data, static_cast<std::size_t>(source.stride) * sizeof(element),
                          Policy::width, count, cudaMemcpyHostToDevice, stream_),
        name);
    return {data, source.count, elements_of<Policy>};
  }

  /// The first `count` locations.
  keypoint_view upload(keypoint_view source, std::int64_t count, detail::device_buffer& buffer, const char* name) {
    source.count = count;
    if (count == 0 || is_on_device(source.data)) return source;
    constexpr std::size_t bytes = 2 * sizeof(float);
    auto* const data = static_cast<float*>(buffer.reserve(static_cast<std::size_t>(count) * bytes, name));
    detail::check_cuda(
        cudaMemcpy2DAsync(data, bytes, source.data, static_cast<std::size_t>(source.stride) * sizeof(float), bytes,
                          static_cast<std::size_t>(count), cudaMemcpyHostToDevice, stream_),
        name);
    return {data, count};
  }

  template <class T>
  void download(T* destination, const T* source, std::int64_t count) {
    if (count == 0) return;
    detail::check_cuda(cudaMemcpyAsync(destination, source, static_cast<std::size_t>(count) * sizeof(T),
                                       cudaMemcpyDeviceToHost, stream_),
                       "results");
    stream_.synchronize();
  }

  int device_;
  detail::owned_stream stream_;
  match_options options_;
  detail::device_buffer limits_;  // the acceptance table of options_
  detail::device_buffer left_, right_, left_points_, right_points_, pairs_, count_, workspace_;
};

/// SIFT.
using matcher = basic_matcher<>;

#pragma GCC visibility pop

}  // namespace serac
