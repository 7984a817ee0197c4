# SPDX-License-Identifier: BSD-3-Clause
"""Makes the server harness and the raw RESP client importable."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "integration"), str(TESTS / "differential"), str(TESTS / "crash"), str(TESTS / "faults")]
