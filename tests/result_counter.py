# SPDX-License-Identifier: BSD-3-Clause
"""Counts pytest's results for the last line of a `run` program, "N passed, N failed, N skipped"."""

import collections


class ResultCounter:
    """A pytest plugin. With `shows_output` it also prints the output of passed tests."""

    def __init__(self, shows_output=False):
        self.shows_output = shows_output
        self.counts = collections.Counter()

    def pytest_runtest_logreport(self, report):
        """Counts a test at its call, or at a set-up that failed or skipped it."""
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1
        if self.shows_output and report.when == "call" and report.passed and report.capstdout:
            print(f"\n{report.capstdout.strip()}", flush=True)

    def __str__(self):
        return f"{self.counts['passed']} passed, {self.counts['failed']} failed, {self.counts['skipped']} skipped"
