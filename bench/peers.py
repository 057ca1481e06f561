#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""How long do the ways to a match list that Python offers take, beside those of
bench_peers, on the same descriptors in the same run?

Usage: peers.py BENCH_PEERS          runs that program, then the peers below
       peers.py --data FOLDER        only these, on what it left in FOLDER

  --cpu            PyTorch on the host: a trial without a GPU
  --sizes N,N,...  only images of these many features

PyTorch (product and topk in both directions), CuPy (product, maxima, maxima
again), FAISS and cuVS (brute force, two nearest, both directions), from bytes
to list in device memory, by events; FAISS's knn and OpenCV's BFMatcher, from
host to host.
A peer that is not there has a line that says why.

Prints CSV as bench_peers does. Times include what Python takes to launch. The
memory is what each library's allocator held at most. Ratios, distances and
cross-check are those of bench_peers, except OpenCV's: there the ratio is of
Euclidean distances."""
import argparse
import csv
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

HEAD = ("peer", "data", "rows", "columns", "median_us", "low_us", "high_us",
        "peak_mib", "exact", "note")
WIDTH = 128
UNIT = 2.0 ** -18  # of a score: that of two equal descriptors of norm 512
MAX_RATIO, MAX_DISTANCE = 0.8, 0.7
MIB = 2 ** 20


class Problem:
    """Two images, and what is right: the list, and best and second of all
    rows and columns."""

    def __init__(self, left):
        def read(suffix, kind, columns):
            path = left.parent / (left.name.removesuffix("left") + suffix)
            return numpy.fromfile(path, kind).reshape(-1, columns)

        self.data = left.stem.split(" ", 1)[1]
        self.left = read("left", numpy.uint8, WIDTH)
        self.right = read("right", numpy.uint8, WIDTH)
        self.pairs = read("pairs", numpy.uint32, 2)
        self.scores = read("top2", numpy.int32, 3)[:, [0, 2]]

    @property
    def size(self):
        return len(self.left), len(self.right)

    def is_large(self):
        return self.size[0] * self.size[1] > 1 << 28

    def judge(self, pairs, scores):
        """How a list and top-2 scores compare: (exact, note)."""
        if not numpy.array_equal(pairs, self.pairs):
            shared = len(set(map(tuple, pairs.tolist())) &
                         set(map(tuple, self.pairs.tolist())))
            return "no", (f"{len(pairs)} matches of which {shared} are among "
                          f"the {len(self.pairs)} right ones")
        if scores is None:
            return "list", ""
        wrong = int((numpy.rint(scores) != self.scores).any(axis=1).sum())
        if wrong:
            return "list", f"{wrong} of {len(scores)} top-2 states differ"
        return "yes", ""


def summary(samples):
    """Median and middle 80 %, as bench/measure.cuh takes them."""
    samples = sorted(samples)
    return [samples[int(q * (len(samples) - 1) + 0.5)] for q in (0.5, 0.1, 0.9)]


def repeats_of(problem):
    return 10 if problem.is_large() else 20


class Torch:
    """PyTorch, and what peers that work on its tensors share."""
    name = "PyTorch"

    def __init__(self, options):
        import torch
        self.torch = torch
        self.device = "cpu" if options.cpu else "cuda"
        if not options.cpu and not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU")
        self.note = f"torch {torch.__version__}"

    def begin(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()
            self.before = self.torch.cuda.memory_allocated()

    def upload(self, image):
        return self.torch.from_numpy(image).to(self.device)

    def measure(self, run, repeats, warmups=3):
        if self.device == "cpu":
            return measure_host(run, repeats, 1)
        for _ in range(warmups):
            result = run()
        samples = []
        for _ in range(repeats):
            start, stop = (self.torch.cuda.Event(enable_timing=True)
                           for _ in range(2))
            start.record()
            result = run()
            stop.record()
            stop.synchronize()
            samples.append(1e3 * start.elapsed_time(stop))
        return summary(samples), result

    def peak(self):
        if self.device == "cpu":
            return None
        return (self.torch.cuda.max_memory_allocated() - self.before) / MIB

    def list(self, rows, columns):
        """The list of two (values, indices), each [n, 2], values of 1 for
        equal descriptors."""
        torch = self.torch

        def accepted(values):
            angles = values.double().clamp(max=1).acos().float()
            return ((angles[:, 0] < MAX_DISTANCE) &
                    (angles[:, 0] < angles[:, 1] * MAX_RATIO))

        match = rows[1][:, 0]
        place = torch.arange(len(match), device=match.device)
        good = (accepted(rows[0]) & accepted(columns[0])[match] &
                (columns[1][:, 0][match] == place))
        left = good.nonzero().squeeze(1)
        return (torch.stack([left, match[left]], 1),
                torch.cat([rows[0], columns[0]]))

    def to_host(self, result):
        pairs, values = result
        return (pairs.cpu().numpy().astype(numpy.uint32),
                values.cpu().double().numpy() / UNIT)


class TorchMatmul(Torch):
    """The product in one precision, then topk of its rows and columns."""

    def __init__(self, options, kind, precision="highest", wide=False):
        super().__init__(options)
        self.kind = getattr(self.torch, kind)
        self.precision, self.wide = precision, wide
        if wide and options.cpu:
            raise RuntimeError("float32 scores of float16 need a GPU")

    def run(self, left, right):
        torch = self.torch
        torch.set_float32_matmul_precision(self.precision)
        # (Exact: bytes times a power of two.)
        left = left.to(self.kind) * UNIT ** 0.5
        right = (right.to(self.kind) * UNIT ** 0.5).T
        if self.wide:
            scores = torch.mm(left, right, out_dtype=torch.float32)
        else:
            scores = left @ right
        rows = scores.topk(2, dim=1)
        columns = scores.topk(2, dim=0)
        return self.list((rows.values, rows.indices),
                         (columns.values.T, columns.indices.T))


class Faiss(Torch):
    """FAISS: knn on the GPU by inner product, in both directions."""

    def __init__(self, options):
        self.faiss = importlib.import_module("faiss")
        importlib.import_module("faiss.contrib.torch_utils")
        super().__init__(options)
        self.resources = self.faiss.StandardGpuResources()
        self.note = (f"faiss {self.faiss.__version__}; memory of results only")

    def run(self, left, right):
        left, right = (image.float() * UNIT ** 0.5 for image in (left, right))
        rows, columns = (
            self.faiss.knn_gpu(self.resources, *images, 2,
                               metric=self.faiss.METRIC_INNER_PRODUCT)
            for images in ((left, right), (right, left)))
        return self.list(rows, columns)


class Cuvs(Torch):
    """cuVS: brute force by inner product, in both directions."""

    def __init__(self, options):
        self.cuvs = importlib.import_module("cuvs")
        self.brute_force = importlib.import_module(
            "cuvs.neighbors.brute_force")
        super().__init__(options)
        self.note = f"cuvs {self.cuvs.__version__}; memory of results only"

    def run(self, left, right):
        left, right = (image.float() * UNIT ** 0.5 for image in (left, right))

        def nearest(queries, base):
            index = self.brute_force.build(base, metric="inner_product")
            values, places = self.brute_force.search(index, queries, 2)
            return (self.torch.as_tensor(values, device=self.device),
                    self.torch.as_tensor(places, device=self.device).long())

        return self.list(nearest(left, right), nearest(right, left))


def list_of(library, rows, columns):
    """The list of two (values [n, 2], indices [n]), values of 1 for equal
    descriptors, and all values; arrays of `library`, NumPy or CuPy."""
    def accepted(values):
        angles = library.arccos(library.minimum(
            values.astype("float64"), 1)).astype("float32")
        return ((angles[:, 0] < numpy.float32(MAX_DISTANCE)) &
                (angles[:, 0] < angles[:, 1] * numpy.float32(MAX_RATIO)))

    match = rows[1]
    good = (accepted(rows[0]) & accepted(columns[0])[match] &
            (columns[1][match] == library.arange(len(match))))
    left = good.nonzero()[0]
    return (library.stack([left, match[left]], 1),
            library.concatenate([rows[0], columns[0]]))


class Cupy:
    """CuPy: the product, and maxima twice (it has no topk)."""

    def __init__(self, options, kind):
        self.cupy = importlib.import_module("cupy")
        if options.cpu or self.cupy.cuda.runtime.getDeviceCount() == 0:
            raise RuntimeError("CuPy needs a GPU")
        self.kind = kind
        self.note = f"cupy {self.cupy.__version__}; memory of its pool"

    def begin(self):
        self.pool = self.cupy.get_default_memory_pool()
        self.pool.free_all_blocks()
        self.before = self.pool.total_bytes()

    def upload(self, image):
        return self.cupy.asarray(image)

    def measure(self, run, repeats, warmups=3):
        for _ in range(warmups):
            result = run()
        samples = []
        for _ in range(repeats):
            start, stop = self.cupy.cuda.Event(), self.cupy.cuda.Event()
            start.record()
            result = run()
            stop.record()
            stop.synchronize()
            samples.append(
                1e3 * self.cupy.cuda.get_elapsed_time(start, stop))
        return summary(samples), result

    def peak(self):
        return (self.pool.total_bytes() - self.before) / MIB

    def run(self, left, right):
        cupy = self.cupy
        left, right = (image.astype(self.kind) * self.kind(UNIT ** 0.5)
                       for image in (left, right))
        scores = left @ right.T

        def top2(axis):
            places = scores.argmax(axis=axis)
            along = cupy.arange(len(places))
            where = (along, places) if axis == 1 else (places, along)
            best = scores[where]
            scores[where] = -1
            second = scores.max(axis=axis)
            scores[where] = best
            return cupy.stack([best, second], 1), places

        return list_of(cupy, top2(1), top2(0))

    def to_host(self, result):
        pairs, values = (each.get() for each in result)
        return pairs.astype(numpy.uint32), values.astype(numpy.float64) / UNIT


def measure_host(run, repeats, warmups):
    for _ in range(warmups):
        result = run()
    samples = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        samples.append(1e6 * (time.perf_counter() - start))
    return summary(samples), result


class Host:
    """What peers that work on NumPy's arrays share."""

    def begin(self):
        pass

    def upload(self, image):
        return image

    def measure(self, run, repeats):
        return measure_host(run, 5, 1)

    def peak(self):
        return None


