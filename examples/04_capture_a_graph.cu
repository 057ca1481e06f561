// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A match captured in a CUDA graph once and replayed with new descriptors: the entry points neither allocate nor wait.

#include <serac/host/matcher.hpp>
#include <serac/serac.cuh>

#include "support.cuh"

int main() {
  example::require_gpu();
  constexpr int count = 2000;
  const serac::match_options options;
  const example::device_array<std::uint8_t> left(count * 128), right(count * 128);
  const serac::sift_view rows{left.data(), count}, columns{right.data(), count};
  const example::device_array<serac::match_pair> pairs(count);
  const example::device_array<std::uint32_t> matches(1);
  const std::size_t bytes = serac::device::match_workspace(rows, columns, options);
  const example::device_array<std::uint8_t> workspace(bytes);

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  example::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  example::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  example::check(serac::device::match(rows, columns, options, {pairs.data(), count, matches.data()}, workspace.data(),
                                      bytes, stream));
  example::check(cudaStreamEndCapture(stream, &graph));
  example::check(cudaGraphInstantiate(&replay, graph, 0));

  int result = 0;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const example::image new_left = example::random_image(count, seed);
    const example::image new_right = example::overlapping_image(new_left, count, seed + 100);
    example::check(cudaMemcpy(left.data(), new_left.data(), new_left.size(), cudaMemcpyHostToDevice));
    example::check(cudaMemcpy(right.data(), new_right.data(), new_right.size(), cudaMemcpyHostToDevice));
    example::check(cudaGraphLaunch(replay, stream));
    const auto expected = serac::host::matcher(options).match(example::view(new_left), example::view(new_right)).pairs;
    result += example::verdict(pairs.host(matches.host(1)[0]), expected, "matches of a replay");
  }

  example::check(cudaGraphExecDestroy(replay));
  example::check(cudaGraphDestroy(graph));
  example::check(cudaStreamDestroy(stream));
  return result;
}
