// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <serac/survey/host_worker.hpp>

namespace serac_colmap {

namespace {

constexpr std::size_t default_host_budget = std::size_t{1} << 30;  // 100 images of 80,000 features

/// Throws std::exception where no GPU is usable.
backend make_gpu_backend([[maybe_unused]] const serac::match_options& options,
                         [[maybe_unused]] const backend_choice& choice) {
#if SERAC_COLMAP_HAS_CUDA
  return make_cuda_backend(options, choice);
#else
  throw std::runtime_error("this program was built without a GPU backend");
#endif
}

backend make_host_backend(const backend_choice& choice) {
  using worker = serac::survey::host_worker<std::uint8_t, serac::tie_break::siftgpu>;  // ties as COLMAP breaks them
  const int share = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / choice.of);
  backend host;
  host.workers.push_back(std::make_unique<worker>(choice.num_threads > 0 ? choice.num_threads : share));
  host.memory_budget = choice.memory_budget > 0 ? choice.memory_budget : default_host_budget;
  return host;
}

}  // namespace

std::string backend::name() const {
  std::string text;
  for (const auto& each : workers) text += (text.empty() ? "" : "; ") + each->name();
  return text;
}

backend make_backend(const serac::match_options& options, const backend_choice& choice) {
  serac::throw_on_error(serac::validate(options));
  if (choice.use_gpu.value_or(true)) {
    try {
      return make_gpu_backend(options, choice);
    } catch (const std::exception& error) {
      if (choice.use_gpu) throw std::runtime_error(std::string("no GPU is usable: ") + error.what());
      std::cerr << "matching on the host, for no GPU is usable: " << error.what() << '\n';
    }
  }
  return make_host_backend(choice);
}

}  // namespace serac_colmap
