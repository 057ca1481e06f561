// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "errors.hpp"

namespace nb = nanobind;

namespace serac_python {

namespace {

using nb::dlpack::dtype_code;

constexpr int max_width = 512;  // of the library

/// What can be matched: a dtype (of DLPack), scored in a way, is an element type.
struct supported_dtype {
  dtype_code code;
  int bits;
  score_kind score;
  element type;
};
constexpr supported_dtype supported_dtypes[] = {
    {dtype_code::UInt, 8, score_kind::dot, element::unsigned_byte},
    {dtype_code::Int, 8, score_kind::dot, element::signed_byte},
    {dtype_code::Float, 32, score_kind::dot, element::float32},
    {dtype_code::Float, 16, score_kind::dot, element::float16},
    {dtype_code::Float, 32, score_kind::l2, element::l2_float32},
    {dtype_code::Float, 16, score_kind::l2, element::l2_float16},
    {dtype_code::UInt, 8, score_kind::hamming, element::bits},
};

const char* name_of(score_kind score) {
  return score == score_kind::dot ? "dot" : score == score_kind::l2 ? "l2" : "hamming";
}

/// "float32"
std::string name_of(dtype_code code, int bits) {
  const auto name = [code] {
    switch (code) {
      case dtype_code::Int:
        return "int";
      case dtype_code::UInt:
        return "uint";
      case dtype_code::Float:
        return "float";
      case dtype_code::Bfloat:
        return "bfloat";
      case dtype_code::Complex:
        return "complex";
      case dtype_code::Bool:
        return "bool";
      default:
        return "unknown ";
    }
  }();
  return name + std::to_string(bits);
}

element element_of(dtype_code code, int bits, score_kind score, const std::string& name) {
  std::string known;
  for (const supported_dtype& each : supported_dtypes) {
    if (each.score != score) continue;
    if (each.code == code && each.bits == bits) return each.type;
    known += (known.empty() ? "" : ", ") + name_of(each.code, each.bits);
  }
  throw type_error(name, "dtype " + name_of(code, bits) + " cannot be matched with score='" + name_of(score) +
                             "'; what can: " + known);
}

/// An array of any kind, before it is known what it is.
struct raw_array {
  const void* data = nullptr;
  dtype_code code = dtype_code::UInt;
  int bits = 8;
  std::vector<std::int64_t> shape, strides;  ///< strides in elements
  place where;
};

std::string shape_text(const raw_array& array) {
  std::string text = "(";
  for (std::size_t i = 0; i < array.shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(array.shape[i]);
  return text + (array.shape.size() == 1 ? ",)" : ")");
}

void* pointer_from(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

/// The CUDA array interface of an object, or None.
nb::object cuda_interface_of(nb::handle object) { return nb::getattr(object, "__cuda_array_interface__", nb::none()); }

/// The stream behind whose work an array in GPU memory is ready: its framework's current one; else the one that its
/// CUDA array interface names; else the legacy default stream, as DLPack has it where none is named.
void* stream_of(nb::handle array, int device) {
  const auto module = nb::cast<std::string>(nb::str(nb::getattr(array.type(), "__module__", nb::str(""))));
  if (module == "torch" || module.rfind("torch.", 0) == 0) {
    const nb::object stream = nb::module_::import_("torch").attr("cuda").attr("current_stream")(device);
    return pointer_from(nb::cast<std::uintptr_t>(stream.attr("cuda_stream")));
  }
  if (const nb::object interface = cuda_interface_of(array); !interface.is_none()) {
    const nb::object stream = interface.attr("get")("stream");
    if (!stream.is_none()) return pointer_from(nb::cast<std::uintptr_t>(stream));
  }
  return nullptr;
}

/// Of an array with nothing but a CUDA array interface.
raw_array raw_of_interface(const nb::object& interface, const std::string& name) {
  raw_array raw;
  const auto type = nb::cast<std::string>(interface["typestr"]);  // "|u1", "<f4"
  const char kind = type.size() > 2 ? type[1] : '?';
  raw.code = kind == 'u'   ? dtype_code::UInt
             : kind == 'i' ? dtype_code::Int
             : kind == 'f' ? dtype_code::Float
             : kind == 'b' ? dtype_code::Bool
                           : dtype_code::Complex;
  const int bytes = std::atoi(type.c_str() + 2);
  raw.bits = 8 * bytes;
  for (const nb::handle size : interface["shape"]) raw.shape.push_back(nb::cast<std::int64_t>(size));
  raw.strides.resize(raw.shape.size());
  const nb::object strides = interface.attr("get")("strides");
  if (strides.is_none()) {
    std::int64_t stride = 1;
    for (std::size_t i = raw.shape.size(); i-- > 0; stride *= raw.shape[i]) raw.strides[i] = stride;
  } else {
    for (std::size_t i = 0; i < raw.shape.size(); ++i) {
      const auto stride = nb::cast<std::int64_t>(strides[i]);
      if (bytes == 0 || stride % bytes != 0) throw value_error(name, "its strides are no multiples of its elements");
      raw.strides[i] = stride / bytes;
    }
  }
  raw.data = pointer_from(nb::cast<std::uintptr_t>(interface["data"][0]));
#if SERAC_PYTHON_HAS_CUDA
  if (raw.data != nullptr) {
    raw.where.device = device_of_pointer(raw.data);
    const nb::object stream = interface.attr("get")("stream");
    if (!stream.is_none()) raw.where.stream = pointer_from(nb::cast<std::uintptr_t>(stream));
  }
#else
  throw value_error(name, "is in GPU memory, but this build of serac has no GPU part");
#endif
  return raw;
}

raw_array raw_of(nb::handle object, const std::string& name, kept_arrays& kept) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array, false) || !array.is_valid()) {
    if (const nb::object interface = cuda_interface_of(object); !interface.is_none()) {
      kept.push_back(nb::borrow(object));
      return raw_of_interface(interface, name);
    }
    throw type_error(name,
                     "is no array: " + nb::cast<std::string>(nb::str(object.type())) +
                         " (arrays of NumPy, CuPy, PyTorch, and all with DLPack or the CUDA array interface are)");
  }
  raw_array raw;
  raw.data = array.data();
  raw.code = static_cast<dtype_code>(array.dtype().code);
  raw.bits = array.dtype().bits;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    raw.shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    raw.strides.push_back(array.stride(i));
  }
  const int type = array.device_type();
  if (type == nb::device::cuda::value || type == nb::device::cuda_managed::value) {
    raw.where.device = array.device_id();
    raw.where.stream = stream_of(object, raw.where.device);
#if !SERAC_PYTHON_HAS_CUDA
    throw value_error(name, "is in GPU memory, but this build of serac has no GPU part");
#endif
  } else if (type != nb::device::cpu::value && type != nb::device::cuda_host::value) {
    throw value_error(name, "is in the memory of a device of DLPack's type " + std::to_string(type) +
                                ": neither the host's nor a CUDA GPU's");
  }
  kept.push_back(nb::cast(array, nb::rv_policy::reference));
  return raw;
}

