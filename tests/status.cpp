// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <set>
#include <string>

#include <serac/status.hpp>
#include <support/catch.hpp>

using namespace serac;

TEST_CASE("success is ok and says so", "[status]") {
  CHECK(status{}.ok());
  CHECK(status{}.message() == "no error");
  CHECK_NOTHROW(throw_on_error({}));
}

TEST_CASE("every kind of failure has a text of its own", "[status]") {
  std::set<std::string> texts;
  for (int code = 0; code <= static_cast<int>(errc::device_failure); ++code) {
    texts.insert(describe(static_cast<errc>(code)));
  }
  CHECK(texts.size() == static_cast<std::size_t>(errc::device_failure) + 1);
  CHECK(texts.count("unknown error") == 0);
  CHECK(describe(static_cast<errc>(1000)) == std::string("unknown error"));
}

TEST_CASE("a message names the argument and the CUDA error", "[status]") {
  CHECK(status{errc::null_pointer, "left.data"}.message() ==
        "left.data is null although there is something to read or write");
  CHECK(status{errc::out_of_memory, "match"}.message() == "match: out of memory");
  CHECK(status{errc::device_failure, "fused_top2", 719}.message() ==
        "fused_top2: the CUDA runtime reported an error (CUDA error 719)");
}

TEST_CASE("error carries the status", "[status]") {
  try {
    throw_on_error({errc::invalid_stride, "right.stride"});
    FAIL("nothing was thrown");
  } catch (const error& e) {
    CHECK(e.status().code == errc::invalid_stride);
    CHECK(e.what() == std::string("serac: right.stride is less than the descriptor width"));
  }
}
