// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// How long do other ways to the match list of one pair take, device to device, and are they exact?
///
/// Usage: peers [--data FOLDER]
///   --data FOLDER   descriptors, lists and top-2 states are left there, for bench/peers.py
/// Peers: this library by each of its paths; the score matrix written by DP4A and then reduced ("unfused"); the matrix
/// written by cuBLASLt's product of signed bytes and then reduced by the same kernels.
/// Prints CSV: the time of a captured call replayed (median, and the middle 80 %), all from bytes to lists in device
/// memory; `peak_mib`, what the driver gave for descriptors, scratch and list; `exact`, whether list and top-2 states
/// are those of this library's classic path: `yes`, `list` (the list is, not all states) or `no`. Peers that could not
/// run have a line with the reason. The ceilings are those of bench/ceilings.cuh, measured in the same run.
#include <dlfcn.h>
#include <cub/block/block_reduce.cuh>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define BENCH_HAS_CUBLASLT
#endif

#include <serac/device/list.cuh>
#include <serac/device/match.cuh>
#include <serac/device/nearest2.cuh>

#include "ceilings.cuh"
#include "measure.cuh"

namespace {

using serac::top2;
using serac::thread::top2_cell;
using tie = serac::tie_break::smallest_index;

constexpr int width = 128;  // bytes of a descriptor

struct classic : serac::policy_for<width> {};

// ---- The score matrix, and its top-2.

constexpr int tile = 128;     // rows and columns of a block's part of the matrix
constexpr int threads = 256;  // of a block, in all kernels

/// Brings a tile of descriptors from `first` on to shared memory, words of the same place side by side; zeros behind
/// the last. Block.
__device__ void load_tile(const std::uint8_t* descriptors, int count, int first, std::uint32_t (*words)[tile]) {
  constexpr int vectors = width / 16;
  for (int i = threadIdx.x; i < tile * vectors; i += threads) {
    const int row = i % tile, vector = i / tile;
    const uint4 bytes = first + row < count
                            ? reinterpret_cast<const uint4*>(descriptors)[std::int64_t{first + row} * vectors + vector]
                            : uint4{};
    words[4 * vector][row] = bytes.x;
    words[4 * vector + 1][row] = bytes.y;
    words[4 * vector + 2][row] = bytes.z;
    words[4 * vector + 3][row] = bytes.w;
  }
}

/// matrix[i][j] = the dot product of row i and column j, by DP4A: 8 x 8 scores a thread. A block for each tile;
/// `column_count` is a multiple of 4.
__global__ void __launch_bounds__(threads, 2)
    write_matrix(const std::uint8_t* rows, int row_count, const std::uint8_t* columns, int column_count,
                 std::int32_t* matrix) {
  __shared__ __align__(16) std::uint32_t a[width / 4][tile], b[width / 4][tile];
  const int first_row = blockIdx.y * tile, first_column = blockIdx.x * tile;
  load_tile(rows, row_count, first_row, a);
  load_tile(columns, column_count, first_column, b);
  __syncthreads();

  // Of each half of the tile a thread has four consecutive rows and columns.
  const int row = 4 * (threadIdx.x / 16), column = 4 * (threadIdx.x % 16);
  alignas(16) std::uint32_t scores[8][8] = {};
#pragma unroll 4
  for (int k = 0; k < width / 4; ++k) {
    alignas(16) std::uint32_t left[8], right[8];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      *reinterpret_cast<uint4*>(&left[4 * half]) = *reinterpret_cast<const uint4*>(&a[k][tile / 2 * half + row]);
      *reinterpret_cast<uint4*>(&right[4 * half]) = *reinterpret_cast<const uint4*>(&b[k][tile / 2 * half + column]);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) scores[i][j] = __dp4a(left[i], right[j], scores[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int to_row = first_row + tile / 2 * (i / 4) + row + i % 4;
    if (to_row >= row_count) continue;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int to_column = first_column + tile / 2 * half + column;
      if (to_column >= column_count) continue;
      *reinterpret_cast<uint4*>(&matrix[std::int64_t{to_row} * column_count + to_column]) =
          *reinterpret_cast<const uint4*>(&scores[i][4 * half]);
    }
  }
}

/// Scores as they stand in the matrix.
struct plain_scores {
  __device__ int4 operator()(int4 products, int, int) const { return products; }
};

/// Scores of bytes from products of the same bytes less 128: a b = (a - 128)(b - 128) + 128 a + 128 b - 128^2, summed
/// over a descriptor.
struct shifted_scores {
  const std::int32_t* row_terms;
  const std::int32_t* column_terms;

