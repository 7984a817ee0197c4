# SPDX-License-Identifier: BSD-3-Clause
"""A part of the fault rounds (rounds.py), with a new seed each time; `run --long` runs all of them.

CAIRN_FAULTS_SEED repeats a seed and CAIRN_FAULTS_SECONDS changes the duration of each mode.
"""

import os
import random
import time

import pytest

from harness import by_size
from rounds import run_pass

SEED = os.environ.get("CAIRN_FAULTS_SEED") or str(random.SystemRandom().randrange(10**9))
SECONDS = float(os.environ.get("CAIRN_FAULTS_SECONDS") or by_size(2, 10, 10))


@pytest.mark.parametrize("appendfsync", ["always", "everysec", "no"])
def test_acknowledged_writes_are_kept_and_refused_ones_are_not(appendfsync):
    rng = random.Random(f"{SEED}/{appendfsync}")
    figures, _ = run_pass(appendfsync, SEED, lambda seen: seen + rng.randint(1, 80), time.monotonic() + SECONDS)
    print(f"CAIRN_FAULTS_SEED={SEED}")
    print(f"{appendfsync}: " + "\n".join(figures.lines()))
    assert not figures.violations
    assert figures.fired or figures.counts["rounds"] < 5  # a slow machine runs few rounds, and maybe no fault
