# SPDX-License-Identifier: BSD-3-Clause
"""Lets the tidy tests import each other, from any working directory of pytest."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