  /// Of four columns from `column` on, a multiple of 4.
  __device__ int4 operator()(int4 products, int row, int column) const {
    const int4 terms = *reinterpret_cast<const int4*>(&column_terms[column]);
    const std::int32_t term = row_terms[row];
    return {products.x + term + terms.x, products.y + term + terms.y, products.z + term + terms.z,
            products.w + term + terms.w};
  }
};

/// The next score in the order of indices.
__device__ void take(top2& state, std::int32_t score, int index) {
  state.second = max(state.second, min(state.best, score));
  if (score > state.best) state.index = index;
  state.best = max(state.best, score);
}

struct merge_states {
  __device__ top2 operator()(const top2& a, const top2& b) const { return serac::merge<tie>(a, b); }
};

/// Top-2 of each row of the matrix: a block a row.
template <class Scores>
__global__ void __launch_bounds__(threads)
    reduce_rows(const std::int32_t* matrix, int column_count, Scores scores, top2_cell* cells) {
  using reduce = cub::BlockReduce<top2, threads>;
  __shared__ typename reduce::TempStorage storage;
  const int row = blockIdx.x;
  const std::int32_t* const products = matrix + std::int64_t{row} * column_count;
  top2 state;
#pragma unroll 4
  for (int column = 4 * threadIdx.x; column < column_count; column += 4 * threads) {
    const int4 four = scores(*reinterpret_cast<const int4*>(&products[column]), row, column);
    take(state, four.x, column);
    take(state, four.y, column + 1);
    take(state, four.z, column + 2);
    take(state, four.w, column + 3);
  }
  state = reduce(storage).Reduce(state, merge_states());
  if (threadIdx.x == 0) serac::thread::push<tie>(&cells[row], state, 0);
}

constexpr int segment = 512;  // rows of a block that reduces columns

/// Top-2 of each column of the matrix: a block for 128 columns and a segment of the rows; cells are zero before.
template <class Scores>
__global__ void __launch_bounds__(threads)
    reduce_columns(const std::int32_t* matrix, int row_count, int column_count, Scores scores, top2_cell* cells) {
  constexpr int warps = threads / 32;
  __shared__ top2 states[warps][4][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int column = blockIdx.x * 128 + 4 * lane;
  const int end = min(row_count, static_cast<int>(blockIdx.y + 1) * segment);
  top2 state[4];
  if (column < column_count) {
#pragma unroll 4
    for (int row = blockIdx.y * segment + warp; row < end; row += warps) {
      const std::int64_t at = std::int64_t{row} * column_count + column;
      const int4 four = scores(*reinterpret_cast<const int4*>(&matrix[at]), row, column);
      take(state[0], four.x, row);
      take(state[1], four.y, row);
      take(state[2], four.z, row);
      take(state[3], four.w, row);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) states[warp][i][lane] = state[i];
  __syncthreads();
  if (threadIdx.x >= 128) return;
  const int mine = blockIdx.x * 128 + threadIdx.x;
  if (mine >= column_count) return;
  top2 merged;
  for (int w = 0; w < warps; ++w) merged = serac::merge<tie>(merged, states[w][threadIdx.x % 4][threadIdx.x / 4]);
  serac::thread::push<tie>(&cells[mine], merged, 0);
}

/// Bytes less 128, and 128 times the sum of each descriptor's bytes plus `constant`: a warp a descriptor.
__global__ void shift_bytes(const std::uint8_t* descriptors, int count, std::int32_t constant, std::int8_t* shifted,
                            std::int32_t* terms) {
  const int row = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= count) return;
  const std::int64_t word = std::int64_t{row} * (width / 4) + lane;
  const std::uint32_t bytes = reinterpret_cast<const std::uint32_t*>(descriptors)[word];
  reinterpret_cast<std::uint32_t*>(shifted)[word] = bytes ^ 0x80808080u;
  std::uint32_t sum = __dp4a(bytes, 0x01010101u, 0u);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) terms[row] = 128 * static_cast<std::int32_t>(sum) + constant;
}

// ---- The pair, and what a peer made of it.

/// Device memory that every peer needs: descriptors, and the list.
struct pair_memory {
  bench::device_array<std::uint8_t> left, right;
  bench::device_array<serac::match_pair> pairs;
  bench::device_array<std::uint32_t> count;
  serac::match_options options;
  bench::device_array<std::int32_t> limits;

