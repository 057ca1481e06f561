// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <type_traits>

#include <serac/host/match.hpp>
#include <serac/host/match_guided.hpp>
#include <serac/host/nearest2.hpp>
#include <serac/survey/host_worker.hpp>

#include "backend.hpp"
#include "survey_batch.hpp"

namespace serac_python {

namespace {

constexpr std::size_t survey_budget = std::size_t{1} << 30;  // bytes of descriptors that a batch's run keeps

/// The tie order of lists.
template <class T>
using tie_of =
    std::conditional_t<std::is_same_v<T, std::uint8_t>, serac::tie_break::siftgpu, serac::tie_break::smallest_index>;

/// The least width that the library takes: the next multiple of 4.
int padded_width(int width) { return (width + 3) / 4 * 4; }

/// Copies descriptors; elements that they do not have become 0, which no score feels.
template <class T>
void copy_padded(const image& from, std::int64_t count, T* destination, int width) {
  std::fill_n(destination, count * width, T{});
  const T* const data = static_cast<const T*>(from.data);
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(destination + i * width, data + i * from.stride, static_cast<std::size_t>(from.width) * sizeof(T));
  }
}

/// A view of an image, or of a padded copy where its width is not one that the library takes.
template <class T>
class host_view {
 public:
  explicit host_view(const image& from) : view_(static_cast<const T*>(from.data), from.count, from.width, from.stride) {
    const int width = padded_width(from.width);
    if (width == from.width || from.count == 0) return;
    copy_.resize(static_cast<std::size_t>(from.count * width));
    copy_padded(from, from.count, copy_.data(), width);
    view_ = {copy_.data(), from.count, width};
  }
  host_view(const host_view&) = delete;
  host_view& operator=(const host_view&) = delete;
  operator const serac::descriptor_view<T>&() const { return view_; }
  const serac::descriptor_view<T>& get() const { return view_; }

 private:
  std::vector<T> copy_;
  serac::descriptor_view<T> view_;
};

/// The list that `run(output)` makes of an image of `rows`.
template <class Run>
serac::match_list list_of(std::int64_t rows, Run run) {
  serac::match_list list;
  list.pairs.resize(static_cast<std::size_t>(rows));
  std::uint32_t count = 0;
  serac::throw_on_error(run(serac::match_output{list.pairs.data(), rows, &count}));
  list.pairs.resize(count);
  return list;
}

class host_backend : public backend {
 public:
  explicit host_backend(int threads) : threads_(std::max(threads, 0)) {}

  serac::match_list match(const image& a, const image& b, const judgement& by) override {
    return with_element(a.type, [&](auto zero) {
      using T = decltype(zero);
      const host_view<T> left(a), right(b);
      return list_of(a.count, [&](const serac::match_output& output) {
        return serac::host::match<tie_of<T>>(left.get(), right.get(), by.options, acceptance_of<T>(by), output,
                                             threads_);
      });
    });
  }

  serac::match_list match_guided(const image& a, const image& b, const locations& points_a, const locations& points_b,
                                 const serac::two_view_geometry& geometry, const judgement& by) override {
    return with_element(a.type, [&](auto zero) {
      using T = decltype(zero);
      const host_view<T> left(a), right(b);
      const serac::guided_by<> guide{points_a.points, points_b.points, geometry};
      return list_of(a.count, [&](const serac::match_output& output) {
        return serac::host::match_guided<tie_of<T>>(left.get(), right.get(), guide, by.options, acceptance_of<T>(by),
                                                    output, threads_);
      });
    });
  }

  serac::nearest2_list nearest2(const image& a, const image& b, bool with_columns) override {
    return with_element(a.type, [&](auto zero) {
      using T = decltype(zero);
      const host_view<T> left(a), right(b);
      serac::nearest2_list list;
      list.rows.resize(static_cast<std::size_t>(a.count));
      if (with_columns) list.columns.resize(static_cast<std::size_t>(b.count));
      serac::throw_on_error(serac::host::nearest2(
          left.get(), right.get(), {list.rows.data(), with_columns ? list.columns.data() : nullptr}, threads_));
      return list;
    });
  }

  void match_batch(const std::vector<image>& images, const std::vector<serac::image_pair>& pairs, const judgement& by,
                   const list_taker& take) override {
    if (pairs.empty()) return;
    with_element(images.front().type, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (serac::score_traits<T>::has_angle) {
        serac::survey::worker_list<T> workers;
        workers.push_back(std::make_unique<serac::survey::host_worker<T, tie_of<T>>>(threads_));
        run_survey<T>(workers, survey_budget, images, padded_width(images.front().width), pairs, by, copy_padded<T>,
                      take);
      } else {
        match_one_by_one(*this, images, pairs, by, take);
      }
    });
  }

 private:
  int threads_;
};

}  // namespace

std::unique_ptr<backend> make_host_backend(int threads) { return std::make_unique<host_backend>(threads); }

}  // namespace serac_python
