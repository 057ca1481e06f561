// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <vector>

#include <support/gpu.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

/// Images in one buffer, each directly behind the one before, where either side of a pair may be any of them.
template <class Policy>
struct image_buffer {
  using element = typename Policy::element;

  std::vector<std::int64_t> first, count;
  descriptors<element> all;

  image_buffer(random_source& random, const std::vector<std::int64_t>& counts) : count(counts), all(0, Policy::width) {
    std::int64_t rows = 0;
    for (const std::int64_t n : counts) first.push_back(rows), rows += n;
    all = descriptors<element>(rows, Policy::width);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto image = random_images<element>(input_kind::bytes, random, counts[i], 0, Policy::width).left;
      for (std::int64_t row = 0; row < counts[i]; ++row) all.assign(first[i] + row, image, row);
    }
  }
};

/// How a pair of images is cut: tiles in a column chunk and, by wgmma, tiles of rows in a segment.
struct pair_cut {
  std::size_t left, right;
  int chunk_tiles, segment_tiles;
};

/// The pairs of a list, laid out one behind the other, and the sizes of all their maxima.
template <class Policy>
struct pair_list {
  using traits = device::detail::traits_of<Policy>;

  std::vector<chunk_pair> pairs;
  std::int64_t values = 0, units = 0;

  pair_list(const image_buffer<Policy>& images, const std::vector<pair_cut>& cuts) {
    for (const pair_cut& cut : cuts) {
      chunk_pair pair{};
      pair.left_first = static_cast<std::int32_t>(images.first[cut.left]);
      pair.left_count = static_cast<std::int32_t>(images.count[cut.left]);
      pair.right_first = static_cast<std::int32_t>(images.first[cut.right]);
      pair.right_count = static_cast<std::int32_t>(images.count[cut.right]);
      device::detail::pass1<Policy>::plan(pair, 1, 1);
      pair.chunk_tiles = cut.chunk_tiles;
      pair.column_chunks = serac::detail::ceil_div(traits::column_tiles(pair), cut.chunk_tiles);
      if (Policy::path == match_path::wgmma) {
        const int row_tiles = pair.row_stride / traits::tile_rows;
        pair.segment_tiles = cut.segment_tiles;
        pair.segments = serac::detail::ceil_div(row_tiles, cut.segment_tiles);
      }
      pair.row_maxima = values;
      pair.first_unit = units;
      values += std::int64_t{pair.column_chunks} * pair.row_stride;
      units += traits::unit_count(pair);
      pairs.push_back(pair);
    }
  }
};

/// What pass 1 must leave, by definition; by wgmma of whole runs of rows, those of the next image too. Elsewhere 0.
template <class Policy>
std::vector<std::int32_t> expected_maxima(const image_buffer<Policy>& images, const pair_list<Policy>& list) {
  using traits = device::detail::traits_of<Policy>;
  const auto all = images.all.view();
  std::vector<std::int32_t> maxima(static_cast<std::size_t>(list.values), 0);
  for (const chunk_pair& pair : list.pairs) {
    const auto behind = static_cast<int>(std::min<std::int64_t>(images.all.count - pair.left_first, pair.row_stride));
    for (int i = 0; i < (Policy::path == match_path::wgmma ? behind : pair.left_count); ++i) {
      for (int j = 0; j < pair.right_count; ++j) {
        const std::int32_t score = host::reference::score(all, pair.left_first + i, all, pair.right_first + j);
        const std::int64_t chunk = j / traits::tile_columns / pair.chunk_tiles;
        auto& maximum = maxima[static_cast<std::size_t>(pair.row_maxima + chunk * pair.row_stride + i)];
        maximum = std::max(maximum, score);
      }
    }
  }
  return maxima;
}

/// Makes the maxima of rows behind the images 0, as which mma.sync takes them: bits of zeros are like others.
template <class Policy>
void forget_rows_behind(const pair_list<Policy>& list, std::vector<std::int32_t>& maxima) {
  for (const chunk_pair& pair : list.pairs) {
    for (int chunk = 0; chunk < pair.column_chunks; ++chunk) {
      const auto of_chunk = maxima.begin() + pair.row_maxima + std::int64_t{chunk} * pair.row_stride;
      std::fill(of_chunk + pair.left_count, of_chunk + pair.row_stride, 0);
    }
  }
}

