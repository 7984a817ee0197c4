# SPDX-License-Identifier: BSD-3-Clause
"""Makes the harness of tests/integration importable, and sets the amount of work: CAIRN_HISTORIES_SECONDS for each
test, and CAIRN_HISTORIES_SEED."""

import os
import pathlib
import random
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / folder) for folder in ("integration", "clients", "clusters")]


@pytest.fixture
def seconds():
    """How long each test runs its rounds."""
    return float(os.environ.get("CAIRN_HISTORIES_SECONDS", "20"))


@pytest.fixture
def seed():
    """The seed of a test; it is printed, and CAIRN_HISTORIES_SEED sets it."""
    drawn = int(os.environ.get("CAIRN_HISTORIES_SEED") or random.SystemRandom().randrange(10**6))
    print("seed", drawn)
    return drawn
