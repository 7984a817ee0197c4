# SPDX-License-Identifier: BSD-3-Clause
"""The Python of build/venv, with the modules that tests import, for a program of tests/ that is started by hand."""

import os
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
VENV = REPOSITORY / "build" / "venv"
MAKE = "set -euo pipefail; source scripts/common.sh; install_packages test; make_venv"


def use():
    """Restarts this program with that Python; creates the environment if it is missing (like scripts/test)."""
    python = VENV / "bin" / "python"
    if pathlib.Path(sys.prefix) == VENV:
        return
    if not python.exists():
        subprocess.run(["bash", "-c", MAKE], cwd=REPOSITORY, stdout=sys.stderr, check=True)
    os.execv(python, [str(python), *sys.argv])
