// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The tensor copy engine and its barriers (PTX ISA, sm_90).
#pragma once

#if !defined(__CUDACC_RTC__)
#include <cuda.h>
#endif

#include <serac/detail/config.hpp>

#if defined(__CUDACC_RTC__)
namespace serac {
/// That of cuda.h, which NVRTC cannot read: nothing but its size and alignment matters to kernels.
struct alignas(128) CUtensorMap {
  unsigned long long opaque[16];
};
}  // namespace serac
#endif

namespace serac::detail {

/// A barrier in shared memory that counts arrivals and bytes copied. Phases alternate between parity 0 and 1.
struct copy_barrier {
  std::uint64_t state;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  SERAC_DEVICE std::uint32_t address() { return static_cast<std::uint32_t>(__cvta_generic_to_shared(&state)); }

  /// One thread, before all others use it; they owe a block barrier behind publish_barriers.
  SERAC_DEVICE void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
  }
  SERAC_DEVICE void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory"); }
  /// Arrives and says how many bytes the copies of this phase bring.
  SERAC_DEVICE void arrive_and_expect(int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
  }
  /// Waits for the end of the phase of the given parity.
  SERAC_DEVICE void wait(int parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}\n" ::"r"(address()),
        "r"(parity)
        : "memory");
  }
#endif
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

/// Makes initialised barriers visible to the copy engine. The initialising thread, before a block barrier.
SERAC_DEVICE void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Starts the copy of the map's box at (byte, row) to `tile`; its bytes count at `barrier`. One thread.
SERAC_DEVICE void copy_box(void* tile, const CUtensorMap& map, int byte, int row, copy_barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          static_cast<std::uint32_t>(__cvta_generic_to_shared(tile))),
      "l"(&map), "r"(byte), "r"(row), "r"(barrier.address())
      : "memory");
}

/// Makes a map that an earlier kernel wrote to device memory usable for copies. One thread, before its copies.
SERAC_DEVICE void acquire_map(const CUtensorMap& map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(&map) : "memory");
}

#endif

#ifdef SERAC_HAS_WGMMA
/// Writes to device memory the map of `rows` rows (at least 1) from `data` on, otherwise the same as `pattern`, for
/// acquire_map in a later kernel. One thread.
SERAC_DEVICE void write_map(CUtensorMap& map, const CUtensorMap& pattern, const void* data, int rows) {
  map = pattern;
  asm volatile(
      "tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;\n"
      "tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 1, %2;\n"
      "fence.proxy.tensormap::generic.release.gpu;" ::"l"(__cvta_generic_to_global(&map)),
      "l"(__cvta_generic_to_global(data)), "r"(rows)
      : "memory");
}

/// Registers of each thread of this warpgroup from here on: a multiple of 8. All its warps. (Nothing in quick tests and
/// with -G: of code that is not optimised, ptxas 13.0 cannot stand them in match_pair_wgmma.)
template <int Registers>
SERAC_DEVICE void raise_registers() {
#if !defined(SERAC_QUICK_TESTS) && !defined(__CUDACC_DEBUG__)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}
template <int Registers>
SERAC_DEVICE void lower_registers() {
#if !defined(SERAC_QUICK_TESTS) && !defined(__CUDACC_DEBUG__)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}
#endif

}  // namespace serac::detail
