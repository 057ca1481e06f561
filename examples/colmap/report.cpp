// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

#include <serac/version.hpp>

#include "report_image.hpp"
#include "report_page.hpp"
#include "report_text.hpp"

namespace serac_colmap {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_listed = 200;  // rows of a table, which may have as many as there are images

/// A pair of images that has a row of matches. Images are named by their place in the order of ids.
struct pair_entry {
  static constexpr std::int64_t unreadable = -1;

  std::int64_t id;
  std::size_t first, second;
  std::int64_t count;  ///< of matches
};

/// What a database says about its pairs.
struct survey_view {
  std::vector<image> images;
  std::vector<std::int64_t> features;  ///< of each image
  std::vector<pair_entry> pairs;       ///< in order of pair_id
  std::vector<std::string> problems;   ///< rows that are none, and rows that cannot be read
  std::vector<std::size_t> ranking;    ///< the pairs with matches, the best first

  explicit survey_view(database& source) : images(source.images()), features(images.size(), 0) {
    for (std::size_t i = 0; i < images.size(); ++i) place_of_[images[i].id] = i;
    for (const descriptor_header& header : source.descriptor_headers()) {
      const auto place = place_of_.find(header.image_id);
      if (place == place_of_.end()) {
        problems.push_back("Descriptors of image " + std::to_string(header.image_id) + ", which does not exist.");
      } else {  // whatever a damaged row states
        features[place->second] = std::clamp<std::int64_t>(header.rows, 0, header.bytes);
      }
    }
    for (const match_header& row : source.match_headers()) add(row);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      if (pairs[k].count > 0) ranking.push_back(k);
    }
    std::stable_sort(ranking.begin(), ranking.end(),
                     [&](std::size_t a, std::size_t b) { return pairs[a].count > pairs[b].count; });
  }

  const std::string& name(std::size_t place) const { return images[place].name; }

 private:
  void add(const match_header& row) {
    const image_pair ids = pair_of(row.pair_id);
    const auto first = place_of_.find(ids.first), second = place_of_.find(ids.second);
    const std::string what = "Matches of pair " + std::to_string(row.pair_id);
    if (row.pair_id < 0 || first == place_of_.end() || second == place_of_.end() || ids.first >= ids.second) {
      problems.push_back(what + ", which is no pair of images that exist.");
      return;
    }
    const bool readable =
        row.rows >= 0 && row.rows == row.bytes / 8 && row.bytes % 8 == 0 && (row.cols == 2 || row.bytes == 0);
    if (!readable) {
      problems.push_back(what + " (" + name(first->second) + ", " + name(second->second) +
                         "): " + std::to_string(row.rows) + " x " + std::to_string(row.cols) + " integers in " +
                         std::to_string(row.bytes) + " bytes cannot be read.");
    }
    pairs.push_back({row.pair_id, first->second, second->second, readable ? row.rows : pair_entry::unreadable});
  }

  std::unordered_map<std::int64_t, std::size_t> place_of_;
};

/// How an image hangs on the others.
struct connections {
  std::int64_t pairs = 0;  ///< with matches
  const pair_entry* best = nullptr;
  std::size_t part = 0;  ///< images of one part are joined by pairs with matches
};

