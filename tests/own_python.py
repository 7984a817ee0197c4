# SPDX-License-Identifier: BSD-3-Clause
"""The Python of build/venv, which has what the tests import, for a program of tests/ that is started by hand."""

import os
import pathlib
import sys

VENV = pathlib.Path(__file__).resolve().parents[1] / "build" / "venv"


def use():
    """Starts this program again with that Python, unless it has it or there is none yet (scripts/test makes it)."""
    python = VENV / "bin" / "python"
    if pathlib.Path(sys.prefix) != VENV and python.exists():
        os.execv(python, [str(python), *sys.argv])
