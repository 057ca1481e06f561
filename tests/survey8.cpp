// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <string>
#include <vector>

#include <serac/acceptance.hpp>
#include <serac/host/matcher.hpp>
#include <support/catch.hpp>
#include <support/survey8.hpp>

using namespace serac;
using namespace serac::test;

namespace {

struct image_states {
  std::uint32_t i, j;
  nearest2_list list;
};

/// The states of all 28 pairs: once for every list of a tie order.
template <class Tie>
std::vector<image_states> all_states(const std::vector<descriptors<>>& images) {
  host::basic_matcher<std::uint8_t, Tie> matcher;
  std::vector<image_states> states;
  for (std::uint32_t i = 0; i < images.size(); ++i) {
    for (std::uint32_t j = i + 1; j < images.size(); ++j) {
      states.push_back({i, j, matcher.nearest2(images[i].view(), images[j].view(), true)});
    }
  }
  return states;
}

/// The list of a pair, from its states.
std::vector<match_pair> judge(const nearest2_list& states, const match_options& options,
                              const acceptance_table& accept) {
  std::vector<match_pair> pairs;
  for (std::uint32_t i = 0; i < states.rows.size(); ++i) {
    const top2& row = states.rows[i];
    if (row.index < 0 || !accept(row.best, row.second)) continue;
    const auto column = static_cast<std::uint32_t>(row.index);
    const top2& back = states.columns[column];
    if (options.cross_check && (back.index != static_cast<std::int32_t>(i) || !accept(back.best, back.second))) {
      continue;
    }
    pairs.push_back({i, column});
  }
  return pairs;
}

void check_file(const std::string& directory, const golden_set& set, const list_file& file) {
  INFO("golden/" << set.name);
  CHECK(sha256(file.bytes()) == golden_sha256(directory, set.name));
  if (set.stored) CHECK(file.bytes() == golden_bytes(directory, set.name));
}

}  // namespace

TEST_CASE("SHA-256 is SHA-256", "[survey8]") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("the host backend makes COLMAP's lists of real images, bit for bit", "[survey8]") {
  if (real_data_directory() == nullptr) return skip(no_real_data);
  const std::string directory = real_data_directory();
  const std::vector<descriptors<>> images = read_survey8(directory);

  SECTION("from the states of every pair") {
    const auto smallest = all_states<tie_break::smallest_index>(images);
    const auto siftgpu = all_states<tie_break::siftgpu>(images);
    for (const golden_set& set : golden_sets) {
      const match_options options = set.options();
      const acceptance_table accept(options);
      list_file file;
      for (const auto& pair : set.ties_visible ? siftgpu : smallest) {
        file.add(pair.i, pair.j, judge(pair.list, options, accept));
      }
      check_file(directory, set, file);
    }
  }

  SECTION("by match itself") {
    const golden_set& set = golden_sets[0];
    host::matcher matcher(set.options());
    list_file file;
    for (std::uint32_t i = 0; i < images.size(); ++i) {
      for (std::uint32_t j = i + 1; j < images.size(); ++j) {
        file.add(i, j, matcher.match(images[i].view(), images[j].view()).pairs);
      }
    }
    check_file(directory, set, file);
  }
}
