// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What does matching under a known geometry cost, beside plain matching of the same pairs and beside asking about
/// every pair of features?
///
/// Usage: guided [FOLDER]     what export_guided wrote; without it, random images of 10,400 features
/// Prints CSV, microseconds a pair in a wave of at least 100 pairs, for pairs with F, with H and with both: plain
/// matching, guided matching by the classic path, by ordered features, and the steps of the latter.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <serac/device/match_batch.cuh>
#include <serac/device/match_guided.cuh>

#include "measure.cuh"

namespace {

struct classic : serac::policy_for<128> {};

struct guided_case {
  std::int32_t left, right;
  serac::two_view_geometry geometry;
};

/// Images in one buffer, and the cases.
struct survey {
  std::string name;
  std::vector<std::uint8_t> descriptors;
  std::vector<float> points;
  std::vector<serac::image_range> images;
  std::vector<guided_case> cases;

  void add(const std::vector<std::uint8_t>& image, const std::vector<float>& where) {
    images.push_back(
        {static_cast<std::int64_t>(descriptors.size() / 128), static_cast<std::int64_t>(image.size() / 128)});
    descriptors.insert(descriptors.end(), image.begin(), image.end());
    points.insert(points.end(), where.begin(), where.end());
  }
};

survey read_survey(const std::string& folder) {
  survey data;
  data.name = "real";
  std::istringstream lines([&] {
    const auto bytes = bench::read_file((folder + "/cases.txt").c_str());
    return std::string(bytes.begin(), bytes.end());
  }());
  std::int32_t most = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    guided_case c{};
    auto& g = c.geometry;
    words >> c.left >> c.right >> g.has_epipolar >> g.has_homography >> g.epipolar.max_squared_error;
    g.homography.max_squared_error = g.epipolar.max_squared_error;
    for (float& x : g.epipolar.matrix) words >> x;
    for (float& x : g.homography.matrix) words >> x;
    if (!words) throw std::runtime_error("cases.txt: a line is not a case");
    data.cases.push_back(c);
    most = std::max({most, c.left, c.right});
  }
  for (std::int32_t i = 0; i <= most; ++i) {
    const auto bytes = bench::read_file((folder + "/" + std::to_string(i) + ".points").c_str());
    std::vector<float> where(bytes.size() / sizeof(float));
    std::memcpy(where.data(), bytes.data(), bytes.size());
    data.add(bench::read_file((folder + "/" + std::to_string(i) + ".bin").c_str()), where);
  }
  return data;
}

/// Two images of 4000 x 2250 pixels; a third of the features of the second are where H takes those of the first, give
/// or take a pixel. F is of a camera that also moves along the plane.
survey random_survey(std::int64_t count) {
  survey data;
  data.name = "random";
  std::mt19937 generator(1);
  const auto uniform = [&](double low, double high) {
    return static_cast<float>(std::uniform_real_distribution<double>(low, high)(generator));
  };
  const float angle = 0.05f, c = std::cos(angle), s = std::sin(angle);
  const serac::homography h{{c, -s, 300, s, c, -150, 0, 0, 1}, 16};
  // x2 = H x1 + depth * (9000, 2000): the epipole lies there, to the right and far outside.
  const float e[2] = {9000, 2000};
  serac::epipolar f{{}, 16};
  for (int k = 0; k < 3; ++k) {  // [e]x H
    f.matrix[k] = 1e-6f * (e[1] * h.matrix[6 + k] - h.matrix[3 + k]);
    f.matrix[3 + k] = 1e-6f * (h.matrix[k] - e[0] * h.matrix[6 + k]);
    f.matrix[6 + k] = 1e-6f * (e[0] * h.matrix[3 + k] - e[1] * h.matrix[k]);
  }
  std::vector<std::uint8_t> left = bench::random_sift(count, 1), right = bench::random_sift(count, 2);
  std::vector<float> left_points, right_points;
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = uniform(0, 4000), y = uniform(0, 2250);
    left_points.insert(left_points.end(), {x, y});
    if (i % 3 == 0) {
      std::copy_n(&left[static_cast<std::size_t>(i) * 128], 128, &right[static_cast<std::size_t>(i) * 128]);
      right_points.insert(right_points.end(),
                          {c * x - s * y + 300 + uniform(-1, 1), s * x + c * y - 150 + uniform(-1, 1)});
    } else {
      right_points.insert(right_points.end(), {uniform(0, 4000), uniform(0, 2250)});
    }
  }
  data.add(left, left_points);
  data.add(right, right_points);
  data.cases = {{0, 1, f}, {0, 1, h}, {0, 1, serac::two_view_geometry(h, f)}};
  return data;
}

