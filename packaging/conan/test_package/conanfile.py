# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs a consumer of the tests with the package."""
from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout

CONSUMER = "../../../tests/consumers/host_only"


class SeracTestConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        # Without the toolkit, as the consumer asks for.
        cmake.configure({"SERAC_FROM": "package", "CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit": "ON"}, CONSUMER)
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(str(Path(self.build_folder) / self.cpp.build.bindir / "consumer"), env="conanrun")
