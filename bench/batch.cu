// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How close to the ceiling of its unit does each kernel of the tensor-core matcher come on a batch of pairs?
///
/// Usage: batch [LEFT.bin RIGHT.bin]...   descriptors of 128 bytes in files, beside the random ones
/// Prints CSV: microseconds a pair for pass 1, the scan, the rescoring of rows and of columns, for 132 pairs in one
/// launch of each, and the share of the ceiling, measured in the same run, that pass 1 and all passes reach.
#include <cstdio>

#include <serac/serac.cuh>

#include "ceilings.cuh"
#include "measure.cuh"

namespace {

using serac::chunk_pair;
namespace sdd = serac::device::detail;

constexpr int pair_count = 132;

/// Images of a batch in one buffer, left and right in turn, each behind as many zero rows as tiles may read.
struct image_store {
  std::int64_t rows;  // from one image to the next
  bench::device_array<std::uint8_t> bytes;

  explicit image_store(const bench::images& data)
      : rows((static_cast<std::int64_t>(std::max(data.left.size(), data.right.size())) / 128 + 1279) / 640 * 640),
        bytes(static_cast<std::size_t>(rows) * 128 * (pair_count + 1)) {
    BENCH_CHECK(cudaMemset(bytes.data(), 0, bytes.size()));
    for (int i = 0; i <= pair_count; ++i) {
      const auto& image = i % 2 == 0 ? data.left : data.right;
      BENCH_CHECK(cudaMemcpy(bytes.data() + static_cast<std::size_t>(i) * rows * 128, image.data(), image.size(),
                             cudaMemcpyHostToDevice));
    }
  }
  serac::sift_view all() const { return {bytes.data(), rows * (pair_count + 1)}; }
};

template <class Policy>
void run(const char* name, const bench::images& data, double ceiling) {
  if (ceiling == 0) return;
  using pass1 = sdd::pass1<Policy>;
  using traits = typename pass1::traits;
  const image_store store(data);
  const serac::sift_view all = store.all();
  const auto counts = [&](int image) {
    return static_cast<std::int64_t>((image % 2 == 0 ? data.left : data.right).size() / 128);
  };

  // The pairs (i, i + 1), planned as for a device that each of them fills.
  std::vector<chunk_pair> plans;
  std::int64_t row_maxima = 0, column_maxima = 0, units = 0, rows = 0;
  double scores = 0;
  for (int i = 0; i < pair_count; ++i) {
    chunk_pair pair = pass1::plan(counts(i), counts(i + 1), 1);
    if constexpr (Policy::path == serac::match_path::wgmma) {  // segments of about 56 tiles
      const int tiles = pair.row_stride / traits::tile_rows;
      pair.segments = std::min(sdd::most_segments, (tiles + 55) / 56);
      pair.segment_tiles = sdd::round_up(sdd::ceil_div(tiles, pair.segments), traits::run);
      pair.segments = sdd::ceil_div(tiles, pair.segment_tiles);
      pair.row_chunks = pair.segments * traits::segment_chunks;
    }
    pair.left_first = static_cast<std::int32_t>(i * store.rows);
    pair.right_first = static_cast<std::int32_t>((i + 1) * store.rows);
    pair.row_maxima = row_maxima;
    pair.column_maxima = column_maxima;
    pair.first_unit = units;
    pair.first_row = rows;
    row_maxima += std::int64_t{pair.column_chunks} * pair.row_stride;
    column_maxima += std::int64_t{traits::column_tiles(pair)} * traits::tile_groups * pair.row_chunks;
    units += traits::unit_count(pair);
    rows += (pair.left_count + 15) / 16 * 16;
    scores += static_cast<double>(counts(i)) * static_cast<double>(counts(i + 1));
    plans.push_back(pair);
  }
  const bench::device_array<chunk_pair> pairs(plans);
  const bench::device_array<std::int32_t> row_values(row_maxima), column_values(column_maxima), best(rows),
      second(rows);
  const bench::device_array<std::uint8_t> chunk(rows);
  const bench::device_array<std::uint32_t> columns(rows);
  const bench::device_array<unsigned long long> next_unit(1);
  const serac::chunk_maxima maxima{row_values.data(), column_values.data()};
  const serac::row_verdicts verdicts{best.data(), second.data(), chunk.data(), columns.data()};
  const bench::device_array<std::int32_t> limits(serac::acceptance_table(serac::match_options{}).limits());
  const serac::acceptance_view accept{limits.data(), true};
  using judge = serac::kernel::keep_accepted<serac::acceptance_view>;

  const auto scan1 = [&](cudaStream_t stream) {
    if constexpr (Policy::path == serac::match_path::wgmma) {
      CUtensorMap left_map, right_map;
      serac::throw_on_error(serac::detail::make_tensor_map(all, traits::tile_rows, traits::swizzle, left_map));
      serac::throw_on_error(serac::detail::make_tensor_map(all, traits::tile_columns, traits::swizzle, right_map));
      const auto kernel = serac::kernel::chunk_maxima_wgmma<Policy, false>;
      serac::throw_on_error(serac::detail::grant_shared("pass 1", kernel, traits::shared_bytes));
      BENCH_CHECK(cudaMemsetAsync(next_unit.data(), 0, sizeof(unsigned long long), stream));
      serac::throw_on_error(serac::detail::launch("pass 1", kernel, dim3(bench::multiprocessors()), traits::threads,
                                                  traits::shared_bytes, stream, left_map, right_map, pairs.data(),
                                                  pair_count, units, next_unit.data(), maxima));
    } else {
      const auto kernel = serac::kernel::chunk_maxima_mma<Policy>;
      std::int64_t resident = 0;
      serac::throw_on_error(
          serac::detail::resident_blocks("pass 1", kernel, traits::threads, traits::shared_bytes, resident));
      serac::throw_on_error(serac::detail::launch("pass 1", kernel,
                                                  dim3(static_cast<unsigned>(std::min(resident, units))),
                                                  traits::threads, traits::shared_bytes, stream, all.data, all.stride,
                                                  all.data, all.stride, pairs.data(), pair_count, units, maxima));
    }
  };
  const auto most_rows = static_cast<unsigned>(std::max(counts(0), counts(1)));
  unsigned most_chunks = 0, most_segments = 0;
  for (const chunk_pair& pair : plans) {
    most_chunks = std::max(most_chunks, static_cast<unsigned>(pair.column_chunks));
    most_segments = std::max(most_segments, static_cast<unsigned>(pair.segments));
  }
  const auto scan = [&](cudaStream_t stream) {
    constexpr int threads = serac::kernel::scan_rows_threads;
    serac::throw_on_error(serac::detail::launch("scan", serac::kernel::scan_rows<serac::acceptance_view>,
                                                dim3((most_rows + 15 + threads) / threads, pair_count), threads, 0,
                                                stream, pairs.data(), maxima, accept, verdicts));
  };
  const auto rescore = [&](cudaStream_t stream) {
    serac::throw_on_error(serac::detail::launch(
        "rescore", serac::kernel::rescore_rows<traits, judge>, dim3(most_chunks, 1, pair_count),
        serac::kernel::rescore_threads, 0, stream, pairs.data(), all, all, verdicts, judge{accept, columns.data()}));
  };
  const auto test = [&](cudaStream_t stream) {
    serac::throw_on_error(serac::detail::launch("columns", serac::kernel::test_columns<traits, serac::acceptance_view>,
                                                dim3(most_segments, 2, pair_count), serac::kernel::rescore_threads, 0,
                                                stream, pairs.data(), all, all, maxima, accept, verdicts));
  };

  const double pass1_us = bench::measure(scan1, 20).median / pair_count;
  const double scan_us = bench::measure(scan, 20).median / pair_count;
  // Each run of the column test starts from the rescored rows; the difference is its own time.
  const double rescore_us = bench::measure(rescore, 20).median / pair_count;
  const double both_us = bench::measure([&](cudaStream_t s) { rescore(s), test(s); }, 20).median / pair_count;
  const bench::timing whole = bench::measure([&](cudaStream_t s) { scan1(s), scan(s), rescore(s), test(s); }, 20);
  const double total = whole.median / pair_count, ceiling_us = scores / ceiling / pair_count;
  std::size_t matches = 0;
  for (const std::uint32_t column : columns.host()) matches += column != serac::kernel::no_match;
  std::printf("%s,%s,%lld,%lld,%.1f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.1f,%.1f\n", name, data.name.c_str(),
              static_cast<long long>(counts(0)), static_cast<long long>(counts(1)),
              static_cast<double>(matches) / pair_count, ceiling_us, pass1_us, scan_us, rescore_us,
              both_us - rescore_us, total, whole.low / pair_count, whole.high / pair_count, 100 * ceiling_us / pass1_us,
              100 * ceiling_us / total);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const double mma = bench::mma_ceiling(), wgmma = bench::wgmma_ceiling();
  std::printf(
      "path,data,rows,columns,matches,ceiling_us,pass1_us,scan_us,rescore_us,columns_us,total_us,total_low_us,"
      "total_high_us,pass1_percent,total_percent\n");
  for (const bench::images& data : bench::inputs({2048, 10400}, argc, argv)) {
    run<serac::mma_policy>("mma", data, mma);
    run<serac::wgmma_policy>("wgmma", data, wgmma);
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "batch: %s\n", failure.what());
  return 1;
}