/// Of every image. Parts are numbered from 0, the largest first.
std::vector<connections> connect(const survey_view& survey, std::size_t& parts) {
  std::vector<connections> all(survey.images.size());
  std::vector<std::size_t> joined(all.size());
  std::iota(joined.begin(), joined.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (joined[i] != i) i = joined[i] = joined[joined[i]];
    return i;
  };
  for (const std::size_t k : survey.ranking) {
    const pair_entry& pair = survey.pairs[k];
    for (const std::size_t i : {pair.first, pair.second}) {
      ++all[i].pairs;
      if (all[i].best == nullptr) all[i].best = &pair;
    }
    joined[root(pair.first)] = root(pair.second);
  }
  std::vector<std::size_t> size(all.size()), roots, number(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) ++size[root(i)];
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (root(i) == i) roots.push_back(i);
  }
  std::stable_sort(roots.begin(), roots.end(), [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
  for (std::size_t p = 0; p < roots.size(); ++p) number[roots[p]] = p;
  for (std::size_t i = 0; i < all.size(); ++i) all[i].part = number[root(i)];
  parts = roots.size();
  return all;
}

std::string name_html(const std::string& name) { return "<bdi>" + as_html(name) + "</bdi>"; }

std::string counted(std::int64_t number, const char* one, const char* many) {
  return as_count(number) + ' ' + (number == 1 ? one : many);
}

// ----- sections of the page

void write_summary(std::ostream& page, database& source, const survey_view& survey, std::size_t parts) {
  const auto images = static_cast<std::int64_t>(survey.images.size());
  const auto with_features =
      std::count_if(survey.features.begin(), survey.features.end(), [](std::int64_t n) { return n > 0; });
  const std::int64_t features = std::accumulate(survey.features.begin(), survey.features.end(), std::int64_t{0});
  std::int64_t matches = 0;
  for (const std::size_t k : survey.ranking) matches += survey.pairs[k].count;
  const pair_counts geometries = source.count_geometries();
  const auto row = [&](const char* what, const std::string& value) {
    page << "<tr><th>" << what << "</th><td>" << value << "</td></tr>\n";
  };
  page << "<table id=\"summary\">\n";
  row("images", as_count(images) + ", " + as_count(with_features) + " with features");
  row("features", as_count(features));
  row("pairs", as_count(static_cast<std::int64_t>(survey.pairs.size())) + " matched of " +
                   as_count(images * (images - 1) / 2) + ", " +
                   as_count(static_cast<std::int64_t>(survey.ranking.size())) + " with matches");
  row("matches", as_count(matches));
  row("verified", counted(geometries.pairs, "pair", "pairs") + ", " + as_count(geometries.nonempty) +
                      " with inliers, " + counted(geometries.matches, "inlier", "inliers"));
  if (images > 0) {
    row("parts", parts == 1 ? std::string("1: all images are joined by pairs with matches")
                            : as_count(static_cast<std::int64_t>(parts)) +
                                  ": no pair with matches joins images of different parts");
  }
  row("layout", as_html(source.layout()));
  page << "</table>\n";
}

void write_problems(std::ostream& page, const std::vector<std::string>& problems) {
  if (problems.empty()) return;
  page << "<h2 class=\"problem\">What cannot be read</h2>\n<ul id=\"problems\">\n";
  for (std::size_t i = 0; i < std::min(problems.size(), most_listed); ++i) {
    page << "<li>" << name_html(problems[i]) << "</li>\n";
  }
  page << "</ul>\n";
  if (problems.size() > most_listed) page << "<p>... and " << problems.size() - most_listed << " more.</p>\n";
}

void write_matrix(std::ostream& page, const survey_view& survey) {
  page << "<h2>Matches per pair</h2>\n";
  if (survey.images.empty()) {
    page << "<p class=\"note\">There are no images.</p>\n";
    return;
  }
  page << "<p class=\"legend\"><span><i style=\"background:#fff\"></i>not matched</span>"
       << "<span><i style=\"background:#d6d6d6\"></i>no matches</span>"
       << "<span>1 <i class=\"scale\"></i><b id=\"most\"></b> matches, logarithmic</span>"
       << "<span><i style=\"background:#e02020\"></i>cannot be read</span></p>\n"
       << "<canvas id=\"matrix\"></canvas>\n<output id=\"cell\"><span class=\"note\">Images are in order of their ids. "
       << "Point at a pair.</span></output>\n<noscript>The matrix is drawn by a script.</noscript>\n"
       << "<script type=\"application/json\" id=\"data\">{\"names\":[";
  for (std::size_t i = 0; i < survey.images.size(); ++i) page << (i == 0 ? "" : ",\n") << as_json(survey.name(i));
  page << "],\n\"rows\":[";
  std::vector<std::vector<const pair_entry*>> rows(survey.images.size());
  for (const pair_entry& pair : survey.pairs) rows[pair.first].push_back(&pair);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    page << (i == 0 ? "[" : ",\n[");
    for (std::size_t k = 0; k < rows[i].size(); ++k) {
      page << (k == 0 ? "" : ",") << rows[i][k]->second << ',' << rows[i][k]->count;
    }
    page << ']';
  }
  page << "]}</script>\n";
}

