# SPDX-License-Identifier: BSD-3-Clause
"""Makes the harness of tests/integration importable, and sets the amount of work: CAIRN_PAIRS_ROUNDS, _FAILOVERS, _KEYS
and _SECONDS."""

import os
import pathlib
import random
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))


@pytest.fixture
def rounds():
    """The number of rounds of a test."""
    return int(os.environ.get("CAIRN_PAIRS_ROUNDS", "6"))


@pytest.fixture
def failovers():
    """The number of failovers of a test."""
    return int(os.environ.get("CAIRN_PAIRS_FAILOVERS", "2"))


@pytest.fixture
def bulk_keys():
    """The number of small keys of a first transfer."""
    return int(os.environ.get("CAIRN_PAIRS_KEYS", "20000"))


@pytest.fixture
def load_seconds():
    """How long clients write after it."""
    return float(os.environ.get("CAIRN_PAIRS_SECONDS", "5"))


@pytest.fixture
def rng():
    """Random numbers; the seed is printed, and CAIRN_PAIRS_SEED sets it."""
    seed = int(os.environ.get("CAIRN_PAIRS_SEED") or time.time())
    print("seed", seed)
    return random.Random(seed)
