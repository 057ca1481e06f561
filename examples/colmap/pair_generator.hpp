// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Which pairs of images are matched, in COLMAP's order: the first image of a pair gives the rows.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "database.hpp"

namespace serac_colmap {

/// Pairs that COLMAP would match together.
using pair_block = std::vector<image_pair>;

/// One pass over all pairs: gives the next block, false at the end.
using block_stream = std::function<bool(pair_block& block)>;

/// Blocks in order, in as many passes as wanted, which must not outlive it. No image is paired with itself and no two
/// images meet twice.
class pair_generator {
 public:
  explicit pair_generator(std::function<block_stream()> start) : start_(std::move(start)) {}

  block_stream start() const { return start_(); }

  /// Calls `visit` with one block after the other.
  template <class Visit>
  void operator()(Visit visit) const {
    pair_block block;
    for (const block_stream next = start_(); next(block);) visit(block);
  }

 private:
  std::function<block_stream()> start_;
};

/// All pairs of `images`, which are in order of id, in square blocks of `block_size` images each way.
pair_generator exhaustive_pairs(std::vector<image> images, int block_size);

/// Images in order of name, each with the ones after it, as COLMAP 3.8 counts: `overlap` includes the image itself,
/// so it meets the next overlap - 1; `quadratic` adds those 1, 2, 4, ... 2^(overlap - 1) places on. A block an image.
pair_generator sequential_pairs(std::vector<image> images, int overlap, bool quadratic);

/// The pairs of a file with two image names a line; empty lines and lines that begin with # are passed over, and so
/// are repeated pairs and images paired with themselves. Names may hold spaces if only one reading of the line names
/// two images. Throws std::runtime_error naming the line and the name that no image has.
pair_generator listed_pairs(const std::vector<image>& images, const std::string& path, int block_size);

/// The pairs of images with these names, passed over as those of a file are. Throws std::runtime_error naming the name
/// that no image has.
pair_generator named_pairs(const std::vector<image>& images,
                           const std::vector<std::pair<std::string, std::string>>& names, int block_size);

}  // namespace serac_colmap
