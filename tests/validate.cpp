// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <array>
#include <cstdint>
#include <string>

#include <serac/detail/validate.hpp>
#include <support/catch.hpp>

using namespace serac;

namespace {

alignas(16) const std::array<std::uint8_t, 1024> memory{};

void check_fault(const sift_view& view, errc code, const char* argument, int alignment = 16) {
  const status s = detail::check_view(view, detail::right_names, 128, alignment);
  INFO(s.message());
  CHECK(s.code == code);
  CHECK(s.argument == std::string(argument));
}

}  // namespace

TEST_CASE("a view's first fault is named", "[validate]") {
  const std::uint8_t* const data = memory.data();
  check_fault({data, 2}, errc::ok, "");
  check_fault({data, 2, 128, 144}, errc::ok, "");
  check_fault({nullptr, 0, 3, 0}, errc::ok, "");
  check_fault({data, -1}, errc::negative_count, "right.count");
  check_fault({data, std::int64_t{1} << 31}, errc::too_many_features, "right.count");
  check_fault({nullptr, 1}, errc::null_pointer, "right.data");
  check_fault({data, 2, 64, 128}, errc::unsupported_width, "right.width");
  check_fault({data, 2, 128, 127}, errc::invalid_stride, "right.stride");
  check_fault({data + 4, 2}, errc::misaligned_pointer, "right.data");
  check_fault({data, 2, 128, 132}, errc::misaligned_pointer, "right.stride");
  check_fault({data + 4, 2, 128, 132}, errc::ok, "", 4);
}

TEST_CASE("an output's first fault is named", "[validate]") {
  match_pair pairs[3];
  std::uint32_t count;
  match_options options;
  const auto code = [&](const match_output& output, std::int64_t rows) {
    return detail::check_output(output, rows, options).code;
  };
  CHECK(code({pairs, 3, &count}, 3) == errc::ok);
  CHECK(code({nullptr, 0, &count}, 0) == errc::ok);
  CHECK(code({pairs, -1, &count}, 0) == errc::negative_count);
  CHECK(code({pairs, 3, nullptr}, 3) == errc::null_pointer);
  CHECK(code({nullptr, 3, &count}, 3) == errc::null_pointer);
  CHECK(code({pairs, 2, &count}, 3) == errc::output_too_small);
  options.max_matches = 2;
  CHECK(code({pairs, 2, &count}, 3) == errc::ok);
}

TEST_CASE("capped cuts to max_features", "[validate]") {
  match_options options;
  options.max_features = 2;
  CHECK(detail::capped(sift_view{memory.data(), 3}, options).count == 2);
  CHECK(detail::capped(sift_view{memory.data(), 1}, options).count == 1);
}
