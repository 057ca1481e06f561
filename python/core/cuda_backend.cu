// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_backend.cuh"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "survey_batch.hpp"

namespace serac_python {

namespace {

/// Sessions that no call uses at the moment. It is never destroyed: the driver may be gone by then.
class session_pool {
 public:
  static session_pool& get() {
    static session_pool& pool = *new session_pool;
    return pool;
  }

  /// Of the current device.
  std::unique_ptr<session> take(int device) {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[device];
    if (idle.empty()) return std::make_unique<session>(device);
    std::unique_ptr<session> taken = std::move(idle.back());
    idle.pop_back();
    return taken;
  }
  void give_back(std::unique_ptr<session> used) {
    const std::lock_guard lock(mutex_);
    idle_[used->device].push_back(std::move(used));
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<std::unique_ptr<session>>> idle_;
};

/// The stream on which all of `places` are ready: that of the first on a GPU, else that of the session.
cudaStream_t stream_of(const session& on, std::initializer_list<place> places) {
  const place* first = nullptr;
  for (const place& each : places) {
    if (each.on_host()) continue;
    if (first == nullptr) {
      first = &each;
    } else if (each.stream != first->stream) {
      check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(each.stream)), "stream");
    }
  }
  return first == nullptr ? static_cast<cudaStream_t>(on.stream) : static_cast<cudaStream_t>(first->stream);
}

class cuda_backend : public backend {
 private:
  /// What `call(session)` returns. A session whose call threw goes.
  template <class Call>
  auto with_session(Call call) {
    const serac::detail::device_scope scope(device_);
    std::unique_ptr<session> on = session_pool::get().take(device_);
    auto result = call(*on);
    session_pool::get().give_back(std::move(on));
    return result;
  }

 public:
  cuda_backend(int device, bool all) : device_(device), all_(all) {}

  serac::match_list match(const image& a, const image& b, const judgement& by) override {
    return with_session([&](session& on) {
      return with_element(a.type, [&](auto zero) {
        return device_matching<decltype(zero)>::match(on, a, b, by, stream_of(on, {a.where, b.where}));
      });
    });
  }

  serac::match_list match_guided(const image& a, const image& b, const locations& points_a, const locations& points_b,
                                 const serac::two_view_geometry& geometry, const judgement& by) override {
    return with_session([&](session& on) {
      return with_element(a.type, [&](auto zero) {
        return device_matching<decltype(zero)>::match_guided(
            on, a, b, points_a, points_b, geometry, by,
            stream_of(on, {a.where, b.where, points_a.where, points_b.where}));
      });
    });
  }

  serac::nearest2_list nearest2(const image& a, const image& b, bool with_columns) override {
    return with_session([&](session& on) {
      return with_element(a.type, [&](auto zero) {
        return device_matching<decltype(zero)>::nearest2(on, a, b, with_columns, stream_of(on, {a.where, b.where}));
      });
    });
  }

  void match_batch(const std::vector<image>& images, const std::vector<serac::image_pair>& pairs, const judgement& by,
                   const list_taker& take) override {
    if (pairs.empty()) return;
    const bool by_survey =
        with_element(images.front().type, [](auto zero) { return serac::score_traits<decltype(zero)>::has_angle; });
    if (!by_survey) return match_one_by_one(*this, images, pairs, by, take);
    std::vector<int> devices{device_};
    if (all_) {
      devices.clear();
      for (int device = 0; device < cuda_device_count(); ++device) devices.push_back(device);
    }
    std::size_t least_free = std::numeric_limits<std::size_t>::max();
    for (const int device : devices) {
      const serac::detail::device_scope scope(device);
      std::size_t free = 0, total = 0;
      check_cuda(cudaMemGetInfo(&free, &total), "device");
      least_free = std::min(least_free, free);
    }
    const serac::detail::device_scope scope(device_);
    for (const image& each : images) {
      if (each.where.on_host()) continue;
      check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(each.where.stream)), "stream");
    }
    with_element(images.front().type, [&](auto zero) {
      device_matching<decltype(zero)>::match_batch(devices, least_free / 10 * 8, images, pairs, by, take);
    });
  }

 private:
  int device_;
  bool all_;
};

}  // namespace

std::unique_ptr<backend> make_cuda_backend(int device, bool all) {
  const serac::detail::device_scope exists(device);
  return std::make_unique<cuda_backend>(device, all);
}

int cuda_device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

int device_of_pointer(const void* pointer) {
  cudaPointerAttributes attributes{};
  check_cuda(cudaPointerGetAttributes(&attributes, pointer), "__cuda_array_interface__");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged) {
    throw serac::error({serac::errc::invalid_option, "__cuda_array_interface__"});
  }
  return attributes.device;
}

}  // namespace serac_python
