// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device_matching.cuh"

template struct serac_python::device_matching<serac::float16>;
template struct serac_python::device_matching<serac::l2<serac::float16>>;
