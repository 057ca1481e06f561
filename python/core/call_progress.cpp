// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
#include "call_progress.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace serac_python {

call_progress::call_progress(nb::handle bar_maker, std::int64_t total)
    : bar_(bar_maker.is_none() ? nb::none() : bar_maker("total"_a = total)) {}

void call_progress::advance() {
  ++done_;
  const clock::time_point now = clock::now();
  if (now - updated_ < std::chrono::milliseconds(50)) return;
  updated_ = now;
  const nb::gil_scoped_acquire gil;
  update();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void call_progress::note(const std::string& text) {
  const nb::gil_scoped_acquire gil;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw nb::python_error();
}

void call_progress::update() {
  if (!bar_.is_none()) bar_.attr("update")(done_ - shown_);
  shown_ = done_;
}

void call_progress::close() {
  update();
  if (!bar_.is_none()) bar_.attr("close")();
}

}  // namespace serac_python