class OpenCV(Host):
    """OpenCV on the host: knnMatch in both directions, for small images."""
    most = 2048

    def __init__(self, options):
        self.cv2 = importlib.import_module("cv2")
        self.matcher = self.cv2.BFMatcher(self.cv2.NORM_L2)
        self.note = (f"opencv {self.cv2.__version__} on the host with "
                     f"{self.cv2.getNumThreads()} threads; Euclidean ratio")

    def run(self, left, right):
        def nearest(queries, base):
            found = self.matcher.knnMatch(queries, base, 2)
            return [one[0].trainIdx if one[0].distance <
                    MAX_RATIO * one[1].distance else -1 for one in found]

        rows, columns = nearest(left, right), nearest(right, left)
        return [(row, column) for row, column in enumerate(rows)
                if column >= 0 and columns[column] == row]

    def to_host(self, pairs):
        return numpy.array(pairs, numpy.uint32).reshape(-1, 2), None


class FaissHost(Host):
    """FAISS on the host: knn by inner product, in both directions."""
    most = 10400

    def __init__(self, options):
        self.faiss = importlib.import_module("faiss")
        self.note = (f"faiss {self.faiss.__version__} on the host with "
                     f"{self.faiss.omp_get_max_threads()} threads")

    def run(self, left, right):
        left, right = (image.astype(numpy.float32) * numpy.float32(UNIT ** 0.5)
                       for image in (left, right))

        def nearest(queries, base):
            values, places = self.faiss.knn(
                queries, base, 2, metric=self.faiss.METRIC_INNER_PRODUCT)
            return values, places[:, 0]

        return list_of(numpy, nearest(left, right), nearest(right, left))

    def to_host(self, result):
        pairs, values = result
        return pairs.astype(numpy.uint32), values.astype(numpy.float64) / UNIT


