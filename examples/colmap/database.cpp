// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "database.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace serac_colmap {

std::int64_t pair_id(image_pair pair) {
  return id_limit * std::min(pair.first, pair.second) + std::max(pair.first, pair.second);
}

image_pair pair_of(std::int64_t pair_id) {
  return {static_cast<std::uint32_t>(pair_id / id_limit), static_cast<std::uint32_t>(pair_id % id_limit)};
}

/// A prepared statement; parameters are counted from 1 and columns from 0, as in SQLite.
class database::statement {
 public:
  statement(database& owner, const std::string& sql) : owner_(owner) {
    const int length = static_cast<int>(sql.size());
    check(sqlite3_prepare_v2(owner.connection_.get(), sql.c_str(), length, &handle_, nullptr));
  }
  ~statement() { sqlite3_finalize(handle_); }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  statement& bind(int parameter, std::int64_t value) {
    check(sqlite3_bind_int64(handle_, parameter, value));
    return *this;
  }
  statement& bind(int parameter, const std::string& text) {
    check(sqlite3_bind_text64(handle_, parameter, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
  }
  /// The data must live until the next reset; no bytes are stored as NULL.
  statement& bind(int parameter, const void* data, std::size_t bytes) {
    check(bytes == 0 ? sqlite3_bind_null(handle_, parameter)
                     : sqlite3_bind_blob64(handle_, parameter, data, bytes, SQLITE_STATIC));
    return *this;
  }

  /// True if there is a row to read.
  bool step() {
    const int code = sqlite3_step(handle_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) check(code);
    return code == SQLITE_ROW;
  }
  void reset() { check(sqlite3_reset(handle_)); }

  std::int64_t integer(int column) { return sqlite3_column_int64(handle_, column); }
  std::string text(int column) {
    const auto* const data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return data == nullptr ? std::string() : std::string(data, bytes(column));
  }
  const unsigned char* blob(int column) {
    return static_cast<const unsigned char*>(sqlite3_column_blob(handle_, column));
  }
  std::size_t bytes(int column) { return static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)); }

 private:
  void check(int code) {
    if (code == SQLITE_OK) return;
    owner_.check_file();
    if (code == SQLITE_BUSY) {
      std::ostringstream seconds;
      seconds << owner_.lock_timeout_.count() / 1000.0;
      const bool only_reads = sqlite3_db_readonly(owner_.connection_.get(), "main") == 1;
      owner_.fail("another process has locked it for more than " + seconds.str() + " s" +
                  (only_reads ? ""
                              : " (--lock_timeout); what was stored before is kept, and the same command goes on from "
                                "there"));
    }
    const std::string message = sqlite3_errmsg(owner_.connection_.get());
    if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) {  // the database itself is open by now
      owner_.fail(message +
                  "; SQLite needs a folder that can be written to write a database, and to read one with a "
                  "write-ahead log");
    }
    owner_.fail(message);
  }

  database& owner_;
  sqlite3_stmt* handle_ = nullptr;
};

database::database(const std::string& path, access mode, std::chrono::milliseconds lock_timeout)
    : path_(path), lock_timeout_(lock_timeout) {
  const bool writes = mode == access::read_write;
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &connection,
                      (writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX, nullptr);
  connection_.reset(connection);
  if (code != SQLITE_OK) fail(connection == nullptr ? "out of memory" : sqlite3_errmsg(connection));
  sqlite3_busy_timeout(connection, static_cast<int>(lock_timeout.count()));

  const std::pair<const char*, std::vector<const char*>> needed[] = {
      {"images", {"image_id"}}, {"descriptors", {"image_id"}}, {"matches", {"pair_id", "rows", "cols", "data"}}};
  for (const auto& [table, columns] : needed) {
    for (const char* const column : columns) {
      if (has_column(table, column)) continue;
      if (column == columns[0]) fail(std::string("not a COLMAP database: it has no table '") + table + "'");
      fail(std::string("not a COLMAP database: its table '") + table + "' has no column '" + column + "'");
    }
  }
  for (const char* const table : {"two_view_geometries", "inlier_matches"}) {
    if (geometry_table_.empty() && has_column(table, "pair_id")) geometry_table_ = table;
  }

  if (!writes) return;
  if (sqlite3_db_readonly(connection, "main") == 1) fail("is read-only");
  use_write_ahead_log();
  execute("PRAGMA foreign_keys = ON");
  execute("PRAGMA synchronous = NORMAL");  // safe with WAL; COLMAP itself turns it off
}