/// Refuses all but rows of at least `least` elements next to each other.
void check_is_matrix(const raw_array& raw, const std::string& name, const std::string& what, int least, int most) {
  if (raw.shape.size() != 2) throw value_error(name, "is no array of " + what + ": its shape is " + shape_text(raw));
  if (raw.shape[0] > std::numeric_limits<std::int32_t>::max()) throw value_error(name, "has too many rows");
  if (raw.shape[0] == 0) return;
  if (raw.shape[1] < least || raw.shape[1] > most) {
    throw value_error(name, "is no array of " + what + ": its shape is " + shape_text(raw));
  }
  const bool rows_are_whole = raw.shape[1] == 1 || raw.strides[1] == 1;
  const bool rows_ascend = raw.shape[0] == 1 || raw.strides[0] >= raw.shape[1];
  if (!rows_are_whole || !rows_ascend) {
    throw value_error(name,
                      "its rows must be contiguous, one behind the other (numpy.ascontiguousarray makes them so)");
  }
}

/// Elements from one row to the next.
std::int64_t row_stride(const raw_array& raw) { return raw.shape[0] <= 1 ? raw.shape[1] : raw.strides[0]; }

/// The entries of a 3 x 3 matrix, as float32.
void read_matrix(nb::handle given, const std::string& name, float (&entries)[9]) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object matrix;
  try {
    matrix = numpy.attr("ascontiguousarray")(given, numpy.attr("float32"));
  } catch (const nb::python_error&) {
    throw type_error(name, "is no matrix of numbers in host memory");
  }
  nb::ndarray<const float, nb::c_contig, nb::device::cpu> array;
  if (!nb::try_cast(matrix, array, false)) throw type_error(name, "is no matrix of numbers in host memory");
  if (array.ndim() != 2 || array.shape(0) != 3 || array.shape(1) != 3) {
    throw value_error(name, "is no 3 x 3 matrix");
  }
  std::copy_n(array.data(), 9, entries);
}

}  // namespace

