// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The functions of the package and what Python's help says of them.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <serac/version.hpp>

#include "arguments.hpp"
#include "call_progress.hpp"
#include "colmap_database.hpp"
#include "dispatch.hpp"
#include "errors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace serac_python {

namespace {

/// A NumPy array of `Columns` Ts a row that owns `list`, whose elements are such rows.
template <class T, std::size_t Columns, class Row>
nb::object array_of(std::vector<Row>&& list) {
  static_assert(sizeof(Row) == Columns * sizeof(T));
  auto kept = std::make_unique<std::vector<Row>>(std::move(list));
  const std::size_t shape[] = {kept->size(), Columns};
  void* const data = kept->data();
  const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<Row>*>(p); });
  kept.release();
  return nb::cast(nb::ndarray<nb::numpy, T>(data, 2, shape, owner));
}

nb::object array_of(std::vector<serac::match_pair>&& list) { return array_of<std::uint32_t, 2>(std::move(list)); }
nb::object array_of(std::vector<serac::top2>&& list) { return array_of<std::int32_t, 3>(std::move(list)); }

/// What `work()` returns, while other threads of Python run.
template <class Work>
auto without_gil(Work work) {
  const nb::gil_scoped_release release;
  return work();
}

nb::object match(nb::object a, nb::object b, float max_ratio, float max_distance, bool cross_check, nb::object device,
                 const std::string& score, std::optional<int> max_bits, int num_threads) {
  const score_kind kind = score_of(score);
  kept_arrays kept;
  const std::vector<image> images = images_of({{"a", a}, {"b", b}}, kind, kept);
  const judgement by = judgement_of(kind, max_ratio, max_distance, cross_check, max_bits);
  const auto on = backend_for({images[0].where, images[1].where}, device_of(device), threads_of(num_threads));
  return array_of(without_gil([&] { return on->match(images[0], images[1], by); }).pairs);
}

nb::object match_guided(nb::object a, nb::object b, nb::object keypoints_a, nb::object keypoints_b, nb::object f,
                        nb::object h, double max_error, float max_ratio, float max_distance, bool cross_check,
                        nb::object device, const std::string& score, std::optional<int> max_bits, int num_threads) {
  const score_kind kind = score_of(score);
  kept_arrays kept;
  const std::vector<image> images = images_of({{"a", a}, {"b", b}}, kind, kept);
  const locations points_a = locations_of(keypoints_a, "keypoints_a", images[0], kept);
  const locations points_b = locations_of(keypoints_b, "keypoints_b", images[1], kept);
  const serac::two_view_geometry geometry = geometry_of(f, h, max_error);
  const judgement by = judgement_of(kind, max_ratio, max_distance, cross_check, max_bits);
  const auto on = backend_for({images[0].where, images[1].where, points_a.where, points_b.where}, device_of(device),
                              threads_of(num_threads));
  return array_of(
      without_gil([&] { return on->match_guided(images[0], images[1], points_a, points_b, geometry, by); }).pairs);
}

nb::object nearest2(nb::object a, nb::object b, bool with_columns, nb::object device, const std::string& score,
                    int num_threads) {
  kept_arrays kept;
  const std::vector<image> images = images_of({{"a", a}, {"b", b}}, score_of(score), kept);
  const auto on = backend_for({images[0].where, images[1].where}, device_of(device), threads_of(num_threads));
  serac::nearest2_list list = without_gil([&] { return on->nearest2(images[0], images[1], with_columns); });
  nb::object rows = array_of(std::move(list.rows));
  if (!with_columns) return rows;
  return nb::make_tuple(rows, array_of(std::move(list.columns)));
}