void run(const char* kind, bool with_f, bool with_h, const survey& data) {
  std::vector<serac::image_pair> pairs;
  std::vector<serac::two_view_geometry> geometries;
  double rows = 0, columns = 0;
  while (pairs.size() < 100) {
    const std::size_t before = pairs.size();
    for (const guided_case& c : data.cases) {
      if (c.geometry.has_epipolar != with_f || c.geometry.has_homography != with_h) continue;
      pairs.push_back({c.left, c.right});
      geometries.push_back(c.geometry);
      rows += static_cast<double>(data.images[static_cast<std::size_t>(c.left)].count);
      columns += static_cast<double>(data.images[static_cast<std::size_t>(c.right)].count);
    }
    if (pairs.size() == before) return;
  }
  const auto count = static_cast<std::int64_t>(pairs.size());
  std::int64_t capacity = 0;
  for (const auto& pair : pairs) capacity += data.images[static_cast<std::size_t>(pair.left)].count;

  const bench::device_array<std::uint8_t> descriptors(data.descriptors);
  const bench::device_array<float> points(data.points);
  const serac::guided_batch_view<std::uint8_t> batch{
      {{descriptors.data(), static_cast<std::int64_t>(data.descriptors.size() / 128)},
       data.images.data(),
       static_cast<std::int64_t>(data.images.size()),
       pairs.data(),
       count},
      {points.data(), static_cast<std::int64_t>(data.points.size() / 2)},
      geometries.data()};
  const serac::match_options options;
  const std::size_t room =
      std::max({serac::device::match_batch_workspace<>(batch.images, options, count),
                serac::device::match_guided_batch_workspace<>(batch.images, options, count),
                serac::device::match_guided_batch_workspace<classic>(batch.images, options, count)});
  const bench::device_array<std::uint8_t> workspace(room);
  const bench::device_array<serac::match_pair> lists(static_cast<std::size_t>(capacity));
  const bench::device_array<std::int64_t> offsets(pairs.size() + 1);
  const serac::batch_output output{lists.data(), capacity, offsets.data()};
  const bench::device_array<std::int32_t> limits(serac::acceptance_table(options).limits());
  const serac::acceptance_view accept{limits.data(), true};

  const auto plain = bench::measure(
      [&](cudaStream_t stream) {
        serac::throw_on_error(
            serac::device::match_batch<>(batch.images, options, accept, output, count, workspace.data(), room, stream));
      },
      10, 1, 2, true);
  const auto brute = bench::measure(
      [&](cudaStream_t stream) {
        serac::throw_on_error(serac::device::match_guided_batch<classic>(batch, options, accept, output, count,
                                                                         workspace.data(), room, stream));
      },
      3, 1, 1, true);
  const auto brute_lists = lists.host();
  const auto brute_offsets = offsets.host();
  const auto fast = bench::measure(
      [&](cudaStream_t stream) {
        serac::throw_on_error(
            serac::device::match_guided_batch<>(batch, options, accept, output, count, workspace.data(), room, stream));
      },
      20, 1, 3, true);
  const auto fast_offsets = offsets.host();
  const auto fast_lists = lists.host();
  const bool same = fast_offsets == brute_offsets &&
                    std::equal(fast_lists.begin(), fast_lists.begin() + fast_offsets.back(), brute_lists.begin());

  const serac::device::detail::batch_ranges<std::uint8_t> range_at{batch.images, options};
  const auto steps = [&](int last) {
    return bench::measure(
               [&](cudaStream_t stream) {
                 serac::device::detail::guided_wave<serac::default_policy> wave(
                     batch.images.descriptors, batch.images.descriptors, batch.keypoints, batch.keypoints, count,
                     options.cross_check, workspace.data(), stream);
                 serac::throw_on_error(wave.publish(range_at, [&](std::int64_t p) { return geometries[p]; }));
                 if (last > 0) serac::throw_on_error(wave.order());
                 if (last > 1) serac::throw_on_error(wave.plan());
                 if (last > 2) serac::throw_on_error(wave.match());
                 if (last > 3) serac::throw_on_error(wave.judge(accept));
               },
               20, 1, 3, true)
               .median /
           static_cast<double>(count);
  };
  const double published = steps(0), ordered = steps(1), planned = steps(2), matched = steps(3), judged = steps(4);
  const double n = static_cast<double>(count);
  std::printf("%s,%s,%lld,%.0f,%.0f,%.1f,%.2f,%.2f,%.2f,%.2f,%.2f,%.3f,%.2f,%.2f,%.2f,%.2f,%.2f,%s\n",
              data.name.c_str(), kind, static_cast<long long>(count), rows / n, columns / n,
              static_cast<double>(fast_offsets.back()) / n, plain.median / n, brute.median / n, fast.median / n,
              fast.low / n, fast.high / n, fast.median / plain.median, published, ordered - published,
              planned - ordered, matched - planned, judged - matched, same ? "yes" : "NO");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  std::printf(
      "data,geometry,pairs,rows,columns,matches,plain_us,classic_us,ordered_us,ordered_low_us,ordered_high_us,"
      "ordered_to_plain,publish_us,order_us,plan_us,match_us,judge_us,same_lists\n");
  const survey data = argc > 1 ? read_survey(argv[1]) : random_survey(10400);
  run("F", true, false, data);
  run("H", false, true, data);
  run("F and H", true, true, data);
} catch (const std::exception& failure) {
  std::fprintf(stderr, "guided: %s\n", failure.what());
  return 1;
}
