// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// wgmma for bytes (PTX ISA, sm_90a): 64 x N products of two tiles in shared memory, 32 bytes deep.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/score.hpp>

namespace serac::detail {

/// A K-major tile in shared memory as an operand of wgmma (PTX ISA, "matrix descriptor"): its rows hold Swizzle bytes
/// (32, 64 or 128) in the swizzle of that width, as the tensor copy with the same swizzle lays it down. The start is
/// aligned to 8 rows. All lanes of a warp construct it alike: it may then live in uniform registers.
template <int Swizzle>
class wgmma_tile {
 public:
  SERAC_DEVICE explicit wgmma_tile(const void* tile) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile));
    first_ = __shfl_sync(0xffffffffu, (address >> 4 & 0x3fff) | 1u << 16, 0);
  }

  /// The descriptor of what begins `bytes`, a multiple of 16, behind the tile's start.
  SERAC_DEVICE std::uint64_t at(int bytes) const {
    static_assert(Swizzle == 32 || Swizzle == 64 || Swizzle == 128);
    constexpr std::uint32_t layout = Swizzle == 128 ? 1 : Swizzle == 64 ? 2 : 3;
    constexpr std::uint32_t eight_rows = 8 * Swizzle / 16;  // stride between groups of 8 rows, in 16 bytes
    return std::uint64_t{layout << 30 | eight_rows} << 32 | (first_ + static_cast<std::uint32_t>(bytes / 16));
  }

 private:
  std::uint32_t first_;
};

/// Orders this warpgroup's accesses to registers and shared memory before the products that follow.
SERAC_DEVICE void wgmma_fence() {
#ifdef SERAC_HAS_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/// Closes the group of products issued since the last call.
SERAC_DEVICE void wgmma_commit() {
#ifdef SERAC_HAS_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/// Waits until at most `Pending` of the latest groups are unfinished; `sums`, the results of a finished one, may be
/// read after it and not before.
template <int Pending, int Registers>
SERAC_DEVICE void wgmma_wait(std::int32_t (&sums)[Registers]) {
#ifdef SERAC_HAS_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
#pragma unroll
  for (int i = 0; i < Registers; ++i) asm volatile("" : "+r"(sums[i])::"memory");
#endif
}

// clang-format off
// Text and operands of 16 consecutive accumulators.
#define SERAC_TEXT_0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define SERAC_TEXT_16 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SERAC_TEXT_32 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define SERAC_TEXT_48 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SERAC_TEXT_64 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define SERAC_TEXT_80 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define SERAC_TEXT_80_HALF "%80, %81, %82, %83, %84, %85, %86, %87"
#define SERAC_TEXT_96 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define SERAC_TEXT_112 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SERAC_OPERANDS(i)                                                                                      \
  "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3]), "+r"(sums[i + 4]), "+r"(sums[i + 5]), \
  "+r"(sums[i + 6]), "+r"(sums[i + 7]), "+r"(sums[i + 8]), "+r"(sums[i + 9]), "+r"(sums[i + 10]),               \
  "+r"(sums[i + 11]), "+r"(sums[i + 12]), "+r"(sums[i + 13]), "+r"(sums[i + 14]), "+r"(sums[i + 15])
#define SERAC_OPERANDS_HALF(i)                                                                                 \
  "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3]), "+r"(sums[i + 4]), "+r"(sums[i + 5]), \
  "+r"(sums[i + 6]), "+r"(sums[i + 7])
#define SERAC_TEXT_TO_63 SERAC_TEXT_0 ", " SERAC_TEXT_16 ", " SERAC_TEXT_32 ", " SERAC_TEXT_48
#define SERAC_OPERANDS_TO_63 SERAC_OPERANDS(0), SERAC_OPERANDS(16), SERAC_OPERANDS(32), SERAC_OPERANDS(48)
// One instruction: `first`, `second` and `third` are the numbers of the operands behind the accumulators.
#define SERAC_WGMMA(n, text, first, second, third, ...)                                                       \
  if constexpr (is_signed) {                                                                                   \
    SERAC_WGMMA_OF(n, "s8", text, first, second, third, __VA_ARGS__);                                           \
  } else {                                                                                                     \
    SERAC_WGMMA_OF(n, "u8", text, first, second, third, __VA_ARGS__);                                           \
  }
#define SERAC_WGMMA_OF(n, type, text, first, second, third, ...)                                              \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" third ", 0;\n"                                             \
               "wgmma.mma_async.sync.aligned.m64n" n "k32.s32." type "." type " {" text "}, %" first ", %" second   \
               ", p;\n}\n"                                                                                     \
               : __VA_ARGS__                                                                                   \
               : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)))
