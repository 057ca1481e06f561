// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A worker on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <serac/acceptance.hpp>
#include <serac/detail/device_memory.cuh>
#include <serac/device/match_batch.cuh>
#include <serac/policy.hpp>
#include <serac/survey/worker.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac::survey {

namespace detail {

/// A CUDA event of the current device; waiting for it leaves the processor to others.
class owned_event {
 public:
  owned_event() { serac::detail::check_cuda(cudaEventCreateWithFlags(&event_, cudaEventBlockingSync), "event"); }
  ~owned_event() { cudaEventDestroy(event_); }
  owned_event(const owned_event&) = delete;
  owned_event& operator=(const owned_event&) = delete;
  operator cudaEvent_t() const noexcept { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream of the current device that waits for no other.
class free_stream {
 public:
  free_stream() { serac::detail::check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"); }
  ~free_stream() { cudaStreamDestroy(stream_); }
  free_stream(const free_stream&) = delete;
  free_stream& operator=(const free_stream&) = delete;
  operator cudaStream_t() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Pinned host memory, which copies reach while the processor does other things. Grows on demand.
class pinned_buffer {
 public:
  pinned_buffer() = default;
  ~pinned_buffer() { cudaFreeHost(data_); }
  pinned_buffer(const pinned_buffer&) = delete;
  pinned_buffer& operator=(const pinned_buffer&) = delete;

  void reserve(std::size_t bytes, const char* name) {
    if (bytes <= bytes_) return;
    cudaFreeHost(data_);
    data_ = nullptr;
    bytes_ = 0;
    serac::detail::check_cuda(cudaHostAlloc(&data_, bytes, cudaHostAllocDefault), name);
    bytes_ = bytes;
  }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace detail

/// Matches batches on one GPU. Images arrive on a stream of their own, through two pinned buffers; batches are computed
/// one after the other on a second stream; the lengths of lists leave on a third, so that the next batch does not wait
/// for them; lists, once their lengths are known, on a fourth.
///
/// Memory on the host: two times the largest image and, for each slot, the lists of a batch; pinned. `seconds` of the
/// lists is the time between the first and the last kernel of the batch, by events.
template <class Policy = default_policy>
class device_worker : public worker<typename Policy::element> {
 public:
  using element = typename Policy::element;

  /// Throws serac::error if there is no such GPU.
  explicit device_worker(int device = 0) : device_(device), name_("GPU " + std::to_string(device)) {
    const serac::detail::device_scope scope(device);
    cudaDeviceProp properties{};
    serac::detail::check_cuda(cudaGetDeviceProperties(&properties, device), "device");
    name_ += std::string(", ") + properties.name;
    own_ = std::make_unique<resources>();
  }

  ~device_worker() override {
    int previous = 0;
    cudaGetDevice(&previous);
    cudaSetDevice(device_);
    cudaDeviceSynchronize();
    own_.reset();
    cudaSetDevice(previous);
    cudaGetLastError();
  }

  std::string name() const override { return name_; }

  std::size_t workspace(const batch_view<element>& batch, const match_options& options,
                        std::int64_t wave_pairs) const noexcept override {
    return device::match_batch_workspace<Policy>(batch, options, wave_pairs);
  }

  /// About ten milliseconds of the largest GPUs.
  std::int64_t batch_scores() const noexcept override { return std::int64_t{1} << 36; }

  void prepare(const worker_memory& memory, const match_options& options) override {
    const serac::detail::device_scope scope(device_);
    if (memory.width != Policy::width) throw error({errc::unsupported_width, "images.width"});
    serac::detail::check_cuda(cudaDeviceSynchronize(), "device");
    memory_ = memory;
    options_ = options;

    const acceptance_table table(options);
    const std::size_t limit_bytes = table.limits().size() * sizeof(std::int32_t);
    void* const limits = own_->limits.reserve(limit_bytes, "acceptance table");
    serac::detail::check_cuda(cudaMemcpy(limits, table.limits().data(), limit_bytes, cudaMemcpyHostToDevice),
                              "acceptance table");
    accept_ = {static_cast<const std::int32_t*>(limits), table.view().rejects_ties()};

    // What runs before left is not kept beside what this one needs.
    for (serac::detail::device_buffer* each : {&own_->descriptors, &own_->workspace}) each->release();
    own_->workspace.reserve(memory.workspace, "workspace");
    for (slot& each : own_->slots) {
      each.device_pairs.release(), each.device_offsets.release();
      each.device_pairs.reserve(list_bytes(), "lists");
      each.device_offsets.reserve(offset_bytes(), "lists");
      each.pairs.reserve(list_bytes(), "lists in pinned memory");
      each.offsets.reserve(offset_bytes(), "lists in pinned memory");
    }
    own_->descriptors.reserve(static_cast<std::size_t>(memory.descriptors) * descriptor_bytes, "descriptors");
    for (stage_buffer& each : own_->stages) {
      each.data.reserve(static_cast<std::size_t>(memory.largest_image) * descriptor_bytes, "an image in pinned memory");
    }
  }

  element* stage(image_range) override {
    const serac::detail::device_scope scope(device_);
    stage_buffer& mine = own_->stages[stage_];
    serac::detail::check_cuda(cudaEventSynchronize(mine.copied), "descriptors");
    return mine.data.template as<element>();
  }

  void upload(image_range place) override {
    const serac::detail::device_scope scope(device_);
    stage_buffer& mine = own_->stages[stage_];
    serac::detail::check_cuda(
        cudaMemcpyAsync(descriptors() + place.first * Policy::width, mine.data.template as<void>(),
                        static_cast<std::size_t>(place.count) * descriptor_bytes, cudaMemcpyHostToDevice, own_->up),
        "descriptors");
    serac::detail::check_cuda(cudaEventRecord(mine.copied, own_->up), "descriptors");
    stage_ = (stage_ + 1) % stage_count;
  }

  void start(int number, const worker_batch& batch) override {
    const serac::detail::device_scope scope(device_);
    slot& mine = own_->slots[number];
    mine.pair_count = batch.pairs.size();
    try {
      serac::detail::check_cuda(cudaEventRecord(own_->uploaded, own_->up), "descriptors");
      serac::detail::check_cuda(cudaStreamWaitEvent(own_->compute, own_->uploaded), "descriptors");
      serac::detail::check_cuda(cudaEventRecord(mine.begun, own_->compute), "batch");
      const batch_view<element> view{{descriptors(), memory_.descriptors, Policy::width},
                                     batch.images.data(),
                                     static_cast<std::int64_t>(batch.images.size()),
                                     batch.pairs.data(),
                                     static_cast<std::int64_t>(batch.pairs.size())};
      auto* const offsets = static_cast<std::int64_t*>(mine.device_offsets.data());
      const batch_output output{static_cast<match_pair*>(mine.device_pairs.data()), memory_.matches, offsets};
      throw_on_error(device::match_batch<Policy>(view, options_, accept_, output, batch.wave_pairs,
                                                 own_->workspace.data(), memory_.workspace, own_->compute));
      serac::detail::check_cuda(cudaEventRecord(mine.ended, own_->compute), "batch");
      serac::detail::check_cuda(cudaStreamWaitEvent(own_->count, mine.ended), "lists");
      serac::detail::check_cuda(
          cudaMemcpyAsync(mine.offsets.template as<void>(), offsets, (mine.pair_count + 1) * sizeof(std::int64_t),
                          cudaMemcpyDeviceToHost, own_->count),
          "lists");
      serac::detail::check_cuda(cudaEventRecord(mine.counted, own_->count), "lists");
    } catch (...) {
      cudaStreamSynchronize(own_->compute);  // what has been launched reads images that may go now
      cudaStreamSynchronize(own_->count);    // and writes to the slot
      throw;
    }
  }

  worker_lists finish(int number) override {
    const serac::detail::device_scope scope(device_);
    slot& mine = own_->slots[number];
    serac::detail::check_cuda(cudaEventSynchronize(mine.counted), "batch");
    worker_lists lists;
    const auto* const offsets = mine.offsets.template as<std::int64_t>();
    lists.offsets.assign(offsets, offsets + mine.pair_count + 1);
    const auto count = static_cast<std::size_t>(lists.offsets.back());
    if (count > 0) {
      serac::detail::check_cuda(cudaMemcpyAsync(mine.pairs.template as<void>(), mine.device_pairs.data(),
                                                count * sizeof(match_pair), cudaMemcpyDeviceToHost, own_->down),
                                "lists");
      serac::detail::check_cuda(cudaEventRecord(own_->downloaded, own_->down), "lists");
      serac::detail::check_cuda(cudaEventSynchronize(own_->downloaded), "lists");
      const auto* const pairs = mine.pairs.template as<match_pair>();
      lists.pairs.assign(pairs, pairs + count);
    }
    float milliseconds = 0;
    serac::detail::check_cuda(cudaEventElapsedTime(&milliseconds, mine.begun, mine.ended), "batch");
    lists.seconds = milliseconds * 1e-3;
    return lists;
  }

  bool usable() noexcept override {
    int previous = 0;
    cudaGetDevice(&previous);
    const bool works = cudaSetDevice(device_) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    cudaSetDevice(previous);
    cudaGetLastError();
    return works;
  }

 private:
  static constexpr std::size_t descriptor_bytes = Policy::width * sizeof(element);
  static constexpr int stage_count = 2;

  struct stage_buffer {
    detail::pinned_buffer data;
    detail::owned_event copied;
  };
  struct slot {
    serac::detail::device_buffer device_pairs, device_offsets;
    detail::pinned_buffer pairs, offsets;
    detail::owned_event begun, ended, counted;
    std::size_t pair_count = 0;
  };
  struct resources {
    detail::free_stream up, compute, count, down;
    detail::owned_event uploaded, downloaded;
    serac::detail::device_buffer limits, descriptors, workspace;
    stage_buffer stages[stage_count];
    slot slots[slot_count];
  };

  element* descriptors() const { return static_cast<element*>(own_->descriptors.data()); }
  std::size_t list_bytes() const { return static_cast<std::size_t>(memory_.matches) * sizeof(match_pair); }
  std::size_t offset_bytes() const { return static_cast<std::size_t>(memory_.pairs + 1) * sizeof(std::int64_t); }

  int device_;
  std::string name_;
  std::unique_ptr<resources> own_;
  worker_memory memory_;
  match_options options_;
  acceptance_view accept_;
  int stage_ = 0;
};

}  // namespace serac::survey

#pragma GCC visibility pop
