# SPDX-License-Identifier: BSD-3-Clause
"""The exit status of the programs after a wrong flag, and of --help."""

import subprocess

import pytest
from harness import tool_path

WRONG_USAGE = {"check": 2, "copy": 2, "doctor": 3, "export": 2, "import": 2, "restore": 2}


def run(tool, *arguments):
    """(exit status, standard output, standard error) of a tool."""
    done = subprocess.run([str(tool_path(f"cairn-{tool}")), *arguments], capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("tool, status", WRONG_USAGE.items())
def test_a_wrong_flag_is_not_taken_for_a_result(tool, status):
    ended, _, error = run(tool, "--nosuchflag", "x")
    assert ended == status and "nosuchflag" in error
    ended, _, error = run(tool, "a", "b", "c", "d")
    assert ended == status and "Usage" in error


@pytest.mark.parametrize("tool", WRONG_USAGE)
def test_help_is_no_error(tool):
    ended, shown, _ = run(tool, "--help")
    assert ended == 0 and f"cairn-{tool}" in shown
