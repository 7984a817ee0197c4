# SPDX-License-Identifier: BSD-3-Clause
"""Tests wait for conditions (tests/integration/waiting.py). A test that sleeps fails on a slow machine and wastes time
on a fast one. So each remaining sleep has its reason on its line, and their number is limited."""

import tree

MOST_SLEEPS = 49
SLEEP = "time.sleep" + "("


def sleeps():
    """(place, line) of each sleep."""
    return [(f"{path}:{number}", line) for path in tree.under("tests") if tree.is_code(path)
            for number, line in enumerate(tree.text(path).splitlines(), 1) if SLEEP in line]


def test_every_sleep_has_a_reason():
    assert not [where for where, line in sleeps() if "#" not in line]


def test_sleeps_do_not_grow_in_number():
    assert len(sleeps()) <= MOST_SLEEPS
