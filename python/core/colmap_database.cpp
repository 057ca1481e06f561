// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "colmap_database.hpp"

#include <nanobind/stl/string.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <database.hpp>
#include <match_run.hpp>

#include "arguments.hpp"
#include "call_progress.hpp"
#include "dispatch.hpp"
#include "errors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace serac_python {

namespace {

/// What a call has done.
struct match_summary {
  std::int64_t pairs = 0, skipped = 0, matched = 0, nonempty = 0, matches = 0;

  std::string repr() const {
    return "MatchSummary(pairs=" + std::to_string(pairs) + ", skipped=" + std::to_string(skipped) +
           ", matched=" + std::to_string(matched) + ", nonempty=" + std::to_string(nonempty) +
           ", matches=" + std::to_string(matches) + ")";
  }
};

/// What both functions are called with beside the pairs.
struct database_call {
  std::string path;
  serac_colmap::match_settings settings;
  std::chrono::milliseconds lock_timeout;

  database_call(nb::handle database_path, float max_ratio, float max_distance, bool cross_check, nb::handle device,
                std::int64_t max_num_matches, std::int64_t min_num_inliers, int num_threads, double timeout)
      : path(path_of(database_path)), lock_timeout(static_cast<std::int64_t>(timeout * 1000)) {
    const auto in_range = [](const char* name, std::int64_t value, std::int64_t least) {
      if (value < least || value > 1 << 30) {
        throw value_error(name, "must be from " + std::to_string(least) + " to 2^30, not " + std::to_string(value));
      }
    };
    in_range("max_num_matches", max_num_matches, 1);
    in_range("min_num_inliers", min_num_inliers, 0);
    if (!(timeout >= 0 && timeout <= 1e6)) throw value_error("lock_timeout", "must be seconds, from 0 to 1e6");
    const judgement by = judgement_of(score_kind::dot, max_ratio, max_distance, cross_check, std::nullopt);
    settings.max_ratio = by.options.max_ratio;
    settings.max_distance = by.options.max_distance;
    settings.cross_check = by.options.cross_check;
    settings.max_num_matches = max_num_matches;
    settings.min_num_inliers = min_num_inliers;
    settings.where.num_threads = threads_of(num_threads);
    const device_choice choice = device_of(device);
    settings.where.use_gpu = use_gpu(choice);
    settings.where.gpu_index = {choice.index};
  }

  /// Matches the pairs that `pairs_of(images)` makes, and stores their lists.
  template <class PairsOf>
  match_summary run(PairsOf pairs_of, nb::handle progress_bar) const {
    using namespace serac_colmap;
    nb::gil_scoped_release no_gil;
    database target(path, database::access::read_write, lock_timeout);
    const match_limits limits = limits_of(target, settings.max_num_matches);
    const serac::match_options options = options_of(settings, limits);
    const image_table images(target);
    const pair_generator pairs = pairs_of(target.images());
    const plan work = make_plan(target, images, pairs, limits);
    match_summary summary{work.pairs, work.skipped};

    const in_python<call_progress> shown(progress_bar, work.to_do);
    for (const std::string& text : work.warnings) shown->note(text);
    if (work.to_do > 0) {
      list_store store([&](const auto& lists) { target.store(lists); }, images, limits, settings.min_num_inliers,
                       *shown);
      const serac_colmap::backend matching = make_backend(options, settings.where);
      match_plan(target, images, work, pairs, matching, store, options, settings, nullptr);
      summary.matched = store.pairs();
      summary.nonempty = store.nonempty();
      summary.matches = store.matches();
    }
    const nb::gil_scoped_acquire gil;
    shown->close();
    return summary;
  }

 private:
  /// A T that is made and destroyed with the GIL, by a thread that has released it.
  template <class T>
  class in_python {
   public:
    template <class... Arguments>
    explicit in_python(Arguments... arguments) {
      const nb::gil_scoped_acquire gil;
      made_ = std::make_unique<T>(arguments...);
    }
    ~in_python() {
      const nb::gil_scoped_acquire gil;
      made_.reset();
    }
    T& operator*() const { return *made_; }
    T* operator->() const { return made_.get(); }

   private:
    std::unique_ptr<T> made_;
  };
};

int block_size_of(int block_size) {
  if (block_size < 1 || block_size > 1 << 20) throw value_error("block_size", "must be from 1 to 2^20");
  return block_size;
}

using names = std::vector<std::pair<std::string, std::string>>;

/// Pairs of names of images; nothing if `pairs` is a path.
std::optional<names> names_of(nb::handle pairs) {
  const bool is_path =
      nb::isinstance<nb::str>(pairs) || nb::isinstance<nb::bytes>(pairs) || nb::hasattr(pairs, "__fspath__");
  if (is_path) return std::nullopt;
  names list;
  try {
    for (const nb::handle row : pairs) {
      if (nb::len(row) != 2) throw value_error("pairs[" + std::to_string(list.size()) + "]", "is no pair of names");
      list.emplace_back(nb::cast<std::string>(row[0]), nb::cast<std::string>(row[1]));
    }
  } catch (const nb::cast_error&) {
    throw type_error("pairs[" + std::to_string(list.size()) + "]", "must be two names of images");
  } catch (const nb::python_error&) {
    throw type_error("pairs", "must be a path, or a sequence of pairs of names of images");
  }
  return list;
}

}  // namespace