// clang-format on

/// Issues `sums` (+)= A x B^T over 32 bytes: A is 64 rows, B is N rows of T (uint8 or int8), given by descriptors; what
/// was in `sums` counts only if `accumulate`. All 128 threads of a warpgroup call it, between wgmma_fence and
/// wgmma_commit. Thread t of the warpgroup gets, of rows 16 * (t / 32) + t % 32 / 4 (first) and 8 further (second),
/// columns 8 * j + 2 * (t % 4) and the next, in sums[4 * j], [4 * j + 1] (first row), [4 * j + 2], [4 * j + 3]
/// (second).
template <class T, int N>
SERAC_DEVICE void wgmma(std::int32_t (&sums)[N / 2], std::uint64_t a, std::uint64_t b, bool accumulate) {
#ifdef SERAC_HAS_WGMMA
  constexpr bool is_signed = score_traits<T>::may_be_negative;
  if constexpr (N == 64) {
    SERAC_WGMMA("64", SERAC_TEXT_0 ", " SERAC_TEXT_16, "32", "33", "34", SERAC_OPERANDS(0), SERAC_OPERANDS(16));
  } else if constexpr (N == 128) {
    SERAC_WGMMA("128", SERAC_TEXT_TO_63, "64", "65", "66", SERAC_OPERANDS_TO_63);
  } else if constexpr (N == 160) {
    SERAC_WGMMA("160", SERAC_TEXT_TO_63 ", " SERAC_TEXT_64, "80", "81", "82", SERAC_OPERANDS_TO_63, SERAC_OPERANDS(64));
  } else if constexpr (N == 176) {
    SERAC_WGMMA("176", SERAC_TEXT_TO_63 ", " SERAC_TEXT_64 ", " SERAC_TEXT_80_HALF, "88", "89", "90",
                SERAC_OPERANDS_TO_63, SERAC_OPERANDS(64), SERAC_OPERANDS_HALF(80));
  } else if constexpr (N == 192) {
    SERAC_WGMMA("192", SERAC_TEXT_TO_63 ", " SERAC_TEXT_64 ", " SERAC_TEXT_80, "96", "97", "98", SERAC_OPERANDS_TO_63,
                SERAC_OPERANDS(64), SERAC_OPERANDS(80));
  } else {
    static_assert(N == 256, "N is 64, 128, 160, 176, 192 or 256");
    SERAC_WGMMA("256", SERAC_TEXT_TO_63 ", " SERAC_TEXT_64 ", " SERAC_TEXT_80 ", " SERAC_TEXT_96 ", " SERAC_TEXT_112,
                "128", "129", "130", SERAC_OPERANDS_TO_63, SERAC_OPERANDS(64), SERAC_OPERANDS(80), SERAC_OPERANDS(96),
                SERAC_OPERANDS(112));
  }
#endif
}

#undef SERAC_TEXT_0
#undef SERAC_TEXT_16
#undef SERAC_TEXT_32
#undef SERAC_TEXT_48
#undef SERAC_TEXT_64
#undef SERAC_TEXT_80
#undef SERAC_TEXT_80_HALF
#undef SERAC_TEXT_96
#undef SERAC_TEXT_112
#undef SERAC_TEXT_TO_63
#undef SERAC_OPERANDS
#undef SERAC_OPERANDS_HALF
#undef SERAC_OPERANDS_TO_63
#undef SERAC_WGMMA
#undef SERAC_WGMMA_OF

}  // namespace serac::detail
