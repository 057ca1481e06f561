# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of examples/python, on the sample survey."""
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import serac

EXAMPLES = Path(__file__).parents[2] / "examples/python"


def run(program, *arguments):
    result = subprocess.run([sys.executable, EXAMPLES / program, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    print(result.stdout)
    return result.stdout


def test_match_in_memory_reconstructs_the_sample(sample_db, tmp_path, device):
    pytest.importorskip("pycolmap")
    text = run("match_in_memory.py", "--database_path", sample_db, "--output_path", tmp_path / "sparse",
               "--device", device)
    assert re.search(r"^model 0: 12 images, \d{4} points, 0\.\d+ pixels$", text, re.MULTILINE)
    assert (tmp_path / "sparse/0/images.bin").exists()


def test_hloc_step(sample, tmp_path, device):
    h5py = pytest.importorskip("h5py")
    names = [f"strip/{i}.png" for i in range(4)]
    floats = [(each / np.linalg.norm(each, axis=1, keepdims=True)).astype(np.float16) for each in sample[:4]]
    with h5py.File(tmp_path / "features.h5", "w") as file:
        for name, descriptors in zip(names, floats):
            file[f"{name}/descriptors"] = descriptors.T
    pairs = [(0, 1), (1, 2), (0, 3)]
    (tmp_path / "pairs.txt").write_text("".join(f"{names[i]} {names[j]}\n" for i, j in pairs))
    for _ in range(2):  # the second time into a file that is there
        run("hloc_match_features.py", "--features", tmp_path / "features.h5", "--pairs", tmp_path / "pairs.txt",
            "--matches", tmp_path / "matches.h5", "--device", device)
    with h5py.File(tmp_path / "matches.h5") as file:
        for i, j in pairs:
            matches0 = file[f"strip-{i}.png/strip-{j}.png/matches0"][()]
            rows = np.flatnonzero(matches0 >= 0)
            got = np.stack([rows, matches0[rows]], axis=1)
            np.testing.assert_array_equal(got, serac.match(floats[i], floats[j], device=device))
            assert len(matches0) == len(floats[i])
        assert len(np.flatnonzero(file["strip-0.png/strip-1.png/matches0"][()] >= 0)) > 500