score_kind score_of(const std::string& score) {
  for (const score_kind kind : {score_kind::dot, score_kind::hamming, score_kind::l2}) {
    if (score == name_of(kind)) return kind;
  }
  throw value_error("score", "must be 'dot', 'l2' or 'hamming', not '" + score + "'");
}

image image_of(nb::handle array, const std::string& name, score_kind score, kept_arrays& kept) {
  const raw_array raw = raw_of(array, name, kept);
  const element type = element_of(raw.code, raw.bits, score, name);
  check_is_matrix(raw, name, "descriptors, (count, width) with a width from 1 to " + std::to_string(max_width), 1,
                  max_width);
  const int width = static_cast<int>(std::min<std::int64_t>(raw.shape[1], max_width));
  return {raw.data, raw.shape[0], width, row_stride(raw), type, raw.where};
}

std::vector<image> images_of(const std::vector<std::pair<std::string, nb::handle>>& named, score_kind score,
                             kept_arrays& kept) {
  std::vector<image> images;
  std::size_t first = named.size();  // that has descriptors
  for (const auto& [name, array] : named) {
    images.push_back(image_of(array, name, score, kept));
    const image& last = images.back();
    if (last.count == 0) continue;
    if (first == named.size()) first = images.size() - 1;
    const image& model = images[first];
    if (last.type != model.type) throw value_error(name, "its dtype is not that of " + named[first].first);
    if (last.width != model.width) {
      throw value_error(name, "its width of " + std::to_string(last.width) + " is not that of " + named[first].first +
                                  ", " + std::to_string(model.width));
    }
  }
  for (image& each : images) {
    if (each.count > 0) continue;
    each.width = first == named.size() ? 4 : images[first].width;
    each.stride = each.width;
    each.type = images[std::min(first, named.size() - 1)].type;
  }
  return images;
}

locations locations_of(nb::handle array, const std::string& name, const image& of, kept_arrays& kept) {
  const raw_array raw = raw_of(array, name, kept);
  if (raw.code != dtype_code::Float || raw.bits != 32) {
    throw type_error(name, "dtype " + name_of(raw.code, raw.bits) + "; locations are float32");
  }
  check_is_matrix(raw, name, "locations, (count, 2 or more)", 2, std::numeric_limits<int>::max());
  if (raw.shape[0] != of.count) {
    throw value_error(
        name, "has " + std::to_string(raw.shape[0]) + " locations for " + std::to_string(of.count) + " descriptors");
  }
  return {{static_cast<const float*>(raw.data), raw.shape[0], std::max<std::int64_t>(row_stride(raw), 2)}, raw.where};
}

