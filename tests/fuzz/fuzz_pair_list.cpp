// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The input is a number, a name of an image on each line, an empty line, and a list of pairs.
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "pair_generator.hpp"

namespace {

using namespace serac_fuzz;
using namespace serac_colmap;

/// All pairs of one pass, and the sizes of the blocks.
std::vector<pair_block> blocks_of(const pair_generator& pairs) {
  std::vector<pair_block> blocks;
  pairs([&](const pair_block& block) { blocks.push_back(block); });
  return blocks;
}

/// Requires images that there are, no image with itself, and no two twice; returns how many pairs there are.
std::size_t check_pairs(const pair_generator& pairs, const std::vector<image>& images) {
  std::set<std::uint32_t> ids;
  for (const image& each : images) ids.insert(static_cast<std::uint32_t>(each.id));
  std::set<std::int64_t> seen;
  const std::vector<pair_block> blocks = blocks_of(pairs), again = blocks_of(pairs);
  require(blocks.size() == again.size(), "two passes are equal");
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    require(blocks[b].size() == again[b].size(), "two passes are equal");
    for (std::size_t i = 0; i < blocks[b].size(); ++i) {
      const image_pair pair = blocks[b][i], same = again[b][i];
      require(pair.first == same.first && pair.second == same.second, "two passes are equal");
      require(ids.count(pair.first) == 1 && ids.count(pair.second) == 1, "a pair is of images that there are");
      require(pair.first != pair.second, "no image is paired with itself");
      require(seen.insert(pair_id(pair)).second, "no two images meet twice");
    }
  }
  return seen.size();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  silence();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream input(std::string(reinterpret_cast<const char*>(data), size));
  std::string line;
  std::getline(input, line);
  const unsigned number = line.empty() ? 0 : static_cast<unsigned char>(line[0]);
  const int block_size = 1 + static_cast<int>(number % 7), overlap = static_cast<int>(number % 11);
  std::vector<image> images;
  while (images.size() < 40 && std::getline(input, line) && !line.empty()) {
    const auto id = static_cast<std::int64_t>(images.size());
    images.push_back({id * (id_limit / 40), line});
  }
  std::string list(std::istreambuf_iterator<char>(input), {});

  const memory_file file(reinterpret_cast<const std::uint8_t*>(list.data()), list.size());
  try {
    check_pairs(listed_pairs(images, file.path(), block_size), images);
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    require(what.rfind(file.path() + ", line ", 0) == 0 || what.rfind("two images are named '", 0) == 0,
            "an error names the line or the image");
  }
  const std::size_t count = images.size();
  require(check_pairs(exhaustive_pairs(images, block_size), images) == count * (count - (count > 0)) / 2,
          "all pairs are made");
  check_pairs(sequential_pairs(images, overlap, number % 2 == 0), images);
  return 0;
}
