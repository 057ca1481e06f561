// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "report_text.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace serac_colmap {

namespace {

constexpr char replacement[] = "\xEF\xBF\xBD";  // U+FFFD

/// The bytes of the well-formed UTF-8 character that begins at `place`, 0 if none does.
std::size_t utf8_length(const std::string& text, std::size_t place) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return place + i < text.size() ? static_cast<unsigned char>(text[place + i]) : 0;
  };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool no_character = (lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90);
  return overlong || no_character ? 0 : length;
}

/// The text, every ASCII character as `ascii(character)`.
template <class Ascii>
std::string transcribed(const std::string& text, Ascii ascii) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 1) {
      result += ascii(text[i]);
    } else {
      result += length == 0 ? replacement : text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return result;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

std::string as_html(const std::string& text) {
  return transcribed(text, [](char c) -> std::string {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      default:
        return is_control(c) ? replacement : std::string(1, c);
    }
  });
}

std::string as_json(const std::string& text) {
  return '"' +
         transcribed(text,
                     [](char c) -> std::string {
                       if (c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && !is_control(c)) return {c};
                       char escaped[8];
                       std::snprintf(escaped, sizeof escaped, "\\u%04x",
                                     static_cast<unsigned>(static_cast<unsigned char>(c)));
                       return escaped;
                     }) +
         '"';
}

std::string as_terminal(const std::string& text) {
  return transcribed(text, [](char c) -> std::string {
    if (c == '\n' || !is_control(c)) return {c};
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    return escaped;
  });
}

std::string as_base64(const std::vector<std::uint8_t>& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  auto* const first = reinterpret_cast<unsigned char*>(&text[0]);  // also gets the zero behind the end
  EVP_EncodeBlock(first, bytes.data(), static_cast<int>(bytes.size()));
  return text;
}

std::string as_count(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > (number < 0 ? 4u : 3u);) text.insert(place -= 3, ",");
  return text;
}

}  // namespace serac_colmap
