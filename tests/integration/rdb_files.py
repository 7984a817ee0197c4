# SPDX-License-Identifier: BSD-3-Clause
"""RDB files: their import, and the bytes of which tests make them."""

import subprocess

from harness import tool_path


def run_import(path, data_dir):
    """Runs cairn-import; returns its result."""
    return subprocess.run([tool_path("cairn-import"), "--dir", data_dir, path], capture_output=True,
                          text=True, errors="backslashreplace", timeout=300, check=False)


def text(value):
    """A short text of an RDB file."""
    return bytes([len(value)]) + value
