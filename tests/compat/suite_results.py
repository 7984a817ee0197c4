# SPDX-License-Identifier: BSD-3-Clause
"""The result of every test, and the comparison with Redis's results.

A test ends as one of STATUSES. Names may repeat inside a file (loops), so results are counted and not kept in sets. The
baseline is the list of tests that pass on redis-server in the same mode. Each of them that does not pass on the
candidate is a regression; it is "not reached" if an error outside any test ended its part of the file.
"""

import collections
import json

STATUSES = ("pass", "fail", "error", "timeout", "crash", "skipped")

Outcome = collections.namedtuple("Outcome", "name status reason ms", defaults=("", 0))
Regression = collections.namedtuple("Regression", "unit name status reason denied")


class FileResult:
    """The results of one file, and the errors outside any test.

    `drawn` is a pattern for the random parts of tests' names, which are removed."""

    def __init__(self, unit, drawn=None):
        self.unit = unit
        self.drawn = drawn
        self.outcomes = []
        self.aborts = []
        self.seconds = 0.0

    def add(self, name, status, reason="", ms=0):
        """Records the end of one test."""
        assert status in STATUSES, status
        self.outcomes.append(Outcome(self._lasting(name), status, reason, ms))

    def forget_pass(self, name):
        """Removes a pass: the test reported success and then aborted the file."""
        name = self._lasting(name)
        for outcome in self.outcomes:
            if outcome.name == name and outcome.status == "pass":
                self.outcomes.remove(outcome)
                return

    def _lasting(self, name):
        return self.drawn.sub("", name) if self.drawn else name

    def count(self, status):
        """The number of tests with this status."""
        return sum(o.status == status for o in self.outcomes)

    def passed(self):
        """Passed tests: name -> number of passes."""
        return collections.Counter(o.name for o in self.outcomes if o.status == "pass")

    def as_json(self):
        """For the JSON report."""
        return {
            "seconds": round(self.seconds, 1),
            "aborts": self.aborts,
            "counts": {s: self.count(s) for s in STATUSES},
            "tests": [o._asdict() for o in self.outcomes],
        }


def classify_error(unit, text):
    """Splits the suite's 'err' text into (test name, status, reason); no name: outside any test."""
    name, separator, rest = text.partition(f" in tests/{unit}.tcl\n")
    if not separator:
        return None, "error", " ".join(text.split())
    status = (
        "error" if "\n    while executing\n" in rest or "\n    invoked from" in rest else "fail"
    )
    return name, status, " ".join(rest.split())


def find_regressions(results, baseline, denied):
    """Every test of the baseline that did not pass, once per missing pass."""
    found = []
    for unit, expected in baseline.items():
        if unit not in results:
            continue
        result = results[unit]
        passed = result.passed()
        ends = collections.defaultdict(list)
        for outcome in result.outcomes:
            if outcome.status != "pass":
                ends[outcome.name].append(outcome)
        for name, times in expected.items():
            for _ in range(times - passed[name]):
                end = ends[name].pop(0) if ends[name] else Outcome(name, "not reached")
                reason = denied.get((unit, name))
                found.append(Regression(unit, name, end.status, end.reason, reason))
    return found


def find_stale_denials(results, denied):
    """Denied tests that pass: their lines in the deny file are obsolete."""
    return [
        (unit, name) for (unit, name) in denied if unit in results and results[unit].passed()[name]
    ]


def read_denied(path):
    """Reads `unit | test name | reason` lines; '#' begins a comment line."""
    denied = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 3 or not all(parts):
            raise ValueError(f"{path}:{number}: expected 'unit | test name | reason'")
        denied[parts[0], parts[1]] = parts[2]
    return denied


def save_baseline(path, version, tags, results, chance=()):
    """Writes the passing tests of each file; for the files in `chance` without the number of passes."""
    passed = {unit: dict(sorted(r.passed().items())) for unit, r in results.items()}
    for unit in passed.keys() & set(chance):
        passed[unit] = dict.fromkeys(passed[unit], 1)
    text = {
        "redis_version": version,
        "denied_tags": list(tags),
        "units": passed,
    }
    path.write_text(json.dumps(text, indent=0, ensure_ascii=True) + "\n", "ascii")


def load_baseline(path):
    """The `units` of a baseline file: {unit: {test name: times it passes}}."""
    return json.loads(path.read_text("ascii"))["units"]
