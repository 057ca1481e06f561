// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <support/cases.hpp>
#include <support/gpu.cuh>
#include <support/policies.cuh>

using namespace serac;
using namespace serac::test;

namespace {

using path = path_of<default_policy>;
constexpr std::int64_t too_many = std::int64_t{1} << 31;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Valid arguments of match and nearest2 in device memory, and all that can be wrong with them.
struct problem {
  static constexpr std::int64_t count = 40;

  struct arguments {
    sift_view left, right;
    match_options options;
    match_output output;
    nearest2_output states;
    void* workspace;
    std::size_t match_bytes, nearest2_bytes;
  };

  descriptors<> image = [] {
    random_source random(5);
    return ten_of_162(random, count);
  }();
  device_descriptors<> rows{image}, columns{image};
  device_array<match_pair> pairs{count};
  device_array<std::uint32_t> list_length{1};
  device_array<top2> row_states{count}, column_states{count};
  std::size_t match_bytes = path::match_workspace(rows.view(), columns.view(), {});
  std::size_t nearest2_bytes = path::nearest2_workspace(rows.view(), columns.view(), true);
  device_array<std::uint8_t> workspace{std::max(match_bytes, nearest2_bytes)};

  arguments good() const {
    return {rows.view(),
            columns.view(),
            {},
            {pairs.data(), count, list_length.data()},
            {row_states.data(), column_states.data()},
            workspace.data(),
            match_bytes,
            nearest2_bytes};
  }
  static status match(const arguments& a) {
    return device::match(a.left, a.right, a.options, a.output, a.workspace, a.match_bytes, nullptr);
  }
  static status nearest2(const arguments& a) {
    return device::nearest2(a.left, a.right, a.states, a.workspace, a.nearest2_bytes, nullptr);
  }

  void poison() {
    pairs.poison();
    list_length.poison();
    row_states.poison();
    column_states.poison();
    workspace.poison();
  }

  void require_untouched() const {
    pairs.require_untouched();
    list_length.require_untouched();
    row_states.require_untouched();
    column_states.require_untouched();
    workspace.require_untouched();
  }

  /// The entry points do what they should: whatever was refused before left no trace.
  void require_usable() {
    require_ok(match(good()));
    CHECK(list_length.values()[0] == count);
    REQUIRE_SAME(pairs.values(), diagonal(count));
    require_ok(nearest2(good()));
    const nearest2_list expected = expected_nearest2<path::tie>(image, image);
    REQUIRE_SAME(row_states.values(), expected.rows);
    REQUIRE_SAME(column_states.values(), expected.columns);
    poison();
  }

  /// `call` on arguments spoilt by `spoil` reports the fault and writes nothing.
  template <class Call, class Spoil>
  void fault(Call call, Spoil spoil, errc code, const char* argument) {
    arguments a = good();
    spoil(a);
    const status s = call(a);
    INFO("expected a fault of " << argument << ", got: " << s.message());
    REQUIRE(s.code == code);
    REQUIRE(s.argument == std::string(argument));
    REQUIRE(s.cuda_error == 0);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    require_untouched();
    require_usable();
  }
};

/// The status of the serac::error that `call` throws; success if it throws nothing.
template <class Call>
status thrown_by(Call call) {
  try {
    call();
  } catch (const error& e) {
    return e.status();
  }
  return {};
}

/// Takes all of the GPU's free memory but `left`.
class memory_hog {
 public:
  explicit memory_hog(std::size_t left) {
    for (std::size_t chunk = free_device_memory(); chunk >= least;) {
      const std::size_t free = free_device_memory();
      if (free <= left) return;
      chunk = std::max(least, std::min(chunk, free - left));
      void* block = nullptr;
      const cudaError_t code = cudaMalloc(&block, chunk);
      if (code == cudaSuccess) {
        blocks_.emplace_back(block);
      } else {
        cudaGetLastError();
        if (code != cudaErrorMemoryAllocation) require_cuda(code);
        chunk /= 2;
      }
    }
  }

 private:
  static constexpr std::size_t least = std::size_t{64} << 10;

