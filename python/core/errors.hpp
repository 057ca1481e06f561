// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the library throws, as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace serac_python {

/// ValueError and TypeError about an argument: "a: ...". (nanobind keeps what() of them.)
nanobind::builtin_exception value_error(const std::string& argument, const std::string& fault);
nanobind::builtin_exception type_error(const std::string& argument, const std::string& fault);

/// Defines Error in `module`, and what becomes of the exceptions of the library: ValueError where an argument is at
/// fault, Error for the rest.
void define_errors(nanobind::module_& module);

}  // namespace serac_python
