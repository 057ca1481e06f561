# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the Python scripts need beyond Python."""
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def require(*packages):
    """Returns if all packages can be imported; else installs them into
    build/venv and starts the script again with the Python there."""
    missing = [name for name in packages if not importlib.util.find_spec(name)]
    if not missing:
        return
    script = Path(sys.argv[0]).name
    python = ROOT / "build/venv/bin/python"
    if Path(sys.prefix) == python.parent.parent:
        sys.exit(f"{script}: missing: {', '.join(missing)}")
    print(f"{script}: missing: {', '.join(missing)}; going on with build/venv",
          file=sys.stderr)
    done = subprocess.run(
        ["bash", "-ec", '. "$0"/scripts/setup.sh; install_python_packages "$@"',
         ROOT, *packages], stdout=sys.stderr)
    if done.returncode != 0:
        sys.exit(f"{script}: could not install {', '.join(missing)}")
    os.execv(python, [python, *sys.argv])
