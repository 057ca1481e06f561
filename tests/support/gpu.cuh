// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Runs the library on device memory: poisoned outputs and workspaces of the exact size, canaries around everything.
///
/// What is tested is a *path*, a type that bundles a way to match: see `path_of`. Every check is written for a path.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <serac/host/match.hpp>
#include <serac/host/reference.hpp>
#include <serac/serac.cuh>
#include <support/catch.hpp>
#include <support/descriptors.hpp>
#include <support/random.hpp>
#include <support/run_size.hpp>

namespace serac::test {

/// Throws, saying where, unless a call of the CUDA runtime succeeded.
inline void require_cuda(cudaError_t code, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (code == cudaSuccess) return;
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + cudaGetErrorString(code));
}

/// Bytes of free memory of the current device.
inline std::size_t free_device_memory() {
  std::size_t free = 0, total = 0;
  require_cuda(cudaMemGetInfo(&free, &total));
  return free;
}

inline constexpr int poison_byte = 0xCD;

/// Whether every byte of [begin, end) is poison.
inline bool poisoned(const void* begin, const void* end) {
  const auto* const first = static_cast<const std::uint8_t*>(begin);
  return std::all_of(first, static_cast<const std::uint8_t*>(end), [](std::uint8_t b) { return b == poison_byte; });
}

/// `size()` values of T in device memory, poisoned at first, between canaries. They are aligned to 16 bytes and no
/// more. Nothing stands behind them in a small run, so that memcheck sees each access beyond.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t size) : size_(size) {
    void* memory = nullptr;
    require_cuda(cudaMalloc(&memory, total_bytes()));
    memory_.reset(static_cast<std::uint8_t*>(memory));
    require_cuda(cudaMemset(memory, poison_byte, total_bytes()));
    require_cuda(cudaDeviceSynchronize());
  }
  explicit device_array(const std::vector<T>& values) : device_array(values.size()) { assign(values); }

  T* data() const { return reinterpret_cast<T*>(memory_.get() + before); }
  std::size_t size() const { return size_; }

  /// Poisons the values. Like `assign`, done for all streams on return.
  void poison() {
    require_cuda(cudaMemset(data(), poison_byte, bytes()));
    require_cuda(cudaDeviceSynchronize());
  }

  void assign(const std::vector<T>& values) {
    if (values.size() != size_) throw std::logic_error("device_array::assign: another size");
    require_cuda(cudaMemcpy(data(), values.data(), bytes(), cudaMemcpyHostToDevice));
    require_cuda(cudaDeviceSynchronize());
  }

  /// The values when the device has finished all its work, which must have left the canaries alone.
  std::vector<T> values() const {
    require_cuda(cudaDeviceSynchronize());
    std::vector<std::uint8_t> all(total_bytes());
    require_cuda(cudaMemcpy(all.data(), memory_.get(), all.size(), cudaMemcpyDeviceToHost));
    const std::uint8_t* const first = all.data() + before;
    REQUIRE(poisoned(all.data(), first));
    REQUIRE(poisoned(first + bytes(), all.data() + all.size()));
    std::vector<T> values(size_);
    if (size_ > 0) std::memcpy(static_cast<void*>(values.data()), first, bytes());
    return values;
  }

  /// Requires that no value has been written since the poison.
  void require_untouched() const {
    const std::vector<T> now = values();
    REQUIRE(poisoned(now.data(), now.data() + now.size()));
  }

 private:
  static constexpr std::size_t before = 272;
  const std::size_t after = small_run() ? 0 : 256;

  struct free_memory {
    void operator()(std::uint8_t* memory) const { cudaFree(memory); }
  };

  std::size_t bytes() const { return size_ * sizeof(T); }
  std::size_t total_bytes() const { return before + bytes() + after; }

  std::size_t size_;
  std::unique_ptr<std::uint8_t, free_memory> memory_;
};

/// An image in device memory. `gap` poisoned elements stand between its descriptors.
template <class T = std::uint8_t>
class device_descriptors {
 public:
  explicit device_descriptors(const descriptors<T>& image, int gap = 0)
      : count_(image.count), width_(image.width), stride_(image.width + gap), memory_(laid_out(image)) {}

  /// Replaces the descriptors by as many others.
  void assign(const descriptors<T>& image) { memory_.assign(laid_out(image)); }

  descriptor_view<T> view() const { return {memory_.data(), count_, width_, stride_}; }

 private:
  std::vector<T> laid_out(const descriptors<T>& image) const {
    if (image.count == 0) return {};
    std::vector<T> values(static_cast<std::size_t>((image.count - 1) * stride_ + width_));
    std::memset(static_cast<void*>(values.data()), poison_byte, values.size() * sizeof(T));
    for (std::int64_t i = 0; i < image.count; ++i) std::copy_n(image[i], width_, values.begin() + i * stride_);
    return values;
  }

