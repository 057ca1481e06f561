// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The input is SQL that makes a database: so that tables, columns, types and rows change rather than pages. It is
/// read, written and read again.
#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <string>

#include "compare.hpp"
#include "read_database.hpp"

namespace {

using namespace serac_fuzz;

// There as long as a connection is open.
constexpr char path[] = "file:/fuzz?vfs=memdb", other_path[] = "file:/other?vfs=memdb";

struct close_connection {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};
using owned_connection = std::unique_ptr<sqlite3, close_connection>;

/// Tables and rows are all that SQL may make; no files, no endless queries, nothing random.
int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_READ:
    case SQLITE_SELECT:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string(second) == "zeroblob" ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
      return std::string(first) == "encoding" || std::string(first) == "user_version" ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

/// Runs one statement after the other; those that fail do nothing.
owned_connection make_database(const char* path, const std::string& sql) {
  sqlite3* opened = nullptr;
  require(sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, nullptr) ==
              SQLITE_OK,
          "a database in memory can be made");
  owned_connection connection(opened);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, 1 << 16);
  sqlite3_limit(opened, SQLITE_LIMIT_COLUMN, 32);
  sqlite3_limit(opened, SQLITE_LIMIT_COMPOUND_SELECT, 4);
  sqlite3_set_authorizer(opened, authorize, nullptr);
  for (const char* rest = sql.c_str(); *rest != '\0';) {
    sqlite3_stmt* statement = nullptr;
    const char* next = nullptr;
    if (sqlite3_prepare_v2(opened, rest, -1, &statement, &next) != SQLITE_OK) {  // to the next line
      const std::size_t line = std::string(rest).find('\n');
      if (line == std::string::npos) break;
      rest += line + 1;
      continue;
    }
    for (int rows = 0; rows < 100 && sqlite3_step(statement) == SQLITE_ROW; ++rows) {
    }
    sqlite3_finalize(statement);
    rest = next;
  }
  return connection;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  silence();
  sqlite3_config(SQLITE_CONFIG_URI, 1);  // the database reader takes the path as well
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string sql(reinterpret_cast<const char*>(data), size);
  const std::string separator = "\n-- other\n";
  const std::size_t end = sql.find(separator);
  const owned_connection keep = make_database(path, sql.substr(0, end));
  constexpr auto no_wait = std::chrono::milliseconds(0);
  if (end != std::string::npos) {
    const owned_connection keep_other = make_database(other_path, sql.substr(end + separator.size()));
    attempt("", [&] {
      database a(path, database::access::read_only, no_wait), b(other_path, database::access::read_only, no_wait);
      require(compare(a, a, 3), "a database is equal to itself");
      compare(a, b, 3);
    });
  }
  attempt(path, [&] {
    database target(path, database::access::read_write, no_wait);
    read_everything(target);
    store_and_read(target);
  });
  return 0;
}
