// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Policies choose the shape of a matcher; `policy_traits` derives every other number from them and states the rules.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/integer.hpp>
#include <serac/score.hpp>
#include <serac/top2.hpp>

namespace serac {

struct dot_default;
struct dot_hamming;
struct dot_fma;

/// Ways to the same lists. Which are there depends on the GPU and on what the program was compiled for.
enum class match_path {
  classic,  ///< fused top-2 of all scores: any GPU, width, tie order and acceptance
  mma,      ///< chunk maxima by mma.sync, then rescoring: sm_80 and later, of bits up to sm_90
  wgmma     ///< chunk maxima by wgmma, then rescoring: sm_90a
};

/// The classic path for descriptors of `Width` bytes. Derive from it and override members by name:
///
///     struct tall : serac::default_policy { static constexpr int tile_rows = 128; using dot = serac::dot_dp4a; };
template <int Width>
struct policy_for {
  static constexpr match_path path = match_path::classic;
  using element = std::uint8_t;             ///< what descriptors are made of: see score.hpp
  static constexpr int width = Width;       ///< bytes in a descriptor: a multiple of 4 of at most 512 elements
  static constexpr int tile_rows = 64;      ///< rows that a block scores at a time
  static constexpr int tile_columns = 128;  ///< columns that a block scores at a time: a multiple of 32
  static constexpr int thread_rows = 8;     ///< rows that a thread keeps in registers; divides tile_rows
  static constexpr int slice = 128;         ///< most bytes of each descriptor that a stage holds
  static constexpr int stages = 2;          ///< 2: the next slice is loaded while this one is scored; 1: it is not
  static constexpr int min_blocks = 2;      ///< blocks that an SM must be able to hold (caps registers)
  using dot = dot_default;                  ///< a thread-level dot path, see thread/dot.cuh
  using tie = tie_break::smallest_index;    ///< the tie order
};

/// Binary descriptors of `Width` bytes by their Hamming distance: 32 for ORB and BRIEF, 64 for BRISK, FREAK, and AKAZE
/// with three bytes of zeros behind its 61. The classic path; derive from it as from policy_for.
template <int Width>
struct hamming_policy_for : policy_for<Width> {
  using element = bits8;
  using dot = dot_hamming;
};

/// Floats of `Width` bytes by dot product or squared distance: Element is float, float16, bfloat16 or l2 of them, and
/// 256 floats are 1,024 bytes. The classic path; derive from it as from policy_for. The tiles of up to 512 bytes take
/// 65 KiB of shared memory, those of 1,024 bytes 97 KiB: for a GPU that has less, make tile_rows less.
template <int Width, class Element = float>
struct float_policy_for : policy_for<Width> {
  using element = Element;
  static constexpr int thread_rows = 16;
  static constexpr int slice = 64;
  using dot = dot_fma;
};

namespace detail {

/// The classic policy of descriptors of `Width` bytes.
template <int Width, class Element, bool IsFloat = score_traits<Element>::is_float>
struct classic_policy : policy_for<Width> {
  using element = Element;
};
template <int Width>
struct classic_policy<Width, bits8, false> : hamming_policy_for<Width> {};
template <int Width, class Element>
struct classic_policy<Width, Element, true> : float_policy_for<Width, Element> {};

}  // namespace detail

/// Descriptors of `Width` bytes, of whatever element, by the fastest path that gives the exact result on the device at
/// hand (of float16 and bfloat16, whose sums depend on the path: see docs/exactness.md). This very type chooses; a
/// policy derived from it is the classic path that it describes.
template <int Width, class Element = std::uint8_t>
struct automatic_policy : detail::classic_policy<Width, Element> {};

/// SIFT, 128 unsigned bytes, by the fastest path.
struct default_policy : automatic_policy<128> {};

/// Whether the tensor-core paths have kernels for descriptors of `width` bytes.
SERAC_HOST_DEVICE constexpr bool is_tensor_width(int width) {
  return width == 32 || width == 64 || width == 128 || width == 256;
}

/// Whether there is a kernel by mma.sync for descriptors of `width` bytes of Elements: of bytes, bits, and dot products
/// of float16 and bfloat16.
template <class Element>
SERAC_HOST_DEVICE constexpr bool has_mma(int width) {
  using score = score_traits<Element>;
  return sizeof(Element) <= 2 &&
         (score::is_dot_product || is_binary<Element>)&&(is_tensor_width(width) || (score::is_float && width == 512));
}

/// Likewise by wgmma: of bytes.
template <class Element>
SERAC_HOST_DEVICE constexpr bool has_wgmma(int width) {
  return score_traits<Element>::has_angle && is_tensor_width(width);
}

/// Whether a policy leaves the path to the library.
template <class Policy>
inline constexpr bool is_automatic = false;
template <>
inline constexpr bool is_automatic<default_policy> = true;
template <int Width, class Element>
inline constexpr bool is_automatic<automatic_policy<Width, Element>> = true;

/// Elements of a descriptor of a policy, or of traits, whose width counts bytes.
template <class Policy>
inline constexpr int elements_of = Policy::width / static_cast<int>(sizeof(typename Policy::element));

/// Everything that follows from a policy of the classic path. Kernels take their numbers from here and never recompute
/// one.
template <class Policy>
struct policy_traits {
  using element = typename Policy::element;
  using score = score_traits<element>;
  using dot = typename Policy::dot;
  using row_tie = typename Policy::tie;                   // between the columns of a row
  using column_tie = typename Policy::tie::column_order;  // between the rows of a column

