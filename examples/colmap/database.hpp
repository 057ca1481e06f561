// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A COLMAP database, any version from 3.8 to 4.2 and the very old ones: what a matcher reads and writes of it.
/// Layouts are told apart by their tables and columns, never by version; columns are read by name.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <serac/output.hpp>

namespace serac_colmap {

/// Image ids are below this; it also separates the two ids in a pair_id.
inline constexpr std::int64_t id_limit = 2147483647;

struct image {
  std::int64_t id;
  std::string name;
};

/// Two images in the order of matching: the features of `first` are the rows.
struct image_pair {
  std::uint32_t first, second;
};

/// COLMAP's key of an unordered pair of images.
std::int64_t pair_id(image_pair pair);
/// The pair of a key, the smaller id first.
image_pair pair_of(std::int64_t pair_id);

/// A row of the descriptors table without its data. An image without such a row has none: all zeros.
struct descriptor_header {
  static constexpr std::int64_t sift = 0;
  std::int64_t image_id = 0, type = sift, rows = 0, cols = 0;
  std::int64_t bytes = 0;  ///< length of the data
};

/// The scale of every keypoint of an image, in pixels; empty where the layout has none.
using keypoint_scales = std::vector<float>;

/// A list of matches that is to be stored, in the order of matching.
struct matched_pair {
  image_pair pair;
  std::vector<serac::match_pair> matches;
};

/// A row of the matches table. The data belongs to SQLite and lives until the visitor returns.
struct match_row {
  std::int64_t pair_id, rows, cols;
  const unsigned char* data;
  std::size_t bytes;
};

/// The same without its data.
struct match_header {
  std::int64_t pair_id, rows, cols, bytes;
};

/// A camera: COLMAP's number of its model, and its parameters.
struct camera {
  std::int64_t model = -1;
  std::vector<double> params;
};

/// What is known of two images, the smaller id first. A matrix that is unset (NULL, or all zeros) is empty.
struct pair_geometry {
  std::int64_t pair_id, inliers, config;
  std::vector<double> fundamental, essential, homography;  ///< row-major
};

/// How many pairs a table has, how many of them are not empty, and their matches.
struct pair_counts {
  std::int64_t pairs = 0, nonempty = 0, matches = 0;
};

/// An open database. Every failure is a std::runtime_error that names the file. One thread at a time.
class database {
 public:
  enum class access { read_only, read_write };

  /// `lock_timeout` is how long to wait for other processes' locks. Writing switches to WAL journalling, as COLMAP
  /// does; reading changes nothing.
  database(const std::string& path, access mode, std::chrono::milliseconds lock_timeout);

  const std::string& path() const { return path_; }
  std::chrono::milliseconds lock_timeout() const { return lock_timeout_; }
  /// A line for people: which tables and columns this layout has.
  std::string layout();

  /// In order of id. Throws if an id is out of COLMAP's range.
  std::vector<image> images();
  /// In order of image id.
  std::vector<descriptor_header> descriptor_headers();
  /// Feature count of the largest image: of its keypoints or, where there are none at all, of its descriptors.
  std::int64_t largest_feature_count();
  /// The raw bytes; empty if there are none.
  std::vector<std::uint8_t> descriptors(std::int64_t image_id);
  keypoint_scales scales(std::int64_t image_id);

  /// x and y of every keypoint of an image, in pixels; empty if there are none.
  std::vector<float> locations(std::int64_t image_id);
  camera camera_of(std::int64_t image_id);

  /// The keys of all pairs that have a matches row, ascending.
  std::vector<std::int64_t> matched_pair_ids();
  /// In order of pair_id.
  std::vector<match_header> match_headers();
  /// Every row of the matches table in order of pair_id.
  void visit_matches(const std::function<void(const match_row&)>& visit);
  /// The matches of one pair, columns as stored; throws unless the row is a well-formed list.
  std::vector<serac::match_pair> matches(std::int64_t pair_id);
  pair_counts count_matches() { return count("matches"); }
  /// Zeros where this layout has no geometry table.
  pair_counts count_geometries() { return geometry_table_.empty() ? pair_counts{} : count(geometry_table_); }

  /// Stores all lists in one transaction, so that each is there wholly or not at all. A pair that another process has
  /// stored meanwhile is left as it is. A two-view row without a matches row belongs to matches that are gone: COLMAP
  /// would skip the pair instead of verifying it, so it goes, as it does in COLMAP. Throws if the file at the path is
  /// not the opened one any more.
  void store(const std::vector<matched_pair>& lists);

  /// All rows of the geometry table, in order of pair_id. Throws if this layout keeps no matrices.
  std::vector<pair_geometry> geometries();
  /// Makes the lists, in one transaction, the inliers of their pairs, whose geometries stay as they are; where a list
  /// is empty the pair becomes one without geometry. The smaller id of each pair comes first.
  void store_inliers(const std::vector<matched_pair>& lists);

 private:
  class statement;
  struct close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
  };

  void execute(const char* sql);
  void commit();
  void check_file() const;
  bool has_column(const std::string& table, const std::string& column);
  void use_write_ahead_log();
  pair_counts count(const std::string& table);
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  std::chrono::milliseconds lock_timeout_;
  std::unique_ptr<sqlite3, close> connection_;
  std::string geometry_table_;  // empty if there is none
};

}  // namespace serac_colmap