  explicit pair_memory(const bench::images& data)
      : left(data.left),
        right(data.right),
        pairs(data.left.size() / width),
        count(1),
        limits(serac::acceptance_table(options).limits()) {}

  int row_count() const { return static_cast<int>(left.size() / width); }
  int column_count() const { return static_cast<int>(right.size() / width); }
  serac::sift_view rows() const { return {left.data(), row_count()}; }
  serac::sift_view columns() const { return {right.data(), column_count()}; }
  serac::acceptance_view accept() const { return {limits.data(), true}; }
  serac::match_output output() const { return {pairs.data(), row_count(), count.data()}; }
  std::vector<serac::match_pair> list() const {
    std::vector<serac::match_pair> all = pairs.host();
    all.resize(count.host()[0]);
    return all;
  }
};

struct result {
  bench::timing time;
  double peak_mib = 0;
  std::vector<serac::match_pair> list;
  std::vector<top2> states;  // of rows, then of columns; empty where the peer has none
};

double memory_in_use() {
  std::size_t free = 0, total = 0;
  BENCH_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<double>(total - free) / 1048576;
}

bench::timing replay(const std::function<void(cudaStream_t)>& run, const pair_memory& memory) {
  const bool large = std::int64_t{memory.row_count()} * memory.column_count() > std::int64_t{1} << 28;
  return bench::measure(run, large ? 15 : 30, large ? 1 : 3, 3, true);
}

/// This library by one of its paths.
template <class Policy>
result run_serac(const bench::images& data) {
  const double before = memory_in_use();
  const pair_memory memory(data);
  const std::size_t bytes = serac::device::match_workspace<Policy>(memory.rows(), memory.columns(), memory.options);
  const bench::device_array<std::uint8_t> workspace(bytes);
  result made;
  made.time = replay(
      [&](cudaStream_t stream) {
        serac::throw_on_error(serac::device::match<Policy>(memory.rows(), memory.columns(), memory.options,
                                                           memory.accept(), memory.output(), workspace.data(), bytes,
                                                           stream));
      },
      memory);
  made.peak_mib = memory_in_use() - before;
  made.list = memory.list();
  return made;
}

/// What is right: the top-2 of all rows and columns, by the classic path.
template <class Policy>
std::vector<top2> nearest2(const bench::images& data) {
  const pair_memory memory(data);
  const std::size_t bytes = serac::device::nearest2_workspace<Policy>(memory.rows(), memory.columns(), true);
  const bench::device_array<std::uint8_t> workspace(bytes);
  const bench::device_array<top2> states(static_cast<std::size_t>(memory.row_count()) + memory.column_count());
  serac::throw_on_error(serac::device::nearest2<Policy>(memory.rows(), memory.columns(),
                                                        {states.data(), states.data() + memory.row_count()},
                                                        workspace.data(), bytes, nullptr));
  BENCH_CHECK(cudaDeviceSynchronize());
  return states.host();
}

/// Peers that write the matrix: the matrix, and the way from it to the list.
class matrix_peer {
 public:
  explicit matrix_peer(const pair_memory& memory)
      : memory_(memory),
        matrix_(static_cast<std::size_t>(memory.row_count()) * memory.column_count()),
        cells_(static_cast<std::size_t>(memory.row_count()) + memory.column_count()),
        matched_(memory.row_count()) {
    if (memory.column_count() % 4 != 0) throw std::runtime_error("the number of columns is no multiple of 4");
  }

  std::int32_t* matrix() const { return matrix_.data(); }

