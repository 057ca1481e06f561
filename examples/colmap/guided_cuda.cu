// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <string>

#include <serac/matcher.cuh>

#include "colmap_ties.cuh"
#include "guided.hpp"

namespace serac_colmap {

namespace {

template <class Policy>
class cuda_guided_matcher : public guided_matcher {
 public:
  cuda_guided_matcher(const serac::match_options& options, int device) : device_(device), matcher_(options, device) {
    const std::uint8_t descriptor[128] = {};  // whether this program has code for the GPU shows now
    matcher_.match({descriptor, 1}, {descriptor, 1});
  }

  serac::match_list match(const serac::sift_view& left, const serac::sift_view& right,
                          const serac::guided_by<>& guide) override {
    return matcher_.match_guided(left, right, guide);
  }
  std::string name() const override { return device_ < 0 ? "a GPU" : "GPU " + std::to_string(device_); }

 private:
  int device_;
  serac::basic_matcher<Policy> matcher_;
};

}  // namespace

std::unique_ptr<guided_matcher> make_cuda_guided_matcher(const serac::match_options& options,
                                                         const backend_choice& choice) {
  const int device = choice.gpu_index.front();  // one GPU: reading takes longer than matching
  if (options.max_ratio > 1) return std::make_unique<cuda_guided_matcher<colmap_ties>>(options, device);
  return std::make_unique<cuda_guided_matcher<serac::default_policy>>(options, device);
}

}  // namespace serac_colmap
