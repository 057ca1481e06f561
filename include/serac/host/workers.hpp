// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Threads that share a number of tasks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace serac::host::detail {

/// Threads to use for `tasks` tasks when the caller asks for `threads` (0: all that the machine runs at a time).
inline int worker_count(int threads, std::int64_t tasks) noexcept {
  const std::int64_t wanted = threads > 0 ? threads : (std::max)(1u, std::thread::hardware_concurrency());
  return static_cast<int>((std::min)(wanted, std::max<std::int64_t>(tasks, 1)));
}

/// Runs `task(worker, i)` once for every i in [0, tasks), on the caller and up to workers - 1 more threads; `worker` in
/// [0, workers) tells the threads apart. Returns when all are done. Threads that the system denies are done without.
/// `task` must not throw.
template <class Task>
void run_tasks(int workers, std::int64_t tasks, const Task& task) noexcept {
  std::atomic<std::int64_t> next{0};
  const auto work = [&](int worker) {
    for (std::int64_t i = next++; i < tasks; i = next++) task(worker, i);
  };
  std::vector<std::thread> others;
  try {
    others.reserve(static_cast<std::size_t>(workers - 1));
    for (int worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
  } catch (const std::exception&) {  // std::system_error or std::bad_alloc: fewer threads do the same
  }
  work(0);
  for (std::thread& other : others) other.join();
}

}  // namespace serac::host::detail
