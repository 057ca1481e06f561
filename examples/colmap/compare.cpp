// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <serac/acceptance.hpp>

#include "descriptor_cache.hpp"
#include "report_text.hpp"

namespace serac_colmap {

namespace {

using match_vector = std::vector<serac::match_pair>;

constexpr std::size_t cache_bytes = std::size_t{1} << 30;

/// Matches counted by where they are.
struct tally {
  std::int64_t in_a = 0, in_b = 0, in_both = 0;

  std::int64_t lost() const { return in_a - in_both; }
  std::int64_t gained() const { return in_b - in_both; }
  void add(bool a, bool b) {
    in_a += a;
    in_b += b;
    in_both += a && b;
  }
};

/// Calls `visit(match, in a, in b)` for every match of two lists.
template <class Visit>
void visit_union(match_vector a, match_vector b, Visit visit) {
  const auto before = [](serac::match_pair x, serac::match_pair y) {
    return std::make_pair(x.row, x.column) < std::make_pair(y.row, y.column);
  };
  std::sort(a.begin(), a.end(), before);
  std::sort(b.begin(), b.end(), before);
  for (auto i = a.begin(), j = b.begin(); i != a.end() || j != b.end();) {
    const bool in_a = j == b.end() || (i != a.end() && !before(*j, *i));
    const bool in_b = i == a.end() || (j != b.end() && !before(*i, *j));
    visit(in_a ? *i : *j, in_a, in_b);
    i += in_a;
    j += in_b;
  }
}

/// Tallies by intervals of a value; one below the first bound is unknown. Without bounds: one tally of all.
class strata {
 public:
  strata(std::string title, std::vector<double> bounds)
      : title_(std::move(title)), bounds_(std::move(bounds)), tallies_(bounds_.size() + 1) {}

  void add(double value, bool in_a, bool in_b) {
    const auto above = std::upper_bound(bounds_.begin(), bounds_.end(), value);
    tallies_[static_cast<std::size_t>(above - bounds_.begin())].add(in_a, in_b);
  }

  void print() const {
    std::cout << std::left << std::setw(24) << title_ << std::right;
    for (const char* const head : {"in A", "in B", "in both", "lost", "gained", "lost %"}) {
      std::cout << std::setw(10) << head;
    }
    std::cout << '\n';
    for (std::size_t i = 0; i < tallies_.size(); ++i) {
      const tally& t = tallies_[i];
      if (t.in_a + t.in_b == 0) continue;
      std::cout << "  " << std::left << std::setw(22) << label(i) << std::right;
      for (const std::int64_t n : {t.in_a, t.in_b, t.in_both, t.lost(), t.gained()}) std::cout << std::setw(10) << n;
      const double share = t.in_a == 0 ? 0 : 100.0 * static_cast<double>(t.lost()) / static_cast<double>(t.in_a);
      std::cout << std::setw(10) << std::fixed << std::setprecision(3) << share << std::defaultfloat << '\n';
    }
  }

 private:
  std::string label(std::size_t i) const {
    if (i == 0) return bounds_.empty() ? "all" : "unknown";
    std::ostringstream text;
    text << "from " << bounds_[i - 1];
    if (i < bounds_.size()) text << " to below " << bounds_[i];
    return text.str();
  }

  std::string title_;
  std::vector<double> bounds_;
  std::vector<tally> tallies_;  // unknown, then one from each bound on
};

/// Scale and score of matches, from the features of either database.
class feature_lookup {
 public:
  static constexpr double unknown = -1;

  feature_lookup(database& a, database& b) : a_(a, cache_bytes), b_(b, cache_bytes) {}

  /// The smaller scale of the two features, in pixels.
  double scale(image_pair pair, serac::match_pair match) {
    const keypoint_scales& first = scales(pair.first);
    const keypoint_scales& second = scales(pair.second);
    if (match.row >= first.size() || match.column >= second.size()) return unknown;
    const float left = first[match.row], right = second[match.column];
    return std::isnan(left) || std::isnan(right) ? unknown : std::min(left, right);
  }

  /// Score / 2^18: the cosine of the angle between two descriptors of norm 512.
  double cosine(image_pair pair, serac::match_pair match) {
    const auto first = descriptors(pair.first), second = descriptors(pair.second);
    if (match.row >= first->header.rows || match.column >= second->header.rows) return unknown;
    const serac::sift_view left = first->view(), right = second->view();
    const std::uint8_t* const row = left.data + match.row * left.stride;
    const std::uint8_t* const column = right.data + match.column * right.stride;
    return std::inner_product(row, row + left.width, column, 0) / static_cast<double>(serac::unit_score);
  }

 private:
  struct source {
    source(database& from, std::size_t bytes) : data(from), cache(from, sift_headers(from), bytes) {}

    /// Other descriptors count as none: their matches have no score that means anything here.
    static std::vector<descriptor_header> sift_headers(database& from) {
      std::vector<descriptor_header> headers;
      for (const descriptor_header& header : from.descriptor_headers()) {
        if (header.type == descriptor_header::sift && has_sift_size(header)) {
          headers.push_back(header);
        }
      }
      return headers;
    }

