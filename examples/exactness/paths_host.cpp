// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <memory>
#include <utility>

#include <serac/host/matcher.hpp>
#include <serac/host/reference.hpp>
#include <serac/survey/host_worker.hpp>

#include "paths.hpp"

namespace serac_exactness {

std::vector<path> host_paths(const serac::match_options& options, int threads, bool with_reference) {
  using ties = serac::tie_break::siftgpu;  // as COLMAP breaks them
  path host{"host", "", {}, {}};
  host.make_backend = [threads] {
    serac_colmap::backend made;
    made.workers.push_back(std::make_unique<serac::survey::host_worker<std::uint8_t, ties>>(threads));
    made.memory_budget = std::size_t{1} << 30;
    return made;
  };
  host.make_matcher = [options, threads] {
    const auto matcher = std::make_shared<serac::host::basic_matcher<std::uint8_t, ties>>(options, threads);
    return [matcher](const auto& left, const auto& right) { return matcher->match(left, right); };
  };
  std::vector<path> paths{std::move(host)};
  if (with_reference) {
    path reference{"host reference", "", {}, {}};
    reference.make_matcher = [options] {
      return [options](const auto& left, const auto& right) {
        return serac::host::reference::match<ties>(left, right, options);
      };
    };
    paths.push_back(std::move(reference));
  }
  return paths;
}

}  // namespace serac_exactness
