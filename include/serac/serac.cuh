// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Everything but the survey engine, which is in survey/: the device library and the host backend.
#pragma once

#include <serac/acceptance.hpp>
#include <serac/admissible.hpp>
#include <serac/batch.hpp>
#include <serac/device/match.cuh>
#include <serac/device/match_guided.cuh>
#include <serac/device/nearest.cuh>
#include <serac/device/nearest2.cuh>
#include <serac/element.hpp>
#include <serac/geometry.hpp>
#include <serac/guided_batch.hpp>
#include <serac/host/match.hpp>
#include <serac/host/match_batch.hpp>
#include <serac/host/match_guided.hpp>
#include <serac/host/matcher.hpp>
#include <serac/host/nearest.hpp>
#include <serac/host/nearest2.hpp>
#include <serac/lists.hpp>
#include <serac/matcher.cuh>
#include <serac/mma_policy.hpp>
#include <serac/neighbors.hpp>
#include <serac/options.hpp>
#include <serac/output.hpp>
#include <serac/policy.hpp>
#include <serac/score.hpp>
#include <serac/status.hpp>
#include <serac/thread/dot.cuh>
#include <serac/top2.hpp>
#include <serac/version.hpp>
#include <serac/view.hpp>
#include <serac/wgmma_policy.hpp>