std::vector<serac::image_pair> pairs_of(nb::handle pairs, std::size_t image_count) {
  std::vector<serac::image_pair> list;
  std::size_t number = 0;
  nb::object rows;
  try {
    const nb::object as_list = nb::getattr(pairs, "tolist", nb::none());  // of arrays: much faster
    rows = as_list.is_none() ? nb::borrow(pairs) : as_list();
    for (const nb::handle row : rows) {
      std::int64_t entries[2];
      if (nb::len(row) != 2) throw value_error("pairs[" + std::to_string(number) + "]", "is no pair");
      for (int k = 0; k < 2; ++k) {
        entries[k] = nb::cast<std::int64_t>(row[k]);
        if (entries[k] < 0 || entries[k] >= static_cast<std::int64_t>(image_count)) {
          throw value_error("pairs[" + std::to_string(number) + "]",
                            "there is no image number " + std::to_string(entries[k]));
        }
      }
      list.push_back({static_cast<std::int32_t>(entries[0]), static_cast<std::int32_t>(entries[1])});
      ++number;
    }
  } catch (const nb::cast_error&) {
    throw type_error("pairs[" + std::to_string(number) + "]", "must be two numbers of images");
  } catch (const nb::python_error&) {
    throw type_error("pairs", "must be a sequence of pairs of numbers of images");
  }
  return list;
}

serac::two_view_geometry geometry_of(nb::handle fundamental, nb::handle homography, double max_error) {
  if (fundamental.is_none() && homography.is_none()) throw value_error("F, H", "one of them must be given");
  const auto squared = static_cast<float>(max_error * max_error);
  if (!(max_error > 0) || !(squared > 0)) {
    throw value_error("max_error", "must be above 0, not " + std::to_string(max_error));
  }
  serac::two_view_geometry geometry;
  if (!fundamental.is_none()) {
    geometry.has_epipolar = true;
    read_matrix(fundamental, "F", geometry.epipolar.matrix);
    geometry.epipolar.max_squared_error = squared;
  }
  if (!homography.is_none()) {
    geometry.has_homography = true;
    read_matrix(homography, "H", geometry.homography.matrix);
    geometry.homography.max_squared_error = squared;
  }
  return geometry;
}

judgement judgement_of(score_kind score, float max_ratio, float max_distance, bool cross_check,
                       std::optional<int> max_bits) {
  const auto refuse = [](const char* name, float value) {
    throw value_error(name, "must be above 0, not " + std::to_string(value));
  };
  if (!(max_ratio > 0)) refuse("max_ratio", max_ratio);
  if (!(max_distance > 0)) refuse("max_distance", max_distance);
  judgement by;
  if (score == score_kind::hamming) {
    if (max_distance != by.options.max_distance) {
      throw value_error("max_distance", "is for score='dot' and 'l2'; with score='hamming' give max_bits");
    }
    by.max_bits = std::clamp(max_bits.value_or(by.max_bits), 0, by.max_bits);
  } else if (max_bits) {
    throw value_error("max_bits", "is for score='hamming'; else give max_distance");
  }
  by.options.max_ratio = max_ratio;
  by.options.max_distance = max_distance;
  by.options.cross_check = cross_check;
  return by;
}

device_choice device_of(nb::handle device) {
  if (device.is_none()) return {};
  if (nb::isinstance<nb::int_>(device)) {
    const auto index = nb::cast<std::int64_t>(device);
    if (index < 0 || index > 1 << 20) throw value_error("device", "there is no GPU number " + std::to_string(index));
    return {true, static_cast<int>(index)};
  }
  const auto text = nb::cast<std::string>(nb::str(device));  // "cuda:1", and what str() of a torch.device gives
  if (text == "cpu") return {false, -1};
  const std::string cuda = "cuda";
  if (text == cuda) return {true, -1};
  const std::string digits = text.rfind(cuda + ":", 0) == 0 ? text.substr(cuda.size() + 1) : "";
  if (!digits.empty() && digits.size() < 7 && digits.find_first_not_of("0123456789") == std::string::npos) {
    return {true, std::stoi(digits)};
  }
  throw value_error("device", "must be None, 'cpu', 'cuda', 'cuda:N' or N, not '" + text + "'");
}

int threads_of(int num_threads) {
  if (num_threads == -1) return 0;
  if (num_threads < 1) throw value_error("num_threads", "must be above 0, or -1 for all");
  return num_threads;
}

std::string path_of(nb::handle path) {
  const nb::object bytes = nb::module_::import_("os").attr("fsencode")(path);
  return {nb::cast<nb::bytes>(bytes).c_str(), nb::cast<nb::bytes>(bytes).size()};
}

}  // namespace serac_python
