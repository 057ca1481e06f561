// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend.hpp"

#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include <serac/host/matcher.hpp>

namespace serac_colmap {

namespace {

class host_backend : public backend {
 public:
  host_backend(const serac::match_options& options, int threads)
      : threads_(threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency())),
        matcher_(options, threads > 0 ? threads : 0) {}

  serac::match_list match(const serac::sift_view& left, const serac::sift_view& right) override {
    return matcher_.match(left, right);
  }
  std::string name() const override { return "the host, " + std::to_string(threads_) + " threads"; }

 private:
  int threads_;
  serac::host::basic_matcher<std::uint8_t, serac::tie_break::siftgpu> matcher_;  // ties as COLMAP breaks them
};

/// Throws std::exception where no GPU is usable.
std::unique_ptr<backend> make_gpu_backend([[maybe_unused]] const serac::match_options& options,
                                          [[maybe_unused]] int device) {
#if SERAC_COLMAP_HAS_CUDA
  return make_cuda_backend(options, device);
#else
  throw std::runtime_error("this program was built without a GPU backend");
#endif
}

}  // namespace

std::unique_ptr<backend> make_backend(const serac::match_options& options, const backend_choice& choice) {
  serac::throw_on_error(serac::validate(options));
  if (choice.use_gpu.value_or(true)) {
    try {
      return make_gpu_backend(options, choice.gpu_index);
    } catch (const std::exception& error) {
      if (choice.use_gpu) throw std::runtime_error(std::string("no GPU is usable: ") + error.what());
      std::cerr << "matching on the host, for no GPU is usable: " << error.what() << '\n';
    }
  }
  return std::make_unique<host_backend>(options, choice.num_threads);
}

}  // namespace serac_colmap
