// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdint>
#include <string>
#include <vector>

#include <support/survey8_checks.cuh>

using namespace serac;
using namespace serac::test;

namespace {

void check_guided(const std::string& directory, const std::string& name, const std::string& bytes) {
  record_hash("guided", name, bytes);
  check_golden(directory, "guided", true, bytes);
}

}  // namespace

TEMPLATE_TEST_CASE("the GPU makes COLMAP's 51 guided lists of real images, bit for bit", "[survey8]", default_policy,
                   sift, scalar, mma_policy) {
  if (!survey8_present()) return;
  const std::string directory = real_data_directory();
  const auto images = read_survey8(directory);
  const auto points = read_survey8_points(directory);
  const auto keypoints = [&](std::uint32_t i) { return keypoint_view(points[i].data(), images[i].count); };
  basic_matcher<TestType> matcher;
  list_file file;
  for (const guided_case& c : read_guided_cases(directory)) {
    const guided_by<> guide{keypoints(c.i), keypoints(c.j), c.geometry};
    file.add(c.i, c.j, matcher.match_guided(images[c.i].view(), images[c.j].view(), guide).pairs);
  }
  check_guided(directory, recorded<TestType>::name, file.bytes());
}

TEST_CASE("a batch makes them in one call", "[survey8]") {
  if (!survey8_present()) return;
  const std::string directory = real_data_directory();
  descriptors<> all(0);
  std::vector<float> points;
  std::vector<image_range> ranges;
  for (const descriptors<>& image : read_survey8(directory)) {
    ranges.push_back({all.count, image.count});
    all.data.insert(all.data.end(), image.data.begin(), image.data.end());
    all.count += image.count;
  }
  for (const auto& image : read_survey8_points(directory)) points.insert(points.end(), image.begin(), image.end());
  std::vector<serac::image_pair> pairs;
  std::vector<two_view_geometry> geometries;
  std::int64_t capacity = 0;
  for (const guided_case& c : read_guided_cases(directory)) {
    pairs.push_back({static_cast<std::int32_t>(c.i), static_cast<std::int32_t>(c.j)});
    geometries.push_back(c.geometry);
    capacity += ranges[c.i].count;
  }
  const device_descriptors<> descriptors_there(all);
  const device_array<float> points_there(points);
  const guided_batch_view<std::uint8_t> batch{
      {descriptors_there.view(), ranges.data(), static_cast<std::int64_t>(ranges.size()), pairs.data(),
       static_cast<std::int64_t>(pairs.size())},
      {points_there.data(), all.count},
      geometries.data()};
  const match_options options;
  device_array<match_pair> list(static_cast<std::size_t>(capacity));
  device_array<std::int64_t> offsets(pairs.size() + 1);
  for (const std::int64_t wave : {20, 100}) {
    device_array<std::uint8_t> workspace(device::match_guided_batch_workspace<>(batch.images, options, wave));
    require_ok(device::match_guided_batch<>(batch, options, {list.data(), capacity, offsets.data()}, wave,
                                            workspace.data(), workspace.size(), nullptr));
    const auto found = list.values();
    const auto places = offsets.values();
    list_file file;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      file.add(static_cast<std::uint32_t>(pairs[p].left), static_cast<std::uint32_t>(pairs[p].right),
               {found.begin() + places[p], found.begin() + places[p + 1]});
    }
    check_guided(directory, "batch", file.bytes());
  }
}