void define_database_functions(nb::module_& module) {
  nb::class_<match_summary>(module, "MatchSummary", "What match_exhaustive or match_pairs has done.")
      .def_ro("pairs", &match_summary::pairs, "Pairs asked for.")
      .def_ro("skipped", &match_summary::skipped, "Of them, those that had a row of matches already.")
      .def_ro("matched", &match_summary::matched, "Of them, those that were matched now.")
      .def_ro("nonempty", &match_summary::nonempty, "Of those, the ones with matches.")
      .def_ro("matches", &match_summary::matches, "Matches stored now.")
      .def("__repr__", &match_summary::repr);

  module.def(
      "match_exhaustive",
      [](nb::object database_path, float max_ratio, float max_distance, bool cross_check, nb::object device,
         nb::object progress, std::int64_t max_num_matches, std::int64_t min_num_inliers, int block_size,
         int num_threads, double lock_timeout) {
        const database_call call(database_path, max_ratio, max_distance, cross_check, device, max_num_matches,
                                 min_num_inliers, num_threads, lock_timeout);
        block_size_of(block_size);
        return call.run([&](auto images) { return serac_colmap::exhaustive_pairs(std::move(images), block_size); },
                        progress);
      },
      "database_path"_a.none(), "max_ratio"_a = 0.8f, "max_distance"_a = 0.7f, "cross_check"_a = true,
      "device"_a = nb::none(), "progress"_a = nb::none(), nb::kw_only(), "max_num_matches"_a = 32768,
      "min_num_inliers"_a = 15, "block_size"_a = 50, "num_threads"_a = -1, "lock_timeout"_a = 60.0,
      nb::sig("def match_exhaustive(database_path: str | bytes | os.PathLike, max_ratio: float = 0.8, "
              "max_distance: float = 0.7, cross_check: bool = True, device: typing.Any = None, "
              "progress: collections.abc.Callable[..., typing.Any] | None = None, *, "
              "max_num_matches: int = 32768, min_num_inliers: int = 15, block_size: int = 50, "
              "num_threads: int = -1, lock_timeout: float = 60.0) -> MatchSummary"),
      R"(Match all pairs of images of a COLMAP database and store their lists, as COLMAP's exhaustive matcher does.

The rows of the matches table are those that COLMAP's GPU matcher writes. Pairs that have one already are skipped, so a
call that was interrupted is gone on with by the next one. Geometric verification is left to COLMAP
(pycolmap.verify_matches). SIFT only: descriptors (count, 128) of uint8.

Args:
    database_path: The database, of any COLMAP from 3.8 on. No other connection of this process may be open on it.
    max_ratio, max_distance, cross_check, device: As in match; device "cuda" and None take all GPUs.
    progress: None, or what makes a progress bar as tqdm.tqdm does: called as progress(total=pairs), then update(n)
        and close() of what it returns.
    max_num_matches: Features of an image that are looked at, and matches of a pair that are kept.
    min_num_inliers: A shorter list is stored empty, as COLMAP stores it.
    block_size: Images of a block; it decides the order of pairs and which image of a pair is the first.
    num_threads: Of the host; -1: all.
    lock_timeout: Seconds to wait while another process locks the database.

Returns:
    What was done.

Raises:
    ValueError, TypeError: The argument that they name.
    serac.Error: The database cannot be read or written, an image cannot be matched, or a GPU fails; the lists before
        that are stored.
    KeyboardInterrupt: The lists before that are stored.)");

  module.def(
      "match_pairs",
      [](nb::object database_path, nb::object pairs, float max_ratio, float max_distance, bool cross_check,
         nb::object device, nb::object progress, std::int64_t max_num_matches, std::int64_t min_num_inliers,
         int block_size, int num_threads, double lock_timeout) {
        const database_call call(database_path, max_ratio, max_distance, cross_check, device, max_num_matches,
                                 min_num_inliers, num_threads, lock_timeout);
        block_size_of(block_size);
        if (const std::optional<names> list = names_of(pairs)) {
          return call.run([&](const auto& images) { return serac_colmap::named_pairs(images, *list, block_size); },
                          progress);
        }
        const std::string path = path_of(pairs);
        return call.run([&](const auto& images) { return serac_colmap::listed_pairs(images, path, block_size); },
                        progress);
      },
      "database_path"_a.none(), "pairs"_a.none(), "max_ratio"_a = 0.8f, "max_distance"_a = 0.7f, "cross_check"_a = true,
      "device"_a = nb::none(), "progress"_a = nb::none(), nb::kw_only(), "max_num_matches"_a = 32768,
      "min_num_inliers"_a = 15, "block_size"_a = 1225, "num_threads"_a = -1, "lock_timeout"_a = 60.0,
      nb::sig("def match_pairs(database_path: str | bytes | os.PathLike, "
              "pairs: str | bytes | os.PathLike | collections.abc.Iterable[collections.abc.Sequence[str]], "
              "max_ratio: float = 0.8, max_distance: float = 0.7, cross_check: bool = True, "
              "device: typing.Any = None, progress: collections.abc.Callable[..., typing.Any] | None = None, *, "
              "max_num_matches: int = 32768, min_num_inliers: int = 15, block_size: int = 1225, "
              "num_threads: int = -1, lock_timeout: float = 60.0) -> MatchSummary"),
      R"(Match pairs of images of a COLMAP database and store their lists, as COLMAP's matches_importer does.

Args:
    database_path: As in match_exhaustive, and so are the arguments that are not named here.
    pairs: A file with two image names a line (pycolmap's match_list_path), or a sequence of pairs of names. Repeated
        pairs and images paired with themselves are passed over.
    block_size: Pairs of a block, which are stored together.

Returns:
    What was done.

Raises:
    As match_exhaustive; serac.Error also names the image that there is not.)");
}

}  // namespace serac_python
