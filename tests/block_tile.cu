// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <vector>

#include <serac/block/load_tile.cuh>
#include <serac/block/reduce_tile.cuh>
#include <serac/block/score_slice.cuh>
#include <serac/detail/copy_async.cuh>
#include <serac/thread/dot.cuh>
#include <support/gpu.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

// A matcher of the test's own, made of block parts: one block, one tile.

/// What the block leaves of its tile.
struct tile_results {
  std::uint8_t* rows;    // (tile_rows, padded_width): the row tile as it stood in shared memory
  std::int32_t* scores;  // (tile_rows, tile_columns)
  top2* row_states;      // (tile_rows), of the first and only tile of a window
  top2* column_states;   // (tile_columns)
};

/// Launch: one block of policy_traits<Policy>::threads threads, static shared memory. The tile begins at
/// (first_row, first_column) and may reach beyond the views.
template <class Policy>
__global__ void __launch_bounds__(policy_traits<Policy>::threads)
    score_one_tile(descriptor_view<typename Policy::element> left, descriptor_view<typename Policy::element> right,
                   std::int64_t first_row, std::int64_t first_column, tile_results results) {
  using traits = policy_traits<Policy>;
  __shared__ __align__(16) std::uint8_t rows[traits::rows_bytes];
  __shared__ __align__(16) std::uint8_t columns[traits::stage_bytes];
  __shared__ block::column_partials<Policy> partials;

  block::load_tile<traits::tile_rows, traits::padded_width, traits::row_stride, traits::load_bytes, traits::threads>(
      rows, left, first_row, 0);
  block::tile_scores<Policy> scores = {};
  for (int slice = 0; slice < traits::slices; ++slice) {
    __syncthreads();  // the last slice has been read
    block::load_tile<traits::tile_columns, traits::slice_bytes, traits::column_stride, traits::load_bytes,
                     traits::threads>(columns, right, first_column, slice * traits::slice_bytes);
    detail::copy_async_commit();
    detail::copy_async_wait<0>();
    __syncthreads();
    block::score_slice<Policy>(rows + slice * traits::slice_bytes, columns, scores);
  }

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = threadIdx.x; i < traits::tile_rows * traits::padded_width; i += traits::threads) {
    results.rows[i] = rows[i / traits::padded_width * traits::row_stride + i % traits::padded_width];
  }
  for (int r = 0; r < traits::thread_rows; ++r) {
    for (int c = 0; c < traits::thread_columns; ++c) {
      const int row = warp * traits::thread_rows + r, column = c * 32 + lane;
      results.scores[row * traits::tile_columns + column] = scores[r][c];
    }
  }

  block::row_window<Policy> window;
  window.push(scores);
  window.flush(first_column + traits::tile_columns, [&](int r, const top2& state) {
    results.row_states[warp * traits::thread_rows + r] = state.best > 0 ? state : top2{};
  });
  block::reduce_columns<Policy>(scores, partials);
  __syncthreads();
  for (int column = threadIdx.x; column < traits::tile_columns; column += traits::threads) {
    const top2 state = block::merge_column<Policy>(partials, column, first_row);
    results.column_states[column] = state.best > 0 ? state : top2{};
  }
}

/// Small enough for static shared memory; several slices of which the last is padded.
template <int Width>
struct small_tile : policy_for<Width> {
  static constexpr int tile_rows = 24;
  static constexpr int tile_columns = 64;
  static constexpr int thread_rows = 6;
  static constexpr int slice = 48;
};

// Dot paths.

template <class Dot, class T>
__global__ void dots(const std::uint32_t* a, const std::uint32_t* b, const std::int32_t* sums, unsigned count,
                     std::int32_t* results) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) results[i] = Dot::template accumulate<T>(a[i], b[i], sums[i]);
}

template <class Dot_, class T_>
struct dot_setting {
  using Dot = Dot_;
  using T = T_;
};

}  // namespace

