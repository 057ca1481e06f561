# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/tune: which candidates the rules leave, and what it makes of programs
whose times and lists are known, in place of compiled ones."""
import os
import re
import shutil
import unittest
from unittest import mock

from script_test import ScriptTest

# Stands for nvcc: "compiles" a candidate to a script that prints its times.
# The fastest has 32 rows and one stage; what LISTS names has lists of its own,
# and 96 rows do not fit the GPU.
NVCC = """#!/usr/bin/env python3
import re, sys
source = next(a for a in sys.argv if a.endswith(".cu"))
members = dict(re.findall(r"int (\\w+) = (\\d+);", open(source).read()))
us = 10 - (members.get("tile_rows") == "32") - (members.get("stages") == "1")
lists = "other" if members.get("stages") == "LISTS" else "same"
program = source[:-3]
with open(program, "w") as file:
    file.write("#!/bin/sh\\n")
    if members.get("tile_rows") == "96":
        file.write("echo policy: shared memory >&2; exit 1\\n")
    file.write(f"echo {us},{us - 1},{us + 1},50.0,99,0,1234,2\\n"
               f"printf {lists} > $3\\n")
import os
os.chmod(program, 0o755)
"""


@unittest.skipUnless(shutil.which("c++"), "no C++ compiler")
class Tune(ScriptTest):
    script = "tune"

    def fake_gpu(self, lists="none"):
        for name, text in (("nvcc", NVCC.replace("LISTS", lists)),
                           ("nvidia-smi", "#!/bin/sh\necho 9.0\n")):
            file = self.folder / name
            file.write_text(text)
            file.chmod(0o755)
        path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"
        return mock.patch.dict(os.environ, {
            "PATH": path, "NVCC": str(self.folder / "nvcc")})

    few = ("--path", "classic", "--set", "tile_columns=128", "--set",
           "thread_rows=8", "--set", "slice=128", "--set", "min_blocks=2")

    def test_rules_of_the_traits_leave_candidates_out(self):
        out, _ = self.run_script(
            "--list", *self.few, "--set", "tile_rows=32,36,64", "--set",
            "stages=1,3")
        self.assertEqual(
            [line.split()[1] for line in out.splitlines()
             if line.startswith("classic")],
            ["default", "tile_rows=32", "stages=1"])
        self.assertRegex(out, r"left out: 2: thread_rows divides tile_rows\n"
                         r" +classic tile_rows=36 stages=1, classic "
                         r"tile_rows=36 stages=3\n")
        self.assertRegex(out, r"left out: 2: stages is 1 or 2\n"
                         r" +classic tile_rows=32 stages=3, classic stages=3\n")

    def test_members_that_are_named_are_tried_together(self):
        out, _ = self.run_script(
            "--list", *self.few, "--set", "tile_rows=32,64", "--set",
            "stages=1,2")
        self.assertEqual(
            [line.split()[1:] for line in out.splitlines()],
            [["default"], ["tile_rows=32", "stages=1"], ["tile_rows=32"],
             ["stages=1"]])

    def test_the_fastest_is_found_and_can_be_pasted(self):
        with self.fake_gpu():
            out, _ = self.run_script(*self.few, "--set", "tile_rows=32,64,96")
        lines = [line.split() for line in out.splitlines()
                 if re.match(r"classic +\d", line)]
        self.assertEqual([line[1] for line in lines], ["8.00", "9.00", "10.00"])
        self.assertEqual(lines[0][1:], ["8.00", "7.00", "9.00", "50.0", "%", "99",
                                        "0", "1234", "2", "tile_rows=32",
                                        "stages=1"])
        self.assertIn("struct tuned : serac::automatic_policy<128, std::uint8_t> "
                      "{\n  static constexpr int tile_rows = 32;\n"
                      "  static constexpr int stages = 1;\n};", out)
        self.assertRegex(out, r"left out: 1: policy: shared memory\n"
                         r" +classic tile_rows=96\n")

    def test_halves_are_compared_among_themselves(self):
        with self.fake_gpu():
            out, err = self.run_script(
                "--element", "serac::float16", "--width", "256", "--path", "mma",
                "--set", "warp_rows=32,64", "--set", "warps=8", "--set",
                "tile_columns=192", "--set", "unroll=1,2", "--set",
                "load_ahead=1", "--set", "chunk_columns=384", "--set",
                "min_blocks=1,2")
        self.assertEqual(err.splitlines(), ["8 candidates", "0 candidates"])
        self.assertEqual(len(re.findall(r"^mma +10\.00 ", out, re.M)), 8)
        self.assertIn("struct tuned : serac::mma_policy_for<256, serac::float16> {",
                      out)

    def test_other_lists_are_an_error(self):
        with self.fake_gpu(lists="1"):
            with self.assertRaises(AssertionError) as caught:
                self.run_script(*self.few, "--set", "tile_rows=64", "--set",
                                "stages=1,2")
        self.assertIn("classic stages=1: other lists than the classic default's",
                      str(caught.exception))

    def test_bad_arguments_are_named(self):
        for arguments, message in (
                (("--set", "rows=1"), "no policy has a member 'rows'"),
                (("--set", "tile_rows=a"), "is not MEMBER=VALUE"),
                (("--pairs", "0"), "at least 1"),
                (("--element", "float", "--path", "mma"),
                 "float has no path mma")):
            _, err = self.run_script(*arguments, code=2)
            self.assertIn(message, err)