  struct free_block {
    void operator()(void* block) const { cudaFree(block); }
  };
  std::vector<std::unique_ptr<void, free_block>> blocks_;
};

/// Nearly all the shared memory there is, on the largest GPUs.
struct greedy : policy_for<512> {
  static constexpr int tile_rows = 128;
  static constexpr int tile_columns = 256;
  static constexpr int min_blocks = 1;
};
static_assert(policy_traits<greedy>::shared_bytes > 200 * 1024);

}  // namespace

TEST_CASE("views that neither entry point takes", "[errors]") {
  problem p;
  p.poison();
  p.require_usable();
  using arguments = problem::arguments;
  const auto both = [&](auto spoil, errc code, const char* argument) {
    p.fault(&problem::match, spoil, code, argument);
    p.fault(&problem::nearest2, spoil, code, argument);
  };
  both([](arguments& a) { a.left.data = nullptr; }, errc::null_pointer, "left.data");
  both([](arguments& a) { a.right.data = nullptr; }, errc::null_pointer, "right.data");
  both([](arguments& a) { a.left.data += 8; }, errc::misaligned_pointer, "left.data");
  both([](arguments& a) { a.right.data += 1; }, errc::misaligned_pointer, "right.data");
  both([](arguments& a) { a.left.stride = 136; }, errc::misaligned_pointer, "left.stride");
  both([](arguments& a) { a.right.stride = 129; }, errc::misaligned_pointer, "right.stride");
  both([](arguments& a) { a.left.count = -1; }, errc::negative_count, "left.count");
  both([](arguments& a) { a.right.count = -1; }, errc::negative_count, "right.count");
  both([](arguments& a) { a.left.count = too_many; }, errc::too_many_features, "left.count");
  both([](arguments& a) { a.right.count = too_many; }, errc::too_many_features, "right.count");
  both([](arguments& a) { a.left.width = 64; }, errc::unsupported_width, "left.width");
  both([](arguments& a) { a.right.width = 256; }, errc::unsupported_width, "right.width");
  both([](arguments& a) { a.left.width = a.right.width = 64; }, errc::unsupported_width, "left.width");
  both([](arguments& a) { a.left.stride = 112; }, errc::invalid_stride, "left.stride");
  both([](arguments& a) { a.right.stride = -128; }, errc::invalid_stride, "right.stride");
}

TEST_CASE("options, outputs and workspaces that match does not take", "[errors]") {
  problem p;
  p.poison();
  using arguments = problem::arguments;
  const auto fault = [&](auto spoil, errc code, const char* argument) {
    p.fault(&problem::match, spoil, code, argument);
  };
  for (const float bad : {0.0f, -0.8f, not_a_number}) {
    fault([&](arguments& a) { a.options.max_ratio = bad; }, errc::invalid_option, "options.max_ratio");
    fault([&](arguments& a) { a.options.max_distance = bad; }, errc::invalid_option, "options.max_distance");
  }
  fault([](arguments& a) { a.options.max_matches = -1; }, errc::negative_count, "options.max_matches");
  fault([](arguments& a) { a.options.max_features = -1; }, errc::negative_count, "options.max_features");
  fault([](arguments& a) { a.output.capacity = -1; }, errc::negative_count, "output.capacity");
  fault([](arguments& a) { --a.output.capacity; }, errc::output_too_small, "output.capacity");
  fault([](arguments& a) { a.output.pairs = nullptr; }, errc::null_pointer, "output.pairs");
  fault([](arguments& a) { a.output.count = nullptr; }, errc::null_pointer, "output.count");
  fault([](arguments& a) { --a.match_bytes; }, errc::workspace_too_small, "workspace_bytes");
  fault([](arguments& a) { a.match_bytes = 0; }, errc::workspace_too_small, "workspace_bytes");
  fault([](arguments& a) { a.workspace = nullptr; }, errc::null_pointer, "workspace");
  fault([](arguments& a) { a.workspace = static_cast<std::uint8_t*>(a.workspace) + 8; }, errc::misaligned_pointer,
        "workspace");
}

