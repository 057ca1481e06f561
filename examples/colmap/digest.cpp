// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "digest.hpp"

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>

namespace serac_colmap {

std::string matches_sha256(database& source) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  bool good = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  source.visit_matches([&](const match_row& row) {
    good = good && (row.bytes == 0 || EVP_DigestUpdate(context.get(), row.data, row.bytes) == 1);
  });
  if (!good || EVP_DigestFinal_ex(context.get(), digest, &length) != 1) throw std::runtime_error("SHA-256 failed");

  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 15];
  }
  return text;
}

}  // namespace serac_colmap
