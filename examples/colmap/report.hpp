// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// `serac_colmap report`: a page to look at.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "database.hpp"

namespace serac_colmap {

struct report_settings {
  std::string output;                                      ///< the page
  std::string image_path;                                  ///< the folder of the images, or empty
  std::vector<std::pair<std::string, std::string>> pairs;  ///< pairs to draw, by name; if empty:
  int drawings = 3;      ///< how many to draw, evenly from the best to the weakest with matches
  int lines = 300;       ///< matches of a drawing that are drawn
  int image_size = 800;  ///< the longer side of an image, in pixels
  int few = 2;           ///< images with at most so many pairs hang on few
};

/// Writes one self-contained HTML page about what is matched: numbers, a matrix and a histogram of matches per pair,
/// images that hang on few pairs, and drawings of pairs. What the database holds and cannot be read is named there.
/// Throws std::runtime_error naming what is wrong with the settings or the file system; then there is no page.
void write_report(database& source, const report_settings& settings);

}  // namespace serac_colmap
