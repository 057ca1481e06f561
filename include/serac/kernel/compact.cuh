// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// From top-2 states to the ordered lists of matches: mark, write.
#pragma once

#include <serac/block/sums.cuh>
#include <serac/chunk_maxima.hpp>
#include <serac/detail/config.hpp>
#include <serac/detail/copy_async.cuh>
#include <serac/detail/previous_kernel.cuh>
#include <serac/output.hpp>
#include <serac/thread/top2_cell.cuh>

namespace serac::kernel {

/// Writes each state of `cells` to `states`. One thread a state, any grid.
template <class Tie>
__global__ void unpack_states(const thread::top2_cell* cells, std::int64_t count, top2* states) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) states[i] = thread::load<Tie>(cells[i]);
}

/// Every state becomes the identity. One thread a state, any grid.
template <class State = top2>
__global__ void clear_states(State* states, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) states[i] = State{};
}

/// Judges every row: `columns[row]` becomes the column it matches, or row_verdicts::no_match. `column_cells` is null
/// when there is no cross-check. One thread a row, any grid.
template <class RowTie, class ColumnTie, class Acceptance>
__global__ void mark_matches(const thread::top2_cell* row_cells, std::int64_t row_count,
                             const thread::top2_cell* column_cells, Acceptance accept, std::uint32_t* columns) {
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= row_count) return;
  std::uint32_t match = row_verdicts::no_match;
  const top2 state = thread::load<RowTie>(row_cells[row]);
  if (state.index >= 0 && accept(state.best, state.second)) match = static_cast<std::uint32_t>(state.index);
  if (match != row_verdicts::no_match && column_cells != nullptr) {
    const top2 column = thread::load<ColumnTie>(column_cells[match]);
    if (column.index != row || !accept(column.best, column.second)) match = row_verdicts::no_match;
  }
  columns[row] = match;
}

inline constexpr int list_threads = 256;              ///< of a block that writes lists
inline constexpr int list_window = 4 * list_threads;  ///< rows whose matches a block writes

/// Rows of the one pair that the classic path judges.
struct one_pair_rows {
  std::int64_t row_count;

  SERAC_DEVICE std::int64_t first(int) const { return 0; }
  SERAC_DEVICE std::int64_t count(int) const { return row_count; }
  SERAC_DEVICE std::uint32_t matches(int) const { return 0; }  // asked only of pairs before another
};

/// Rows of the pairs that pass 2 judged.
struct many_pairs_rows {
  const chunk_pair* pairs;
  row_verdicts verdicts;

  SERAC_DEVICE std::int64_t first(int pair) const { return pairs[pair].first_row; }
  SERAC_DEVICE std::int64_t count(int pair) const { return pairs[pair].left_count; }
  SERAC_DEVICE std::uint32_t matches(int pair) const {
    return verdicts.matched_count[pair] - verdicts.taken_back[pair];
  }
};

/// The list of one pair, and its length.
struct one_list {
  match_pair* pairs;
  std::uint32_t* length;

  SERAC_DEVICE std::int64_t first() const { return 0; }
  SERAC_DEVICE void end(int, std::int64_t end) const { *length = static_cast<std::uint32_t>(end); }
};

/// The lists of consecutive pairs of a batch. offsets[0], where the first of them begins, is known already unless
/// `is_first`: 0 then.
struct batch_lists {
  match_pair* pairs;
  std::int64_t* offsets;
  bool is_first;

  SERAC_DEVICE std::int64_t first() const { return is_first ? 0 : offsets[0]; }
  SERAC_DEVICE void end(int pair, std::int64_t end) const {
    if (is_first && pair == 0) offsets[0] = 0;
    offsets[pair + 1] = end;
  }
};

/// Shared memory of `write_window`.
template <int Threads>
struct list_storage {
  block::sums<std::int64_t, Threads> of_pairs, of_rows;
  block::sums<std::uint32_t, Threads> of_window;
};

/// Writes the matches of a window, 4 * Threads rows of a pair, behind those of earlier pairs and rows, which it counts;
/// at most `most` of a pair. The pair's last window says where its list ends. All Threads threads of the block.
template <int Threads, class Rows, class Lists>
SERAC_DEVICE void write_window(list_storage<Threads>& shared, const std::uint32_t* columns, const Rows& rows, int pair,
                               int window, std::uint32_t most, const Lists& lists) {
  constexpr int window_rows = 4 * Threads;
  const std::int64_t row_count = rows.count(pair), first_row = std::int64_t{window} * window_rows;
  columns += rows.first(pair);  // aligned to 16 bytes

  const auto matches_of_four = [&](std::int64_t row) {  // as bits
    const auto four = detail::load_vector<16>(columns + row);
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) bits |= (four.word[i] != row_verdicts::no_match ? 1u : 0u) << i;
    return bits;
  };

  std::int64_t of_pairs = 0, of_rows = 0;  // matches of earlier pairs, and of this pair's earlier rows
  for (int p = static_cast<int>(threadIdx.x); p < pair; p += Threads) of_pairs += (min)(rows.matches(p), most);
#pragma unroll 2
  for (int before = 0; before < window; ++before) {
    of_rows += __popc(matches_of_four(before * std::int64_t{window_rows} + 4 * threadIdx.x));
  }
  const std::int64_t list = lists.first() + shared.of_pairs.total(of_pairs);
  const std::int64_t rows_before = shared.of_rows.total(of_rows);

  const std::int64_t row = first_row + 4 * threadIdx.x;
  unsigned bits = 0;
  if (row + 4 <= row_count) {
    bits = matches_of_four(row);
  } else {
#pragma unroll 1
    for (int i = 0; row + i < row_count; ++i) bits |= (columns[row + i] != row_verdicts::no_match ? 1u : 0u) << i;
  }
  std::uint32_t total;
  std::int64_t place = rows_before + shared.of_window.exclusive(static_cast<std::uint32_t>(__popc(bits)), total);
  for (; bits != 0 && place < most; bits &= bits - 1, ++place) {
    const std::int64_t matched = row + __ffs(static_cast<int>(bits)) - 1;
    lists.pairs[list + place] = {static_cast<std::uint32_t>(matched), columns[matched]};
  }
  if (threadIdx.x == 0 && first_row + window_rows >= row_count) {
    lists.end(pair, list + (min)(rows_before + total, std::int64_t{most}));
  }
}

/// Writes the matches of `columns` in order of pairs and rows, at most `most` of each pair, and where each list ends;
/// see write_window. One launch: every block counts the matches in front of its own rows once more.
/// Launch: list_threads threads, grid (windows of list_window rows of the largest pair, at least 1; pairs).
template <class Rows, class Lists>
__global__ void __launch_bounds__(list_threads)
    write_lists(const std::uint32_t* columns, Rows rows, std::uint32_t most, Lists lists) {
  detail::wait_for_previous_kernel();
  const auto pair = static_cast<int>(blockIdx.y), window = static_cast<int>(blockIdx.x);
  if (std::int64_t{window} * list_window >= rows.count(pair) && window > 0) return;
  __shared__ list_storage<list_threads> shared;
  write_window(shared, columns, rows, pair, window, most, lists);
}

}  // namespace serac::kernel
