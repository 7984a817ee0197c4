# SPDX-License-Identifier: BSD-3-Clause
"""The tidy tests import their neighbours by name, wherever pytest was started."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