  template <class Scores>
  void reduce(Scores scores, cudaStream_t stream) const {
    const int rows = memory_.row_count(), columns = memory_.column_count();
    top2_cell* const row_cells = cells_.data();
    top2_cell* const column_cells = row_cells + rows;
    BENCH_CHECK(cudaMemsetAsync(row_cells, 0, cells_.size() * sizeof(top2_cell), stream));
    reduce_rows<<<rows, threads, 0, stream>>>(matrix(), columns, scores, row_cells);
    const dim3 grid((columns + 127) / 128, (rows + segment - 1) / segment);
    reduce_columns<<<grid, threads, 0, stream>>>(matrix(), rows, columns, scores, column_cells);
    serac::kernel::mark_matches<tie, tie, serac::acceptance_view>
        <<<(rows + threads - 1) / threads, threads, 0, stream>>>(row_cells, rows, column_cells, memory_.accept(),
                                                                 matched_.data());
    BENCH_CHECK(cudaGetLastError());
    serac::throw_on_error(serac::device::detail::write_lists(
        matched_.data(), serac::kernel::one_pair_rows{rows}, 1, rows, memory_.options,
        serac::kernel::one_list{memory_.pairs.data(), memory_.count.data()}, stream));
  }

  std::vector<top2> states() const {
    std::vector<top2> all;
    for (const top2_cell& cell : cells_.host()) {
      const auto best = static_cast<std::int32_t>(cell.best >> 32);
      const auto index = static_cast<std::int32_t>(tie::index(~static_cast<std::uint32_t>(cell.best)));
      all.push_back(best == 0 ? top2{} : top2{best, index, static_cast<std::int32_t>(cell.second)});
    }
    return all;
  }

 private:
  const pair_memory& memory_;
  bench::device_array<std::int32_t> matrix_;  // [rows][columns]
  bench::device_array<top2_cell> cells_;      // of rows, then of columns
  bench::device_array<std::uint32_t> matched_;
};

/// The matrix by DP4A, then top-2 of its rows and of its columns.
result run_unfused(const bench::images& data) {
  const double before = memory_in_use();
  const pair_memory memory(data);
  const matrix_peer peer(memory);
  const int rows = memory.row_count(), columns = memory.column_count();
  result made;
  made.time = replay(
      [&](cudaStream_t stream) {
        const dim3 grid((columns + tile - 1) / tile, (rows + tile - 1) / tile);
        write_matrix<<<grid, threads, 0, stream>>>(memory.left.data(), rows, memory.right.data(), columns,
                                                   peer.matrix());
        peer.reduce(plain_scores(), stream);
      },
      memory);
  made.peak_mib = memory_in_use() - before;
  made.list = memory.list();
  made.states = peer.states();
  return made;
}

#ifdef BENCH_HAS_CUBLASLT

/// cuBLASLt, loaded when the program runs, so that it also runs where there is none.
class cublaslt {
 public:
  cublaslt() : library_(dlopen(name().c_str(), RTLD_NOW)) {
    if (library_ == nullptr) throw std::runtime_error("there is no " + name());
    call("cublasLtCreate", find<decltype(cublasLtCreate)>("cublasLtCreate"), &handle_);
  }
  cublaslt(const cublaslt&) = delete;
  cublaslt& operator=(const cublaslt&) = delete;

  cublasLtHandle_t handle() const { return handle_; }
  std::string version() const { return std::to_string(find<decltype(cublasLtGetVersion)>("cublasLtGetVersion")()); }