TEMPLATE_TEST_CASE("a block loads, scores and reduces a tile", "[block]", small_tile<128>, small_tile<132>,
                   small_tile<20>, signed_bytes<small_tile<128>>, siftgpu_ties<small_tile<8>>) {
  using policy = TestType;
  using traits = policy_traits<policy>;
  using T = typename policy::element;
  constexpr int rows = traits::tile_rows, columns = traits::tile_columns, width = traits::width;
  std::uint64_t seed = 70;
  for (const input_kind kind :
       {input_kind::bytes, input_kind::repeated, input_kind::sparse, input_kind::all_greatest}) {
    for (const std::int64_t first_row : {0, rows}) {
      for (const std::int64_t first_column : {0, 3 * columns}) {
        // A full tile of rows or one of 5; a full tile of columns or one of 33.
        random_source random(++seed);
        INFO("seed " << seed << ": " << name(kind) << ", tile at " << first_row << ", " << first_column);
        const auto images = random_images<T>(kind, random, rows + 5, 3 * columns + 33, width);
        const device_descriptors<T> left(images.left, traits::load_bytes), right(images.right, 3 * traits::load_bytes);
        const device_array<std::uint8_t> row_tile(rows * traits::padded_width);
        const device_array<std::int32_t> scores(rows * columns);
        const device_array<top2> row_states(rows), column_states(columns);
        score_one_tile<policy><<<1, traits::threads>>>(
            left.view(), right.view(), first_row, first_column,
            tile_results{row_tile.data(), scores.data(), row_states.data(), column_states.data()});
        require_cuda(cudaGetLastError());

        std::vector<std::uint8_t> expected_tile(rows * traits::padded_width, 0);
        std::vector<std::int32_t> expected_scores(rows * columns, 0);
        std::vector<top2> expected_rows(rows), expected_columns(columns);
        const auto in_left = [&](int r) { return first_row + r < images.left.count; };
        const auto in_right = [&](int c) { return first_column + c < images.right.count; };
        for (int r = 0; r < rows && in_left(r); ++r) {
          const T* const row = images.left[first_row + r];
          for (int k = 0; k < width; ++k) {
            expected_tile[static_cast<std::size_t>(r * traits::padded_width + k)] = static_cast<std::uint8_t>(row[k]);
          }
          for (int c = 0; c < columns && in_right(c); ++c) {
            const T* const column = images.right[first_column + c];
            std::int32_t sum = 0;
            for (int k = 0; k < width; ++k) sum += int{row[k]} * int{column[k]};
            expected_scores[static_cast<std::size_t>(r * columns + c)] = sum;
            if (sum <= 0) continue;
            top2& row_state = expected_rows[static_cast<std::size_t>(r)];
            top2& column_state = expected_columns[static_cast<std::size_t>(c)];
            const auto i = static_cast<std::int32_t>(first_row + r), j = static_cast<std::int32_t>(first_column + c);
            row_state = merge<typename traits::row_tie>(row_state, {sum, j, 0});
            column_state = merge<typename traits::column_tie>(column_state, {sum, i, 0});
          }
        }
        REQUIRE_SAME(row_tile.values(), expected_tile);
        REQUIRE_SAME(scores.values(), expected_scores);
        REQUIRE_SAME(row_states.values(), expected_rows);
        REQUIRE_SAME(column_states.values(), expected_columns);
      }
    }
  }
}

TEMPLATE_TEST_CASE("a dot path adds the products of four bytes", "[thread]", (dot_setting<dot_scalar, std::uint8_t>),
                   (dot_setting<dot_scalar, std::int8_t>), (dot_setting<dot_dp4a, std::uint8_t>),
                   (dot_setting<dot_dp4a, std::int8_t>), (dot_setting<dot_default, std::uint8_t>),
                   (dot_setting<dot_default, std::int8_t>)) {
  using T = typename TestType::T;
  constexpr unsigned count = 5000;
  random_source random(10);
  std::vector<std::uint32_t> a{0u, ~0u, 0x80808080u, 0x7f7f7f7fu, ~0u}, b{~0u, ~0u, 0x80808080u, 0x80808080u, 1u << 24};
  std::vector<std::int32_t> sums{5, 33292800 - 4 * 255 * 255, 0, -1, 0};
  while (a.size() < count) {
    a.push_back(static_cast<std::uint32_t>(random.below(std::int64_t{1} << 32)));
    b.push_back(static_cast<std::uint32_t>(random.below(std::int64_t{1} << 32)));
    sums.push_back(static_cast<std::int32_t>(random.below(33000000)));
  }
  std::vector<std::int32_t> expected = sums;
  for (std::size_t i = 0; i < count; ++i) {
    for (int byte = 0; byte < 4; ++byte) {
      expected[i] += int{static_cast<T>(a[i] >> 8 * byte & 255)} * int{static_cast<T>(b[i] >> 8 * byte & 255)};
    }
  }
  const device_array<std::uint32_t> left(a), right(b);
  const device_array<std::int32_t> start(sums), results(count);
  dots<typename TestType::Dot, T>
      <<<(count + 255) / 256, 256>>>(left.data(), right.data(), start.data(), count, results.data());
  require_cuda(cudaGetLastError());
  REQUIRE_SAME(results.values(), expected);
}
