# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Streams, places and memory of arrays on a GPU."""
import numpy as np
import pytest

import serac
from conftest import need_gpu
from test_match import SEED, descriptors, expected, relatives


@pytest.fixture
def images():
    need_gpu()
    a = descriptors(1500, 128, np.uint8, SEED)
    return a, relatives(a, 1400, SEED)


@pytest.fixture
def torch():
    need_gpu()
    return pytest.importorskip("torch")


@pytest.fixture
def cupy():
    need_gpu()
    return pytest.importorskip("cupy")


def test_torch_work_of_the_current_stream_is_waited_for(torch, images):
    a, b = images
    wanted = expected(a, b)
    source = torch.from_numpy(a).cuda()
    right = torch.from_numpy(b).cuda()
    for _ in range(5):
        left = torch.zeros_like(source)
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(100_000_000)  # some 50 ms, so that who does not wait reads zeros
            left.copy_(source, non_blocking=True)
            got = serac.match(left, right)
        np.testing.assert_array_equal(got, wanted)


def test_cupy_work_of_the_current_stream_is_waited_for(cupy, images):
    a, b = images
    wanted = expected(a, b)
    source, right = cupy.asarray(a), cupy.asarray(b)
    busy = cupy.ones((8192, 8192), cupy.float32)
    for wrap in (lambda x: x, lambda x: type("Interface", (), {
            "__cuda_array_interface__": property(lambda self: x.__cuda_array_interface__)})()):
        left = cupy.zeros_like(source)
        cupy.cuda.Device().synchronize()
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            for _ in range(20):
                busy @ busy
            left[...] = source
            got = serac.match(wrap(left), wrap(right))
        np.testing.assert_array_equal(got, wanted)


def test_arrays_of_unlike_kinds_and_places(torch, cupy, images):
    a, b = images
    wanted = expected(a, b)
    for left in (a, torch.from_numpy(a), torch.from_numpy(a).cuda(), cupy.asarray(a)):
        for right in (b, torch.from_numpy(b).cuda(), cupy.asarray(b)):
            np.testing.assert_array_equal(serac.match(left, right, device="cuda:0"), wanted)


def test_no_array_in_gpu_memory_goes_to_the_host_by_itself(torch, images):
    left = torch.from_numpy(images[0]).cuda()
    with pytest.raises(ValueError, match="device: an array is in the memory of cuda:0"):
        serac.match(left, left, device="cpu")
    with pytest.raises(ValueError, match="device: an array is in the memory of cuda:0"):
        serac.match(left, left, device="cuda:1")


def test_arrays_in_gpu_memory_are_not_copied(torch, images):
    """A call with arrays in GPU memory asks the driver for less than a copy of them would take."""
    rows = 400_000
    left = torch.randint(0, 256, (rows, 128), dtype=torch.uint8, device="cuda")
    right = torch.from_numpy(images[1]).cuda()
    serac.match(right, right)
    torch.cuda.synchronize()
    free = torch.cuda.mem_get_info()[0]
    serac.match(left, right)
    assert free - torch.cuda.mem_get_info()[0] < left.numel()


def test_several_gpus(torch, images):
    if serac.gpu_count() < 2:
        pytest.skip("there is one GPU")
    a, b = images
    left, right = torch.from_numpy(a).to("cuda:1"), torch.from_numpy(b).to("cuda:1")
    np.testing.assert_array_equal(serac.match(left, right), expected(a, b))
    with pytest.raises(ValueError, match="device: arrays are on several GPUs"):
        serac.match(left, right.to("cuda:0"))
    assert torch.cuda.current_device() == 0


def test_torch_device(torch, images):
    a, b = images
    np.testing.assert_array_equal(serac.match(a, b, device=torch.device("cuda", 0)), expected(a, b))


def test_faults_leave_the_gpu_usable(torch, images):
    a, b = images
    with pytest.raises(TypeError, match="a: dtype float64"):
        serac.match(torch.zeros((3, 128), dtype=torch.float64, device="cuda"), torch.from_numpy(b).cuda())
    with pytest.raises(ValueError, match="b: its rows must be contiguous"):
        serac.match(torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda().t().contiguous().t())
    np.testing.assert_array_equal(serac.match(torch.from_numpy(a).cuda(), b), expected(a, b))