nb::list match_batch(nb::object images, nb::object pairs, float max_ratio, float max_distance, bool cross_check,
                     nb::object device, nb::object progress, const std::string& score, std::optional<int> max_bits,
                     int num_threads) {
  const score_kind kind = score_of(score);
  kept_arrays kept;
  if (!nb::isinstance<nb::sequence>(images)) throw type_error("images", "must be a sequence of arrays");
  std::vector<nb::object> owned;
  std::vector<std::pair<std::string, nb::handle>> named;
  for (const nb::handle each : images) {
    owned.push_back(nb::borrow(each));
    named.emplace_back("images[" + std::to_string(named.size()) + "]", each);
  }
  const std::vector<image> all = images_of(named, kind, kept);
  const std::vector<serac::image_pair> list = pairs_of(pairs, all.size());
  const judgement by = judgement_of(kind, max_ratio, max_distance, cross_check, max_bits);
  std::vector<place> places;
  for (const image& each : all) places.push_back(each.where);
  const auto on = backend_for(places, device_of(device), threads_of(num_threads));
  call_progress shown(progress, static_cast<std::int64_t>(list.size()));
  std::vector<std::vector<serac::match_pair>> lists;
  without_gil([&] {
    on->match_batch(all, list, by, [&](const serac::match_pair* matches, std::int64_t count) {
      lists.emplace_back(matches, matches + count);
      shown.advance();
    });
  });
  nb::list result;
  for (auto& each : lists) result.append(array_of(std::move(each)));
  shown.close();
  return result;
}

#define SERAC_ARRAYS "typing.Any"
#define SERAC_MATCHES "numpy.typing.NDArray[numpy.uint32]"
#define SERAC_ACCEPTANCE "max_ratio: float = 0.8, max_distance: float = 0.7, cross_check: bool = True, "
#define SERAC_SCORE "score: str = 'dot', max_bits: int | None = None, num_threads: int = -1"