std::string database::layout() {
  const bool typed = has_column("descriptors", "type");
  statement version(*this, "PRAGMA user_version");
  version.step();
  return "user_version " + std::to_string(version.integer(0)) + ", descriptors " +
         (typed ? "with a type" : "without a type (SIFT)") + ", geometries in " +
         (geometry_table_.empty() ? "no table" : geometry_table_);
}

std::vector<image> database::images() {
  std::vector<image> all;
  statement row(*this, "SELECT image_id, name FROM images ORDER BY image_id");
  while (row.step()) {
    all.push_back({row.integer(0), row.text(1)});
    if (all.back().id < 0 || all.back().id >= id_limit) {
      fail("image '" + all.back().name + "': its id " + std::to_string(all.back().id) + " is not in [0, " +
           std::to_string(id_limit) + ")");
    }
  }
  return all;
}

std::vector<descriptor_header> database::descriptor_headers() {
  const std::string type = has_column("descriptors", "type") ? "type" : std::to_string(descriptor_header::sift);
  std::vector<descriptor_header> all;
  statement row(*this, "SELECT image_id, " + type + ", rows, cols, length(data) FROM descriptors ORDER BY image_id");
  while (row.step()) {
    all.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4)});
  }
  return all;
}

std::int64_t database::largest_feature_count() {
  for (const char* const table : {"keypoints", "descriptors"}) {
    if (!has_column(table, "rows")) continue;
    statement row(*this, std::string("SELECT max(rows) FROM ") + table);
    row.step();
    if (row.integer(0) > 0) return row.integer(0);
  }
  return 0;
}

std::vector<std::uint8_t> database::descriptors(std::int64_t image_id) {
  statement row(*this, "SELECT data FROM descriptors WHERE image_id = ?");
  if (!row.bind(1, image_id).step() || row.blob(0) == nullptr) return {};
  return {row.blob(0), row.blob(0) + row.bytes(0)};
}

keypoint_scales database::scales(std::int64_t image_id) {
  if (!has_column("keypoints", "data")) return {};
  statement row(*this, "SELECT rows, cols, data FROM keypoints WHERE image_id = ?");
  if (!row.bind(1, image_id).step()) return {};
  const auto count = static_cast<std::size_t>(row.integer(0));
  const auto cols = static_cast<std::size_t>(row.integer(1));
  if (cols != 4 && cols != 6) return {};  // x and y only
  const std::size_t keypoint_bytes = cols * sizeof(float);
  if (row.bytes(2) % keypoint_bytes != 0 || row.bytes(2) / keypoint_bytes != count) {
    fail("image " + std::to_string(image_id) + ": its keypoints are not rows x cols floats");
  }
  std::vector<float> values(count * cols);
  if (count > 0) std::memcpy(values.data(), row.blob(2), row.bytes(2));
  keypoint_scales scales(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float* const shape = &values[i * cols + 2];  // scale, orientation; or a11, a12, a21, a22
    scales[i] = cols == 4 ? shape[0] : (std::hypot(shape[0], shape[2]) + std::hypot(shape[1], shape[3])) / 2;
  }
  return scales;
}

