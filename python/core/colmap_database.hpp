// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// match_exhaustive and match_pairs: COLMAP databases, by the code of serac_colmap.
#pragma once

#include <nanobind/nanobind.h>

namespace serac_python {

void define_database_functions(nanobind::module_& module);

}  // namespace serac_python
