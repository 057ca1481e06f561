# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Conan 2 recipe: packages the tree it lies in. Downloads nothing.

    conan create packaging/conan
"""
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class SeracConan(ConanFile):
    name = "serac"
    description = "Exact matching of local image descriptors on CUDA GPUs"
    license = "BSD-3-Clause"
    topics = ("cuda", "sift", "feature-matching", "photogrammetry", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def root(self):
        return Path(self.recipe_folder).parents[1]

    def set_version(self):
        header = load(self, self.root / "include/serac/version.hpp")
        self.version = ".".join(re.search(rf"SERAC_VERSION_{part} (\d+)", header)[1]
                                for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, self.root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 17)

    def package_id(self):
        self.info.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "TOOLS", "COMPAT", "BENCH"):
            toolchain.cache_variables[f"SERAC_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The package brings its own CMake configuration, with the components host and cuda.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/serac"]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
