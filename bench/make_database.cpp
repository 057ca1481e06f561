// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Makes a large COLMAP database (3.8) of a synthetic survey, for timing serac_colmap from database to database.
///
/// Usage: make_database FILE [--images N] [--features N] [--seed N]
///   --images 150       in the survey
///   --features 10400   of each image
///   --seed 1           another survey
///
/// The images follow a strip: each shows a window of 1500 points of the scene, 500 points further on than the one
/// before, so that an image shares 1000 points with the next one and 500 with the one after; its other features are its
/// own. Descriptors are like those of SIFT on photographs: norm 512, angles between unrelated ones as if drawn from 30
/// dimensions. An image that shares points with another has a geometry with it, a homography with one inlier, so that
/// `serac_colmap guided` has something to match; matching the pair takes the geometry away.
///
/// To see whether the run of the tool keeps the GPU busy (its last line has the seconds of each part):
///   bench_make_database survey.db --images 600
///   cp survey.db one.db && serac_colmap exhaustive --database_path one.db --SiftMatching.gpu_index 0 --hash
///   cp survey.db two.db && serac_colmap exhaustive --database_path two.db --SiftMatching.gpu_index 0,1 --hash
///   cp survey.db three.db && serac_colmap guided --database_path three.db --SiftMatching.gpu_index 0
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <serac/host/workers.hpp>

namespace {

constexpr int width = 128, dimensions = 30;
constexpr std::int64_t seen = 1500, step = 500;  // points of the scene
constexpr float image_width = 4000, image_height = 3000;
constexpr float shift = image_width * step / seen;  // pixels from an image to the next
constexpr std::int64_t id_limit = 2147483647;

struct settings {
  std::string path;
  std::int64_t images = 150, features = 10400, seed = 1;
};

settings parse(int argc, char** argv) {
  settings given;
  if (argc < 2 || argc % 2 != 0) throw std::runtime_error("usage: make_database FILE [--images N] [--features N] ...");
  given.path = argv[1];
  for (int i = 2; i < argc; i += 2) {
    const std::string name = argv[i];
    char* end = nullptr;
    const std::int64_t value = std::strtoll(argv[i + 1], &end, 10);
    if (*end != '\0' || value < 1) throw std::runtime_error(name + " needs a positive number");
    if (name == "--images") {
      given.images = value;
    } else if (name == "--features") {
      given.features = value;
    } else if (name == "--seed") {
      given.seed = value;
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
  if (given.features < seen) throw std::runtime_error("--features: at least " + std::to_string(seen));
  return given;
}

/// Random numbers for one thing of many, such as a point of the scene.
std::mt19937 source_of(std::int64_t seed, std::int64_t kind, std::int64_t number) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(kind),
                      static_cast<std::uint32_t>(number)};
  return std::mt19937(words);
}

enum kind : std::int64_t { of_basis, of_point, of_image };

struct image_data {
  std::vector<std::uint8_t> descriptors;
  std::vector<float> keypoints;  ///< x, y and an affine shape
};

class scene {
 public:
  explicit scene(const settings& given) : given_(given) {
    std::mt19937 random = source_of(given.seed, of_basis, 0);
    std::normal_distribution<float> normal(0, 0.7f / std::sqrt(static_cast<float>(dimensions)));
    for (auto& row : basis_) std::generate(row.begin(), row.end(), [&] { return normal(random); });
  }

  image_data image(std::int64_t number) const {
    const auto count = static_cast<std::size_t>(given_.features);
    image_data made{std::vector<std::uint8_t>(count * width), std::vector<float>(count * 6)};
    std::mt19937 random = source_of(given_.seed, of_image, number);
    std::uniform_real_distribution<float> unit(0, 1);
    std::vector<std::size_t> places(count);  // points of the scene come first here, and anywhere in the image
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), random);
    for (std::size_t f = 0; f < count; ++f) {
      const std::size_t place = places[f];
      const auto k = static_cast<std::int64_t>(f);
      float x = image_width * unit(random), y = image_height * unit(random), noise = 0;
      std::array<float, width> values;
      if (k < seen) {
        std::mt19937 point = source_of(given_.seed, of_point, number * step + k);
        values = histogram(point);
        x = image_width * static_cast<float>(k) / seen + unit(random);
        y = image_height * unit(point) + unit(random);
        noise = 0.1f + 0.25f * unit(random);
      } else {
        values = histogram(random);
      }
      store(values, noise, random, &made.descriptors[place * width]);
      const float scale = 1 + 4 * unit(random), keypoint[6] = {x, y, scale, 0, 0, scale};
      std::copy_n(keypoint, 6, &made.keypoints[place * 6]);
    }
    return made;
  }

 private:
  /// Values of mean 1 that vary in few dimensions; none is negative.
  std::array<float, width> histogram(std::mt19937& random) const {
    std::normal_distribution<float> normal;
    std::array<float, width> values;
    values.fill(1);
    for (const auto& row : basis_) {
      const float amount = normal(random);
      for (int i = 0; i < width; ++i) values[i] += amount * row[i];
    }
    return values;
  }

  static void store(std::array<float, width> values, float noise, std::mt19937& random, std::uint8_t* descriptor) {
    std::normal_distribution<float> normal;
    float squares = 0;
    for (float& value : values) {
      value = std::max(0.0f, noise > 0 ? value + noise * normal(random) : value);
      squares += value * value;
    }
    for (int i = 0; i < width; ++i) {
      descriptor[i] = static_cast<std::uint8_t>(std::min(255.0f, std::round(512 * values[i] / std::sqrt(squares))));
    }
  }

  settings given_;
  std::array<std::array<float, width>, dimensions> basis_;
};