TEST_CASE("outputs and workspaces that nearest2 does not take", "[errors]") {
  problem p;
  p.poison();
  using arguments = problem::arguments;
  const auto fault = [&](auto spoil, errc code, const char* argument) {
    p.fault(&problem::nearest2, spoil, code, argument);
  };
  fault([](arguments& a) { a.states.rows = nullptr; }, errc::null_pointer, "output.rows");
  fault([](arguments& a) { --a.nearest2_bytes; }, errc::workspace_too_small, "workspace_bytes");
  fault([](arguments& a) { a.workspace = nullptr; }, errc::null_pointer, "workspace");
  fault([](arguments& a) { a.workspace = static_cast<std::uint8_t*>(a.workspace) + 4; }, errc::misaligned_pointer,
        "workspace");
}

TEST_CASE("a policy that needs more shared memory than the GPU has is refused, else it works", "[errors]") {
  using greedy_path = path_of<greedy>;
  int device = 0, most = 0;
  require_cuda(cudaGetDevice(&device));
  require_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));

  random_source random(6);
  const auto image = random_bytes(random, 150, 512);
  const device_descriptors<> on_device(image);
  if (greedy_path::traits::shared_bytes <= most) {
    const auto states = nearest2_of<greedy_path>(on_device.view(), on_device.view(), true);
    const auto expected = expected_nearest2<greedy_path::tie>(image, image);
    REQUIRE_SAME(states.rows, expected.rows);
    REQUIRE_SAME(states.columns, expected.columns);
  } else {
    device_array<top2> rows(150), columns(150);
    device_array<std::uint8_t> workspace(greedy_path::nearest2_workspace(on_device.view(), on_device.view(), true));
    const status s = greedy_path::nearest2(on_device.view(), on_device.view(), {rows.data(), columns.data()},
                                           workspace.data(), workspace.size(), nullptr);
    CHECK(s.code == errc::unsupported_device);
    CHECK(s.argument == std::string("policy: shared memory"));
    rows.require_untouched();
  }

  // What the entry points ask, with one byte more than there is.
  std::int64_t blocks = 0;
  const auto fused = kernel::fused_top2<sift, true>;
  const status s = serac::detail::resident_blocks("fused_top2", fused, policy_traits<sift>::threads,
                                                  static_cast<std::size_t>(most) + 1, blocks);
  CHECK(s.code == errc::unsupported_device);
  CHECK(s.argument == std::string("policy: shared memory"));
  CHECK(cudaGetLastError() == cudaSuccess);
  problem p;
  p.require_usable();
}

TEST_CASE("errors of the runtime are told apart", "[errors]") {
  const auto code_of = [](cudaError_t code) {
    const status s = serac::detail::to_status(code, "it");
    CHECK(s.cuda_error == static_cast<int>(code));
    return s.code;
  };
  CHECK(code_of(cudaSuccess) == errc::ok);
  CHECK(code_of(cudaErrorNoKernelImageForDevice) == errc::no_kernel_image);
  CHECK(code_of(cudaErrorMemoryAllocation) == errc::out_of_memory);
  CHECK(code_of(cudaErrorNoDevice) == errc::no_device);
  CHECK(code_of(cudaErrorInsufficientDriver) == errc::no_device);
  CHECK(code_of(cudaErrorInvalidValue) == errc::device_failure);
}

TEST_CASE("a GPU that is not there", "[errors]") {
  const status s = thrown_by([] { matcher(match_options{}, 4096); });
  INFO(s.message());
  CHECK(s.code == errc::no_device);
  CHECK(cudaGetLastError() == cudaSuccess);
  problem p;
  p.require_usable();
}

