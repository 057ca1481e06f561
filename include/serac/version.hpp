// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The version of the library; CMake reads it from here.
#pragma once

#define SERAC_VERSION_MAJOR 0  ///< before 1.0 anything may change
#define SERAC_VERSION_MINOR 1  ///< new features
#define SERAC_VERSION_PATCH 0  ///< corrections
