// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A warp scores up to 16 gathered descriptors against the members of a chunk, by mma.sync.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/integer.hpp>
#include <serac/detail/mma.cuh>
#include <serac/thread/packed_top2.cuh>
#include <serac/top2.hpp>

namespace serac::warp {

/// The words of one descriptor that a lane feeds to mma.sync: lane % 4 = q takes, of every 64 bytes, the 16 from 16 q
/// (of 32 bytes, the 8 from 8 q). Both operands permute K in this way, which leaves their products as they are.
template <int Width>
struct mma_words {
  static constexpr int count = Width / 16;
  static constexpr int load_bytes = Width < 64 ? 8 : 16;  ///< alignment that descriptors must have
  std::uint32_t word[count];
};

/// Loads the lane's words of the descriptor at `data`, or zeros if it is null.
template <int Width>
SERAC_DEVICE mma_words<Width> load_mma_words(const void* data) {
  using words = mma_words<Width>;
  words w = {};
  if (data != nullptr) {
    const auto* bytes = static_cast<const std::uint8_t*>(data) + threadIdx.x % 4 * words::load_bytes;
#pragma unroll
    for (int i = 0; i < words::count; i += words::load_bytes / 4) {
      const auto v = serac::detail::load_vector<words::load_bytes>(bytes + i * 16);
#pragma unroll
      for (int j = 0; j < words::load_bytes / 4; ++j) w.word[i + j] = v.word[j];
    }
  }
  return w;
}

inline constexpr int rescore_queries = 32;  ///< descriptors that a warp rescores at a time: two tiles of 16

/// Top-2 of up to 32 queries over `member_count` members of a chunk.
///
/// All lanes of the warp call it together. `query(slot)` is the descriptor (Width bytes, aligned to load_bytes) of slot
/// 0..31 or null; `member(m)` that of member m or null; `index(m)` its number, which rises with m. Lane 4 r gets the
/// states of slots r, r + 8, r + 16 and r + 24. Scores are floored at 0, ties go to the smallest index. Cost: 4 Width /
/// 32 mma, 16 keys a lane and one read of the descriptors for every 8 members.
template <class Element, int Width, class Query, class Member, class Index>
SERAC_DEVICE void rescore(Query query, Member member, Index index, int member_count, top2 (&states)[4]) {
  using words = mma_words<Width>;
  constexpr std::uint32_t max_score = Width * (static_cast<Element>(-1) < 0 ? 128u * 128u : 255u * 255u);
  constexpr int bits = 32 - serac::detail::log2_ceil(static_cast<int>(max_score) + 1);
  constexpr int slices_at_once = Width <= 64 ? 4 : Width <= 128 ? 2 : 1;  // slices of 8 members, loaded one step ahead
  constexpr int window = (1 << bits) / 2 / slices_at_once * slices_at_once;  // slices whose members have codes
  static_assert(window > 0);

  const int lane = threadIdx.x % 32;
  words a[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    a[i] = load_mma_words<Width>(query(lane / 4 + 8 * i));
    states[i] = top2{};
  }
  const auto load = [&](words(&b)[slices_at_once], int slice) {
#pragma unroll
    for (int i = 0; i < slices_at_once; ++i) {
      const int m = (slice + i) * 8 + lane / 4;
      b[i] = load_mma_words<Width>(m < member_count ? member(m) : nullptr);
    }
  };

  const int slices = (member_count + 7) / 8;
  words next[slices_at_once];
  load(next, 0);
  for (int first_slice = 0; first_slice < slices; first_slice += window) {
    const int end_slice = min(first_slice + window, slices);
    thread::packed_top2 packed[4];
    std::uint32_t code = (1u << bits) - 1;
    for (int slice = first_slice; slice < end_slice; slice += slices_at_once) {
      words now[slices_at_once];
#pragma unroll
      for (int i = 0; i < slices_at_once; ++i) now[i] = next[i];
      load(next, slice + slices_at_once);
#pragma unroll
      for (int i = 0; i < slices_at_once; ++i) {
#pragma unroll
        for (int tile = 0; tile < 2; ++tile) {
          std::int32_t sums[4] = {};
#pragma unroll
          for (int k = 0; k < words::count; k += 2) {
            serac::detail::mma_16x8x32<Element>(sums, a[2 * tile].word[k], a[2 * tile + 1].word[k],
                                                a[2 * tile].word[k + 1], a[2 * tile + 1].word[k + 1], now[i].word[k],
                                                now[i].word[k + 1]);
          }
          const auto key = [&](int s) {
            return (static_cast<std::uint32_t>(max(sums[s], 0)) << bits) + (code - s % 2);
          };
          packed[2 * tile].push(key(0), key(1));
          packed[2 * tile + 1].push(key(2), key(3));
        }
        code -= 2;
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int place = static_cast<int>((1u << bits) - 1 - (packed[i].best & ((1u << bits) - 1)));
      const int m = (first_slice + place / 2) * 8 + lane % 4 * 2 + place % 2;
      const auto best = static_cast<std::int32_t>(packed[i].best >> bits);
      states[i] = merge(states[i], top2{best, best > 0 ? static_cast<std::int32_t>(index(m)) : -1,
                                        static_cast<std::int32_t>(packed[i].second >> bits)});
    }
  }

  // The four lanes of a query share its members.
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2) {
      const top2 other{__shfl_xor_sync(0xffffffffu, states[i].best, distance),
                       __shfl_xor_sync(0xffffffffu, states[i].index, distance),
                       __shfl_xor_sync(0xffffffffu, states[i].second, distance)};
      states[i] = merge(states[i], other);
    }
  }
}

}  // namespace serac::warp