void write_histogram(std::ostream& page, const survey_view& survey) {
  page << "<h2>How many pairs have how many matches</h2>\n";
  // 0, 1, 2 to 4, 5 to 9, 10 to 19, 20 to 49, ...
  std::vector<std::int64_t> from{0, 1};
  const std::int64_t most = survey.ranking.empty() ? 0 : survey.pairs[survey.ranking[0]].count;
  while (from.back() <= most)
    from.push_back(from.back() * (from.size() % 3 == 0 ? 5 : 2) / (from.size() % 3 == 0 ? 2 : 1));
  std::vector<std::int64_t> pairs(from.size() - 1, 0);
  for (const pair_entry& pair : survey.pairs) {
    if (pair.count == pair_entry::unreadable) continue;
    ++pairs[static_cast<std::size_t>(std::upper_bound(from.begin(), from.end(), pair.count) - from.begin()) - 1];
  }
  const std::int64_t highest = *std::max_element(pairs.begin(), pairs.end());
  if (highest == 0) {
    page << "<p class=\"note\">There are no matched pairs.</p>\n";
    return;
  }
  constexpr int width = 1000, height = 260, bottom = 20, top = 20;
  const double step = static_cast<double>(width) / static_cast<double>(pairs.size());
  page << "<svg class=\"histogram\" viewBox=\"0 0 " << width << ' ' << height << "\" role=\"img\">\n";
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const double x = static_cast<double>(k) * step;
    const double tall = static_cast<double>(pairs[k]) / static_cast<double>(highest) * (height - top - bottom);
    const std::string range =
        from[k + 1] - from[k] == 1 ? as_count(from[k]) : as_count(from[k]) + "\u2013" + as_count(from[k + 1] - 1);
    page << "<rect class=\"bar\" x=\"" << x + 2 << "\" y=\"" << height - bottom - tall << "\" width=\"" << step - 4
         << "\" height=\"" << tall << "\"/><text x=\"" << x + step / 2 << "\" y=\"" << height - bottom - tall - 5
         << "\" text-anchor=\"middle\">" << (pairs[k] == 0 ? "" : as_count(pairs[k])) << "</text><text x=\""
         << x + step / 2 << "\" y=\"" << height - 4 << "\" text-anchor=\"middle\">" << range << "</text>\n";
  }
  page << "</svg>\n<p class=\"note\">Below: matches of a pair. Above: how many pairs.</p>\n";
}

