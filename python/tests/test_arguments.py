# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with an argument is said by its name; names, defaults and stubs
are what they should be."""
import ast
import inspect
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import serac

A = np.zeros((3, 128), np.uint8)


def distinct(count):
    """Descriptors of norm 510, no two of which share anything."""
    return np.repeat(np.eye(32, dtype=np.uint8)[:count], 4, axis=1) * 255


@pytest.mark.parametrize("call, error, text", [
    (lambda: serac.match(A.astype(np.float64), A), TypeError, "a: dtype float64 .* what can: uint8, int8, float32, float16"),
    (lambda: serac.match(A, A.astype(np.complex64)), TypeError, "b: dtype complex64"),
    (lambda: serac.match(A.view(np.int8), A.view(np.int8), score="hamming"), TypeError, "a: dtype int8"),
    (lambda: serac.match(A, A.view(np.int8)), ValueError, "b: its dtype is not that of a"),
    (lambda: serac.match(A, A[:, :64].copy()), ValueError, "b: its width of 64 is not that of a, 128"),
    (lambda: serac.match(A[0], A), ValueError, r"a: .* its shape is \(128,\)"),
    (lambda: serac.match(A, np.zeros((2, 513), np.uint8)), ValueError, r"b: .* its shape is \(2, 513\)"),
    (lambda: serac.match(A, np.zeros((2, 0), np.uint8)), ValueError, r"b: .* its shape is \(2, 0\)"),
    (lambda: serac.match(A, A[:, ::2]), ValueError, "b: its rows must be contiguous"),
    (lambda: serac.match(A[::-1], A), ValueError, "a: its rows must be contiguous"),
    (lambda: serac.match(np.asfortranarray(A), A), ValueError, "a: its rows must be contiguous"),
    (lambda: serac.match("a", A), TypeError, "a: is no array: <class 'str'>"),
    (lambda: serac.match(A, None), TypeError, "b: is no array"),
    (lambda: serac.match(A, A.tolist()), TypeError, "b: is no array"),
    (lambda: serac.match(A, A, max_ratio=0), ValueError, "max_ratio: must be above 0"),
    (lambda: serac.match(A, A, max_ratio=float("nan")), ValueError, "max_ratio: must be above 0"),
    (lambda: serac.match(A, A, max_distance=-1), ValueError, "max_distance: must be above 0"),
    (lambda: serac.match(A, A, max_bits=3), ValueError, "max_bits: is for score='hamming'"),
    (lambda: serac.match(A, A, score="hamming", max_distance=3), ValueError, "max_distance: is for score='dot' and 'l2'"),
    (lambda: serac.match(A, A, score="l3"), ValueError, "score: must be 'dot', 'l2' or 'hamming', not 'l3'"),
    (lambda: serac.match(A, A, score="l2"), TypeError, "a: dtype uint8 .* score='l2'; what can: float32, float16"),
    (lambda: serac.match(A, A, device="gpu"), ValueError, "device: must be .* not 'gpu'"),
    (lambda: serac.match(A, A, device="cuda:x"), ValueError, "device: must be"),
    (lambda: serac.match(A, A, device=-1), ValueError, "device: there is no GPU number -1"),
    (lambda: serac.match(A, A, device="cpu", num_threads=0), ValueError, "num_threads: must be above 0"),
    (lambda: serac.match_batch([A, A[0]], [(0, 1)]), ValueError, r"images\[1\]: "),
    (lambda: serac.match_batch([A, A], [(0, 1), (0, 2)]), ValueError, r"pairs\[1\]: there is no image number 2"),
    (lambda: serac.match_batch([A, A], [(0, -1)]), ValueError, r"pairs\[0\]: there is no image number -1"),
    (lambda: serac.match_batch([A, A], [(0, 1, 1)]), ValueError, r"pairs\[0\]: is no pair"),
    (lambda: serac.match_batch([A, A], [("x", 1)]), TypeError, r"pairs\[0\]: must be two numbers"),
    (lambda: serac.match_batch([A, A], 3), TypeError, "pairs: must be a sequence"),
    (lambda: serac.match_batch(None, []), TypeError, "images: must be a sequence"),
    (lambda: serac.match_exhaustive("none.db", max_num_matches=0), ValueError, "max_num_matches: "),
    (lambda: serac.match_exhaustive("none.db", block_size=0), ValueError, "block_size: "),
    (lambda: serac.match_exhaustive("none.db", lock_timeout=-1), ValueError, "lock_timeout: "),
    (lambda: serac.match_exhaustive("none.db", device="cpu"), serac.Error, "none.db: "),
    (lambda: serac.match_exhaustive(5), TypeError, "expected str, bytes or os.PathLike"),
])
def test_faults(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_no_gpu_is_an_error_where_one_is_asked_for():
    if serac.gpu_count() > 0:
        with pytest.raises(serac.Error, match="device"):
            serac.match(A, A, device=serac.gpu_count())
        return
    for device in ("cuda", "cuda:0", 0):
        with pytest.raises(serac.Error, match="device"):
            serac.match(A, A, device=device)
    assert issubclass(serac.Error, RuntimeError)


def test_without_a_gpu_the_host_matches():
    image = distinct(20)
    assert len(serac.match(image, image)) == 20


def stub():
    tree = ast.parse((Path(serac.__file__).parent / "_core.pyi").read_text())
    return {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_stub_and_documentation_are_complete():
    known = stub()
    for name in set(serac.__all__) - {"__version__", "has_cuda"}:
        assert ast.get_docstring(known[name]) or isinstance(known[name], ast.ClassDef), name
        assert getattr(serac, name).__doc__, name
    assert (Path(serac.__file__).parent / "py.typed").exists()


def defaults(name):
    arguments = stub()[name].args
    both = arguments.posonlyargs + arguments.args
    values = dict(zip([a.arg for a in both[len(both) - len(arguments.defaults):]], arguments.defaults))
    values.update({a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d})
    return {k: ast.literal_eval(v) for k, v in values.items()}


def test_the_stub_speaks_the_truth():
    """Calls that name every argument with the default that the stub says."""
    image = distinct(20)
    at = np.zeros((20, 2), np.float32)
    for name, arguments in {"match": (image, image), "nearest2": (image, image),
                            "match_guided": (image, image, at, at), "match_batch": ([image], [(0, 0)])}.items():
        given = defaults(name)
        if name == "match_guided":
            given["H"] = np.eye(3)
        named, unnamed = getattr(serac, name)(*arguments, **given), getattr(serac, name)(
            *arguments, **({"H": np.eye(3)} if name == "match_guided" else {}))
        np.testing.assert_array_equal(named, unnamed)
        with pytest.raises(TypeError):
            getattr(serac, name)(*arguments, no_such_argument=1)


def test_names_and_defaults_are_those_of_pycolmap():
    pycolmap = pytest.importorskip("pycolmap")
    options, sift = pycolmap.FeatureMatchingOptions(), pycolmap.FeatureMatchingOptions().sift
    verification = pycolmap.TwoViewGeometryOptions()
    for name in ("match", "match_guided", "match_batch", "match_exhaustive", "match_pairs"):
        given = defaults(name)
        assert given["max_ratio"] == sift.max_ratio
        assert given["max_distance"] == sift.max_distance
        assert given["cross_check"] == sift.cross_check
        assert given["num_threads"] == options.num_threads
    assert defaults("match_guided")["max_error"] == verification.ransac.max_error
    for name, pairing in (("match_exhaustive", pycolmap.ExhaustivePairingOptions()),
                          ("match_pairs", pycolmap.ImportedPairingOptions())):
        given = defaults(name)
        assert given["max_num_matches"] == options.max_num_matches
        assert given["min_num_inliers"] == verification.min_num_inliers
        assert given["block_size"] == pairing.block_size


def test_arguments_can_be_given_in_order():
    image = distinct(20)
    assert len(serac.match(image, image, 0.8, 0.7, True, "cpu")) == 20


def test_threads_match_at_the_same_time(sample):
    wanted = serac.match(sample[0], sample[1])
    lists = [None] * 8

    def work(k):
        lists[k] = serac.match(sample[0], sample[1])
    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(lists))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in lists:
        np.testing.assert_array_equal(each, wanted)


def test_import_loads_no_cuda_driver():
    """What is not there on a machine without a GPU must not be needed at load time."""
    if serac.gpu_count() > 0:
        pytest.skip("there is a driver")
    code = "import serac, sys; print([l for l in open('/proc/self/maps') if 'libcuda.' in l or 'libcudart' in l])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_help_shows_shapes():
    assert "(K, 2) of uint32" in inspect.getdoc(serac.match)


def test_an_array_in_gpu_memory_needs_a_gpu_part_and_a_driver():
    if serac.gpu_count() > 0:
        pytest.skip("there is a GPU")

    class Elsewhere:
        __cuda_array_interface__ = {"shape": (3, 128), "typestr": "|u1", "data": (4096, True), "version": 3}
    with pytest.raises(serac.Error if serac.has_cuda else ValueError, match="no CUDA device|a: is in GPU memory"):
        serac.match(Elsewhere(), A)
