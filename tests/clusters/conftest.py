# SPDX-License-Identifier: BSD-3-Clause
"""Makes the harness of tests/integration importable, and sets the amount of work: CAIRN_CLUSTERS_ROUNDS,
CAIRN_CLUSTERS_MOVES, and CAIRN_CLUSTERS_SEED for the seed."""

import os
import pathlib
import random
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "tests" / "clients")]


@pytest.fixture
def rounds():
    """The number of rounds of failures."""
    return int(os.environ.get("CAIRN_CLUSTERS_ROUNDS", "5"))


@pytest.fixture
def moves():
    """The number of moves of slots in which a node is killed."""
    return int(os.environ.get("CAIRN_CLUSTERS_MOVES", "3"))


@pytest.fixture
def seed():
    """The seed of a test; it is printed, and CAIRN_CLUSTERS_SEED sets it."""
    drawn = int(os.environ.get("CAIRN_CLUSTERS_SEED") or random.SystemRandom().randrange(10**6))
    print("seed", drawn)
    return drawn
