# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one test module; exits with 77 when a test of it was skipped and none
failed.  Usage: run.py MODULE [TEST...]"""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

if __name__ == "__main__":
    result = unittest.main(module=sys.argv[1], argv=sys.argv[1:],
                           verbosity=2, exit=False).result
    for test, reason in result.skipped:
        print(f"SKIPPED: {test}: {reason}", file=sys.stderr)
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.skipped else 0)
