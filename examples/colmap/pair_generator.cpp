// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pair_generator.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

namespace serac_colmap {

namespace {

const std::string byte_order_mark = "\xEF\xBB\xBF";  // of UTF-8, with which some editors begin a file

using ids_by_name = std::unordered_map<std::string, std::uint32_t>;

std::vector<std::uint32_t> ids_of(const std::vector<image>& images) {
  std::vector<std::uint32_t> ids;
  for (const image& each : images) ids.push_back(static_cast<std::uint32_t>(each.id));
  return ids;
}

std::string trimmed(const std::string& text) {
  const char* const blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// The two images that a line names; `where` is its place, for people.
image_pair parse_pair(const std::string& line, const ids_by_name& ids, const std::string& where) {
  std::vector<image_pair> readings;
  for (std::size_t space = line.find_first_of(" \t"); space != std::string::npos;
       space = line.find_first_of(" \t", line.find_first_not_of(" \t", space))) {
    const auto first = ids.find(trimmed(line.substr(0, space)));
    const auto second = ids.find(trimmed(line.substr(space)));
    if (first != ids.end() && second != ids.end()) readings.push_back({first->second, second->second});
  }
  if (readings.size() == 1) return readings.front();
  if (readings.size() > 1) throw std::runtime_error(where + "'" + line + "' can be read as several pairs of images");

  const std::size_t space = line.find_first_of(" \t");
  const std::string first = line.substr(0, space);
  if (space == std::string::npos) throw std::runtime_error(where + "'" + line + "' is one name, not two");
  const std::string missing = ids.count(first) == 0 ? first : trimmed(line.substr(space));
  throw std::runtime_error(where + "no image is named '" + missing + "'");
}

ids_by_name ids_of_names(const std::vector<image>& images) {
  ids_by_name ids;
  for (const image& each : images) {
    if (!ids.emplace(each.name, static_cast<std::uint32_t>(each.id)).second) {
      throw std::runtime_error("two images are named '" + each.name + "': a list of names cannot tell them apart");
    }
  }
  return ids;
}

/// Pairs of a list, without the repeated ones and those of an image with itself.
class pair_list {
 public:
  void add(image_pair pair) {
    if (pair.first != pair.second && seen_.insert(pair_id(pair)).second) pairs_.push_back(pair);
  }

  pair_generator in_blocks_of(int size) const {
    return pair_generator([pairs = pairs_, size = static_cast<std::size_t>(size)] {
      return [&pairs, size, start = std::size_t{0}](pair_block& block) mutable {
        if (start >= pairs.size()) return false;
        const auto first = pairs.begin() + static_cast<std::ptrdiff_t>(start);
        block.assign(first, first + static_cast<std::ptrdiff_t>(std::min(size, pairs.size() - start)));
        start += size;
        return true;
      };
    });
  }

 private:
  pair_block pairs_;
  std::unordered_set<std::int64_t> seen_;
};

}  // namespace

pair_generator exhaustive_pairs(std::vector<image> images, int block_size) {
  return pair_generator([ids = ids_of(images), size = static_cast<std::size_t>(block_size)] {
    return [&ids, size, start1 = std::size_t{0}, start2 = std::size_t{0}](pair_block& block) mutable {
      if (start1 >= ids.size()) return false;
      block.clear();
      for (std::size_t i = start1; i < std::min(start1 + size, ids.size()); ++i) {
        for (std::size_t j = start2; j < std::min(start2 + size, ids.size()); ++j) {
          // Of the two blocks in which a pair occurs, each takes the half above its diagonal or below.
          if ((i > j && i % size <= j % size) || (i < j && i % size < j % size)) block.push_back({ids[i], ids[j]});
        }
      }
      start2 += size;
      if (start2 >= ids.size()) start1 += size, start2 = 0;
      return true;
    };
  });
}

pair_generator sequential_pairs(std::vector<image> images, int overlap, bool quadratic) {
  std::sort(images.begin(), images.end(), [](const image& a, const image& b) { return a.name < b.name; });
  return pair_generator([ids = ids_of(images), overlap = static_cast<std::size_t>(overlap), quadratic] {
    return [&ids, overlap, quadratic, i = std::size_t{0}](pair_block& block) mutable {
      if (i >= ids.size()) return false;
      const std::size_t left = ids.size() - i;  // steps below this end at an image
      block.clear();
      for (std::size_t step = 1; step < std::min(overlap, left); ++step) block.push_back({ids[i], ids[i + step]});
      if (quadratic) {
        // Each of the steps 0, 1, ... overlap - 1 that exists adds a power of two; small ones are there already.
        const std::size_t powers = std::min({overlap, left, std::size_t{63}});
        for (std::size_t power = 0; power < powers; ++power) {
          const std::size_t step = std::size_t{1} << power;
          if (step >= overlap && step < left) block.push_back({ids[i], ids[i + step]});
        }
      }
      ++i;
      return true;
    };
  });
}

pair_generator listed_pairs(const std::vector<image>& images, const std::string& path, int block_size) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  const ids_by_name ids = ids_of_names(images);

  pair_list pairs;
  std::string text;
  for (std::int64_t number = 1; std::getline(file, text); ++number) {
    if (number == 1 && text.rfind(byte_order_mark, 0) == 0) text.erase(0, byte_order_mark.size());
    const std::string line = trimmed(text);
    if (line.empty() || line[0] == '#') continue;
    pairs.add(parse_pair(line, ids, path + ", line " + std::to_string(number) + ": "));
  }
  if (file.bad()) throw std::runtime_error(path + ": cannot be read");

  return pairs.in_blocks_of(block_size);
}

pair_generator named_pairs(const std::vector<image>& images,
                           const std::vector<std::pair<std::string, std::string>>& names, int block_size) {
  const ids_by_name ids = ids_of_names(images);
  const auto id = [&](const std::string& name) {
    const auto found = ids.find(name);
    if (found == ids.end()) throw std::runtime_error("no image is named '" + name + "'");
    return found->second;
  };
  pair_list pairs;
  for (const auto& [first, second] : names) pairs.add({id(first), id(second)});
  return pairs.in_blocks_of(block_size);
}

}  // namespace serac_colmap