  template <class Function>
  Function* find(const char* function) const {
    void* const found = dlsym(library_, function);
    if (found == nullptr) throw std::runtime_error(name() + " has no " + function);
    return reinterpret_cast<Function*>(found);
  }
  template <class... Parameters, class... Arguments>
  static void call(const char* what, cublasStatus_t (*function)(Parameters...), Arguments... arguments) {
    const cublasStatus_t status = function(arguments...);
    if (status != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error(std::string(what) + ": status " + std::to_string(status));
  }

 private:
  static std::string name() { return "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR); }

  void* library_;
  cublasLtHandle_t handle_ = nullptr;
};
#define BENCH_LT(library, function, ...) \
  ::cublaslt::call(#function, (library).find<decltype(function)>(#function), __VA_ARGS__)

/// matrix[i][j] = the dot product of signed bytes of row i and column j. cuBLASLt counts columns first, so it is told
/// the transposed problem.
class signed_product {
 public:
  signed_product(const cublaslt& library, int row_count, int column_count)
      : library_(library), workspace_(std::size_t{32} << 20) {
    BENCH_LT(library, cublasLtMatmulDescCreate, &operation_, CUBLAS_COMPUTE_32I, CUDA_R_32I);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    BENCH_LT(library, cublasLtMatmulDescSetAttribute, operation_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
             sizeof transposed);
    BENCH_LT(library, cublasLtMatrixLayoutCreate, &columns_, CUDA_R_8I, std::uint64_t{width},
             static_cast<std::uint64_t>(column_count), std::int64_t{width});
    BENCH_LT(library, cublasLtMatrixLayoutCreate, &rows_, CUDA_R_8I, std::uint64_t{width},
             static_cast<std::uint64_t>(row_count), std::int64_t{width});
    BENCH_LT(library, cublasLtMatrixLayoutCreate, &matrix_, CUDA_R_32I, static_cast<std::uint64_t>(column_count),
             static_cast<std::uint64_t>(row_count), std::int64_t{column_count});
    cublasLtMatmulPreference_t preference = nullptr;
    BENCH_LT(library, cublasLtMatmulPreferenceCreate, &preference);
    const std::size_t room = workspace_.size();
    BENCH_LT(library, cublasLtMatmulPreferenceSetAttribute, preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room,
             sizeof room);
    int found = 0;
    BENCH_LT(library, cublasLtMatmulAlgoGetHeuristic, library.handle(), operation_, columns_, rows_, matrix_, matrix_,
             preference, 1, &choice_, &found);
    if (found == 0) throw std::runtime_error("cuBLASLt has no product of signed bytes of these sizes");
  }

  void operator()(const std::int8_t* rows, const std::int8_t* columns, std::int32_t* matrix,
                  cudaStream_t stream) const {
    const std::int32_t one = 1, zero = 0;
    BENCH_LT(library_, cublasLtMatmul, library_.handle(), operation_, &one, columns, columns_, rows, rows_, &zero,
             matrix, matrix_, matrix, matrix_, &choice_.algo, workspace_.data(), workspace_.size(), stream);
  }

 private:
  const cublaslt& library_;
  bench::device_array<std::uint8_t> workspace_;
  cublasLtMatmulDesc_t operation_ = nullptr;  // (small, of the host, and kept to the end of the program)
  cublasLtMatrixLayout_t rows_ = nullptr, columns_ = nullptr, matrix_ = nullptr;
  cublasLtMatmulHeuristicResult_t choice_{};
};

/// The matrix by cuBLASLt, then top-2 of its rows and of its columns; or the matrix alone, of bytes shifted before.
result run_cublaslt(const cublaslt& library, const bench::images& data, bool alone) {
  const double before = memory_in_use();
  const pair_memory memory(data);
  const matrix_peer peer(memory);
  const int rows = memory.row_count(), columns = memory.column_count();
  const signed_product product(library, rows, columns);
  const bench::device_array<std::int8_t> left(memory.left.size()), right(memory.right.size());
  const bench::device_array<std::int32_t> row_terms(rows), column_terms(columns);
  const auto shift = [&](cudaStream_t stream) {
    constexpr int warps = threads / 32;
    shift_bytes<<<(rows + warps - 1) / warps, threads, 0, stream>>>(memory.left.data(), rows, -128 * 128 * width,
                                                                    left.data(), row_terms.data());
    shift_bytes<<<(columns + warps - 1) / warps, threads, 0, stream>>>(memory.right.data(), columns, 0, right.data(),
                                                                       column_terms.data());
  };
  shift(nullptr);
  product(left.data(), right.data(), peer.matrix(), nullptr);  // what fails, fails before it is captured
  BENCH_CHECK(cudaDeviceSynchronize());
  result made;
  made.time = replay(
      [&](cudaStream_t stream) {
        if (!alone) shift(stream);
        product(left.data(), right.data(), peer.matrix(), stream);
        if (!alone) peer.reduce(shifted_scores{row_terms.data(), column_terms.data()}, stream);
      },
      memory);
  made.peak_mib = memory_in_use() - before;
  if (!alone) {
    made.list = memory.list();
    made.states = peer.states();
  }
  return made;
}

#endif

// ---- What is printed and left behind.

template <class T>
void write(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

struct peer {
  std::string name, note;
  std::function<result(const bench::images&)> run;
  bool has_list = true, is_ours = true;
};

/// What a peer made of a pair; where it is not this library and fails, why it did.
std::pair<result, std::string> try_run(const peer& one, const bench::images& data) {
  if (one.is_ours) return {one.run(data), ""};
  try {
    return {one.run(data), ""};
  } catch (const std::exception& failure) {
    return {result{}, failure.what()};
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::string folder;
  if (argc == 3 && std::string(argv[1]) == "--data") {
    folder = argv[2];
  } else if (argc != 1) {
    throw std::runtime_error("usage: peers [--data FOLDER]");
  }

  std::vector<peer> peers = {{"serac (DP4A)", "", run_serac<classic>}};
  std::vector<peer> left_out;
  const auto add = [&](bool there, const peer& one, const char* reason) {
    (there ? peers : left_out).push_back(there ? one : peer{one.name, std::string("left out: ") + reason, nullptr});
  };
  const serac::match_path best = serac::device::detail::best_path();
  add(best >= serac::match_path::mma, {"serac (mma.sync)", "", run_serac<serac::mma_policy>},
      "the GPU has no mma.sync");
  add(best >= serac::match_path::wgmma, {"serac (wgmma)", "", run_serac<serac::wgmma_policy>}, "the GPU has no wgmma");
  peers.push_back({"unfused (DP4A)", "", run_unfused});
#ifdef BENCH_HAS_CUBLASLT
  std::unique_ptr<cublaslt> library;
  std::string reason, version;
  try {
    library = std::make_unique<cublaslt>();
    version = "cuBLASLt " + library->version() + "; ";
  } catch (const std::exception& failure) {
    reason = failure.what();
  }
  add(library != nullptr,
      {"cuBLASLt int8 + top-2", version + "bytes less 128; sums added while reducing",
       [&](const bench::images& data) { return run_cublaslt(*library, data, false); }, true, false},
      reason.c_str());
  add(library != nullptr,
      {"cuBLASLt int8 alone", version + "the matrix is written and nothing reduced",
       [&](const bench::images& data) { return run_cublaslt(*library, data, true); }, false, false},
      reason.c_str());
#else
  add(false, {"cuBLASLt int8 + top-2", "", nullptr}, "built without cublasLt.h");
#endif

  std::printf("peer,data,rows,columns,median_us,low_us,high_us,peak_mib,exact,note\n");
  for (const peer& one : left_out) std::printf("%s,,,,,,,,,%s\n", one.name.c_str(), one.note.c_str());
  for (const bench::images& data : bench::inputs({512}, 0, nullptr)) {  // loads what the driver loads once
    for (const peer& one : peers) try_run(one, data);
  }
  const struct {
    const char* name;
    double scores;  // a microsecond
  } ceilings[] = {{"ceiling (DP4A)", bench::dp4a_ceiling()},
                  {"ceiling (mma.sync)", bench::mma_ceiling()},
                  {"ceiling (wgmma)", bench::wgmma_ceiling()}};

  for (const bench::images& data : bench::inputs({2048, 10400, 32768}, 0, nullptr)) {
    const long long rows = static_cast<long long>(data.left.size() / width),
                    columns = static_cast<long long>(data.right.size() / width);
    for (const auto& ceiling : ceilings) {
      if (ceiling.scores == 0) continue;
      std::printf("%s,%s,%lld,%lld,%.2f,,,,,the instruction alone\n", ceiling.name, data.name.c_str(), rows, columns,
                  static_cast<double>(rows) * static_cast<double>(columns) / ceiling.scores);
    }
    const std::vector<top2> states = nearest2<classic>(data);
    std::vector<serac::match_pair> list;
    for (const peer& one : peers) {
      const auto [made, failure] = try_run(one, data);
      if (!failure.empty()) {
        std::printf("%s,%s,%lld,%lld,,,,,,failed: %s\n", one.name.c_str(), data.name.c_str(), rows, columns,
                    failure.c_str());
        continue;
      }
      if (&one == &peers.front()) list = made.list;
      const char* exact = "";
      if (one.has_list) {
        const bool same_states = made.states.empty() || made.states == states;
        exact = made.list != list ? "no" : same_states ? "yes" : "list";
      }
      std::printf("%s,%s,%lld,%lld,%.2f,%.2f,%.2f,%.1f,%s,%s\n", one.name.c_str(), data.name.c_str(), rows, columns,
                  made.time.median, made.time.low, made.time.high, made.peak_mib, exact, one.note.c_str());
      std::fflush(stdout);
    }
    if (!folder.empty()) {
      const std::string stem = folder + "/" + std::to_string(rows) + " " + data.name;
      write(stem + ".left", data.left);
      write(stem + ".right", data.right);
      write(stem + ".pairs", list);
      write(stem + ".top2", states);
    }
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "peers: %s\n", failure.what());
  return 1;
}
