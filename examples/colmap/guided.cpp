// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "guided.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <serac/host/matcher.hpp>

#include "camera.hpp"
#include "descriptor_cache.hpp"
#include "interrupt.hpp"
#include "plan.hpp"
#include "progress.hpp"

namespace serac_colmap {

namespace {

constexpr double store_interval = 5;  // seconds

/// COLMAP's two-view configurations.
enum config : std::int64_t { calibrated = 2, uncalibrated, planar, panoramic, planar_or_panoramic };

class host_guided_matcher : public guided_matcher {
 public:
  host_guided_matcher(const serac::match_options& options, int threads)
      : threads_(threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))),
        matcher_(options, threads_) {}

  serac::match_list match(const serac::sift_view& left, const serac::sift_view& right,
                          const serac::guided_by<>& guide) override {
    return matcher_.match_guided(left, right, guide);
  }
  std::string name() const override { return "the host, " + std::to_string(threads_) + " threads"; }

 private:
  int threads_;
  serac::host::basic_matcher<std::uint8_t, serac::tie_break::siftgpu> matcher_;  // ties as COLMAP breaks them
};

std::unique_ptr<guided_matcher> make_guided_matcher(const serac::match_options& options, const backend_choice& choice) {
  if (choice.use_gpu.value_or(true)) {
    try {
#if SERAC_COLMAP_HAS_CUDA
      return make_cuda_guided_matcher(options, choice);
#else
      throw std::runtime_error("this program was built without a GPU backend");
#endif
    } catch (const std::exception& error) {
      if (choice.use_gpu) throw std::runtime_error(std::string("no GPU is usable: ") + error.what());
      std::cerr << "matching on the host, for no GPU is usable: " << error.what() << '\n';
    }
  }
  return std::make_unique<host_guided_matcher>(options, choice.num_threads);
}

/// A pair to match, and how.
struct guided_pair {
  image_pair pair;
  bool normalised;  ///< the locations are
  serac::two_view_geometry geometry;
};

void copy(const std::vector<double>& matrix, float (&to)[9]) {
  std::transform(matrix.begin(), matrix.end(), to, [](double x) { return static_cast<float>(x); });
}

/// The images that take part, and their cameras.
class guided_plan {
 public:
  guided_plan(database& source, const image_table& images, double max_error)
      : source_(source), images_(images), max_error_(max_error) {
    for (const pair_geometry& row : source.geometries()) {
      if (row.inliers == 0 || row.config < calibrated || row.config > planar_or_panoramic) {
        ++skipped;
        continue;
      }
      check_is_pair(row.pair_id);
      pairs.push_back(guided(row));
      used.insert({pairs.back().pair.first, pairs.back().pair.second});
    }
    for (const descriptor_header& header : images.headers()) {
      const auto id = static_cast<std::uint32_t>(header.image_id);
      if (used.count(id) > 0) check_is_sift(header, images.name(id));
    }
  }

  const camera& camera_of(std::uint32_t image) const { return cameras_.at(image); }

  std::vector<guided_pair> pairs;
  std::set<std::uint32_t> used;
  std::int64_t skipped = 0;

 private:
  /// Refuses a key that is not of two images that there are, the smaller id first.
  void check_is_pair(std::int64_t key) const {
    const image_pair pair = pair_of(key);
    if (pair.first >= pair.second || pair_id(pair) != key) {
      throw std::runtime_error(source_.path() + ": a geometry has the pair_id " + std::to_string(key) +
                               ", which no two images have");
    }
    name(pair.first), name(pair.second);
  }

  guided_pair guided(const pair_geometry& row) {
    const image_pair pair = pair_of(row.pair_id);
    const auto named = [&] { return "images '" + name(pair.first) + "' and '" + name(pair.second) + "'"; };
    const std::vector<double>& matrix = row.config == calibrated     ? row.essential
                                        : row.config == uncalibrated ? row.fundamental
                                                                     : row.homography;
    if (matrix.empty()) {
      throw std::runtime_error(source_.path() + ": " + named() + ": their geometry (config " +
                               std::to_string(row.config) + ") has no matrix " +
                               (row.config == calibrated     ? "E"
                                : row.config == uncalibrated ? "F"
                                                             : "H"));
    }
    guided_pair made{pair, row.config == calibrated, {}};
    if (row.config >= planar) {
      serac::homography h;
      copy(matrix, h.matrix);
      h.max_squared_error = static_cast<float>(max_error_ * max_error_);
      made.geometry = h;
    } else {
      serac::epipolar f;
      copy(matrix, f.matrix);
      double squared = max_error_ * max_error_;
      if (made.normalised) {
        const double left = normalised_distance(learn_camera(pair.first), max_error_);
        const double right = normalised_distance(learn_camera(pair.second), max_error_);
        squared = (left * left + right * right) / 2;
      }
      f.max_squared_error = static_cast<float>(squared);
      made.geometry = f;
    }
    return made;
  }

