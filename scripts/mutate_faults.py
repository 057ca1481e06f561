# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""The faults that scripts/mutate plants."""
from typing import NamedTuple


class Fault(NamedTuple):
    """`after` stands where `before`, which the file has once, was; `tests` are
    CTest's names."""
    name: str
    what: str
    file: str
    before: str
    after: str
    tests: list

    @property
    def on_device(self):
        return self.tests[0].startswith("gpu.")


HOST = "include/serac/host/"
KERNEL = "include/serac/kernel/"
TOOL = "examples/colmap/"

FAULTS = [
    # serac_colmap. (Before the library, whose faults make all of it anew.)
    Fault("columns_not_swapped",
          "lists of (larger id, smaller id) are stored as matched",
          TOOL + "database.cpp",
          "std::swap(match.row, match.column);", "match.row += 0;",
          ["host.colmap_cases"]),
    Fault("short_list_stored", "a list of min_num_inliers is too short",
          TOOL + "list_store.cpp",
          "count < min_num_inliers_", "count <= min_num_inliers_",
          ["host.colmap_cases"]),
    Fault("empty_blob", "an empty list is an empty blob, not NULL",
          TOOL + "database.cpp",
          "sqlite3_bind_null(handle_, parameter)",
          "sqlite3_bind_zeroblob(handle_, parameter, 0)",
          ["host.colmap_cases"]),
    Fault("block_order", "the diagonals of blocks go to the other block",
          TOOL + "pair_generator.cpp",
          "i % size <= j % size", "i % size < j % size",
          ["host.colmap_exhaustive"]),
    Fault("essential_threshold", "the threshold of E is twice as great",
          TOOL + "guided.cpp",
          "squared = (left * left + right * right) / 2;",
          "squared = left * left + right * right;",
          ["host.colmap_guided"]),

    # The library on the host.
    Fault("tie_order", "of tied scores the last wins, not the first",
          "include/serac/top2.hpp",
          "Tie::rank(static_cast<std::uint32_t>(b.index)) <"
          " Tie::rank(static_cast<std::uint32_t>(a.index))",
          "Tie::rank(static_cast<std::uint32_t>(b.index)) >"
          " Tie::rank(static_cast<std::uint32_t>(a.index))",
          ["host.top2", "host.host_nearest2"]),
    Fault("colmap_tie_order", "COLMAP's tie order without the reversed bits",
          "include/serac/top2.hpp",
          "return reverse5(index & 31) << 26", "return (index & 31) << 26",
          ["host.top2"]),
    Fault("last_tile_skipped", "the last tile of columns is not scored",
          HOST + "fused_top2.hpp",
          "column < chunk_last; column += tile_columns",
          "column + tile_columns < chunk_last; column += tile_columns",
          ["host.host_nearest2", "host.host_match"]),
    Fault("second_of_a_lane_lost",
          "a lane whose best is not the row's says nothing of the second",
          HOST + "fused_top2.hpp",
          "if (best == 0 || best < state.second) continue;",
          "if (best == 0 || best < state.best) continue;",
          ["host.host_nearest2", "host.host_match"]),
    Fault("columns_of_one_thread", "columns are those of the first thread",
          HOST + "fused_top2.hpp",
          "if constexpr (WithColumns) {\n"
          "      for (const worker_scratch& worker : scratch.workers) {",
          "if constexpr (WithColumns) {\n"
          "      for (const worker_scratch& worker : {scratch.workers[0]}) {",
          ["host.host_nearest2", "host.host_match"]),
    Fault("stride_ignored", "descriptors are read without their gaps",
          HOST + "fused_top2.hpp",
          "(first + place) * view.stride", "(first + place) * view.width",
          ["host.host_nearest2", "host.properties"]),
    Fault("signed_floor", "signed scores below 0 are not floored",
          HOST + "tile.hpp",
          "scores.half[0] = _mm256_max_epi32(scores.half[0],"
          " _mm256_setzero_si256());", "",
          ["host.host_nearest2", "host.host_match"]),
    Fault("threshold_off_by_one", "the greatest accepted second is rejected",
          "include/serac/acceptance.hpp",
          "(second < unit_score ? second : unit_score) <= limit[",
          "(second < unit_score ? second : unit_score) < limit[",
          ["host.acceptance", "host.cases"]),
    Fault("no_cross_check", "a column need not return the row",
          HOST + "match.hpp",
          "if (column.index != i || !accepted(column)) continue;",
          "if (!accepted(column)) continue;",
          ["host.host_match", "host.cases"]),
    Fault("column_not_judged", "a column need not pass the ratio test",
          HOST + "match.hpp",
          "if (column.index != i || !accepted(column)) continue;",
          "if (column.index != i) continue;",
          ["host.host_match", "host.cases"]),
    Fault("limit_off_by_one", "one match more than max_matches",
          HOST + "match.hpp",
          "i < row_count && room > 0;", "i < row_count && room >= 0;",
          ["host.host_match"]),
    Fault("sampson_denominator", "the Sampson error without f2.y",
          "include/serac/geometry.hpp",
          "detail::fma_rn(column.fy, column.fy,"
          " detail::fma_rn(column.fx, column.fx, row.squared))",
          "detail::fma_rn(column.fx, column.fx, row.squared)",
          ["host.guided_host"]),
    Fault("guided_margin_halved",
          "tiles half as far apart as H admits are passed over",
          "include/serac/guided_tiles.hpp",
          "return sqrtf(max_squared_error) * (1 + 0x1p-18f)",
          "return 0.5f * sqrtf(max_squared_error)",
          ["host.guided_host"]),
    Fault("guided_limit_too_small",
          "tiles are tested without the columns' part of the Sampson scale",
          "include/serac/guided_tiles.hpp",
          "(1 + 0x1p-17f) * (squared + column.squared)",
          "(1 + 0x1p-17f) * squared",
          ["host.guided_host"]),

    # Kernels.
    Fault("classic_last_tile_skipped", "a block leaves out its last tile",
          KERNEL + "fused_top2.cuh",
          "for (std::int64_t tile = begin; tile < end; ++tile) {",
          "for (std::int64_t tile = begin; tile + 1 < end; ++tile) {",
          ["gpu.device_nearest2_dots"]),
    Fault("classic_column_of_a_warp_lost",
          "the last warp's rows are left out of columns",
          "include/serac/block/reduce_tile.cuh",
          "for (int w = 1; w < traits::warps; ++w) packed.merge",
          "for (int w = 1; w < traits::warps - 1; ++w) packed.merge",
          ["gpu.device_nearest2_dots"]),
    Fault("classic_tie_order", "lanes break ties by the smallest index",
          "include/serac/block/reduce_tile.cuh",
          "warp::reduce<typename traits::row_tie>(state)",
          "warp::reduce<tie_break::smallest_index>(state)",
          ["gpu.device_match"]),
    Fault("classic_signed_floor", "signed scores below 0 are not floored",
          "include/serac/block/reduce_tile.cuh",
          "score = score > 0 ? score : 0;", "score += 0;",
          ["gpu.device_match"]),
    Fault("mma_last_tile_skipped", "the last tile of columns is not scored",
          KERNEL + "chunk_maxima_mma.cuh",
          "if (rows_left > 0) rows.score(tile, chunk_max);",
          "if (rows_left > 0 && (tiles_left > 0 || end_tile < column_tiles))"
          " rows.score(tile, chunk_max);",
          ["gpu.tensor_random"]),
    Fault("mma_stride_ignored", "rows are read without their gaps",
          KERNEL + "chunk_maxima_mma.cuh",
          "rows + (exists ? row : 0) * stride",
          "rows + (exists ? row : 0) * (stride > 0 ? traits::width : 0)",
          ["gpu.tensor_random"]),
    Fault("wgmma_last_unit_skipped", "the last unit of work is not done",
          KERNEL + "chunk_maxima_wgmma.cuh",
          "if (number >= unit_count)", "if (number + 1 >= unit_count)",
          ["gpu.tensor_random"]),
    Fault("second_of_a_chunk_lost",
          "other chunks say nothing of a row's second best",
          KERNEL + "rescore.cuh",
          "state.second = (max)(state.second, of.second);",
          "state.second = (max)(state.second, 0);",
          ["gpu.tensor_nearest2"]),  # lists do not need it: the scan has asked
    Fault("scan_second_lost",
          "the second greatest chunk of a quarter of them is forgotten",
          KERNEL + "rescore.cuh",
          "chunks.second = (max)(chunks.second, other.second);",
          "chunks.second = (max)(chunks.second, 0);",
          ["gpu.tensor_match"]),  # with more than four chunks
    Fault("column_test_of_another_chunk",
          "columns are tested against the bounds of a neighbour",
          KERNEL + "rescore.cuh",
          "std::int64_t{chunk} * pair.row_stride;\n  constexpr int threads",
          "std::int64_t{(chunk + 1) % pair.column_chunks} *"
          " pair.row_stride;\n  constexpr int threads",
          ["gpu.tensor_random"]),
    Fault("column_bound_too_small",
          "only columns whose bound is above the match's score are tested",
          KERNEL + "rescore.cuh",
          "greatest > second && !accept(best, (min)(greatest, best))",
          "greatest > second && greatest > best",
          ["gpu.tensor_random"]),
    Fault("column_takes_nothing_back", "the cross-check is left out",
          KERNEL + "rescore.cuh",
          "if (!passes && atomicExch(", "if (false && atomicExch(",
          ["gpu.tensor_random"]),
    Fault("list_limit_off_by_one", "one match more than max_matches",
          KERNEL + "compact.cuh",
          "bits != 0 && place < most;", "bits != 0 && place <= most;",
          ["gpu.tensor_random"]),
]
