// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "guided.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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
#include "image_cache.hpp"
#include "interrupt.hpp"
#include "list_store.hpp"
#include "plan.hpp"
#include "progress.hpp"

namespace serac_colmap {

namespace {

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
    const auto [letter, matrix] = row.config == calibrated     ? std::pair("E", &row.essential)
                                  : row.config == uncalibrated ? std::pair("F", &row.fundamental)
                                                               : std::pair("H", &row.homography);
    const auto refuse = [&, letter = letter](const std::string& what) {
      throw std::runtime_error(source_.path() + ": " + named() + ": their geometry (config " +
                               std::to_string(row.config) + ") has " + what + letter);
    };
    if (matrix->empty()) refuse("no matrix ");
    std::array<float, 9> entries;
    std::transform(matrix->begin(), matrix->end(), entries.begin(), [](double x) { return static_cast<float>(x); });
    if (!std::all_of(entries.begin(), entries.end(), [](float x) { return std::isfinite(x); })) {
      refuse("an entry that is not a finite number in its matrix ");
    }
    guided_pair made{pair, row.config == calibrated, {}};
    if (row.config >= planar) {
      serac::homography h;
      std::copy(entries.begin(), entries.end(), h.matrix);
      h.max_squared_error = static_cast<float>(max_error_ * max_error_);
      made.geometry = h;
    } else {
      serac::epipolar f;
      std::copy(entries.begin(), entries.end(), f.matrix);
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

/// x and y of the features of images, in pixels or normalised, of the images used last. It has room for as many images
/// as there is for descriptors, which are 16 times as large.
class location_cache {
 public:
  location_cache(database& source, const image_table& images, const guided_plan& plan, std::size_t descriptor_bytes)
      : pixels_(
            descriptor_bytes / 16, [&](std::uint32_t image) { return source.locations(image); }, &bytes),
        normalised_(
            descriptor_bytes / 16,
            [&, this](std::uint32_t image) {
              std::vector<float> points = *pixels_.get(image);
              normalise(plan.camera_of(image), points);
              return points;
            },
            &bytes),
        source_(source),
        images_(images) {}

  /// Throws unless there is one for each of the image's `features`.
  std::shared_ptr<const std::vector<float>> get(std::uint32_t image, bool normalised, std::int64_t features) {
    auto points = (normalised ? normalised_ : pixels_).get(image);
    if (static_cast<std::int64_t>(points->size()) != 2 * features) {
      throw std::runtime_error(source_.path() + ": image '" + images_.name(image) + "' has " +
                               std::to_string(points->size() / 2) + " keypoints, but " + std::to_string(features) +
                               " descriptors");
    }
    return points;
  }

 private:
  static std::size_t bytes(const std::vector<float>& points) { return points.size() * sizeof(float); }

  image_cache<std::vector<float>> pixels_, normalised_;
  const database& source_;
  const image_table& images_;
};

}  // namespace

void run_guided(database& target, const match_settings& settings, double max_error, bool dry_run) {
  const auto start = steady::now();
  const match_limits limits = limits_of(target, settings.max_num_matches);
  const serac::match_options options = options_of(settings, limits);
  const image_table images(target);
  const guided_plan plan(target, images, max_error);
  std::cout << plan.pairs.size() + static_cast<std::size_t>(plan.skipped)
            << " pairs have a geometry row: " << plan.skipped
            << " without inliers or a usable geometry are left alone, " << plan.pairs.size()
            << " are to be matched again" << std::endl;
  if (dry_run || plan.pairs.empty()) return;

  const std::unique_ptr<guided_matcher> matcher = make_guided_matcher(options, settings.where);
  descriptor_cache descriptors(target, images.headers(), settings.cache_bytes);
  location_cache locations(target, images, plan, settings.cache_bytes);
  progress_bar shown(static_cast<std::int64_t>(plan.pairs.size()));
  list_store store([&](const auto& lists) { target.store_inliers(lists); }, images, limits, settings.min_num_inliers,
                   shown);
  const double starting = seconds_since(start);
  double reading = 0, matching = 0;
  const interrupt_scope scope;
  try {
    for (const guided_pair& each : plan.pairs) {
      if (scope.interrupted()) break;
      const auto read = [&](std::uint32_t image) {
        const auto features = descriptors.get(image);
        return std::pair(features, locations.get(image, each.normalised, features->header.rows));
      };
      const auto [left, left_points] = timed(reading, [&] { return read(each.pair.first); });
      const auto [right, right_points] = timed(reading, [&] { return read(each.pair.second); });
      const serac::guided_by<> guide{
          {left_points->data(), left->header.rows}, {right_points->data(), right->header.rows}, each.geometry};
      const auto views = std::pair(left->view(), right->view());
      const serac::match_list list = timed(matching, [&] { return matcher->match(views.first, views.second, guide); });
      store.add(each.pair, list.pairs.data(), static_cast<std::int64_t>(list.pairs.size()));
    }
  } catch (...) {
    store.store();  // what came before the fault
    throw;
  }
  store.store();
  if (store.pairs() < static_cast<std::int64_t>(plan.pairs.size())) {
    throw_interrupted(store.pairs(), "the same command begins again, with the same lists");
  }
  std::cout << "matched " << store.pairs() << " pairs again on " << matcher->name() << ": " << store.nonempty()
            << " have inliers, " << store.matches() << " in all\n";
  print_times(std::cout, {starting, matching, reading, store.seconds(), seconds_since(start), 1, false});
}

}  // namespace serac_colmap
