# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""packaging/conan: `conan create` makes the package of this tree, and builds
and runs a consumer of it, with no remote and no network."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = "http://127.0.0.1:9"  # a proxy that nobody is


def find_conan():
    """Beside Python, where scripts/test puts it, or on the PATH."""
    beside = Path(sys.executable).parent / "conan"
    return str(beside) if beside.exists() else shutil.which("conan")


def files_of(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")
            if path.is_file()}


class Conan(unittest.TestCase):
    def setUp(self):
        self.conan = find_conan()
        if not self.conan:
            self.skipTest("conan is missing")
        self.folder = Path(tempfile.mkdtemp(prefix="serac_conan_"))
        self.addCleanup(shutil.rmtree, self.folder)
        proxies = {name: NOWHERE for scheme in ("http", "https", "all")
                   for name in (f"{scheme}_proxy", f"{scheme.upper()}_PROXY")}
        self.environment = {**os.environ, **proxies, "no_proxy": "",
                            "NO_PROXY": "", "PYTHONDONTWRITEBYTECODE": "1",
                            "CONAN_HOME": str(self.folder / "home")}
        if not re.search(r"version 2\.", self.run_conan("--version").stdout):
            self.skipTest("this conan is not Conan 2")

    def run_conan(self, *arguments):
        done = subprocess.run(
            [self.conan, *map(str, arguments)], env=self.environment, cwd=ROOT,
            text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}")
        return done

    def test_package_and_consumer(self):
        self.run_conan("profile", "detect")
        self.run_conan("remote", "disable", "*")
        tested = self.folder / "test_package"
        done = self.run_conan(
            "create", "packaging/conan", "--format=json",
            "-c", f"tools.cmake.cmake_layout:test_folder={tested}")
        self.assertIn("Running test()", done.stderr)
        self.assertTrue(list(tested.rglob("consumer")), "it was not built")

        nodes = json.loads(done.stdout)["graph"]["nodes"].values()
        package, = [node for node in nodes if node["name"] == "serac"
                    and node["package_folder"]]
        folder = Path(package["package_folder"])
        files = files_of(folder) - {"conaninfo.txt", "conanmanifest.txt"}
        headers = {f"include/{name}" for name in files_of(ROOT / "include")}
        cmake = {f"lib/cmake/serac/serac-{name}.cmake" for name in (
            "config", "config-version", "cuda-targets", "host-targets")}
        self.assertGreater(len(headers), 50)
        self.assertEqual(
            files, headers | cmake | {"share/licenses/serac/LICENSE"})


if __name__ == "__main__":
    unittest.main()
