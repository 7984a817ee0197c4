# SPDX-License-Identifier: BSD-3-Clause
"""Waits for conditions.

A test waits for a condition rather than for a time: a sleep is too short on a slow machine and too long on a fast one.
The time limit is for conditions that never come true: it is far beyond what a slow machine needs.
"""

import time

import redis
from harness import PATIENCE

LIMIT_S = 120


def wait_until(condition, what="it", server=None, timeout_s=LIMIT_S, pause_s=0.01):
    """Waits until condition() is true and returns its result; with a server, a failure shows the end of its log."""
    deadline = time.monotonic() + timeout_s * PATIENCE
    while not (answer := condition()):
        log = f":\n{server.log_tail()}" if server else ""
        assert time.monotonic() < deadline, f"{what} did not happen within {timeout_s * PATIENCE} s{log}"
        time.sleep(pause_s)  # the only sleep of all tests that wait for a condition
    return answer


def wait_for_blocked(server, count=1, pause_s=0.01):
    """Waits until this many clients of the server are blocked."""
    with server.client() as client:
        wait_until(lambda: client.info("clients")["blocked_clients"] == count, f"{count} blocked clients",
                   pause_s=pause_s)


def wait_until_refused(call, what="the refusal", pause_s=0.01):
    """Waits until call() raises an error of the server; returns the error's text."""
    def error():
        try:
            call()
        except redis.RedisError as refusal:
            return str(refusal)
        return None

    return wait_until(error, what, pause_s=pause_s)


def assert_stays(condition, seconds, what="it"):
    """Checks that condition() stays true for this time: for the claim that something does not happen."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert condition(), f"{what} did not last"
        time.sleep(0.01)  # between two checks
    assert condition(), f"{what} did not last"


def let_pass(milliseconds):
    """Waits until deadlines of this many milliseconds have passed. There is no condition to wait for, because a server
    hides an expired key, deleted or not."""
    time.sleep((milliseconds + 2) / 1000)  # see above
