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
#include <serac/host/float_tile.hpp>
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

/// How descriptors become slices of four bytes, and slices scores. Bytes: pairs of elements, widened to 16 bits.
template <class T, bool IsFloat = score_traits<T>::is_float>
struct slicing {
  static constexpr int slices(int width) noexcept { return width / 2; }

  template <class Slice>
  static void pack(const T* descriptor, int width, int place, Slice* slices) noexcept {
    for (int s = 0; s < width / 2; ++s) {
      slices[s].element[place][0] = descriptor[2 * s];
      slices[s].element[place][1] = descriptor[2 * s + 1];
    }
  }

  static scores_function best_scores() noexcept { return byte_scores; }

  template <bool WithColumns>
  static tile_function<WithColumns> best_function() noexcept {
    return best_tile_function<std::is_signed_v<T>, WithColumns>();
  }
};

/// Binary ones: their bits as they are, behind the score that they start with.
template <>
struct slicing<bits8, false> {
  static constexpr int slices(int width) noexcept { return 1 + width / 4; }

  template <class Slice>
  static void pack(const bits8* descriptor, int width, int place, Slice* slices) noexcept {
    std::memcpy(slices[0].element[place], &score_traits<bits8>::start, 4);
    for (int s = 0; s < width / 4; ++s) std::memcpy(slices[1 + s].element[place], descriptor + 4 * s, 4);
  }

  static scores_function best_scores() noexcept { return bits_scores; }

  template <bool WithColumns>
  static tile_function<WithColumns> best_function() noexcept {
    return best_bits_tile_function<WithColumns>();
  }
};

/// Floats: each element, widened.
template <class T>
struct slicing<T, true> {
  static constexpr int slices(int width) noexcept { return width; }

  template <class Slice>
  static void pack(const T* descriptor, int width, int place, Slice* slices) noexcept {
    for (int s = 0; s < width; ++s) {
      const float element = to_float(descriptor[s]);
      std::memcpy(slices[s].element[place], &element, 4);
    }
  }

  static scores_function best_scores() noexcept {
    return best_float_scores<std::conditional_t<score_traits<T>::zeros_match, l2<float>, float>>();
  }
};

/// Columns of a strip of `right`.
template <class T>
std::int64_t strip_of(const descriptor_view<T>& right) noexcept {
  return (std::min)(strip_columns(slicing<T>::slices(right.width)), (right.count + lanes - 1) / lanes * lanes);
}

inline std::int64_t blocks_of(std::int64_t rows) noexcept { return (rows + block_rows - 1) / block_rows; }

