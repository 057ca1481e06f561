# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""packaging/vcpkg: the manifest is one, and the portfile, run without vcpkg by
stand-ins for its functions, installs what a consumer can use. (vcpkg itself is
not run.)"""
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PORTS = ROOT / "packaging/vcpkg/ports"
HELPERS = {"vcpkg-cmake": "vcpkg_cmake_(configure|install)",
           "vcpkg-cmake-config": "vcpkg_cmake_config_fixup"}


class Vcpkg(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="serac_vcpkg_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_tool(self, *command):
        done = subprocess.run(
            list(map(str, command)), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_manifest(self):
        portfile = (PORTS / "serac/portfile.cmake").read_text()
        manifest = json.loads((PORTS / "serac/vcpkg.json").read_text())
        self.assertEqual(manifest["name"], "serac")
        self.assertRegex(manifest["version-semver"], r"^\d+\.\d+\.\d+$")
        self.assertLessEqual(manifest.keys(), {
            "name", "version-semver", "description", "license",
            "dependencies"})
        # Of other ports it needs those whose functions it calls.
        self.assertEqual(
            manifest["dependencies"],
            [{"name": name, "host": True} for name, called in HELPERS.items()
             if re.search(rf"^{called}\(", portfile, re.M)])
        for word in ("vcpkg_from_", "vcpkg_download", "FetchContent",
                     "file(DOWNLOAD"):
            self.assertNotIn(word, portfile)

    def test_portfile_and_consumer(self):
        package, build = self.folder / "package", self.folder / "build"
        self.run_tool("cmake", "-DPORT=serac", f"-DPORTS={PORTS}",
                      f"-DCURRENT_PACKAGES_DIR={package}",
                      f"-DCURRENT_BUILDTREES_DIR={self.folder / 'trees'}",
                      "-P", HERE / "vcpkg.cmake")
        # What vcpkg looks for afterwards.
        self.assertEqual({path.name for path in package.iterdir()},
                         {"include", "share"})
        self.assertEqual({path.name for path in (package / "share").iterdir()},
                         {"serac"})
        self.assertEqual((package / "share/serac/copyright").read_text(),
                         (ROOT / "LICENSE").read_text())
        for path in package.rglob("*"):
            self.assertTrue(path.is_file() or any(path.iterdir()),
                            f"{path} is empty")

        self.run_tool("cmake", "-S", ROOT / "tests/consumers/host_only",
                      "-B", build, "-DSERAC_FROM=package",
                      f"-DCMAKE_PREFIX_PATH={package}",
                      "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON")
        self.run_tool("cmake", "--build", build)
        cache = (build / "CMakeCache.txt").read_text()
        self.assertIn(f"serac_DIR:PATH={package}/share/serac\n", cache)
        self.run_tool(build / "consumer")


if __name__ == "__main__":
    unittest.main()
