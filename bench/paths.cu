// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// From how many descriptors on is a path of the tensor cores faster than the classic one?
///
/// Usage: paths
/// Prints CSV: the time of a captured call replayed (median, and the middle 80 %), by each path, for one pair of images
/// of bytes or bits whose sizes grow by the square root of 2, at last by 2. Calls: `match`, `nearest2 rows`, and
/// `nearest2`, which gives the states of the columns too. A third of the rows match. `automatic` is 1 where an
/// automatic policy takes the line's path.
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <serac/device/match.cuh>

#include "elements.cuh"
#include "measure.cuh"

namespace {

const char* name(std::uint8_t) { return "uint8"; }
const char* name(serac::bits8) { return "bits8"; }

template <class T, int Width>
class problem {
 public:
  explicit problem(std::int64_t count) : count_(count), images_(make(count)) {}

  template <class Policy>
  void run(const char* path) const {
    if (serac::device::detail::best_path<T>() < Policy::path) return;
    const auto left = images_.left(), right = images_.right();
    line(path, "match", serac::device::path_of_match<automatic>(left, right, serac::match_options()) == Policy::path,
         bench::time_pair<Policy>(images_, acceptance(T())).us);

    for (const bool with_columns : {false, true}) {
      const bool is_automatic =
          serac::device::path_of_nearest2<automatic>(left.count, right.count, with_columns) == Policy::path;
      const std::size_t bytes = serac::device::nearest2_workspace<Policy>(left, right, with_columns);
      const bench::device_array<std::uint8_t> workspace(bytes);
      const bench::device_array<serac::top2> rows(static_cast<std::size_t>(count_)),
          columns(static_cast<std::size_t>(count_));
      const serac::nearest2_output output{rows.data(), with_columns ? columns.data() : nullptr};
      const bench::timing t = bench::measure(
          [&](cudaStream_t stream) {
            serac::throw_on_error(
                serac::device::nearest2<Policy>(left, right, output, workspace.data(), bytes, stream));
          },
          30, 3, 3, true);
      line(path, with_columns ? "nearest2" : "nearest2 rows", is_automatic, t);
    }
  }

 private:
  using automatic = serac::automatic_policy<Width, T>;

  static auto acceptance(std::uint8_t) { return serac::angular_acceptance(); }
  static auto acceptance(serac::bits8) { return serac::hamming_acceptance(); }

  static bench::two_images<T> make(std::int64_t count) {
    std::vector<T> images[2];
    if constexpr (serac::is_binary<T>) {
      std::mt19937 random(1);
      for (auto& image : images) {
        for (std::int64_t k = 0; k < count * Width; ++k) image.push_back(static_cast<T>(random() & 255));
      }
    } else {
      images[0] = bench::random_sift(count, 1, Width);
      images[1] = bench::random_sift(count, 2, Width);
    }
    bench::copy_every(3, count, Width, images[0], images[1]);
    return {images[0], images[1], Width};
  }

  void line(const char* path, const char* call, bool is_automatic, const bench::timing& t) const {
    std::printf("%s,%d,%lld,%lld,%s,%s,%d,%.2f,%.2f,%.2f\n", name(T()), Width, static_cast<long long>(count_),
                static_cast<long long>(count_), call, path, is_automatic ? 1 : 0, t.median, t.low, t.high);
    std::fflush(stdout);
  }

  std::int64_t count_;
  bench::two_images<T> images_;
};

constexpr std::int64_t counts[] = {512, 724, 1024, 1448, 2048, 2896, 4096, 5793, 8192, 16384};

template <int Width>
void run_bytes() {
  for (const std::int64_t count : counts) {
    const problem<std::uint8_t, Width> images(count);
    images.template run<serac::policy_for<Width>>("classic");
    images.template run<serac::mma_policy_for<Width>>("mma");
    images.template run<serac::wgmma_policy_for<Width>>("wgmma");
  }
}

template <int Width>
void run_bits() {
  for (const std::int64_t count : counts) {
    const problem<serac::bits8, Width> images(count);
    images.template run<serac::hamming_policy_for<Width>>("classic");
    images.template run<serac::mma_policy_for<Width, serac::bits8>>("mma");
  }
}

}  // namespace

int main() try {
  std::printf("element,width,rows,columns,call,path,automatic,median_us,low_us,high_us\n");
  run_bytes<32>();
  run_bytes<64>();
  run_bytes<128>();
  run_bytes<256>();
  run_bits<32>();
  run_bits<64>();
} catch (const std::exception& failure) {
  std::fprintf(stderr, "paths: %s\n", failure.what());
  return 1;
}
