// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "errors.hpp"

#include <nanobind/stl/string.h>

#include <exception>
#include <stdexcept>

#include <serac/status.hpp>

namespace nb = nanobind;

namespace serac_python {

namespace {

bool is_about_argument(serac::errc code) { return code > serac::errc::ok && code < serac::errc::output_too_small; }

void translate(const std::exception_ptr& thrown, void* error_type) {
  PyObject* const error = static_cast<PyObject*>(error_type);
  try {
    std::rethrow_exception(thrown);
  } catch (const serac::error& fault) {
    PyErr_SetString(is_about_argument(fault.status().code) ? PyExc_ValueError : error, fault.what());
  } catch (const std::runtime_error& fault) {  // of what reads and writes databases
    PyErr_SetString(error, fault.what());
  }
}

}  // namespace

nb::builtin_exception value_error(const std::string& argument, const std::string& fault) {
  return nb::value_error((argument + ": " + fault).c_str());
}
nb::builtin_exception type_error(const std::string& argument, const std::string& fault) {
  return nb::type_error((argument + ": " + fault).c_str());
}

void define_errors(nb::module_& module) {
  const auto name = nb::cast<std::string>(module.attr("__name__")) + ".Error";
  PyObject* const error = PyErr_NewExceptionWithDoc(
      name.c_str(), "What went wrong beside the arguments: a GPU, memory, a database.", PyExc_RuntimeError, nullptr);
  if (error == nullptr) throw nb::python_error();
  module.attr("Error") = nb::handle(error);
  nb::register_exception_translator(&translate, error);
}

}  // namespace serac_python
