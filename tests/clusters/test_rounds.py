# SPDX-License-Identifier: BSD-3-Clause
"""A cluster survives rounds of kill -9, cuts and pauses of its nodes (rounds.py)."""

import pathlib

import pytest
from islands import missing_namespaces, run_in_namespace

PROGRAM = pathlib.Path(__file__).with_name("rounds.py")


def test_rounds_of_failures(rounds, seed):
    """A new master serves in time, and no write that WAIT 1 acknowledged is lost."""
    reason = missing_namespaces()
    if reason:
        print(f"*** SKIPPED the rounds of failures: {reason} ***")
        pytest.skip(reason)
    assert run_in_namespace(PROGRAM, rounds, seed, limit_s=300 * (1 + rounds)) == 0  # a longer run hangs
