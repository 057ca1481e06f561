// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The real data: eight photographs of a survey, and the lists that COLMAP's GPU matcher makes of their 28 pairs.
#pragma once

#include <openssl/evp.h>
#include <sqlite3.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <serac/geometry.hpp>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <support/descriptors.hpp>

namespace serac::test {

/// One way to match, whose lists are known.
struct golden_set {
  const char* name;
  float max_distance;
  float max_ratio;
  bool cross_check;
  bool ties_visible;  ///< the lists are those of tie_break::siftgpu
  bool stored;        ///< NAME.bin exists; otherwise only its hash

  match_options options() const {
    match_options o;
    o.max_distance = max_distance, o.max_ratio = max_ratio, o.cross_check = cross_check;
    return o;
  }
};

inline constexpr golden_set golden_sets[] = {
    {"default", 0.7f, 0.8f, true, false, true},  {"ratio090", 0.7f, 0.9f, true, false, true},
    {"nocross", 0.7f, 0.8f, false, false, true}, {"dist025", 0.25f, 0.95f, true, false, true},
    {"ratio110", 0.7f, 1.1f, true, true, true},  {"ratio110_nocross", 0.7f, 1.1f, false, true, false},
    {"wide", 3.2f, 1.0f, false, false, false},
};

/// The folder that contains survey8/, or null: the environment variable SERAC_REAL_DATA_DIR.
inline const char* real_data_directory() { return std::getenv("SERAC_REAL_DATA_DIR"); }

inline constexpr char no_real_data[] =
    "SERAC_REAL_DATA_DIR is not set: nothing was compared with COLMAP's lists of real images";

/// All bytes of a file. Throws std::runtime_error naming it.
inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// SHA-256 in lower-case hexadecimal digits.
inline std::string sha256(const std::string& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not available");
  }
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 15];
  }
  return text;
}

/// The table `table` of the eight images, in image_id order: `read(rows, cols, blob, bytes)` for each. `directory`
/// contains survey8/.
template <class Read>
void read_survey8(const std::string& directory, const std::string& table, Read read) {
  const std::string path = directory + "/survey8/survey8.db";
  sqlite3* opened = nullptr;
  const std::string uri = "file:" + path + "?immutable=1";  // read-only media: no journal is looked for
  const int opening = sqlite3_open_v2(uri.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
  if (opening != SQLITE_OK) throw std::runtime_error("cannot open " + path);

  sqlite3_stmt* prepared = nullptr;
  const std::string sql = "SELECT rows, cols, data FROM " + table + " ORDER BY image_id";
  const int preparing = sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
  if (preparing != SQLITE_OK) throw std::runtime_error(path + ": " + sqlite3_errmsg(database.get()));

  int images = 0;
  int step;
  for (; (step = sqlite3_step(statement.get())) == SQLITE_ROW; ++images) {
    const void* const blob = sqlite3_column_blob(statement.get(), 2);
    read(sqlite3_column_int64(statement.get(), 0), sqlite3_column_int(statement.get(), 1), blob,
         static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), 2)));
  }
  if (step != SQLITE_DONE) throw std::runtime_error(path + ": " + sqlite3_errmsg(database.get()));
  if (images != 8) throw std::runtime_error(path + ": not eight images");
}

/// The descriptors of the eight images.
inline std::vector<descriptors<>> read_survey8(const std::string& directory) {
  std::vector<descriptors<>> images;
  read_survey8(directory, "descriptors", [&](std::int64_t rows, int cols, const void* blob, std::size_t bytes) {
    descriptors<> image(rows, cols);
    if (bytes != image.data.size()) throw std::runtime_error("survey8: a blob's size is not rows x cols");
    image.data.assign(static_cast<const std::uint8_t*>(blob), static_cast<const std::uint8_t*>(blob) + bytes);
    images.push_back(std::move(image));
  });
  return images;
}

/// The locations of their features, x and y.
inline std::vector<std::vector<float>> read_survey8_points(const std::string& directory) {
  std::vector<std::vector<float>> images;
  read_survey8(directory, "keypoints", [&](std::int64_t rows, int cols, const void* blob, std::size_t bytes) {
    std::vector<float> values(static_cast<std::size_t>(rows * cols)), points;
    if (bytes != values.size() * sizeof(float)) throw std::runtime_error("survey8: a blob's size is not rows x cols");
    std::memcpy(values.data(), blob, bytes);
    for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(cols)) {
      points.push_back(values[i]), points.push_back(values[i + 1]);
    }
    images.push_back(std::move(points));
  });
  return images;
}

/// A guided case: two images and what is known of them.
struct guided_case {
  std::uint32_t i, j;
  two_view_geometry geometry;
};

/// The cases of guided.txt, in the order of guided.bin.
inline std::vector<guided_case> read_guided_cases(const std::string& directory) {
  std::istringstream file(read_file(directory + "/survey8/golden/guided.txt"));
  std::vector<guided_case> cases;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    guided_case c{};
    words >> c.i >> c.j >> c.geometry.has_epipolar >> c.geometry.has_homography >>
        c.geometry.epipolar.max_squared_error;
    c.geometry.homography.max_squared_error = c.geometry.epipolar.max_squared_error;
    for (float& x : c.geometry.epipolar.matrix) words >> x;
    for (float& x : c.geometry.homography.matrix) words >> x;
    if (!words) throw std::runtime_error("guided.txt: line " + std::to_string(cases.size() + 1) + " is not a case");
    cases.push_back(c);
  }
  if (cases.size() != 51) throw std::runtime_error("guided.txt: not 51 cases");
  return cases;
}

/// A list file as it grows pair by pair: `i, j, count`, then `count` times `row, column`, little-endian uint32.
class list_file {
 public:
  void add(std::uint32_t i, std::uint32_t j, const std::vector<match_pair>& pairs) {
    for (const std::uint32_t x : {i, j, static_cast<std::uint32_t>(pairs.size())}) put(x);
    for (const match_pair& pair : pairs) put(pair.row), put(pair.column);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void put(std::uint32_t x) {
    for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(x >> shift & 255);
  }
  std::string bytes_;
};

/// The hash that SHA256SUMS gives for NAME.bin.
inline std::string golden_sha256(const std::string& directory, const std::string& name) {
  const std::string sums = read_file(directory + "/survey8/golden/SHA256SUMS");
  const std::size_t place = sums.find("  " + name + ".bin\n");
  if (place == std::string::npos || place < 64) throw std::runtime_error("SHA256SUMS has no line for " + name);
  return sums.substr(place - 64, 64);
}

/// NAME.bin itself.
inline std::string golden_bytes(const std::string& directory, const std::string& name) {
  return read_file(directory + "/survey8/golden/" + name + ".bin");
}

}  // namespace serac::test
