// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Texts of others, made fit for a page or a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace serac_colmap {

/// As text or as the value of an attribute in HTML. What is no UTF-8, and control characters, become U+FFFD.
std::string as_html(const std::string& text);

/// As a string of JSON, in quotes, within a script element. What is no UTF-8 becomes U+FFFD.
std::string as_json(const std::string& text);

/// As lines of a terminal. Control characters but the line feed are spelled out, as \x1b; what is no UTF-8 becomes
/// U+FFFD.
std::string as_terminal(const std::string& text);

std::string as_base64(const std::vector<std::uint8_t>& bytes);

/// "173,166".
std::string as_count(std::int64_t number);

}  // namespace serac_colmap
