# SPDX-License-Identifier: BSD-3-Clause
"""Makes the harness of tests/integration importable."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
