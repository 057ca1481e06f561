# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""The sample survey, real data, and where arrays may lie: the matrix that the
tests run over. What cannot be tested here is skipped, and says so."""
import os
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import serac

SAMPLE = Path(os.environ.get("SERAC_SAMPLE", Path(__file__).parents[2] / "data/sample/sample.db"))
REAL = os.environ.get("SERAC_REAL_DATA_DIR")


def read_images(path):
    """Descriptors and locations of the images of a database, in order of id."""
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as db:
        def blobs(table, dtype):
            return [np.frombuffer(data, dtype).reshape(rows, cols) for rows, cols, data in db.execute(
                f"SELECT rows, cols, data FROM {table} ORDER BY image_id")]
        return blobs("descriptors", np.uint8), blobs("keypoints", np.float32)


@pytest.fixture(scope="session")
def sample():
    """Descriptors of the sample survey."""
    return read_images(SAMPLE)[0]


@pytest.fixture
def sample_db(tmp_path):
    """A copy of the sample survey's database, to write to."""
    return Path(shutil.copy(SAMPLE, tmp_path / "sample.db"))


class Arrays:
    """A kind of array and where it lies."""

    def __init__(self, make, device, in_gpu_memory):
        self.make, self.device, self.in_gpu_memory = make, device, in_gpu_memory


def numpy_on_host():
    return Arrays(lambda x: x, "cpu", False)


def need_gpu():
    if serac.gpu_count() == 0:
        pytest.skip("there is no GPU" if serac.has_cuda else "this build of serac has no GPU part")


def numpy_on_gpu():
    need_gpu()
    return Arrays(lambda x: x, "cuda:0", False)


def cupy():
    need_gpu()
    return Arrays(pytest.importorskip("cupy").asarray, None, True)


def torch_on_host():
    torch = pytest.importorskip("torch")
    return Arrays(lambda x: torch.from_numpy(np.array(x)), "cpu", False)


def torch_on_gpu():
    need_gpu()
    torch = pytest.importorskip("torch")
    return Arrays(lambda x: torch.from_numpy(np.array(x)).cuda(), None, True)


class InterfaceOnly:
    """A GPU array that has a CUDA array interface and nothing else."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def interface_only():
    need_gpu()
    asarray = pytest.importorskip("cupy").asarray
    return Arrays(lambda x: InterfaceOnly(asarray(x)), None, True)


@pytest.fixture(params=[numpy_on_host, torch_on_host, numpy_on_gpu, cupy, torch_on_gpu, interface_only],
                ids=lambda kind: kind.__name__)
def arrays(request):
    return request.param()


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    if request.param == "cuda":
        need_gpu()
    return request.param


@pytest.fixture(scope="session")
def survey8():
    """The folder of eight photographs and the lists of COLMAP's own GPU matcher."""
    if not REAL:
        pytest.skip("SERAC_REAL_DATA_DIR is not set: nothing is compared with COLMAP's lists of real images")
    folder = Path(REAL)
    return folder / "survey8" if (folder / "survey8").is_dir() else folder
