// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What an entry point reports: `status` where nothing may throw, `error` from the owning classes.
#pragma once

#include <stdexcept>
#include <string>

namespace serac {

/// Kinds of failure. Every entry point of the library reports one of these.
enum class errc : int {
  ok = 0,
  null_pointer,         ///< a pointer is null although its count is not zero
  misaligned_pointer,   ///< a pointer or stride is not a multiple of the alignment that the policy loads with
  negative_count,       ///< a count, capacity or limit is below zero
  too_many_features,    ///< more than 2^31 - 1 features in one image (2^30 where a policy names a tensor-core path)
  count_mismatch,       ///< there is not one location for each feature
  unsupported_width,    ///< the width of a view is not the policy's, or both views' widths differ
  invalid_stride,       ///< consecutive descriptors overlap: the stride is less than the width
  invalid_option,       ///< an option is out of its range (NaN, or not positive where it must be)
  output_too_small,     ///< the output cannot hold the longest list that the input allows
  workspace_too_small,  ///< less workspace than the size function asks for
  no_kernel_image,      ///< the program holds no code for the GPU at hand
  unsupported_device,   ///< the GPU lacks what the policy asks for (shared memory, architecture)
  no_device,            ///< no GPU, or no driver for it
  out_of_memory,        ///< an allocation failed, on the host or on the GPU
  device_failure        ///< any other error of the CUDA runtime; `status::cuda_error` holds it
};

/// The text of a failure's kind, without the argument it is about. Host; never null.
inline const char* describe(errc code) noexcept {
  switch (code) {
    case errc::ok:
      return "no error";
    case errc::null_pointer:
      return "is null although there is something to read or write";
    case errc::misaligned_pointer:
      return "is not aligned as the policy's loads require";
    case errc::negative_count:
      return "is negative";
    case errc::too_many_features:
      return "is more features than the path can number";
    case errc::count_mismatch:
      return "is not the number of features, each of which has one location";
    case errc::unsupported_width:
      return "is not the descriptor width that the policy (or the other image) has";
    case errc::invalid_stride:
      return "is less than the descriptor width";
    case errc::invalid_option:
      return "is out of its range";
    case errc::output_too_small:
      return "cannot hold the longest list that this input allows";
    case errc::workspace_too_small:
      return "is less than the workspace size function asks for";
    case errc::no_kernel_image:
      return "no kernel image for this device: the program was not compiled for this GPU's architecture";
    case errc::unsupported_device:
      return "this GPU lacks a resource that the policy asks for";
    case errc::no_device:
      return "no CUDA device or driver is available";
    case errc::out_of_memory:
      return "out of memory";
    case errc::device_failure:
      return "the CUDA runtime reported an error";
  }
  return "unknown error";
}

/// The outcome of an entry point: what went wrong and which argument it is about.
/// Cheap to copy, never throws. `status{}` is success.
struct [[nodiscard]] status {
  errc code = errc::ok;
  const char* argument = "";  ///< the argument at fault as the caller spells it, e.g. "left.data"; static storage
  int cuda_error = 0;         ///< the `cudaError_t` behind it, 0 if none

  constexpr bool ok() const noexcept { return code == errc::ok; }

  /// "left.data is null although ...", for people. Host; may throw std::bad_alloc.
  std::string message() const {
    std::string text = argument;
    if (!text.empty()) text += code >= errc::no_kernel_image ? ": " : " ";
    text += describe(code);
    if (cuda_error != 0) text += " (CUDA error " + std::to_string(cuda_error) + ")";
    return text;
  }
};

/// The one exception type of the library, thrown by the owning classes.
class error : public std::runtime_error {
 public:
  explicit error(const status& s) : std::runtime_error("serac: " + s.message()), status_(s) {}
  const serac::status& status() const noexcept { return status_; }

 private:
  serac::status status_;
};

/// Throws `error` unless `s` is success. Host.
inline void throw_on_error(const status& s) {
  if (!s.ok()) throw error(s);
}

}  // namespace serac
