// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <serac/host/matcher.hpp>
#include <serac/host/reference.hpp>
#include <serac/top2.hpp>
#include <support/catch.hpp>
#include <support/random.hpp>

namespace serac::test {

/// Requires the host's nearest2 of rows and columns, by one thread and by several, to be the reference's.
template <class Tie = tie_break::smallest_index, class T>
void compare_nearest2(const two_images<T>& images) {
  const nearest2_list expected = host::reference::nearest2<Tie>(images.left.view(), images.right.view());
  for (const int threads : {1, 3}) {
    const nearest2_list got =
        host::basic_matcher<T, Tie>({}, threads).nearest2(images.left.view(), images.right.view(), true);
    REQUIRE_SAME(got.rows, expected.rows);
    REQUIRE_SAME(got.columns, expected.columns);
  }
}

}  // namespace serac::test