/// The database being made: rows go in by statements that are bound anew.
class output {
 public:
  explicit output(const std::string& path) : path_(path) {
    if (std::FILE* const there = std::fopen(path.c_str(), "rb")) {
      std::fclose(there);
      throw std::runtime_error(path + " is there already");
    }
    sqlite3* connection = nullptr;
    const int code = sqlite3_open(path.c_str(), &connection);
    connection_.reset(connection);
    check(code);
    run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA user_version = 3800;"
        "CREATE TABLE cameras(camera_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, model INTEGER NOT NULL,"
        "  width INTEGER NOT NULL, height INTEGER NOT NULL, params BLOB, prior_focal_length INTEGER NOT NULL);"
        "CREATE TABLE images(image_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL UNIQUE,"
        "  camera_id INTEGER NOT NULL, prior_qw REAL, prior_qx REAL, prior_qy REAL, prior_qz REAL, prior_tx REAL,"
        "  prior_ty REAL, prior_tz REAL, FOREIGN KEY(camera_id) REFERENCES cameras(camera_id));"
        "CREATE TABLE keypoints(image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL,"
        "  data BLOB, FOREIGN KEY(image_id) REFERENCES images(image_id) ON DELETE CASCADE);"
        "CREATE TABLE descriptors(image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL,"
        "  cols INTEGER NOT NULL, data BLOB, FOREIGN KEY(image_id) REFERENCES images(image_id) ON DELETE CASCADE);"
        "CREATE TABLE matches(pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL,"
        "  data BLOB);"
        "CREATE TABLE two_view_geometries(pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL,"
        "  cols INTEGER NOT NULL, data BLOB, config INTEGER NOT NULL, F BLOB, E BLOB, H BLOB, qvec BLOB, tvec BLOB);"
        "CREATE UNIQUE INDEX index_name ON images(name);"
        "BEGIN");
  }

  void run(const char* sql) { check(sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr)); }

  /// A row of numbers and, where the statement has one more parameter, a blob.
  void insert(const char* sql, std::initializer_list<std::int64_t> numbers, const void* blob = nullptr,
              std::size_t bytes = 0) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(connection_.get(), sql, -1, &statement, nullptr));
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> finalize(statement, &sqlite3_finalize);
    int place = 0;
    for (const std::int64_t number : numbers) check(sqlite3_bind_int64(statement, ++place, number));
    if (blob != nullptr) check(sqlite3_bind_blob64(statement, ++place, blob, bytes, SQLITE_STATIC));
    if (sqlite3_step(statement) != SQLITE_DONE) check(sqlite3_errcode(connection_.get()));
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) throw std::runtime_error(path_ + ": " + sqlite3_errmsg(connection_.get()));
  }

  std::string path_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection_{nullptr, &sqlite3_close};
};

template <class T>
std::size_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

void make(const settings& given) {
  const scene world(given);
  output database(given.path);
  const double params[] = {image_width, image_width / 2, image_height / 2};
  database.insert("INSERT INTO cameras VALUES(1, 0, ?, ?, ?, 0)",
                  {static_cast<std::int64_t>(image_width), static_cast<std::int64_t>(image_height)}, params,
                  sizeof params);
  const std::int64_t at_once = 4 * serac::host::detail::worker_count(0, given.images);
  for (std::int64_t first = 0; first < given.images; first += at_once) {
    const std::int64_t count = std::min(at_once, given.images - first);
    std::vector<image_data> made(static_cast<std::size_t>(count));
    serac::host::detail::run_tasks(serac::host::detail::worker_count(0, count), count, [&](int, std::int64_t i) {
      made[static_cast<std::size_t>(i)] = world.image(first + i);
    });
    for (std::int64_t i = 0; i < count; ++i) {
      const image_data& each = made[static_cast<std::size_t>(i)];
      const std::int64_t id = first + i + 1;
      database.insert("INSERT INTO images(image_id, name, camera_id) VALUES(?1, printf('image%06d.jpg', ?1), 1)", {id});
      database.insert("INSERT INTO keypoints VALUES(?, ?, 6, ?)", {id, given.features}, each.keypoints.data(),
                      bytes_of(each.keypoints));
      database.insert("INSERT INTO descriptors VALUES(?, ?, 128, ?)", {id, given.features}, each.descriptors.data(),
                      bytes_of(each.descriptors));
      for (std::int64_t before = std::max<std::int64_t>(1, id - (seen - 1) / step); before < id; ++before) {
        const double homography[] = {1, 0, -static_cast<double>(shift) * static_cast<double>(id - before), 0, 1, 0, 0,
                                     0, 1};
        database.insert(
            "INSERT INTO two_view_geometries(pair_id, rows, cols, data, config, H) VALUES(?, 1, 2, zeroblob(8), 4, ?)",
            {id_limit * before + id}, homography, sizeof homography);
      }
    }
    std::fprintf(stderr, "\r%lld of %lld images", static_cast<long long>(first + count),
                 static_cast<long long>(given.images));
  }
  std::fputc('\n', stderr);
  database.run("COMMIT");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    make(parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_database: %s\n", error.what());
    return 2;
  }
}