  const std::string& name(std::uint32_t image) const {
    try {
      return images_.name(image);
    } catch (const std::out_of_range&) {
      throw std::runtime_error(source_.path() + ": a geometry is of image " + std::to_string(image) +
                               ", which there is none");
    }
  }

  const camera& learn_camera(std::uint32_t image) {
    const auto known = cameras_.find(image);
    if (known != cameras_.end()) return known->second;
    camera given = source_.camera_of(image);
    try {
      check_is_known(given);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(source_.path() + ": image '" + name(image) + "': " + error.what());
    }
    return cameras_.emplace(image, std::move(given)).first->second;
  }

  database& source_;
  const image_table& images_;
  double max_error_;
  std::map<std::uint32_t, camera> cameras_;
};

}  // namespace

void run_guided(database& target, const match_settings& settings, double max_error, bool dry_run) {
  const match_limits limits = limits_of(target, settings.max_num_matches);
  serac::match_options options = options_of(settings, limits);
  options.max_matches = limits.matches;
  const image_table images(target);
  const guided_plan plan(target, images, max_error);
  std::cout << plan.pairs.size() + static_cast<std::size_t>(plan.skipped)
            << " pairs have a geometry row: " << plan.skipped
            << " without inliers or a usable geometry are left alone, " << plan.pairs.size()
            << " are to be matched again" << std::endl;
  if (dry_run || plan.pairs.empty()) return;

  const auto start = steady::now();
  const std::unique_ptr<guided_matcher> matcher = make_guided_matcher(options, settings.where);
  descriptor_cache cache(target, images.headers(), settings.cache_bytes);
  const auto locations = [&](std::uint32_t image, std::int64_t features, bool normalised) {
    std::vector<float> points = target.locations(image);
    if (static_cast<std::int64_t>(points.size()) != 2 * features) {
      throw std::runtime_error(target.path() + ": image '" + images.name(image) + "' has " +
                               std::to_string(points.size() / 2) + " keypoints, but " + std::to_string(features) +
                               " descriptors");
    }
    if (normalised) normalise(plan.camera_of(image), points);
    return points;
  };

  progress shown(static_cast<std::int64_t>(plan.pairs.size()));
  std::vector<matched_pair> waiting;
  std::int64_t done = 0, nonempty = 0, matches = 0;
  auto stored = steady::now();
  const auto store = [&] {
    target.store_inliers(std::exchange(waiting, {}));  // not tried again if it fails
    stored = steady::now();
  };
  const interrupt_scope scope;
  try {
    for (const guided_pair& each : plan.pairs) {
      if (scope.interrupted()) break;
      const auto left = cache.get(each.pair.first), right = cache.get(each.pair.second);
      const auto left_points = locations(each.pair.first, left->header.rows, each.normalised);
      const auto right_points = locations(each.pair.second, right->header.rows, each.normalised);
      const serac::guided_by<> guide{
          {left_points.data(), left->header.rows}, {right_points.data(), right->header.rows}, each.geometry};
      matched_pair list{each.pair, matcher->match(left->view(), right->view(), guide).pairs};
      if (static_cast<std::int64_t>(list.matches.size()) < settings.min_num_inliers) list.matches.clear();
      matches += static_cast<std::int64_t>(list.matches.size());
      nonempty += !list.matches.empty();
      waiting.push_back(std::move(list));
      ++done;
      shown.advance();
      if (seconds_since(stored) > store_interval) store();
    }
  } catch (...) {
    store();  // what came before the fault
    throw;
  }
  store();
  if (done < static_cast<std::int64_t>(plan.pairs.size())) {
    throw_interrupted(done, "the same command begins again, with the same lists");
  }
  std::cout << "matched " << plan.pairs.size() << " pairs again on " << matcher->name() << ": " << nonempty
            << " have inliers, " << matches << " in all\n"
            << std::fixed << std::setprecision(3) << "seconds: " << seconds_since(start) << '\n';
}

}  // namespace serac_colmap
