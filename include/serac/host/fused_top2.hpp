// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The host's matcher: scores and top-2 of all rows (and columns) in one pass; no matrix of scores is kept.
///
/// Columns are taken a strip at a time, packed (bytes are widened to 16 bits) once for all threads. A thread takes a
/// block of rows, packs it too, and scores it tile by tile against the strip: the block stays in the level 1 cache and
/// the strip streams through. Row states go to the output; every thread has column states of its own, merged after the
/// strip.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <serac/host/bits_tile.hpp>
#include <serac/host/tile.hpp>
#include <serac/host/workers.hpp>
#include <serac/output.hpp>
#include <serac/score.hpp>
#include <serac/top2.hpp>
#include <serac/view.hpp>

namespace serac::host::detail {

inline constexpr int block_rows = 16 * tile_rows;    ///< rows that a task scores: each has its code in column keys
inline constexpr int chunk_columns = codes * lanes;  ///< columns between two flushes of row states
static_assert(block_rows <= codes);
static_assert(chunk_columns % tile_columns == 0);

/// Columns of a strip: whole chunks, at most 4 MiB when packed.
inline std::int64_t strip_columns(int slices) noexcept {
  constexpr std::int64_t bytes = 4 << 20, most = 8;
  return chunk_columns * (std::min)(most, bytes / (std::int64_t{chunk_columns} * slices * 4));
}

/// What one thread needs.
struct worker_scratch {
  std::vector<row_slice> rows;                 // [tile of the block][slice]
  std::vector<packed_top2<lanes>> row_states;  // [row of the block]: over one chunk
  std::vector<top2> column_states;             // [column of the strip]: over all rows that this thread has seen
};

/// Memory that a pass needs and the next one uses again: at most 4 MiB, and about 0.3 MiB a thread.
struct pass_scratch {
  std::vector<column_slice> columns;  // [tile of the strip][slice]
  std::vector<worker_scratch> workers;
};

/// How descriptors of bytes become slices of four bytes, and slices scores: pairs of elements, widened to 16 bits.
template <class T>
struct slicing {
  static constexpr int slices(int width) noexcept { return width / 2; }

  template <class Slice>
  static void pack(const T* descriptor, int width, int place, Slice* slices) noexcept {
    for (int s = 0; s < width / 2; ++s) {
      slices[s].element[place][0] = descriptor[2 * s];
      slices[s].element[place][1] = descriptor[2 * s + 1];
    }
  }

  template <bool WithColumns>
  static tile_function<WithColumns> best_function() noexcept {
    return best_tile_function<std::is_signed_v<T>, WithColumns>();
  }
};

/// Binary ones: their bits as they are, behind the score that they start with.
template <>
struct slicing<bits8> {
  static constexpr int slices(int width) noexcept { return 1 + width / 4; }

  template <class Slice>
  static void pack(const bits8* descriptor, int width, int place, Slice* slices) noexcept {
    std::memcpy(slices[0].element[place], &score_traits<bits8>::start, 4);
    for (int s = 0; s < width / 4; ++s) std::memcpy(slices[1 + s].element[place], descriptor + 4 * s, 4);
  }

