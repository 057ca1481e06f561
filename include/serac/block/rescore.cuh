// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A block scores gathered descriptors against the members of a chunk, which its warps share.
#pragma once

#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/integer.hpp>
#include <serac/top2.hpp>
#include <serac/warp/rescore.cuh>

namespace serac::block {

/// Starts the copy of members [first, end) of a chunk, at most Members, to a tile, zeros behind them up to a multiple
/// of 16. `member(m)` is the descriptor of member m, aligned to 16. All Threads threads of the block; the caller owes
/// copy_async_commit, copy_async_wait and a barrier.
template <int Width, int Members, int Threads, class Member>
SERAC_DEVICE void copy_members(std::uint8_t* tile, int first, int end, Member member) {
  constexpr int lanes = Width / 16;  // threads that share a member
  constexpr int at_once = Threads / lanes;
  static_assert(Members % at_once == 0 && at_once % 2 == 0);
  const int own = static_cast<int>(threadIdx.x) / lanes, byte = static_cast<int>(threadIdx.x) % lanes * 16;
  std::uint8_t* const destination = tile + warp::member_tile<Width>::offset(own, byte);
  const int count = end - first, padded = serac::detail::round_up(count, 16);
#pragma unroll
  for (int m = 0; m < Members; m += at_once) {
    if (own + m >= padded) break;
    if (own + m < count) {
      const auto* const source = static_cast<const std::uint8_t*>(static_cast<const void*>(member(first + own + m)));
      serac::detail::copy_async<16>(destination + m * Width, source + byte, true);
    } else {
      *reinterpret_cast<uint4*>(destination + m * Width) = uint4{};
    }
  }
}

/// Shared memory of `rescore`: tiles of members, one that is scored while the next are on their way.
template <int Width>
struct alignas(16) rescore_tiles {
  static constexpr int stages = 3;
  std::uint8_t tile[stages][warp::member_tile<Width>::bytes];
};

/// Top-2 of `query_count` queries over `member_count` members of a chunk.
///
/// All Threads threads of the block call it together, and owe a barrier before and after it. `query(i)` is the
/// descriptor of query i and `member(m)` that of member m, Width bytes aligned to 16;
/// `index(m)` is the number of member m, which rises with m. `judge(i, state)` gets each query's state: all lanes of a
/// warp call it together, with i = -1 where a lane has none. Scores are floored at 0, ties go to the smallest index.
/// Of the groups of Threads queries only those of number `part`, `part` + `parts`, ... are worked on.
/// Cost: members are read once where the tiles hold them all, else once for each group; see warp::query_batch.
template <class Element, int Width, int Threads, class Query, class Member, class Index, class Judge>
SERAC_DEVICE void rescore(rescore_tiles<Width>& tiles, int query_count, int part, int parts, Query query,
                          int member_count, Member member, Index index, Judge judge) {
  using tile = warp::member_tile<Width>;
  using batch = warp::query_batch<Element, Width>;
  static_assert(batch::queries == 32, "a warp has as many queries as lanes, a block as many as threads");
  const int tile_count = serac::detail::ceil_div(member_count, tile::members);
  const int group_count = serac::detail::ceil_div(query_count, Threads);
  const int steps = group_count > part ? serac::detail::ceil_div(group_count - part, parts) * tile_count : 0;
  constexpr int stages = rescore_tiles<Width>::stages;
  const bool holds_all = tile_count <= stages;
  const int copies = holds_all ? (min)(steps, tile_count) : steps;
  int copied = 0, copy_number = 0, copy_stage = 0;  // the next tile to copy, and where to
  const auto start_copy = [&] {
    if (copied < copies) {
      const int first = copy_number * tile::members;
      copy_members<Width, tile::members, Threads>(tiles.tile[copy_stage], first,
                                                  (min)(first + tile::members, member_count), member);
    }
    serac::detail::copy_async_commit();
    ++copied;
    copy_number = copy_number + 1 < tile_count ? copy_number + 1 : 0;
    copy_stage = copy_stage + 1 < stages ? copy_stage + 1 : 0;
  };

  batch warp_batch;
  int group = part, number = 0, stage = 0;  // of the step's queries and tile, and where it is
#pragma unroll
  for (int i = 0; i + 1 < stages; ++i) start_copy();
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int next = number + 1 < tile_count ? number + 1 : 0;
    const int first_query = group * Threads + static_cast<int>(threadIdx.x) / 32 * batch::queries;
    if (number == 0 && first_query < query_count) {
      warp_batch.load((min)(batch::queries, query_count - first_query),
                      [&](int slot) { return query(first_query + slot); });
    }
    serac::detail::copy_async_wait<stages - 2>();
    __syncthreads();  // this step's tile is there, and nobody reads the one before any more
    start_copy();     // in its place
    if (first_query < query_count) {
      const int first = number * tile::members;
      warp_batch.score(tiles.tile[holds_all ? number : stage], (min)(tile::members, member_count - first),
                       [&](int m) { return index(first + m); });
      if (next == 0) {
        const int at = first_query + batch::own_slot();
        judge(at < query_count ? at : -1, warp_batch.finish());
      }
    }
    number = next;
    stage = stage + 1 < stages ? stage + 1 : 0;
    if (number == 0) group += parts;
  }
  serac::detail::copy_async_wait<0>();
}

/// Shared memory of the `rescore` that splits members: states of each split.
template <int Threads, int Splits>
struct rescore_splits {
  static constexpr int batches = Threads / 32 / Splits;  // of 32 queries at a time
  top2 states[Splits][32 * batches];
  static_assert(Threads % (32 * Splits) == 0);
};

/// The same where latency counts more than work: Splits warps share the members of each 32 queries, and read them from
/// memory themselves. Of the groups of Threads / Splits queries those of number `part`, `part` + `parts`, ... are
/// worked on. Cost: members are read once for each 32 queries.
template <class Element, int Width, int Threads, int Splits, class Query, class Member, class Index, class Judge>
SERAC_DEVICE void rescore(rescore_splits<Threads, Splits>& shared, int query_count, int part, int parts, Query query,
                          int member_count, Member member, Index index, Judge judge) {
  using batch = warp::query_batch<Element, Width>;
  constexpr int batches = rescore_splits<Threads, Splits>::batches, group_queries = batch::queries * batches;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int split = warp / batches, first_slot = warp % batches * batch::queries;
  const int split_members = serac::detail::round_up(serac::detail::ceil_div(member_count, Splits), 16);
  const int first_member = split * split_members, members = (min)(split_members, member_count - first_member);
  for (int first = part * group_queries; first < query_count; first += parts * group_queries) {
    const int first_query = first + first_slot;
    if (first_query < query_count) {
      batch queries;
      queries.load((min)(batch::queries, query_count - first_query),
                   [&](int slot) { return query(first_query + slot); });
      queries.score_gathered(
          members, [&](int m) { return member(first_member + m); }, [&](int m) { return index(first_member + m); });
      shared.states[split][first_slot + batch::own_slot()] = queries.finish();
    }
    __syncthreads();
    if (thread < group_queries && first + thread / 32 * 32 < query_count) {
      top2 state = shared.states[0][thread];
#pragma unroll
      for (int s = 1; s < Splits; ++s) {
        const top2 other = shared.states[s][thread];
        state = merge(state, other);
      }
      judge(first + thread < query_count ? first + thread : -1, state);
    }
    __syncthreads();  // states are written again
  }
}

}  // namespace serac::block
