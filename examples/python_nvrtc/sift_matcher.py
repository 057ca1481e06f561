# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""SIFT descriptors on the GPU, matched by kernels of this library that NVRTC
compiles when the program runs. Needs CuPy; no CUDA toolkit and no nvcc."""
from pathlib import Path

import numpy as np

INCLUDE = Path(__file__).resolve().parents[2] / "include"

SOURCE = r"""
#include <serac/acceptance.hpp>
#include <serac/kernel/compact.cuh>
#include <serac/kernel/fused_top2.cuh>
#include <serac/policy.hpp>
#include <serac/thread/dot.cuh>

struct sift : serac::policy_for<128> {};
using tie = serac::tie_break::smallest_index;

// What the host must know to launch, from where it is written.
extern "C" __device__ int launch[] = {serac::policy_traits<sift>::threads, serac::policy_traits<sift>::shared_bytes,
                                      serac::kernel::list_threads, serac::kernel::list_window};
"""

TOP2 = "serac::kernel::fused_top2<sift, true>"
MARK = "serac::kernel::mark_matches<tie, tie, serac::angular_acceptance>"
LIST = ("serac::kernel::write_lists<serac::kernel::one_pair_rows, "
        "serac::kernel::one_list>")

# The structures that kernels take, as they lie in memory.
VIEW = np.dtype([("data", np.uintp), ("count", np.int64), ("width", np.int32),
                 ("stride", np.int64)], align=True)  # serac::sift_view
ACCEPTANCE = np.dtype([("max_ratio", np.float32), ("max_distance", np.float32)])
ROWS = np.dtype([("row_count", np.int64)])  # serac::kernel::one_pair_rows
LISTS = np.dtype([("pairs", np.uintp), ("length", np.uintp)])


class SiftMatcher:
    """Matches arrays on the current GPU, on CuPy's current stream."""

    def __init__(self, max_ratio=0.8, max_distance=0.7, cross_check=True):
        import cupy
        self.cupy, self.cross_check = cupy, cross_check
        self.acceptance = np.array([(max_ratio, max_distance)], ACCEPTANCE)
        module = cupy.RawModule(
            code=SOURCE, options=("-std=c++17", f"-I{INCLUDE}"),
            name_expressions=(TOP2, MARK, LIST))
        self.top2, self.mark, self.list = map(module.get_function,
                                              (TOP2, MARK, LIST))
        launch = cupy.ndarray(4, np.int32, module.get_global("launch")).get()
        (self.threads, self.shared_bytes, self.list_threads,
         self.list_window) = map(int, launch)
        self.top2.max_dynamic_shared_size_bytes = self.shared_bytes
        device = cupy.cuda.Device()
        self.blocks = 2 * device.attributes["MultiProcessorCount"]

    def view(self, array):
        """The array as the kernels see it; nothing is copied."""
        if (array.dtype != np.uint8 or array.ndim != 2 or
                array.shape[1] != 128 or array.strides[1] != 1):
            raise ValueError("descriptors are rows of 128 unsigned bytes")
        if array.data.ptr % 16 or array.strides[0] % 16:
            raise ValueError("descriptors are aligned to 16 bytes")
        return np.array([(array.data.ptr, array.shape[0], 128,
                          array.strides[0])], VIEW)

    def match(self, left, right):
        """The match list: rows (i, j), int32, ascending in i."""
        cupy, rows, columns = self.cupy, left.shape[0], right.shape[0]
        if rows == 0 or columns == 0:
            return cupy.empty((0, 2), np.int32)
        row_cells = cupy.zeros((rows, 2), np.uint64)  # top2_cell: 16 bytes
        column_cells = cupy.zeros((columns, 2), np.uint64)
        self.top2((self.blocks,), (self.threads,),
                  (self.view(left), self.view(right), row_cells, column_cells),
                  shared_mem=self.shared_bytes)

        matches = cupy.empty(rows, np.uint32)  # the column of each row
        no_cells = np.uintp(0)
        self.mark((-(-rows // 256),), (256,),
                  (row_cells, np.int64(rows),
                   column_cells if self.cross_check else no_cells,
                   self.acceptance, matches))

        pairs = cupy.empty((rows, 2), np.int32)
        length = cupy.empty(1, np.uint32)
        self.list((-(-rows // self.list_window),), (self.list_threads,),
                  (matches, np.array([(rows,)], ROWS), np.uint32(rows),
                   np.array([(pairs.data.ptr, length.data.ptr)], LISTS)))
        return pairs[:int(length[0])]


def reference(left, right, max_ratio=0.8, max_distance=0.7, cross_check=True):
    """The same list by NumPy, as the definition has it."""
    scores = left.astype(np.float64) @ right.astype(np.float64).T  # exact

    def accepted(scores):
        index = scores.argmax(axis=1)  # of tied ones the smallest
        best = scores[np.arange(len(scores)), index]
        scores = scores.copy()
        scores[np.arange(len(scores)), index] = 0
        second = scores.max(axis=1)

        def distance(score):
            cosine = score.astype(np.float32) * np.float32(2.0 ** -18)
            return np.arccos(np.minimum(cosine.astype(np.float64), 1)).astype(
                np.float32)

        accept = ((best > 0) & (distance(best) < np.float32(max_distance)) &
                  (distance(best) < distance(second) * np.float32(max_ratio)))
        return np.where(accept, index, -1)

    columns = accepted(scores)
    keep = columns >= 0
    if cross_check:
        keep &= accepted(scores.T)[columns] == np.arange(len(left))
    rows = np.flatnonzero(keep)
    return np.stack([rows, columns[rows]], axis=1).astype(np.int32)


def random_sift(rows, seed):
    """Descriptors of norm 512, as SIFT's are."""
    values = np.sqrt(np.random.default_rng(seed).exponential(size=(rows, 128)))
    values *= 512 / np.linalg.norm(values, axis=1, keepdims=True)
    return np.minimum(values.round(), 255).astype(np.uint8)


def overlapping_images(rows, columns, common):
    """Two images, of which `common` features are much the same, in another
    order."""
    left, right = random_sift(rows, 1), random_sift(columns, 2)
    noise = np.random.default_rng(3)
    seen = noise.choice(rows, common, replace=False)
    place = noise.choice(columns, common, replace=False)
    right[place] = np.clip(left[seen].astype(int) +
                           noise.integers(-8, 9, (common, 128)), 0, 255)
    return left, right


def require(*packages):
    """The packages; where one, or a GPU, is missing the program ends with 77."""
    import importlib
    try:
        modules = [importlib.import_module(name) for name in packages]
    except ImportError as error:
        missing = error.name
    else:
        import cupy
        try:
            if cupy.cuda.runtime.getDeviceCount() > 0:
                return modules
        except cupy.cuda.runtime.CUDARuntimeError:
            pass
        missing = "a GPU"
    print(f"SKIPPED: {missing} is missing: nothing was matched")
    raise SystemExit(77)


def verdict(found, expected, what):
    """Prints whether the lists are equal and not empty; 1 if not."""
    equal = len(expected) > 0 and np.array_equal(found, expected)
    print(f"{len(found)} matches of {what}:",
          "as expected" if equal else "NOT as expected")
    return 0 if equal else 1
