# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Loads scripts, which have no suffix, as modules, and runs them."""
import contextlib
import importlib.machinery
import importlib.util
import io
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def load(name):
    sys.path.insert(0, str(SCRIPTS))
    loader = importlib.machinery.SourceFileLoader(name, str(SCRIPTS / name))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class ScriptTest(unittest.TestCase):
    """A test with a folder of its own, and the script `script` as a module."""

    script = None
    needs = ()

    @classmethod
    def setUpClass(cls):
        for package in cls.needs:
            if not importlib.util.find_spec(package):
                raise unittest.SkipTest(f"{package} is missing")
        cls.module = load(cls.script)

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix=f"serac_{self.script}_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_script(self, *arguments, code=0):
        """What the script printed on standard output and error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = self.module.main([str(x) for x in arguments])
            except SystemExit as end:
                status = end.code
        self.assertEqual(status, code, f"{out.getvalue()}{err.getvalue()}")
        return out.getvalue(), err.getvalue()
