// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The two nearest neighbours themselves, of every row and every column, to judge them by a rule of one's own.

#include <serac/host/matcher.hpp>
#include <serac/serac.cuh>

#include "support.cuh"

int main() {
  example::require_gpu();
  const example::image left = example::random_image(1000, 1);
  const example::image right = example::overlapping_image(left, 1500, 2);
  const example::device_array<std::uint8_t> left_device(left), right_device(right);
  const serac::sift_view rows{left_device.data(), 1000}, columns{right_device.data(), 1500};

  const example::device_array<serac::top2> row_states(1000), column_states(1500);
  const std::size_t bytes = serac::device::nearest2_workspace(rows, columns, true);
  const example::device_array<std::uint8_t> workspace(bytes);
  example::check(serac::device::nearest2(rows, columns, {row_states.data(), column_states.data()}, workspace.data(),
                                         bytes, nullptr));

  const std::vector<serac::top2> states = row_states.host(1000);
  int clear = 0;
  for (const serac::top2& state : states) clear += state.best > state.second + state.second / 4;
  std::printf("%d of %zu rows have a best score a quarter above the second\n", clear, states.size());

  const auto expected = serac::host::matcher().nearest2(example::view(left), example::view(right), true);
  return example::verdict(states, expected.rows, "states of rows") +
         example::verdict(column_states.host(1500), expected.columns, "states of columns");
}