  static constexpr int width = Policy::width;
  static constexpr int tile_rows = Policy::tile_rows;
  static constexpr int tile_columns = Policy::tile_columns;
  static constexpr int stages = Policy::stages;

  // Threads: a warp scores thread_rows rows against all columns of the tile; lane l holds columns l, l + 32, ...
  static constexpr int thread_rows = Policy::thread_rows;
  static constexpr int thread_columns = tile_columns / 32;
  static constexpr int warps = tile_rows / thread_rows;
  static constexpr int threads = warps * 32;

  // Loads: the widest that the width is a multiple of; pointers and strides must be multiples of it too.
  static constexpr int load_bytes = width % 16 == 0 ? 16 : width % 8 == 0 ? 8 : 4;

  // Slices: a descriptor is scored in `slices` equal parts of at most Policy::slice bytes, the last padded with zeros.
  static constexpr int slices = detail::ceil_div(width, Policy::slice);
  static constexpr int slice_bytes = detail::round_up(detail::ceil_div(width, slices), load_bytes);
  static constexpr int padded_width = slices * slice_bytes;

  // Scoring: bytes of a descriptor that a thread reads at a time, and how many such steps the code spells out. A dot
  // path of many instructions hides narrow loads, and would spill what wide or unrolled ones bring.
  static constexpr bool scores_vectors = dot::k == 16 && load_bytes == 16;
  static constexpr int score_bytes = scores_vectors || dot::instructions == 1 ? load_bytes : 4;
  static constexpr int score_unroll = dot::instructions == 1 && slice_bytes / score_bytes % 2 == 0 ? 2 : 1;

  // A score is packed above the code of its place, so that one 32-bit maximum carries both. Scores of floats leave no
  // room: their codes stand apart, and there are enough for any column of a lane.
  static constexpr bool packs_codes = !score::is_float;
  static constexpr int score_bits = packs_codes ? detail::log2_ceil(static_cast<int>(score::most(width)) + 1) : 0;
  static constexpr int column_code_bits = detail::log2_ceil(tile_rows);       // which row of the tile
  static constexpr int row_code_bits = packs_codes ? 32 - score_bits : 26;    // which of a lane's columns in the window
  static constexpr int window_tiles = (1 << row_code_bits) / thread_columns;  // tiles whose columns have codes

  // Shared memory, in bytes: rows [tile_rows][row_stride], columns [stages][tile_columns][column_stride],
  // column partials [2][warps][tile_columns] of {best, second}, and the code of the best where it is not packed.
  static constexpr int row_stride = detail::odd_stride(padded_width, load_bytes);
  static constexpr int column_stride = detail::odd_stride(slice_bytes, load_bytes);
  static constexpr int rows_bytes = detail::round_up(tile_rows * row_stride, 16);
  static constexpr int stage_bytes = detail::round_up(tile_columns * column_stride, 16);
  static constexpr int tiles_bytes = rows_bytes + stages * stage_bytes;
  static constexpr int partials_bytes = 2 * warps * tile_columns * (packs_codes ? 8 : 12);
  static constexpr int shared_bytes = tiles_bytes + partials_bytes;

  static_assert(width % 4 == 0 && width >= 4 && width <= 512 * static_cast<int>(sizeof(element)),
                "the width is a multiple of 4 bytes from 4 to 512, or to 512 elements of 2 or 4 bytes");
  static_assert(tile_columns % 32 == 0 && tile_columns >= 32, "tile_columns is a multiple of 32: a lane owns columns");
  static_assert(tile_rows % thread_rows == 0, "thread_rows divides tile_rows");
  static_assert(threads <= 1024, "tile_rows / thread_rows is at most 32 warps");
  static_assert(thread_rows * thread_columns <= 128, "thread_rows * tile_columns / 32 scores must fit the registers");
  static_assert(stages == 1 || stages == 2, "stages is 1 or 2");
  static_assert(Policy::slice % 16 == 0 && Policy::slice >= 16, "slice is a multiple of 16 bytes");
  static_assert(score_bits + column_code_bits <= 32, "a score and its row in the tile must fit 32 bits");
  static_assert(window_tiles >= 1, "a score and its column in the tile must fit 32 bits");
  static_assert(shared_bytes <= 227 * 1024, "the tiles must fit 227 KiB of shared memory");
};

}  // namespace serac