/// Packs `Places` consecutive descriptors from `first`; zeros behind the last.
template <int Places, class Slice, class T>
void pack(const descriptor_view<T>& view, std::int64_t first, Slice* slices) noexcept {
  const auto places = static_cast<int>((std::min<std::int64_t>)(Places, view.count - first));
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

/// The columns [first, last), packed: [tile][slice].
struct packed_strip {
  const column_slice* columns;
  std::int64_t first, last;
};

/// Calls `visit(worker, first_row, rows, strip)` for every block of rows and strip of columns, each from one of
/// `workers` threads: there are `rows` rows, packed in scratch.workers[worker].rows; and `end(strip)` when all blocks
/// have been visited with a strip. The views hold something. Throws std::bad_alloc before anything is visited.
template <class T, class Visit, class End>
void for_each_block(const descriptor_view<T>& left, const descriptor_view<T>& right, int workers, pass_scratch& scratch,
                    Visit visit, End end) {
  const int slices = slicing<T>::slices(left.width);
  const std::int64_t columns = strip_of<T>(right);
  scratch.columns.resize(static_cast<std::size_t>(columns / tile_columns * slices));
  scratch.workers.resize(static_cast<std::size_t>(workers));
  for (worker_scratch& worker : scratch.workers) {
    worker.rows.resize(static_cast<std::size_t>(block_rows / tile_rows * slices));
  }

  for (std::int64_t first = 0; first < right.count; first += columns) {
    const packed_strip strip{scratch.columns.data(), first, (std::min)(first + columns, right.count)};
    run_tasks(workers, (strip.last - first + tile_columns - 1) / tile_columns, [&](int, std::int64_t tile) {
      pack<tile_columns>(right, first + tile * tile_columns, scratch.columns.data() + tile * slices);
    });
    run_tasks(workers, blocks_of(left.count), [&](int worker, std::int64_t block) {
      const std::int64_t first_row = block * block_rows;
      const int rows = static_cast<int>((std::min<std::int64_t>)(block_rows, left.count - first_row));
      row_slice* const packed = scratch.workers[static_cast<std::size_t>(worker)].rows.data();
      for (int r = 0; r < rows; r += tile_rows) {
        pack<tile_rows>(left, first_row + r, packed + r / tile_rows * slices);
      }
      visit(worker, first_row, rows, strip);
    });
    end(strip);
  }
}

/// Scores `row_count` packed rows from `first_row` against a strip, and pushes the scores to the states of rows, and of
/// columns in the worker's scratch.
template <class Tie, bool WithColumns, class T>
void score_block(std::int64_t first_row, int row_count, int slices, const packed_strip& strip, worker_scratch& scratch,
                 top2* row_states) noexcept {
  const auto score = slicing<T>::template best_function<WithColumns>();
  for (std::int64_t chunk = strip.first; chunk < strip.last; chunk += chunk_columns) {
    std::fill(scratch.row_states.begin(), scratch.row_states.end(), packed_top2<lanes>{});
    const std::int64_t chunk_last = (std::min)(chunk + chunk_columns, strip.last);
    for (std::int64_t column = chunk; column < chunk_last; column += tile_columns) {
      const column_slice* const tile = strip.columns + (column - strip.first) / tile_columns * slices;
      const int column_code = codes - 1 - static_cast<int>((column - chunk) / lanes);
      packed_top2<tile_columns> column_states{};
      for (int r = 0; r < row_count; r += tile_rows) {
        score(scratch.rows.data() + r / tile_rows * slices, tile, slices, column_code, codes - 1 - r,
              scratch.row_states.data() + r, static_cast<int>(column % lanes), &column_states);
      }
      if constexpr (WithColumns) {
        flush_columns<typename Tie::column_order>(column_states, first_row,
                                                  scratch.column_states.data() + (column - strip.first));
      }
    }
    for (int r = 0; r < row_count; ++r) {
      flush_row<Tie>(scratch.row_states[static_cast<std::size_t>(r)], chunk, row_states[first_row + r]);
    }
  }
}

/// Hands the scores of `row_count` packed rows with a strip to `consume(row, column, score)`, rows counted from 0;
/// those of a row in the order of columns, those of a column in the order of rows. Scores may be below 0.
template <class T, class Consume>
void for_each_score(const row_slice* rows, int row_count, int slices, const packed_strip& strip, Consume consume) {
  const scores_function score = slicing<T>::best_scores();
  for (std::int64_t column = strip.first; column < strip.last; column += tile_columns) {
    const column_slice* const tile = strip.columns + (column - strip.first) / tile_columns * slices;
    const int columns = static_cast<int>((std::min<std::int64_t>)(tile_columns, strip.last - column));
    for (int first = 0; first < row_count; first += tile_rows) {
      tile_scores scores;
      score(rows + first / tile_rows * slices, tile, slices, scores);
      for (int r = first; r < (std::min)(first + tile_rows, row_count); ++r) {
        for (int c = 0; c < columns; ++c) consume(r, static_cast<std::int32_t>(column + c), scores[r - first][c]);
      }
    }
  }
}

/// As score_block, where scores leave no room for a place.
template <class Tie, bool WithColumns, class T>
void score_float_block(std::int64_t first_row, int row_count, int slices, const packed_strip& strip,
                       worker_scratch& scratch, top2* row_states) noexcept {
  const auto push = [](auto tie, top2& state, std::int32_t score, std::int32_t index) {
    if (score > 0 && score >= state.second) state = merge<decltype(tie)>(state, {score, index, 0});
  };
  for_each_score<T>(scratch.rows.data(), row_count, slices, strip, [&](int r, std::int32_t column, std::int32_t score) {
    push(Tie(), row_states[first_row + r], score, column);
    if constexpr (WithColumns) {
      push(typename Tie::column_order(), scratch.column_states[static_cast<std::size_t>(column - strip.first)], score,
           static_cast<std::int32_t>(first_row + r));
    }
  });
}

/// The states of all rows and, if WithColumns, of all columns. The arguments are valid.
/// Throws std::bad_alloc, and then has written nothing but initial states.
template <class Tie, bool WithColumns, class T>
void fused_top2(const descriptor_view<T>& left, const descriptor_view<T>& right, const nearest2_output& output,
                int threads, pass_scratch& scratch) {
  std::fill(output.rows, output.rows + left.count, top2{});
  if constexpr (WithColumns) std::fill(output.columns, output.columns + right.count, top2{});
  if (left.count == 0 || right.count == 0) return;

  const int slices = slicing<T>::slices(left.width), workers = worker_count(threads, blocks_of(left.count));
  scratch.workers.resize(static_cast<std::size_t>(workers));
  for (worker_scratch& worker : scratch.workers) {
    if constexpr (!score_traits<T>::is_float) worker.row_states.resize(block_rows);
    if constexpr (WithColumns) worker.column_states.assign(static_cast<std::size_t>(strip_of<T>(right)), top2{});
  }
  for_each_block(
      left, right, workers, scratch,
      [&](int worker, std::int64_t first_row, int rows, const packed_strip& strip) {
        worker_scratch& mine = scratch.workers[static_cast<std::size_t>(worker)];
        if constexpr (score_traits<T>::is_float) {
          score_float_block<Tie, WithColumns, T>(first_row, rows, slices, strip, mine, output.rows);
        } else {
          score_block<Tie, WithColumns, T>(first_row, rows, slices, strip, mine, output.rows);
        }
      },
      [&](const packed_strip& strip) {
        if constexpr (WithColumns) {
          for (worker_scratch& worker : scratch.workers) {
            for (std::int64_t c = strip.first; c < strip.last; ++c) {
              top2& state = worker.column_states[static_cast<std::size_t>(c - strip.first)];
              output.columns[c] = merge<typename Tie::column_order>(output.columns[c], state);
              state = {};
            }
          }
        }
      });
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
