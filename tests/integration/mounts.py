# SPDX-License-Identifier: BSD-3-Clause
"""Small file systems, for tests of full disks."""

import contextlib
import subprocess

import pytest


@contextlib.contextmanager
def small_disk(folder, megabytes):
    """Mounts a file system in memory on a folder, and makes the folder; skips the test without the right to mount."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], check=False,
                             capture_output=True)
    if mounted.returncode:
        pytest.skip("it needs root for the mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