std::vector<float> database::locations(std::int64_t image_id) {
  if (!has_column("keypoints", "data")) return {};
  statement row(*this, "SELECT rows, cols, data FROM keypoints WHERE image_id = ?");
  if (!row.bind(1, image_id).step()) return {};
  const auto count = static_cast<std::size_t>(row.integer(0));
  const auto cols = static_cast<std::size_t>(row.integer(1));
  const std::size_t floats = row.bytes(2) / sizeof(float);
  if (cols < 2 || row.bytes(2) % sizeof(float) != 0 || floats % cols != 0 || floats / cols != count) {
    fail("image " + std::to_string(image_id) + ": its keypoints are not rows x cols floats");
  }
  std::vector<float> points(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&points[2 * i], row.blob(2) + i * cols * sizeof(float), 2 * sizeof(float));
  }
  return points;
}

namespace {

/// The numbers of a blob of whole ones.
std::vector<double> doubles(const unsigned char* data, std::size_t bytes) {
  std::vector<double> values(bytes / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), data, values.size() * sizeof(double));
  return values;
}

}  // namespace

camera database::camera_of(std::int64_t image_id) {
  statement row(
      *this, "SELECT model, params FROM cameras WHERE camera_id = (SELECT camera_id FROM images WHERE image_id = ?)");
  if (!row.bind(1, image_id).step()) fail("image " + std::to_string(image_id) + " has no camera");
  if (row.bytes(1) % sizeof(double) != 0) {
    fail("image " + std::to_string(image_id) + ": its camera's parameters are not a whole number of doubles");
  }
  return {row.integer(0), doubles(row.blob(1), row.bytes(1))};
}

std::vector<std::int64_t> database::matched_pair_ids() {
  std::vector<std::int64_t> ids;
  statement row(*this, "SELECT pair_id FROM matches ORDER BY pair_id");
  while (row.step()) ids.push_back(row.integer(0));
  return ids;
}

std::vector<match_header> database::match_headers() {
  std::vector<match_header> all;
  statement row(*this, "SELECT pair_id, rows, cols, length(CAST(data AS BLOB)) FROM matches ORDER BY pair_id");
  while (row.step()) all.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3)});
  return all;
}

void database::visit_matches(const std::function<void(const match_row&)>& visit) {
  statement row(*this, "SELECT pair_id, rows, cols, data FROM matches ORDER BY pair_id");
  while (row.step()) visit({row.integer(0), row.integer(1), row.integer(2), row.blob(3), row.bytes(3)});
}

std::vector<serac::match_pair> database::matches(std::int64_t pair_id) {
  statement row(*this, "SELECT rows, cols, data FROM matches WHERE pair_id = ?");
  if (!row.bind(1, pair_id).step()) return {};
  static_assert(sizeof(serac::match_pair) == 8, "a row of the matches table is two 32-bit integers");
  std::vector<serac::match_pair> list(row.bytes(2) / sizeof(serac::match_pair));
  if (row.integer(1) != 2 || row.integer(0) != static_cast<std::int64_t>(list.size()) ||
      row.bytes(2) % sizeof(serac::match_pair) != 0) {
    fail("the matches row of pair " + std::to_string(pair_id) + " is not rows x 2 integers of 32 bits");
  }
  if (!list.empty()) std::memcpy(list.data(), row.blob(2), row.bytes(2));
  return list;
}