void write_few(std::ostream& page, const survey_view& survey, const std::vector<connections>& all, std::size_t parts,
               int few) {
  std::vector<std::size_t> images;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].pairs <= few) images.push_back(i);
  }
  std::stable_sort(images.begin(), images.end(), [&](std::size_t a, std::size_t b) {
    const auto best = [&](std::size_t i) { return all[i].best == nullptr ? 0 : all[i].best->count; };
    return all[a].pairs != all[b].pairs ? all[a].pairs < all[b].pairs : best(a) < best(b);
  });
  page << "<h2>Images that hang on few pairs</h2>\n";
  if (images.empty()) {
    page << "<p class=\"note\">"
         << (all.empty() ? "There are no images." : "None: every image has matches with more than ")
         << (all.empty() ? "" : std::to_string(few) + " others.") << "</p>\n";
    return;
  }
  page << "<p>" << counted(static_cast<std::int64_t>(images.size()), "image has", "images have")
       << " matches with at most " << few << " others.</p>\n<table id=\"few\">\n<tr><th>image</th>"
       << "<th class=\"number\">features</th><th class=\"number\">pairs with matches</th><th>most matches</th>"
       << (parts > 1 ? "<th class=\"number\">part</th>" : "") << "</tr>\n";
  for (std::size_t k = 0; k < std::min(images.size(), most_listed); ++k) {
    const std::size_t i = images[k];
    page << "<tr><td>" << name_html(survey.name(i)) << "</td><td class=\"number\">" << as_count(survey.features[i])
         << "</td><td class=\"number\">" << all[i].pairs << "</td><td>";
    if (all[i].best != nullptr) {
      const std::size_t other = all[i].best->first == i ? all[i].best->second : all[i].best->first;
      page << as_count(all[i].best->count) << " with " << name_html(survey.name(other));
    }
    page << "</td>";
    if (parts > 1) page << "<td class=\"number\">" << all[i].part + 1 << "</td>";
    page << "</tr>\n";
  }
  page << "</table>\n";
  if (images.size() > most_listed) page << "<p>... and " << images.size() - most_listed << " more.</p>\n";
}

// ----- drawings

/// A side of a drawing: where its features are, and the image if it is at hand.
struct drawn_side {
  std::vector<float> points;  ///< x, y in pixels of the image
  double width = 0, height = 0;
  std::string uri;                 ///< of the picture
  std::vector<std::string> notes;  ///< what is not as it should be

  std::size_t features() const { return points.size() / 2; }
  bool is_finite(std::size_t i) const { return std::isfinite(points[2 * i]) && std::isfinite(points[2 * i + 1]); }
};

drawn_side side_of(database& source, const image& image, const report_settings& settings) {
  drawn_side side;
  try {
    side.points = source.locations(image.id);
  } catch (const std::runtime_error&) {
    side.notes.push_back("The keypoints of " + image.name + " cannot be read.");
  }
  if (!settings.image_path.empty()) {
    const fs::path name = fs::path(image.name).lexically_normal();
    try {
      if (name.is_absolute() || name.empty() || *name.begin() == "..") {
        throw std::runtime_error("its name leads out of the folder of images");
      }
      const fs::path path = fs::path(settings.image_path) / name;
      if (!fs::is_regular_file(path)) throw std::runtime_error("there is no such file");
      const small_image small = read_small_image(path.string(), settings.image_size);
      side.width = small.width, side.height = small.height;
      side.uri = "data:image/jpeg;base64," + as_base64(small.jpeg);
    } catch (const std::runtime_error& error) {
      side.notes.push_back("The image " + image.name + " is not at hand: " + error.what() + '.');
    }
  }
  if (side.uri.empty()) {  // a frame around the features
    side.width = side.height = 1;
    for (std::size_t i = 0; i < side.features(); ++i) {
      if (!side.is_finite(i)) continue;
      side.width = std::max(side.width, static_cast<double>(side.points[2 * i]));
      side.height = std::max(side.height, static_cast<double>(side.points[2 * i + 1]));
    }
  }
  return side;
}

