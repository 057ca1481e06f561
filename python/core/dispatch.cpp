// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "errors.hpp"

namespace serac_python {

namespace {

/// GPU number `device`; `all` as make_cuda_backend has it.
std::unique_ptr<backend> make_gpu_backend([[maybe_unused]] int device, [[maybe_unused]] bool all) {
#if SERAC_PYTHON_HAS_CUDA
  return make_cuda_backend(device, all);
#else
  throw std::runtime_error("device: this build of serac has no GPU part: it was built without CUDA");
#endif
}

/// Whether GPU 0 has just matched something: whether this build has code for it shows then.
bool first_gpu_works() {
  if (gpu_count() == 0) return false;
  try {
    const std::array<std::uint8_t, 128> descriptor{};
    image one;
    one.data = descriptor.data();
    one.count = 1;
    one.width = one.stride = 128;
    make_gpu_backend(0, false)->match(one, one, {});
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

bool has_cuda() {
#if SERAC_PYTHON_HAS_CUDA
  return true;
#else
  return false;
#endif
}

int gpu_count() {
#if SERAC_PYTHON_HAS_CUDA
  return cuda_device_count();
#else
  return 0;
#endif
}

bool use_gpu(const device_choice& choice) {
  if (choice.gpu) return *choice.gpu;
  static const bool works = first_gpu_works();
  return works;
}

std::unique_ptr<backend> backend_for(const std::vector<place>& places, const device_choice& choice, int threads) {
  const auto on_gpu = [](const place& each) { return !each.on_host(); };
  const auto first = std::find_if(places.begin(), places.end(), on_gpu);
  if (first == places.end()) {
    if (!use_gpu(choice)) return make_host_backend(threads);
    return make_gpu_backend(std::max(choice.index, 0), choice.index < 0);
  }
  const std::string name = "cuda:" + std::to_string(first->device);
  if (!choice.gpu.value_or(true) || (choice.index >= 0 && choice.index != first->device)) {
    throw value_error("device", "an array is in the memory of " + name + ": copy it to where it is to be matched");
  }
  for (const place& each : places) {
    if (on_gpu(each) && each.device != first->device) {
      throw value_error("device", "arrays are on several GPUs: " + name + " and cuda:" + std::to_string(each.device));
    }
  }
  return make_gpu_backend(first->device, false);
}

}  // namespace serac_python