  template <bool WithColumns>
  static tile_function<WithColumns> best_function() noexcept {
    return best_bits_tile_function<WithColumns>();
  }
};

/// Packs `Places` consecutive descriptors from `first`; zeros behind the last.
template <int Places, class Slice, class T>
void pack(const descriptor_view<T>& view, std::int64_t first, Slice* slices) noexcept {
  const auto places = static_cast<int>(std::min<std::int64_t>(Places, view.count - first));
  if (places < Places) std::fill_n(slices, slicing<T>::slices(view.width), Slice{});
  for (int place = 0; place < places; ++place) {
    slicing<T>::pack(view.data + (first + place) * view.stride, view.width, place, slices);
  }
}

/// Merges what the lanes of a row saw in the chunk from `first_column` into `state`.
template <class Tie>
void flush_row(const packed_top2<lanes>& seen, std::int64_t first_column, top2& state) noexcept {
  for (int lane = 0; lane < lanes; ++lane) {
    const std::int32_t best = seen.best[lane] >> code_bits;
    if (best == 0 || best < state.second) continue;  // no score of this lane can matter
    const int place = codes - 1 - (seen.best[lane] & (codes - 1));
    const auto column = static_cast<std::int32_t>(first_column + place * lanes + lane);
    state = merge<Tie>(state, {best, column, seen.second[lane] >> code_bits});
  }
}

/// Merges what the columns of a tile saw in the block from `first_row` into `states`.
template <class Tie>
void flush_columns(const packed_top2<tile_columns>& seen, std::int64_t first_row, top2* states) noexcept {
  for (int c = 0; c < tile_columns; ++c) {
    const std::int32_t best = seen.best[c] >> code_bits;
    if (best == 0 || best < states[c].second) continue;
    const auto row = static_cast<std::int32_t>(first_row + codes - 1 - (seen.best[c] & (codes - 1)));
    states[c] = merge<Tie>(states[c], {best, row, seen.second[c] >> code_bits});
  }
}

/// Scores the block of rows from `first_row` against the packed columns [strip_first, strip_last).
template <class Tie, bool WithColumns, class T>
void score_block(const descriptor_view<T>& left, std::int64_t first_row, const column_slice* columns,
                 std::int64_t strip_first, std::int64_t strip_last, worker_scratch& scratch,
                 top2* row_states) noexcept {
  const auto score = slicing<T>::template best_function<WithColumns>();
  const int slices = slicing<T>::slices(left.width);
  const int rows = static_cast<int>(std::min<std::int64_t>(block_rows, left.count - first_row));
  const int row_tiles = (rows + tile_rows - 1) / tile_rows;
  for (int t = 0; t < row_tiles; ++t) {
    pack<tile_rows>(left, first_row + t * tile_rows, scratch.rows.data() + t * slices);
  }

  for (std::int64_t chunk = strip_first; chunk < strip_last; chunk += chunk_columns) {
    std::fill(scratch.row_states.begin(), scratch.row_states.end(), packed_top2<lanes>{});
    const std::int64_t chunk_last = (std::min)(chunk + chunk_columns, strip_last);
    for (std::int64_t column = chunk; column < chunk_last; column += tile_columns) {
      const column_slice* const tile = columns + (column - strip_first) / tile_columns * slices;
      const int column_code = codes - 1 - static_cast<int>((column - chunk) / lanes);
      packed_top2<tile_columns> column_states{};
      for (int t = 0; t < row_tiles; ++t) {
        score(scratch.rows.data() + t * slices, tile, slices, column_code, codes - 1 - t * tile_rows,
              scratch.row_states.data() + t * tile_rows, static_cast<int>(column % lanes), &column_states);
      }
      if constexpr (WithColumns) {
        flush_columns<typename Tie::column_order>(column_states, first_row,
                                                  scratch.column_states.data() + (column - strip_first));
      }
    }
    for (int r = 0; r < rows; ++r) {
      flush_row<Tie>(scratch.row_states[static_cast<std::size_t>(r)], chunk, row_states[first_row + r]);
    }
  }
}

/// The states of all rows and, if WithColumns, of all columns. The arguments are valid.
/// Throws std::bad_alloc, and then has written nothing but initial states.
template <class Tie, bool WithColumns, class T>
void fused_top2(const descriptor_view<T>& left, const descriptor_view<T>& right, const nearest2_output& output,
                int threads, pass_scratch& scratch) {
  std::fill(output.rows, output.rows + left.count, top2{});
  if constexpr (WithColumns) std::fill(output.columns, output.columns + right.count, top2{});
  if (left.count == 0 || right.count == 0) return;

  // All memory, before any thread starts.
  const int slices = slicing<T>::slices(left.width);
  const std::int64_t blocks = (left.count + block_rows - 1) / block_rows;
  const std::int64_t strip = (std::min)(strip_columns(slices), (right.count + lanes - 1) / lanes * lanes);
  const int workers = worker_count(threads, blocks);
  scratch.columns.resize(static_cast<std::size_t>(strip / tile_columns * slices));
  scratch.workers.resize(static_cast<std::size_t>(workers));
  for (worker_scratch& worker : scratch.workers) {
    worker.rows.resize(static_cast<std::size_t>(block_rows / tile_rows * slices));
    worker.row_states.resize(block_rows);
    if constexpr (WithColumns) worker.column_states.resize(static_cast<std::size_t>(strip));
  }

  for (std::int64_t first = 0; first < right.count; first += strip) {
    const std::int64_t last = (std::min)(first + strip, right.count);
    run_tasks(workers, (last - first + tile_columns - 1) / tile_columns, [&](int, std::int64_t tile) {
      pack<tile_columns>(right, first + tile * tile_columns, scratch.columns.data() + tile * slices);
    });
    if constexpr (WithColumns) {
      for (worker_scratch& worker : scratch.workers) {
        std::fill(worker.column_states.begin(), worker.column_states.end(), top2{});
      }
    }
    run_tasks(workers, blocks, [&](int worker, std::int64_t block) {
      score_block<Tie, WithColumns>(left, block * block_rows, scratch.columns.data(), first, last,
                                    scratch.workers[static_cast<std::size_t>(worker)], output.rows);
    });
    if constexpr (WithColumns) {
      for (const worker_scratch& worker : scratch.workers) {
        for (std::int64_t c = first; c < last; ++c) {
          output.columns[c] = merge<typename Tie::column_order>(
              output.columns[c], worker.column_states[static_cast<std::size_t>(c - first)]);
        }
      }
    }
  }
}

/// As above, with columns if the output has room for them.
template <class Tie, class T>
void fill_states(const descriptor_view<T>& left, const descriptor_view<T>& right, const nearest2_output& output,
                 int threads, pass_scratch& scratch) {
  if (output.columns == nullptr) {
    fused_top2<Tie, false>(left, right, output, threads, scratch);
  } else {
    fused_top2<Tie, true>(left, right, output, threads, scratch);
  }
}

}  // namespace serac::host::detail