void write_drawing(std::ostream& page, database& source, const survey_view& survey, const pair_entry& pair,
                   const report_settings& settings) {
  page << "<figure>\n<figcaption><b>" << name_html(survey.name(pair.first)) << " \u2013 "
       << name_html(survey.name(pair.second)) << "</b>: ";
  if (pair.count == pair_entry::unreadable) {
    page << "<span class=\"problem\">its list cannot be read</span></figcaption>\n</figure>\n";
    return;
  }
  page << counted(pair.count, "match", "matches");
  const std::vector<serac::match_pair> matches = source.matches(pair.id);
  drawn_side sides[2] = {side_of(source, survey.images[pair.first], settings),
                         side_of(source, survey.images[pair.second], settings)};
  std::vector<serac::match_pair> placed;
  for (const serac::match_pair match : matches) {
    if (match.row < sides[0].features() && match.column < sides[1].features() && sides[0].is_finite(match.row) &&
        sides[1].is_finite(match.column)) {
      placed.push_back(match);
    }
  }
  const std::size_t drawn = std::min(placed.size(), static_cast<std::size_t>(settings.lines));
  if (drawn < placed.size()) page << ", " << as_count(static_cast<std::int64_t>(drawn)) << " of them drawn";
  page << "</figcaption>\n";
  if (placed.size() < matches.size()) {
    page << "<p class=\"problem\">"
         << counted(static_cast<std::int64_t>(matches.size() - placed.size()), "match", "matches")
         << " of features that have no location.</p>\n";
  }
  for (const drawn_side& side : sides) {
    for (const std::string& note : side.notes) page << "<p class=\"note\">" << name_html(note) << "</p>\n";
  }

  if (placed.empty() && sides[0].uri.empty() && sides[1].uri.empty()) {  // there is nothing to be seen
    page << "</figure>\n";
    return;
  }
  constexpr double gap = 10;
  const double size = settings.image_size;
  double scale[2];
  for (int s : {0, 1}) scale[s] = size / std::max(sides[s].width, sides[s].height);
  const double left_width = sides[0].width * scale[0], offset = left_width + gap;
  const double total = offset + sides[1].width * scale[1];
  const double height = std::max(sides[0].height * scale[0], sides[1].height * scale[1]);
  page << "<svg viewBox=\"0 0 " << total << ' ' << height << "\" role=\"img\">\n";
  for (int s : {0, 1}) {
    page << (sides[s].uri.empty() ? "<rect class=\"frame\"" : "<image href=\"" + sides[s].uri + '"') << " x=\""
         << (s == 0 ? 0 : offset) << "\" y=\"0\" width=\"" << sides[s].width * scale[s] << "\" height=\""
         << sides[s].height * scale[s] << "\"/>\n";
  }
  for (std::size_t k = 0; k < drawn; ++k) {  // evenly from all
    const serac::match_pair match = placed[k * placed.size() / drawn];
    const double x1 = sides[0].points[2 * match.row] * scale[0], y1 = sides[0].points[2 * match.row + 1] * scale[0];
    const double x2 = sides[1].points[2 * match.column] * scale[1] + offset;
    const double y2 = sides[1].points[2 * match.column + 1] * scale[1];
    const int hue = static_cast<int>(std::clamp(300 * y1 / height, 0.0, 300.0));
    page << "<g stroke=\"hsl(" << hue << " 85% 50%)\"><title>" << match.row << " \u2013 " << match.column
         << "</title><line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2
         << "\"/><circle cx=\"" << x1 << "\" cy=\"" << y1 << "\" r=\"3\"/><circle cx=\"" << x2 << "\" cy=\"" << y2
         << "\" r=\"3\"/></g>\n";
  }
  page << "</svg>\n</figure>\n";
}

/// The pairs to draw.
std::vector<pair_entry> chosen_pairs(const survey_view& survey, const report_settings& settings,
                                     std::vector<std::string>& unmatched) {
  std::vector<pair_entry> chosen;
  const auto place_of = [&](const std::string& name) {
    std::optional<std::size_t> place;
    for (std::size_t i = 0; i < survey.images.size(); ++i) {
      if (survey.name(i) != name) continue;
      if (place) throw std::runtime_error("--pair: two images have the name '" + name + "'");
      place = i;
    }
    if (!place) throw std::runtime_error("--pair: no image has the name '" + name + "'");
    return *place;
  };
  for (const auto& [a, b] : settings.pairs) {
    const std::size_t i = place_of(a), j = place_of(b);
    const auto pair = std::find_if(survey.pairs.begin(), survey.pairs.end(), [&](const pair_entry& p) {
      return p.first == std::min(i, j) && p.second == std::max(i, j);
    });
    if (pair == survey.pairs.end()) {
      unmatched.push_back(a + " \u2013 " + b + ": not matched");
    } else {
      chosen.push_back(*pair);
    }
  }
  if (!settings.pairs.empty()) return chosen;
  const std::size_t there = survey.ranking.size(),
                    wanted = std::min(there, static_cast<std::size_t>(settings.drawings));
  for (std::size_t k = 0; k < wanted; ++k) {
    const std::size_t rank = wanted == 1 ? 0 : k * (there - 1) / (wanted - 1);
    chosen.push_back(survey.pairs[survey.ranking[rank]]);
  }
  return chosen;
}

