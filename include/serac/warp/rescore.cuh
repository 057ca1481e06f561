// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A warp scores 32 gathered descriptors against others, in shared memory or gathered too, by mma.sync, and keeps their
/// top-2.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/integer.hpp>
#include <serac/detail/mma.cuh>
#include <serac/score.hpp>
#include <serac/thread/placed_top2.cuh>
#include <serac/top2.hpp>

namespace serac::warp {

/// A tile of the descriptors that queries are scored against, in shared memory, swizzled so that no load of a fragment
/// and no copy of 16 bytes meets a bank conflict (mma_traits::shared_offset says why).
template <int Width>
struct member_tile {
  static constexpr int members = 64 * 128 / Width;
  static constexpr int bytes = members * Width;

  SERAC_DEVICE static constexpr int offset(int member, int byte) {
    return member * Width + (Width < 128 ? byte : byte ^ member % 2 * 64);
  }
};

/// 32 queries of a warp, two tiles of 16, and their top-2 so far. Lanes 4 r to 4 r + 3 share slots r, r + 8, r + 16 and
/// r + 24.
template <class Element, int Width>
class query_batch {
 public:
  static constexpr int queries = 32;

  /// Begins with `count` new queries, at least one and at most 32: `query(slot)` is the descriptor (Width bytes,
  /// aligned to 16) of slot 0..count - 1. All lanes of the warp.
  template <class Query>
  SERAC_DEVICE void load(int count, Query query) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int slot = lane / 4 + 8 * i;
      const bool exists = slot < count;
      const auto* const bytes = static_cast<const std::uint8_t*>(static_cast<const void*>(query(exists ? slot : 0)));
#pragma unroll
      for (int p = 0; p < pieces; ++p) {
        const auto piece = serac::detail::load_vector<piece_bytes>(bytes + (4 * p + lane % 4) * piece_bytes);
#pragma unroll
        for (int w = 0; w < piece_bytes / 4; ++w) {
          queries_[i / 2][p * piece_steps + w / 2][i % 2 + w % 2 * 2] =
              serac::detail::mma_row_word<Element>(exists ? piece.word[w] : 0);
        }
      }
      states_[i] = top2{};
    }
  }

  /// Scores the first `member_count` members of a tile, behind which the tile is zero up to a multiple of 16.
  /// `index(m)` is the number of member m, which rises with m, also from one call to the next. Scores are floored at 0,
  /// ties go to the smallest index. All lanes of the warp; cost: for every 8 members 2 Width / 32 products and 28 to 36
  /// instructions.
  template <class Index>
  SERAC_DEVICE void score(const std::uint8_t* tile, int member_count, Index index) {
    static_assert(member_tile<Width>::members <= most_members);
    member_pieces members(tile);
    score_fragments(
        member_count,
        [&](int) {
          const fragments now = members.load();
          members.advance(at_once);
          return now;
        },
        index);
  }

  /// Scores `member_count` members: `member(m)` is the descriptor of member m (Width bytes, aligned to 16), each of
  /// which is read once. Otherwise as `score`.
  template <class Member, class Index>
  SERAC_DEVICE void score_gathered(int member_count, Member member, Index index) {
    for (int first = 0; first < member_count; first += most_members) {
      const int count = (min)(most_members, member_count - first);
      const auto load = [&](int from) {
        fragments of;
#pragma unroll
        for (int s = 0; s < slices; ++s) {
          const int m = from + 8 * s + static_cast<int>(threadIdx.x) % 32 / 4;
          const auto* const bytes =
              static_cast<const std::uint8_t*>(static_cast<const void*>(member(first + (min)(m, count - 1))));
#pragma unroll
          for (int p = 0; p < pieces; ++p) {
            of.piece[s][p] = serac::detail::load_vector<piece_bytes>(
                bytes + (4 * p + static_cast<int>(threadIdx.x) % 4) * piece_bytes);
            if (m >= count) of.piece[s][p] = {};
          }
        }
        return of;
      };
      score_fragments(count, load, [&](int m) { return index(first + m); });
    }
  }

  /// The slot whose query's state a lane has in the end.
  SERAC_DEVICE static int own_slot() { return static_cast<int>(threadIdx.x) % 32 / 4 + 8 * (threadIdx.x % 4); }

  /// The top-2 of the query of own_slot over all members scored. All lanes of the warp.
  SERAC_DEVICE top2 finish() const {
    // Four lanes share the members of the same four queries: each goes on with two of them, then with one.
    const top2 two[2] = {share(states_[0], states_[1], 1), share(states_[2], states_[3], 1)};
    return share(two[0], two[1], 2);
  }

 private:
  static constexpr bool is_float = score_traits<Element>::is_float;
  static constexpr std::int32_t least = score_traits<Element>::least(Width);  // of a sum of 0

  // Lane 4 r + q holds, of every descriptor it takes part in, the pieces 4 p + q of 16 bytes (8 where the width is 32).
  // Step k of the product takes two neighbouring words of them: a permutation of K, the same for queries and members.
  static constexpr int piece_bytes = Width < 64 ? 8 : 16;
  static constexpr int pieces = Width / (4 * piece_bytes);
  static constexpr int piece_steps = piece_bytes / 8;
  static constexpr int steps = Width / 32;

  // A score and a code for one of a lane's members, of which it sees two of each 8, share 32 bits; scores of floats
  // leave no room, and are kept beside the code.
  static constexpr int code_bits =
      is_float ? 16 : 32 - serac::detail::log2_ceil(static_cast<int>(score_traits<Element>::most(Width)) + 1);
  static constexpr int most_members = 4 << code_bits;

  // Members are scored at_once at a time, in slices of 8: two, or one where more would not fit the registers.
  static constexpr int slices = Width <= 256 ? 2 : 1;
  static constexpr int at_once = 8 * slices;

  /// What a lane holds of at_once members: of member lane / 4 of each slice, pieces as of the queries.
  struct fragments {
    serac::detail::word_vector<piece_bytes> piece[slices][pieces];
  };

  /// A lane's scores of at_once members.
  struct products {
    std::int32_t sums[slices][2][4];

    /// Sets all but those with the first `members` members to `value`.
    SERAC_DEVICE void keep(int members, std::int32_t value) {
#pragma unroll
      for (int i = 0; i < 8 * slices; ++i) {
        const int member = i / 8 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + i % 2;
        std::int32_t& sum = sums[i / 8][i / 4 % 2][i % 4];
        sum = member < members ? sum : value;
      }
    }

    /// That of query lane / 4 + 8 * i with member 8 * slice + lane % 4 * 2 + second.
    SERAC_DEVICE std::int32_t of(int i, int slice, int second) const { return sums[slice][i / 2][i % 2 * 2 + second]; }
  };

  /// Where the lane's pieces of member lane / 4 of a tile lie: the even ones, the odd ones.
  struct member_pieces {
    const std::uint8_t* at[2];

    SERAC_DEVICE explicit member_pieces(const std::uint8_t* tile) {
      const int lane = threadIdx.x % 32;
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        at[p] = tile + member_tile<Width>::offset(lane / 4, (4 * (p % pieces) + lane % 4) * piece_bytes);
      }
    }
    SERAC_DEVICE fragments load() const {
      fragments of;
#pragma unroll
      for (int s = 0; s < slices; ++s) {
#pragma unroll
        for (int p = 0; p < pieces; ++p) {
          of.piece[s][p] = serac::detail::load_vector<piece_bytes>(at[p % 2] + s * 8 * Width + p / 2 * 8 * piece_bytes);
        }
      }
      return of;
    }
    SERAC_DEVICE void advance(int members) {
      at[0] += members * Width;
      at[1] += members * Width;
    }
  };

  /// Takes in the scores of `member_count` members, at most most_members: `load(first)` gives the fragments of at_once
  /// of them, called for first = 0, at_once, ...
  template <class Load, class Index>
  SERAC_DEVICE void score_fragments(int member_count, Load load, Index index) {
    constexpr std::uint32_t first_code = (1u << code_bits) - 1;
    thread::placed_top2<!is_float, code_bits> placed[4];
    std::uint32_t code = first_code;
    for (int first = 0; first < member_count; first += at_once, code -= 2 * slices) {
      products sums = multiply(load(first));
      if constexpr (least > 0) {  // what stands behind the members scores nothing, as it does by itself elsewhere
        if (first + at_once > member_count) sums.keep(member_count - first, -least);
      }
#pragma unroll
      for (int s = 0; s < slices; ++s) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          placed[i].template push_scores<2>(code - 2 * s, [&](int c) { return score_of(sums.of(i, s, c)); });
        }
      }
    }
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int place = static_cast<int>(first_code - placed[i].code());
      const int m = place / 2 * 8 + lane % 4 * 2 + place % 2;
      const auto best = static_cast<std::int32_t>(placed[i].best_score());
      states_[i] = merge(states_[i], top2{best, best > 0 ? static_cast<std::int32_t>(index(m)) : -1,
                                          static_cast<std::int32_t>(placed[i].second_score())});
    }
  }

  /// Of two queries that this lane and the one `distance` away have scored: the lane with that bit has the second's
  /// state, the other the first's.
  SERAC_DEVICE static top2 share(const top2& first, const top2& second, int distance) {
    const bool takes_second = (threadIdx.x & distance) != 0;
    const top2 own = takes_second ? second : first, other = takes_second ? first : second;
    return merge(
        own, {__shfl_xor_sync(0xffffffffu, other.best, distance), __shfl_xor_sync(0xffffffffu, other.index, distance),
              __shfl_xor_sync(0xffffffffu, other.second, distance)});
  }

  /// The score of a sum.
  SERAC_DEVICE static std::uint32_t score_of(std::int32_t sum) {
    constexpr bool below_zero = is_float || score_traits<Element>::may_be_negative;
    return static_cast<std::uint32_t>(below_zero ? (max)(sum, 0) : sum + least);
  }

  /// The products with at_once members: four independent chains, or two.
  SERAC_DEVICE products multiply(const fragments& members) const {
    products result = {};
#pragma unroll
    for (int k = 0; k < steps; ++k) {
#pragma unroll
      for (int s = 0; s < slices; ++s) {
        const auto& word = members.piece[s][k / piece_steps].word;
        const int w = k % piece_steps * 2;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const auto& a = queries_[half][k];
          serac::detail::mma_16x8x32<Element>(result.sums[s][half], a[0], a[1], a[2], a[3], word[w], word[w + 1]);
        }
      }
    }
    return result;
  }

  std::uint32_t queries_[2][steps][4];  // of two tiles of 16: rows r and r + 8, then their next words
  top2 states_[4];
};

}  // namespace serac::warp