    database& data;
    descriptor_cache cache;
  };

  std::shared_ptr<const features> descriptors(std::uint32_t image) {
    auto found = a_.cache.get(image);
    return found->header.rows > 0 ? found : b_.cache.get(image);
  }

  const keypoint_scales& scales(std::uint32_t image) {
    const auto [place, added] = scales_.try_emplace(image);
    if (added) place->second = a_.data.scales(image);
    if (added && place->second.empty()) place->second = b_.data.scales(image);
    return place->second;
  }

  source a_, b_;
  std::unordered_map<std::uint32_t, keypoint_scales> scales_;
};

/// The names of all images of both; throws if an id has two names.
std::map<std::int64_t, std::string> common_names(database& a, database& b) {
  std::map<std::int64_t, std::string> names;
  for (const image& each : a.images()) names.emplace(each.id, each.name);
  for (const image& each : b.images()) {
    const auto [place, added] = names.emplace(each.id, each.name);
    if (!added && place->second != each.name) {
      throw std::runtime_error("these databases do not hold the same images: id " + std::to_string(each.id) + " is '" +
                               place->second + "' in " + a.path() + " and '" + each.name + "' in " + b.path());
    }
  }
  return names;
}

}  // namespace

bool compare(database& a, database& b, std::size_t listed) {
  const auto names = common_names(a, b);
  const auto name_of = [&](std::uint32_t id) {
    const auto found = names.find(id);
    return found == names.end() ? "(id " + std::to_string(id) + ")" : found->second;
  };

  const std::vector<std::int64_t> ids_a = a.matched_pair_ids(), ids_b = b.matched_pair_ids();
  std::vector<std::int64_t> only_a, only_b, common, reordered, different;
  std::set_difference(ids_a.begin(), ids_a.end(), ids_b.begin(), ids_b.end(), std::back_inserter(only_a));
  std::set_difference(ids_b.begin(), ids_b.end(), ids_a.begin(), ids_a.end(), std::back_inserter(only_b));
  std::set_intersection(ids_a.begin(), ids_a.end(), ids_b.begin(), ids_b.end(), std::back_inserter(common));
  for (const std::int64_t id : common) {
    const match_vector list_a = a.matches(id), list_b = b.matches(id);
    if (list_a == list_b) continue;
    tally found;
    visit_union(list_a, list_b, [&](serac::match_pair, bool in_a, bool in_b) { found.add(in_a, in_b); });
    (found.lost() + found.gained() == 0 ? reordered : different).push_back(id);
  }

  std::cout << "A: " << a.path() << ", " << ids_a.size() << " pairs\nB: " << b.path() << ", " << ids_b.size()
            << " pairs\npairs: " << common.size() - reordered.size() - different.size() << " equal, "
            << reordered.size() << " in another order, " << different.size() << " different, " << only_a.size()
            << " only in A, " << only_b.size() << " only in B\n";
  if (only_a.empty() && only_b.empty() && reordered.empty() && different.empty()) return true;

  const auto list_pairs = [&](const char* what, const std::vector<std::int64_t>& ids, bool with_counts) {
    for (std::size_t i = 0; i < std::min(listed, ids.size()); ++i) {
      const image_pair pair = pair_of(ids[i]);
      std::cout << what << ": " << as_terminal(name_of(pair.first)) << ' ' << as_terminal(name_of(pair.second));
      if (with_counts) {
        tally found;
        visit_union(a.matches(ids[i]), b.matches(ids[i]), [&](auto, bool in_a, bool in_b) { found.add(in_a, in_b); });
        std::cout << ": " << found.in_a << " matches in A, " << found.in_b << " in B, " << found.lost() << " lost, "
                  << found.gained() << " gained";
      }
      std::cout << '\n';
    }
    if (ids.size() > listed) std::cout << what << ": " << ids.size() - listed << " more pairs (--list)\n";
  };
  list_pairs("different", different, true);
  list_pairs("in another order", reordered, false);
  list_pairs("only in A", only_a, true);
  list_pairs("only in B", only_b, true);

  strata total("matches", {}), by_scale("by smaller scale, pixels", {0, 2, 4, 8, 16}),
      by_score("by score / 2^18", {0, 0.8, 0.85, 0.9, 0.95, 1});
  feature_lookup lookup(a, b);
  std::vector<std::int64_t> all;
  std::set_union(ids_a.begin(), ids_a.end(), ids_b.begin(), ids_b.end(), std::back_inserter(all));
  for (const std::int64_t id : all) {
    visit_union(a.matches(id), b.matches(id), [&](serac::match_pair match, bool in_a, bool in_b) {
      total.add(0, in_a, in_b);
      by_scale.add(lookup.scale(pair_of(id), match), in_a, in_b);
      by_score.add(lookup.cosine(pair_of(id), match), in_a, in_b);
    });
  }
  total.print();
  by_scale.print();
  by_score.print();
  return false;
}

}  // namespace serac_colmap