/// The page becomes `path` in one step.
void write_file(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  std::error_code failed;
  if (file) fs::rename(part, path, failed);
  if (!file || failed) {
    std::error_code ignored;
    fs::remove(part, ignored);
    throw std::runtime_error(path + ": cannot be written" + (failed ? ": " + failed.message() : ""));
  }
}

void check(const database& source, const report_settings& settings) {
  std::error_code ignored;
  const auto whole = [](const std::string& path) {
    std::error_code failed;
    const fs::path result = fs::weakly_canonical(path, failed);
    return failed ? fs::path(path) : result;
  };
  for (const char* const end : {"", "-wal", "-shm", "-journal"}) {  // SQLite's files beside it
    const std::string file = source.path() + end;
    if (fs::equivalent(file, settings.output, ignored) || whole(file) == whole(settings.output)) {
      throw std::runtime_error("--output: " + settings.output + " is the database itself, or a file of it");
    }
  }
  if (settings.image_path.empty()) return;
  if (!can_read_images()) {
    throw std::runtime_error(
        "--image_path: this program was built without stb (Debian: libstb-dev), and reads no images");
  }
  if (!fs::is_directory(settings.image_path, ignored)) {
    throw std::runtime_error("--image_path: " + settings.image_path + " is not a folder");
  }
}

}  // namespace

void write_report(database& source, const report_settings& settings) {
  check(source, settings);
  const survey_view survey(source);
  std::size_t parts = 0;
  const std::vector<connections> all = connect(survey, parts);
  std::vector<std::string> unmatched;
  const std::vector<pair_entry> chosen = chosen_pairs(survey, settings, unmatched);

  std::ostringstream page;
  page << std::fixed << std::setprecision(1);
  const std::string title = as_html(fs::path(source.path()).filename().string());
  page << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" << title
       << "</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n"
       << "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
       << "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<style>" << report_style
       << "</style>\n</head>\n<body>\n<h1><bdi>" << title << "</bdi></h1>\n<p class=\"note\">By serac_colmap "
       << SERAC_VERSION_MAJOR << '.' << SERAC_VERSION_MINOR << '.' << SERAC_VERSION_PATCH << "</p>\n";
  write_summary(page, source, survey, parts);
  write_problems(page, survey.problems);
  write_matrix(page, survey);
  write_histogram(page, survey);
  write_few(page, survey, all, parts, settings.few);
  page << "<h2>Pairs</h2>\n";
  if (settings.pairs.empty()) {
    page << "<p class=\"note\">"
         << (chosen.empty() ? "There is no pair with matches." : "From the most matches to the fewest.") << "</p>\n";
  }
  for (const std::string& what : unmatched) page << "<p class=\"problem\">" << name_html(what) << "</p>\n";
  for (const pair_entry& pair : chosen) write_drawing(page, source, survey, pair, settings);
  page << "<script>" << report_script << "</script>\n</body>\n</html>\n";
  write_file(settings.output, page.str());
  std::cout << settings.output << ": " << survey.images.size() << " images, " << survey.pairs.size() << " pairs, "
            << chosen.size() << " drawings, " << survey.problems.size() << " problems\n";
}

}  // namespace serac_colmap