PEERS = {
    "PyTorch float32 + topk": lambda o: TorchMatmul(o, "float32"),
    "PyTorch TF32 + topk": lambda o: TorchMatmul(o, "float32", "high"),
    "PyTorch float16 + topk": lambda o: TorchMatmul(o, "float16"),
    "PyTorch float16 to float32 + topk":
        lambda o: TorchMatmul(o, "float16", wide=True),
    "CuPy float32 + maxima": lambda o: Cupy(o, numpy.float32),
    "FAISS knn_gpu": Faiss,
    "cuVS brute force": Cuvs,
    "FAISS knn on the host": FaissHost,
    "OpenCV BFMatcher": OpenCV,
}


def reason_of(error):
    """An exception in one line that may stand in a column."""
    text = str(error).strip().splitlines() or [type(error).__name__]
    return text[0].replace(",", ";")


def run(name, peer, problem):
    """One line for a peer and a problem."""
    peer.begin()
    left, right = peer.upload(problem.left), peer.upload(problem.right)
    times, result = peer.measure(lambda: peer.run(left, right),
                                 repeats_of(problem))
    peak = peer.peak()
    pairs, scores = peer.to_host(result)
    exact, note = problem.judge(pairs, scores)
    return [name, problem.data, *problem.size,
            *(f"{each:.2f}" for each in times),
            "" if peak is None else f"{peak:.1f}", exact,
            "; ".join(filter(None, (peer.note, note)))]