  std::int64_t count_;
  int width_;
  std::int64_t stride_;
  device_array<T> memory_;
};

/// A CUDA stream. Non-blocking: it does not wait for the legacy default stream.
class test_stream {
 public:
  explicit test_stream(unsigned flags = cudaStreamNonBlocking) {
    require_cuda(cudaStreamCreateWithFlags(&stream_, flags));
  }
  ~test_stream() { cudaStreamDestroy(stream_); }
  test_stream(const test_stream&) = delete;
  test_stream& operator=(const test_stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// device::nearest2 and device::match with a policy.
template <class Policy>
struct entry_points {
  using element = typename Policy::element;
  using view = descriptor_view<element>;
  static constexpr int width = elements_of<Policy>;

  static std::size_t nearest2_workspace(const view& left, const view& right, bool with_columns) {
    return device::nearest2_workspace<Policy>(left, right, with_columns);
  }
  static status nearest2(const view& left, const view& right, const nearest2_output& output, void* workspace,
                         std::size_t bytes, cudaStream_t stream) {
    return device::nearest2<Policy>(left, right, output, workspace, bytes, stream);
  }
  static std::size_t match_workspace(const view& left, const view& right, const match_options& options) {
    return device::match_workspace<Policy>(left, right, options);
  }
  static status match(const view& left, const view& right, const match_options& options, const match_output& output,
                      void* workspace, std::size_t bytes, cudaStream_t stream) {
    return device::match<Policy>(left, right, options, output, workspace, bytes, stream);
  }
};

/// The entry points with a policy of the classic path, or one that leaves the path to the library.
template <class Policy>
struct path_of : entry_points<Policy> {
  using traits = policy_traits<Policy>;
  using tie = typename Policy::tie;
  static constexpr int tile_rows = Policy::tile_rows;        ///< edges at which sizes are tested
  static constexpr int tile_columns = Policy::tile_columns;  //
  static constexpr int load_bytes = traits::load_bytes;      ///< strides are multiples of it
  static constexpr int window_tiles = traits::window_tiles;  ///< tiles that a block reduces before it must flush

  /// Blocks that the GPU runs at a time: more tiles than these make a block go on to another tile.
  static std::int64_t resident_blocks() {
    const auto fused = kernel::fused_top2<Policy, true>;
    std::int64_t blocks = 0;
    throw_on_error(serac::detail::resident_blocks("fused_top2", fused, traits::threads, traits::shared_bytes, blocks));
    return blocks;
  }
};

/// Requires success, showing the message otherwise.
inline void require_ok(const status& s) {
  INFO(s.message());
  REQUIRE(s.ok());
}

/// Room in device memory for one list.
class list_room {
 public:
  explicit list_room(std::int64_t capacity) : pairs_(static_cast<std::size_t>(capacity)), count_(1) {}

  void poison() {
    pairs_.poison();
    count_.poison();
  }

  match_output output() const { return {pairs_.data(), static_cast<std::int64_t>(pairs_.size()), count_.data()}; }

  /// The list, when the device has finished; nothing is written behind its end.
  std::vector<match_pair> list() const {
    std::vector<match_pair> pairs = pairs_.values();
    const std::uint32_t count = count_.values()[0];
    REQUIRE(count <= pairs.size());
    REQUIRE(poisoned(pairs.data() + count, pairs.data() + pairs.size()));
    pairs.resize(count);
    return pairs;
  }

 private:
  device_array<match_pair> pairs_;
  device_array<std::uint32_t> count_;
};

/// What `launch(stream)` starts, captured in a graph.
class captured_graph {
 public:
  template <class Launch>
  captured_graph(cudaStream_t stream, Launch launch) : stream_(stream) {
    require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch(stream);
    require_cuda(cudaStreamEndCapture(stream, &graph_));
    require_cuda(cudaGraphInstantiate(&executable_, graph_, 0));
  }
  ~captured_graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  captured_graph(const captured_graph&) = delete;
  captured_graph& operator=(const captured_graph&) = delete;

  void replay() { require_cuda(cudaGraphLaunch(executable_, stream_)); }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

/// A match of two images in device memory: the output has the least capacity, the workspace the size asked for.
template <class Path>
class match_run {
 public:
  using view = typename Path::view;

  match_run(const view& left, const view& right, const match_options& options = {})
      : left_(left),
        right_(right),
        options_(options),
        list_(std::min({left.count, options.max_features, options.max_matches})),
        workspace_(Path::match_workspace(left, right, options)) {}

  /// Makes the run as new. Not while it is in flight.
  void poison() {
    list_.poison();
    workspace_.poison();
  }

  /// Starts the run by `call`, which has the parameters of Path::match.
  template <class Call>
  void launch(cudaStream_t stream, Call call) {
    require_ok(call(left_, right_, options_, output(), workspace_.data(), workspace_.size(), stream));
  }
  void launch(cudaStream_t stream = nullptr) { launch(stream, &Path::match); }

  match_output output() const { return list_.output(); }

  /// The list, when the device has finished; nothing is written behind its end, nor around the workspace.
  std::vector<match_pair> list() const {
    workspace_.values();
    return list_.list();
  }

 private:
  view left_, right_;
  match_options options_;
  list_room list_;
  device_array<std::uint8_t> workspace_;
};

/// The list that the path makes of two images in host memory.
template <class Path, class T>
std::vector<match_pair> match_of(const descriptors<T>& left, const descriptors<T>& right,
                                 const match_options& options = {}, int gap = 0) {
  const device_descriptors<T> rows(left, gap), columns(right, gap);
  match_run<Path> run(rows.view(), columns.view(), options);
  run.launch();
  return run.list();
}

/// The states that the path makes of two images in device memory.
template <class Path>
nearest2_list nearest2_of(const typename Path::view& left, const typename Path::view& right, bool with_columns) {
  device_array<top2> rows(static_cast<std::size_t>(left.count));
  device_array<top2> columns(with_columns ? static_cast<std::size_t>(right.count) : 0);
  device_array<std::uint8_t> workspace(Path::nearest2_workspace(left, right, with_columns));
  const nearest2_output output{rows.data(), with_columns ? columns.data() : nullptr};
  require_ok(Path::nearest2(left, right, output, workspace.data(), workspace.size(), nullptr));
  workspace.values();
  return {rows.values(), columns.values()};
}

/// Whether the slow reference is quick enough for a problem.
template <class T>
bool is_small(const descriptors<T>& left, const descriptors<T>& right) {
  return left.count * right.count * std::max(left.width, right.width) < std::int64_t{1} << 23;
}

/// The right states: the reference's, or those of the host backend where the reference would take long.
template <class Tie, class T>
nearest2_list expected_nearest2(const descriptors<T>& left, const descriptors<T>& right) {
  if (is_small(left, right)) return host::reference::nearest2<Tie>(left.view(), right.view());
  nearest2_list list;
  list.rows.resize(static_cast<std::size_t>(left.count));
  list.columns.resize(static_cast<std::size_t>(right.count));
  throw_on_error(host::nearest2<Tie>(left.view(), right.view(), {list.rows.data(), list.columns.data()}));
  return list;
}

/// The right list, likewise.
template <class Tie, class T>
std::vector<match_pair> expected_match(const descriptors<T>& left, const descriptors<T>& right,
                                       const match_options& options = {}) {
  if (is_small(left, right)) return host::reference::match<Tie>(left.view(), right.view(), options).pairs;
  std::vector<match_pair> pairs(static_cast<std::size_t>(left.count));
  std::uint32_t count = 0;
  throw_on_error(host::match<Tie>(left.view(), right.view(), options, match_output{pairs.data(), left.count, &count}));
  pairs.resize(count);
  return pairs;
}

/// The kinds of input that the run goes through.
inline std::vector<input_kind> kinds_of_run() {
  if (tiny_run()) return {input_kind::planted, input_kind::repeated};
  return {std::begin(input_kinds), std::end(input_kinds)};
}

/// A match captured in a graph and replayed ten times with new inputs equals the reference's and the eager call's.
template <class Path>
void check_capture() {
  constexpr std::int64_t rows = 600, columns = 500;
  random_source random(39);
  auto images = random_images(input_kind::planted, random, rows, columns, 128);
  device_descriptors<> left(images.left), right(images.right);
  match_run<Path> run(left.view(), right.view());
  const test_stream stream;
  captured_graph graph(stream, [&](cudaStream_t s) { run.launch(s); });

  for (int replay = 0; replay < by_run_size(10, 10, 2); ++replay) {
    INFO("replay " << replay);
    run.poison();
    graph.replay();
    const auto replayed = run.list();
    REQUIRE_SAME(replayed, expected_match<typename Path::tie>(images.left, images.right));
    CHECK_FALSE(replayed.empty());
    run.poison();
    run.launch(stream);
    REQUIRE_SAME(run.list(), replayed);

    images = random_images(input_kind::planted, random, rows, columns, 128);
    left.assign(images.left);
    right.assign(images.right);
  }
}

}  // namespace serac::test
