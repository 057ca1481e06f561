// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Every kernel, for every architecture of cmake/architectures.cmake: compiled, never run.

#include <serac/serac.cuh>

namespace {

struct scalar : serac::default_policy {
  using dot = serac::dot_scalar;
};
struct siftgpu : serac::default_policy {
  using tie = serac::tie_break::siftgpu;
};
struct signed_bytes : serac::default_policy {
  using element = std::int8_t;
  static constexpr int stages = 1;
};

// Naming an entry point of a policy instantiates the kernels behind it, with and without columns.
template <class Policy>
constexpr auto nearest2 = &serac::device::nearest2<Policy>;

template <int K, class Policy>
constexpr auto nearest = &serac::device::nearest<K, Policy>;

template <class Policy, class Acceptance>
serac::status match(const serac::descriptor_view<typename Policy::element>& view, const Acceptance& accept) {
  return serac::device::match<Policy>(view, view, {}, accept, {}, nullptr, 0, nullptr);
}

template <class Policy, class Admissible>
serac::status match_guided(const serac::descriptor_view<typename Policy::element>& view, const Admissible& admissible) {
  return serac::device::match_guided<Policy>(view, view, admissible, {}, {}, nullptr, 0, nullptr);
}

}  // namespace

extern const void* const serac_compile_all[];
const void* const serac_compile_all[] = {
    reinterpret_cast<const void*>(nearest2<serac::default_policy>),
    reinterpret_cast<const void*>(nearest2<scalar>),
    reinterpret_cast<const void*>(nearest2<siftgpu>),
    reinterpret_cast<const void*>(nearest2<signed_bytes>),
    reinterpret_cast<const void*>(nearest2<serac::automatic_policy<32, serac::bits8>>),
    reinterpret_cast<const void*>(nearest2<serac::float_policy_for<512>>),
    reinterpret_cast<const void*>(nearest2<serac::float_policy_for<256, serac::l2<serac::float16>>>),
    reinterpret_cast<const void*>(nearest<8, serac::default_policy>),
    reinterpret_cast<const void*>(nearest<8, serac::float_policy_for<512>>),
    reinterpret_cast<const void*>(match<serac::default_policy, serac::angular_acceptance>),
    reinterpret_cast<const void*>(match<serac::default_policy, serac::acceptance_view>),
    reinterpret_cast<const void*>(match<siftgpu, serac::angular_acceptance>),
    reinterpret_cast<const void*>(match_guided<serac::default_policy, serac::guided_by<>>),
    reinterpret_cast<const void*>(match_guided<siftgpu, serac::admissible_bits>),
};