def run_all(folder, options):
    out = csv.writer(sys.stdout, lineterminator="\n")
    files = sorted(folder.glob("*.left"),
                   key=lambda path: (int(path.stem.split()[0]), path.stem))
    if not files:
        raise SystemExit(f"peers.py: no descriptors in {folder}")
    problems = [Problem(path) for path in files
                if not options.sizes or
                int(path.stem.split()[0]) in options.sizes]
    for name, make in PEERS.items():
        try:
            peer = make(options)
        except Exception as error:  # whatever keeps a library from loading
            out.writerow([name, *[""] * 8, f"left out: {reason_of(error)}"])
            continue
        for problem in problems:
            if max(problem.size) > getattr(peer, "most", max(problem.size)):
                continue
            try:
                line = run(name, peer, problem)
            except Exception as error:
                line = [name, problem.data, *problem.size, *[""] * 5,
                        f"failed: {reason_of(error)}"]
            out.writerow(line)
            sys.stdout.flush()


def library_folders():
    """Where cuBLASLt may be: with nvcc, or a package that PyTorch brings."""
    found = importlib.util.find_spec("nvidia")
    places = found.submodule_search_locations if found else []
    nvcc = shutil.which("nvcc")
    toolkit = Path(nvcc).resolve().parent.parent / "lib64" if nvcc else None
    return [*([str(toolkit)] if toolkit else []),
            *(str(folder) for place in places
              for folder in sorted(Path(place).glob("*/lib")))]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=__doc__.split("\n\n", 3)[3])
    parser.add_argument("program", nargs="?", metavar="BENCH_PEERS",
                        help="bench_peers, which is run first")
    parser.add_argument("--data", type=Path, metavar="FOLDER",
                        help="what bench_peers --data FOLDER left")
    parser.add_argument("--cpu", action="store_true",
                        help="PyTorch on the host: a trial without a GPU")
    parser.add_argument("--sizes", metavar="N,N,...", default=(),
                        type=lambda text: [int(n) for n in text.split(",")],
                        help="only images of these many features")
    options = parser.parse_args()
    if (options.program is None) == (options.data is None):
        parser.error("give either BENCH_PEERS or --data FOLDER")

    if options.data:
        print(",".join(HEAD))
        return run_all(options.data, options)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.environ.get("LD_LIBRARY_PATH", ""), *library_folders()]
        environment = {**os.environ,
                       "LD_LIBRARY_PATH": ":".join(filter(None, paths))}
        done = subprocess.run([options.program, "--data", folder],
                              env=environment)
        if done.returncode != 0:
            sys.exit(f"peers.py: {options.program} failed")
        run_all(Path(folder), options)


if __name__ == "__main__":
    main()