TEST_CASE("an error of the runtime during a match is reported as it is", "[errors]") {
  problem p;
  p.poison();
  p.require_usable();
  {
    // The legacy stream must not be used while a stream that waits for it is captured.
    const test_stream captured(cudaStreamDefault);
    require_cuda(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
    const status s = problem::match(p.good());
    INFO(s.message());
    CHECK(s.code == errc::device_failure);
    CHECK(s.cuda_error == static_cast<int>(cudaErrorStreamCaptureImplicit));
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(captured, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
  }
  p.require_untouched();
  p.require_usable();
}

TEST_CASE("an error of somebody else's is not reported", "[errors]") {
  problem p;
  p.poison();
  CHECK(cudaSetDevice(4096) == cudaErrorInvalidDevice);
  require_ok(problem::match(p.good()));
  cudaGetLastError();
  CHECK(p.list_length.values()[0] == problem::count);
}

TEST_CASE("a matcher throws serac::error that names the fault, and goes on", "[errors]") {
  random_source random(1);
  const auto image = ten_of_162(random, 3);
  const device_descriptors<> on_device(image);
  matcher m;
  const auto fault = [&](const sift_view& left, const sift_view& right, errc code, const char* argument) {
    for (const bool states : {false, true}) {
      const status s = thrown_by([&] { states ? void(m.nearest2(left, right)) : void(m.match(left, right)); });
      INFO("expected a fault of " << argument << ", got: " << s.message());
      CHECK(s.code == code);
      CHECK(s.argument == std::string(argument));
      CHECK(m.match(image.view(), on_device.view()).pairs == diagonal(3));
    }
  };
  const sift_view good = image.view();
  const std::uint8_t* const data = image.data.data();
  const std::uint8_t* const device_data = on_device.view().data;
  fault({nullptr, 3}, good, errc::null_pointer, "left.data");
  fault(good, {nullptr, 3}, errc::null_pointer, "right.data");
  fault({data, -1}, good, errc::negative_count, "left.count");
  fault(good, {data, too_many}, errc::too_many_features, "right.count");
  fault(good, {data, 3, 64}, errc::unsupported_width, "right.width");
  fault({data, 3, 128, 127}, good, errc::invalid_stride, "left.stride");
  fault({device_data + 4, 2}, good, errc::misaligned_pointer, "left.data");
  fault(good, {device_data, 2, 128, 130}, errc::misaligned_pointer, "right.stride");

  match_options bad;
  bad.max_ratio = not_a_number;
  CHECK(thrown_by([&] { m.set_options(bad); }).argument == std::string("options.max_ratio"));
  CHECK(thrown_by([&] { matcher{bad}; }).argument == std::string("options.max_ratio"));
  CHECK(m.options().max_ratio == 0.8f);
  CHECK(m.match(good, good).pairs == diagonal(3));
}

TEST_CASE("case 11: an image larger than the GPU's memory is an out-of-memory error", "[errors]") {
  using policy = policy_for<512>;
  random_source random(11);
  const auto image = ten_of_162(random, 50, 512);
  basic_matcher<policy> m;
  const auto before = m.match(image.view(), image.view()).pairs;
  CHECK(before == diagonal(50));
  // A terabyte. Nothing is read: there is no room to copy it to.
  const sift_view endless(image.data.data(), std::numeric_limits<std::int32_t>::max(), 512);
  for (const bool left : {true, false}) {
    const status s = thrown_by([&] { m.match(left ? endless : image.view(), left ? image.view() : endless); });
    INFO(s.message());
    CHECK(s.code == errc::out_of_memory);
    CHECK(s.argument == std::string(left ? "left.data" : "right.data"));
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(m.match(image.view(), image.view()).pairs == before);
  }
}

TEST_CASE("case 11: with 8 MiB of GPU memory free, an out-of-memory error; with more, the right matches", "[errors]") {
  if (small_run()) return;  // sanitizers need GPU memory of their own; the test above goes the same way
  constexpr std::int64_t count = 40000;
  random_source random(12);
  const auto left = sift_like(random, count);
  auto right = sift_like(random, count);
  plant_matches(random, left, right);
  const auto few = ten_of_162(random, 20);

  matcher m;
  CHECK(m.match(few.view(), few.view()).pairs == diagonal(20));  // what the runtime loads is loaded
  {
    const memory_hog hog(std::size_t{8} << 20);
    CHECK(free_device_memory() <= std::size_t{8} << 20);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const status s = thrown_by([&] { m.match(left.view(), right.view()); });
      INFO(s.message());
      CHECK(s.code == errc::out_of_memory);
      CHECK(cudaGetLastError() == cudaSuccess);
    }
    m.release();
    CHECK(m.match(few.view(), few.view()).pairs == diagonal(20));
  }
  const auto list = m.match(left.view(), right.view()).pairs;
  REQUIRE_SAME(list, expected_match<path::tie>(left, right));
  CHECK_FALSE(list.empty());
}