/// Pass 1 on `blocks` thread blocks.
template <class Policy>
status launch_pass1(const descriptor_view<typename Policy::element>& images, const pair_list<Policy>& list,
                    const chunk_pair* pairs, unsigned long long* next_unit, std::int32_t* maxima, bool shared,
                    unsigned blocks) {
  using traits = device::detail::traits_of<Policy>;
  const int count = static_cast<int>(list.pairs.size());
  if constexpr (Policy::path == match_path::wgmma) {
    CUtensorMap left;
    require_ok(serac::detail::make_tensor_map(images, traits::tile_rows, traits::swizzle, left));
    std::vector<CUtensorMap> right(list.pairs.size());
    for (std::size_t p = 0; p < right.size(); ++p) {
      auto image = images;
      image.data += list.pairs[p].right_first * images.stride;
      image.count = list.pairs[p].right_count;
      require_ok(serac::detail::make_tensor_map(image, traits::tile_columns, traits::swizzle, right[p]));
    }
    // (A device_array is aligned to 16 bytes, a map to 64.)
    const device_array<std::uint8_t> room((right.size() + 1) * sizeof(CUtensorMap));
    auto* const right_maps = reinterpret_cast<CUtensorMap*>(
        (reinterpret_cast<std::uintptr_t>(room.data()) + alignof(CUtensorMap) - 1) & -alignof(CUtensorMap));
    require_cuda(cudaMemcpy(right_maps, right.data(), right.size() * sizeof(CUtensorMap), cudaMemcpyHostToDevice));
    using nothing = kernel::nothing_behind;
    const auto kernel =
        shared ? kernel::chunk_maxima_wgmma<Policy, true, nothing> : kernel::chunk_maxima_wgmma<Policy, false, nothing>;
    require_ok(serac::detail::grant_shared("chunk_maxima_wgmma", kernel, traits::shared_bytes));
    return serac::detail::launch("chunk_maxima_wgmma", kernel, dim3(blocks), traits::threads, traits::shared_bytes,
                                 nullptr, left, right_maps, pairs, count, list.units, next_unit, maxima, nothing{});
  } else {
    const auto kernel = kernel::chunk_maxima_mma<Policy>;
    require_ok(serac::detail::grant_shared("chunk_maxima_mma", kernel, traits::shared_bytes));
    return serac::detail::launch("chunk_maxima_mma", kernel, dim3(blocks), traits::threads, traits::shared_bytes,
                                 nullptr, device::detail::pass1<Policy>::bytes_of(images), images.stride,
                                 device::detail::pass1<Policy>::bytes_of(images), images.stride, pairs, count,
                                 list.units, maxima);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("pass 1 leaves the maxima of all chunks of a list of pairs", "[tensor]", wgmma_policy, wgmma_192,
                   wgmma_64, (wgmma_policy_for<32, std::int8_t>), (wgmma_policy_for<256>), mma_policy, mma_64_rows,
                   (mma_policy_for<32, std::int8_t>), (mma_policy_for<256>), (mma_policy_for<32, bits8>),
                   (mma_policy_for<64, bits8>)) {
  using Policy = TestType;
  random_source random(21);
  const image_buffer<Policy> images(random, {300, 1, small_run() ? 330 : 1000, 161});
  const device_descriptors<typename Policy::element> on_device(images.all);

  const bool shared = GENERATE(false, true);
  const int tiles = shared ? 2 : 1;
  // Many rows, few; a last chunk, a last segment and a last step that are not full.
  const pair_list<Policy> list(
      images, {{2, 0, 1, 16}, {1, 3, tiles, 8}, {0, 2, shared ? 3 : 1, 4}, {3, 1, tiles, 8}, {2, 2, tiles, 12}});
  const std::vector<std::int32_t> expected = expected_maxima(images, list);

  const device_array<chunk_pair> pairs(list.pairs);
  for (const unsigned blocks : few_if_tiny<unsigned>({3, 1, 100}, 1)) {
    CAPTURE(shared, blocks);
    const device_array<unsigned long long> next_unit(std::vector<unsigned long long>{0});
    device_array<std::int32_t> maxima(expected.size());
    if (shared) maxima.assign(std::vector<std::int32_t>(expected.size(), 0));
    require_ok(
        launch_pass1<Policy>(on_device.view(), list, pairs.data(), next_unit.data(), maxima.data(), shared, blocks));
    std::vector<std::int32_t> values = maxima.values();
    if constexpr (is_binary<typename Policy::element>) forget_rows_behind(list, values);
    REQUIRE_SAME(values, expected);
  }
}
