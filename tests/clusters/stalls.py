# SPDX-License-Identifier: BSD-3-Clause
"""How long this machine kept the test from running: a busy machine, or one that was suspended, delays servers and tests
alike, and that is no fault of a server."""

import time

from background import Background

STEP_S = 0.05


class Stalls(Background):
    """Measures the delays of a thread that wants to run every 50 ms. `total_s` grows by each delay."""

    def __init__(self):
        super().__init__()
        self.total_s = 0.0

    def _run(self):
        last = time.monotonic()
        while not self.ended.wait(STEP_S):
            now = time.monotonic()
            self.total_s += max(0.0, now - last - 2 * STEP_S)
            last = now


class Stopwatch:
    """Time since its creation: `raw_s()` by the clock, `own_s()` without stalls."""

    def __init__(self, stalls):
        self.stalls = stalls
        self.begin_s, self.stalled_s = time.monotonic(), stalls.total_s

    def raw_s(self):
        """Seconds by the clock."""
        return time.monotonic() - self.begin_s

    def own_s(self):
        """Seconds in which this machine ran the test."""
        return self.raw_s() - self.stalled_for_s()

    def stalled_for_s(self):
        """Seconds in which it did not."""
        return self.stalls.total_s - self.stalled_s
