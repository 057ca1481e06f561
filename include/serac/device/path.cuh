// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Which path a policy takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <serac/device/chunk_scan.cuh>
#include <serac/mma_policy.hpp>
#include <serac/policy.hpp>
#include <serac/status.hpp>
#include <serac/wgmma_policy.hpp>

#pragma GCC visibility push(hidden)  // see launch.cuh
namespace serac::device::detail {

template <class Acceptance, class = void>
struct ties_rejected {
  static bool by(const Acceptance&) noexcept { return false; }
};
template <class Acceptance>
struct ties_rejected<Acceptance, std::void_t<decltype(std::declval<const Acceptance&>().rejects_ties())>> {
  static bool by(const Acceptance& accept) noexcept { return accept.rejects_ties(); }
};

/// The traits of a policy, by its path.
template <class Policy, match_path = Policy::path>
struct traits_by_path {
  using type = policy_traits<Policy>;
};
template <class Policy>
struct traits_by_path<Policy, match_path::mma> {
  using type = mma_traits<Policy>;
};
template <class Policy>
struct traits_by_path<Policy, match_path::wgmma> {
  using type = wgmma_traits<Policy>;
};
template <class Policy>
using traits_of = typename traits_by_path<Policy>::type;

/// Whether `Policy` may take `path` at all.
template <class Policy, match_path Path>
inline constexpr bool may_take = Policy::path == Path ||
                                 (is_automatic<Policy> &&
                                  (Path == match_path::wgmma ? has_wgmma<typename Policy::element>(Policy::width)
                                                             : has_mma<typename Policy::element>(Policy::width)));

/// The policy of a tensor-core path that a policy means: itself, or that of its width and element where it is
/// automatic.
template <class Policy, match_path Path>
using tensor_policy_of = std::conditional_t<
    Policy::path == Path, Policy,
    std::conditional_t<Path == match_path::wgmma, wgmma_policy_for<Policy::width, typename Policy::element>,
                       mma_policy_for<Policy::width, typename Policy::element>>>;

/// Scores from which on `path`, of the tensor cores, is faster than the classic path for a pair by itself. The work
/// decides: how many bytes are multiplied with bytes (of bits: eight with eight); by mma.sync, descriptors of more than
/// 128 bytes gain no sooner. On an H200, by bench/paths.cu.
template <class Policy>
constexpr std::int64_t least_tensor_scores(match_path path) noexcept {
  if (is_binary<typename Policy::element>) return 300'000'000 / Policy::width;
  if (path == match_path::wgmma) return 500'000'000 / Policy::width;
  return 1'000'000'000 / (std::min)(Policy::width, 128);
}

/// The path of a call; for an automatic policy the fastest that is exact. Sums of floats depend on the path, so theirs
/// does not depend on the sizes: a batch gives the lists that its pairs have alone. `both_ways`: the tensor cores need
/// a pass for the columns too, which the classic path has with the rows.
template <class Policy>
match_path choose_path(std::int64_t left_count, std::int64_t right_count, bool ties_are_rejected,
                       bool both_ways = false) noexcept {
  if constexpr (is_automatic<Policy> && may_take<Policy, match_path::mma>) {
    using element = typename Policy::element;
    const bool too_many = (std::max)(left_count, right_count) > most_tensor_features;
    const auto are_enough = [&](match_path path) {
      const std::int64_t least = least_tensor_scores<Policy>(path) * (both_ways ? 3 : 1);
      return score_traits<element>::is_float || left_count * right_count >= least;
    };
    // wgmma needs the fewest. (Which path there is, the driver is asked, which takes time.)
    if (!ties_are_rejected || too_many || !are_enough(match_path::wgmma)) return Policy::path;
    const match_path best = best_path<element>();
    if (are_enough(best)) return best;
  }
  return Policy::path;
}

/// What keeps `path` from images of `Element`s of these sizes on the current device, if anything.
template <class Element>
status check_path(match_path path, std::int64_t left_count, std::int64_t right_count) noexcept {
  if (path == match_path::classic) return {};
  if (left_count > most_tensor_features) return {errc::too_many_features, "left.count"};
  if (right_count > most_tensor_features) return {errc::too_many_features, "right.count"};
  if (best_path<Element>() < path) return {errc::no_kernel_image, "tensor-core path"};
  return {};
}

/// A type as a value.
template <class T>
struct type_tag {
  using type = T;
};

/// Runs a call on `path`, one that choose_path names for the policy: `tensor(type_tag<P>)` with the policy P of a
/// tensor-core path, or `classic(type_tag<Policy>)`.
template <class Policy, class Tensor, class Classic>
status take_path(match_path path, const Tensor& tensor, const Classic& classic) noexcept {
  if constexpr (Policy::path != match_path::classic) {
    return tensor(type_tag<Policy>());
  } else {
    if constexpr (may_take<Policy, match_path::wgmma>) {
      if (path == match_path::wgmma) return tensor(type_tag<tensor_policy_of<Policy, match_path::wgmma>>());
    }
    if constexpr (may_take<Policy, match_path::mma>) {
      if (path == match_path::mma) return tensor(type_tag<tensor_policy_of<Policy, match_path::mma>>());
    }
    return classic(type_tag<Policy>());
  }
}

}  // namespace serac::device::detail

#pragma GCC visibility pop