void database::store(const std::vector<matched_pair>& lists) {
  execute("BEGIN IMMEDIATE");
  try {
    statement insert(*this,
                     "INSERT INTO matches(pair_id, rows, cols, data) VALUES(?, ?, 2, ?) "
                     "ON CONFLICT(pair_id) DO NOTHING");
    std::unique_ptr<statement> forget;
    if (!geometry_table_.empty()) {
      forget = std::make_unique<statement>(*this, "DELETE FROM " + geometry_table_ + " WHERE pair_id = ?");
    }
    std::vector<serac::match_pair> swapped;
    for (const matched_pair& list : lists) {
      const auto* matches = &list.matches;
      if (list.pair.first > list.pair.second) {
        swapped = list.matches;
        for (serac::match_pair& match : swapped) std::swap(match.row, match.column);
        matches = &swapped;
      }
      insert.bind(1, pair_id(list.pair)).bind(2, static_cast<std::int64_t>(matches->size()));
      insert.bind(3, matches->data(), matches->size() * sizeof(serac::match_pair)).step();
      insert.reset();
      if (forget != nullptr && sqlite3_changes(connection_.get()) == 1) {
        forget->bind(1, pair_id(list.pair)).step();
        forget->reset();
      }
    }
  } catch (...) {
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
  commit();
}

std::vector<pair_geometry> database::geometries() {
  if (geometry_table_.empty() || !has_column(geometry_table_, "F")) fail("it keeps no two-view geometries");
  std::vector<pair_geometry> all;
  statement row(*this, "SELECT pair_id, rows, config, F, E, H FROM " + geometry_table_ + " ORDER BY pair_id");
  while (row.step()) {
    const auto matrix = [&](int column) {
      if (row.bytes(column) != 0 && row.bytes(column) != 9 * sizeof(double)) {
        fail("pair " + std::to_string(row.integer(0)) + ": a matrix is not 3 x 3 doubles");
      }
      std::vector<double> m = doubles(row.blob(column), row.bytes(column));
      if (std::all_of(m.begin(), m.end(), [](double x) { return x == 0; })) m.clear();
      return m;
    };
    all.push_back({row.integer(0), row.integer(1), row.integer(2), matrix(3), matrix(4), matrix(5)});
  }
  return all;
}

void database::store_inliers(const std::vector<matched_pair>& lists) {
  const std::string update = "UPDATE " + geometry_table_ + " SET rows = ?, cols = 2, data = ?";
  std::string unset = ", config = 0";
  for (const char* const column : {"F", "E", "H", "qvec", "tvec"}) {
    if (has_column(geometry_table_, column)) unset += std::string(", ") + column + " = NULL";
  }
  execute("BEGIN IMMEDIATE");
  try {
    statement fill(*this, update + " WHERE pair_id = ?"), empty(*this, update + unset + " WHERE pair_id = ?");
    for (const matched_pair& list : lists) {
      statement& row = list.matches.empty() ? empty : fill;
      row.bind(1, static_cast<std::int64_t>(list.matches.size()));
      row.bind(2, list.matches.data(), list.matches.size() * sizeof(serac::match_pair));
      row.bind(3, pair_id(list.pair)).step();
      row.reset();
    }
  } catch (...) {
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
  commit();
}

void database::execute(const char* sql) { statement(*this, sql).step(); }

void database::commit() {
  execute("COMMIT");
  check_file();
}

void database::check_file() const {
  int moved = 0;
  sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0) fail("it was deleted, moved or replaced meanwhile; what was stored is in the file that was there");
}

bool database::has_column(const std::string& table, const std::string& column) {
  statement row(*this, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  return row.bind(1, table).bind(2, column).step();
}

void database::use_write_ahead_log() {
  // SQLite does not wait for locks here by itself.
  const auto deadline = std::chrono::steady_clock::now() + lock_timeout_;
  while (sqlite3_exec(connection_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr) == SQLITE_BUSY &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  // A file system without shared memory keeps another mode, which is as safe; a lock that is still held is an error.
  execute("PRAGMA journal_mode = WAL");
}

pair_counts database::count(const std::string& table) {
  // (Whatever a damaged row states, it has no more matches than its data.)
  const std::string rows = "max(0, min(rows, coalesce(length(data), 0) / 8))";
  statement row(*this,
                "SELECT count(*), coalesce(sum(" + rows + " > 0), 0), coalesce(sum(" + rows + "), 0) FROM " + table);
  row.step();
  return {row.integer(0), row.integer(1), row.integer(2)};
}

void database::fail(const std::string& what) const { throw std::runtime_error(path_ + ": " + what); }

}  // namespace serac_colmap