void define_functions(nb::module_& module) {
  module.def("match", &match, "a"_a.none(), "b"_a.none(), "max_ratio"_a = 0.8f, "max_distance"_a = 0.7f,
             "cross_check"_a = true, "device"_a = nb::none(), nb::kw_only(), "score"_a = "dot",
             "max_bits"_a = nb::none(), "num_threads"_a = -1,
             nb::sig("def match(a: " SERAC_ARRAYS ", b: " SERAC_ARRAYS ", " SERAC_ACCEPTANCE
                     "device: typing.Any = None, *, " SERAC_SCORE ") -> " SERAC_MATCHES),
             R"(Match the descriptors of two images, exactly as COLMAP's GPU matcher does.

Args:
    a, b: Descriptors, shape (M, width) and (N, width): uint8 (SIFT: width 128, norm 512), int8, float32 or float16
        (norm 1), or, with score="hamming", binary descriptors packed into uint8. Arrays of NumPy, CuPy or PyTorch, or
        anything else with DLPack or the CUDA array interface; rows contiguous. GPU memory is not copied, where the
        width is 128 (floats: or 256; binary: 32 or 64) and rows are aligned to 16 bytes, and is read behind the work
        of its framework's current stream.
    max_ratio: The distance of the best must be below max_ratio times that of the second best.
    max_distance: The distance of the best must be below this. Distances are angles in radians where descriptors are
        bytes, Euclidean where they are floats (with score="dot" of descriptors of norm 1). Not for score="hamming".
    cross_check: Each must be the other's best.
    device: None: the GPU that the arrays are on; for arrays in host memory a GPU if there is one, else the host.
        "cpu", "cuda", "cuda:1" or 1 (or a torch.device) force one.
    score: What makes descriptors alike: "dot", their product; "l2", for floats: that their distance is small;
        "hamming", for packed bits.
    max_bits: With score="hamming": the distance of the best must be below this; None: any.
    num_threads: Of the host; -1: all.

Returns:
    Matches, shape (K, 2) of uint32: row of a, row of b; ascending in the first. A NumPy array, also from GPU memory.

Raises:
    ValueError, TypeError: The argument that they name.
    serac.Error: A GPU is asked for and there is none, or it fails.

Exact ties, which show only with max_ratio above 1, are broken as COLMAP does for uint8; else the smaller row wins.)");

  module.def("nearest2", &nearest2, "a"_a.none(), "b"_a.none(), "with_columns"_a = false, "device"_a = nb::none(),
             nb::kw_only(), "score"_a = "dot", "num_threads"_a = -1,
             nb::sig("def nearest2(a: " SERAC_ARRAYS ", b: " SERAC_ARRAYS
                     ", with_columns: bool = False, device: typing.Any = None, *, score: str = 'dot', "
                     "num_threads: int = -1) -> numpy.typing.NDArray[numpy.int32] | "
                     "tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32]]"),
             R"(The best score, where it stands, and the second best score, of every row of a among those of b.

Args:
    a, b, device, score, num_threads: As in match.
    with_columns: The same for every row of b among those of a, too.

Returns:
    Shape (M, 3) of int32: best, index, second; with_columns: that and the same of shape (N, 3). A score is the dot
    product, where below 0 counts as 0; of floats, its bits as a float32 (states[:, 0].view(numpy.float32)). With
    score="l2" it is 0x7f800000 less the bits of the squared distance, with score="hamming" 4097 less the distance.
    Where nothing scores above 0, best is 0 and index -1. Of tied bests the smallest index is given.

Raises:
    As match.)");

  module.def(
      "match_guided", &match_guided, "a"_a.none(), "b"_a.none(), "keypoints_a"_a.none(), "keypoints_b"_a.none(),
      "F"_a = nb::none(), "H"_a = nb::none(), "max_error"_a = 4.0, "max_ratio"_a = 0.8f, "max_distance"_a = 0.7f,
      "cross_check"_a = true, "device"_a = nb::none(), nb::kw_only(), "score"_a = "dot", "max_bits"_a = nb::none(),
      "num_threads"_a = -1,
      nb::sig("def match_guided(a: " SERAC_ARRAYS ", b: " SERAC_ARRAYS ", keypoints_a: " SERAC_ARRAYS
              ", keypoints_b: " SERAC_ARRAYS
              ", F: numpy.typing.ArrayLike | None = None, H: numpy.typing.ArrayLike | None = None, "
              "max_error: float = 4.0, " SERAC_ACCEPTANCE "device: typing.Any = None, *, " SERAC_SCORE
              ") -> " SERAC_MATCHES),
      R"(Match the descriptors of two images among the features that meet a known geometry, as COLMAP's guided matching.

Args:
    a, b: Descriptors, as in match.
    keypoints_a, keypoints_b: Locations of the features, shape (M, 2 or more) and (N, 2 or more) of float32: x and y in
        the first two columns; COLMAP's keypoints as they are. Arrays as a and b.
    F: Fundamental matrix, (3, 3), from a to b: features more than max_error off by Sampson's error do not match. An
        essential matrix serves as well, locations and max_error being normalised.
    H: Homography, (3, 3), from a to b: features more than max_error off do not match. With F, both must be met.
    max_error: In the unit of the locations.
    max_ratio, max_distance, cross_check, device, score, max_bits, num_threads: As in match.

Returns:
    As match: exactly its matches if all other pairs of features scored 0.

Raises:
    As match.)");

  module.def("match_batch", &match_batch, "images"_a.none(), "pairs"_a.none(), "max_ratio"_a = 0.8f,
             "max_distance"_a = 0.7f, "cross_check"_a = true, "device"_a = nb::none(), "progress"_a = nb::none(),
             nb::kw_only(), "score"_a = "dot", "max_bits"_a = nb::none(), "num_threads"_a = -1,
             nb::sig("def match_batch(images: collections.abc.Sequence[" SERAC_ARRAYS
                     "], pairs: numpy.typing.ArrayLike, " SERAC_ACCEPTANCE
                     "device: typing.Any = None, progress: collections.abc.Callable[..., typing.Any] | None = None, "
                     "*, " SERAC_SCORE ") -> list[" SERAC_MATCHES "]"),
             R"(Match many pairs of images, in bounded memory, at the speed of batches.

Args:
    images: Descriptors of each image, as in match; all of one dtype and width. Images in GPU memory go through host
        memory once.
    pairs: Which images to match, shape (P, 2): places in images.
    max_ratio, max_distance, cross_check, score, max_bits, num_threads: As in match.
    device: As in match; None and "cuda" share images of host memory out among all GPUs.
    progress: None, or what makes a progress bar as tqdm.tqdm does: called as progress(total=P), then update(n) and
        close() of what it returns.

Returns:
    The matches of each pair, in order, each as match returns them.

Raises:
    As match; KeyboardInterrupt soon after it is asked for.)");

  module.def("gpu_count", &gpu_count, nb::sig("def gpu_count() -> int"),
             "The number of CUDA GPUs; 0 without a driver, and in a build without CUDA.");
}

}  // namespace

}  // namespace serac_python

NB_MODULE(_core, module) {
  module.attr("__version__") = std::to_string(SERAC_VERSION_MAJOR) + "." + std::to_string(SERAC_VERSION_MINOR) + "." +
                               std::to_string(SERAC_VERSION_PATCH);
  module.attr("has_cuda") = serac_python::has_cuda();
  serac_python::define_errors(module);
  serac_python::define_functions(module);
  serac_python::define_database_functions(module);
}
