# SPDX-License-Identifier: BSD-3-Clause
"""Folders that the user of a program may not enter: each program ends with a sentence and its exit status."""

import os
import subprocess

import pytest
from harness import default_command, tool_path

# root may enter every folder by these capabilities.
AS_OTHERS = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []

RUNS = {
    "server": (1, "cairn-server", "--dir", "{closed}/data"),
    "file": (1, "cairn-server", "{closed}/cairn.conf"),
    "check-config": (1, "cairn-server", "{closed}/cairn.conf", "--check-config"),
    "include": (1, "cairn-server", "{open}/cairn.conf", "--check-config"),
    "export": (1, "cairn-export", "--dir", "{closed}/data", "{open}/dump.rdb"),
    "import": (1, "cairn-import", "--dir", "{closed}/data", "/dev/null"),
    "check": (2, "cairn-check", "{closed}/data"),
    "salvage": (2, "cairn-check", "--salvage={open}/salvaged", "{closed}/data"),
    "list": (1, "cairn-restore", "--backup_dir={closed}/data", "--list"),
    "verify": (1, "cairn-restore", "--backup_dir={closed}/data", "--verify"),
}


@pytest.fixture(name="closed")
def fixture_closed(tmp_path):
    """A folder with a data directory and a configuration file."""
    closed = tmp_path / "closed"
    (closed / "data").mkdir(parents=True)
    (closed / "cairn.conf").write_text("port 1\n")
    closed.chmod(0)
    yield closed
    closed.chmod(0o700)


@pytest.mark.parametrize("run", RUNS)
def test_a_folder_that_may_not_be_entered_is_named(run, closed, tmp_path):
    """They ended with SIGABRT."""
    (tmp_path / "cairn.conf").write_text(f"include {closed}/cairn.conf\n")
    status, program, *arguments = RUNS[run]
    command = default_command() if program == "cairn-server" else [str(tool_path(program))]
    words = [word.format(closed=closed, open=tmp_path) for word in arguments]
    done = subprocess.run([*AS_OTHERS, *command, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stderr
    assert str(closed) in done.stderr and "Permission denied" in done.stderr
