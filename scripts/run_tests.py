# SPDX-License-Identifier: BSD-3-Clause
"""Runs every part of the test suite, one after the other, and adds their counts up.

A part is a program of its own that can be run by hand. ctest and pytest are asked for a JUnit file;
every other program ends with a line "N passed, N failed" (", N skipped" may follow); Redis's own
suite says how many of the tests that redis-server passes pass here. A part that is missing, dies,
overruns its time or fails without naming a test counts as one failure: silence is never success.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
RESULTS = ROOT / "build" / "test-results"
COUNTS_LINE = re.compile(
    r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?"
    r"|^of \d+ tests that pass on redis-server: "
    r"(?P<same>\d+) pass, (?P<denied>\d+) denied, (?P<regressions>\d+) regressions", re.MULTILINE)
# The files of Redis's suite for --quick: those that take less than 10 seconds each.
QUICK_UNITS = ("protocol", "keyspace", "scan", "info-command", "type/string", "type/incr",
               "type/hash", "other", "quit", "lazyfree")
MOST_REPEATED = 6000  # characters of a failed part's output that are shown again at the end
# What --quick leaves out of tests/integration: real data, load from many clients, pairs of servers.
LONG_FILES = ("blocking_order", "expire", "list_index", "notifications", "prometheus", "random_members", "real_data",
              "replication", "script_atomicity", "shared_keys", "tls", "tracking")


@dataclasses.dataclass(frozen=True)
class Part:
    """One program: `command` runs it, `junit` is its flag for a JUnit file if it has one."""

    name: str
    command: list[str]
    junit: str | None = None
    limit_s: int = 1800
    by_name: bool = False  # runs only when --only names it: it takes long


@dataclasses.dataclass
class Counts:
    """How many tests of a part passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: "Counts"):
        """Adds another part's counts to these."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def list_parts(quick: bool) -> list[Part]:
    """The parts in the order they run: the quickest to fail first."""
    limit = 280 if quick else 1800
    pytest = [sys.executable, "-m", "pytest", "-q", "--durations=5"]
    ctest = ["ctest", "--test-dir", str(BUILD), "--output-on-failure", "-j", str(os.cpu_count())]
    size = ["--quick"] if quick else []
    units = [word for unit in QUICK_UNITS for word in ("--only", f"unit/{unit}")] if quick else []
    left_out = [f"--ignore=tests/integration/test_{name}.py" for name in LONG_FILES] if quick else []
    commands = ("20000", "10000") if quick else ("400000", "100000")
    damage = (["--count", "20000", "--files", "1000", "--preset", "release"] if quick
              else ["--count", "50000", "--files", "5000"])
    return [
        Part("unit", ctest, "--output-junit", limit),
        Part("tidy", pytest + ["tests/tidy"], "--junitxml", limit),
        Part("integration", pytest + left_out + ["tests/integration"], "--junitxml", limit),
        # The same commands each time, so that a failure is of what changed; by hand each run draws anew.
        Part("differential", ["tests/differential/run", "--seed", "7", "--commands", commands[0]], None, limit),
        Part("differential_valkey", ["tests/differential/run", "--oracle", "valkey", "--seed", "7",
                                     "--commands", commands[1]], None, limit),
        Part("fuzz", ["tests/fuzz/run"] + damage, None, limit),
        Part("redis_suite", ["tests/compat/redis_suite"] + units, None, limit),
        Part("redis_own_servers", ["tests/compat/redis_suite", "--own-servers"], None, 1800, True),
        Part("redis_benchmark", ["tests/compat/redis_benchmark"] + size, None, limit),
        Part("clients", ["tests/clients/run"] + size, None, limit),
        Part("frameworks", ["tests/frameworks/run"] + size, None, limit),
        Part("crash", ["tests/crash/run"] + size, None, limit),
        Part("faults", ["tests/faults/run"], None, limit),
        Part("flood", ["tests/flood/run"], None, limit),
        Part("pairs", ["tests/pairs/run"] + size, None, limit),
        Part("sanitize_thread", ["tests/sanitize/run", "thread"], None, 7200, True),
        Part("sanitize_address", ["tests/sanitize/run", "address"], None, 7200, True),
    ]


def count_junit(path: pathlib.Path) -> Counts:
    """Counts the test cases of a JUnit file by ctest or pytest."""
    counts = Counts()
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"} or case.get("status") == "fail":
            counts.failed += 1
        elif "skipped" in outcomes or case.get("status") in ("notrun", "disabled"):
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def count_output(output: str) -> Counts:
    """Reads the last "N passed, N failed" line of a program's output."""
    counts = Counts()
    for line in COUNTS_LINE.finditer(output):
        passed, failed, skipped = line.group("passed", "failed", "skipped")
        if passed is None:
            passed, failed, skipped = line.group("same", "regressions", "denied")
        counts = Counts(int(passed), int(failed), int(skipped or 0))
    return counts


def run_program(part: Part, command: list[str]) -> tuple[int | None, str]:
    """Runs the command and shows its output; the exit status is None when time ran out."""
    own_python = os.path.dirname(sys.executable)  # parts that are Python programs use it too
    environment = dict(os.environ, PYTHONUNBUFFERED="1", PATH=f"{own_python}:{os.environ['PATH']}")
    child = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, errors="replace",
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True)
    overran = threading.Event()

    def stop():
        overran.set()
        os.killpg(child.pid, signal.SIGKILL)

    timer = threading.Timer(part.limit_s, stop)
    timer.start()
    lines = []
    for line in child.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    status = child.wait()
    timer.cancel()
    return (None if overran.is_set() else status), "".join(lines)


def run_part(part: Part) -> tuple[Counts, str]:
    """Runs one part and returns its counts and its output; one that fails without saying where
    counts as one failure."""
    program = ROOT / part.command[0]
    if "/" in part.command[0] and not program.exists():
        print(f"{part.name}: {part.command[0]} does not exist")
        return Counts(failed=1), ""
    command = list(part.command)
    results = RESULTS / f"{part.name}.xml"
    if part.junit:
        results.unlink(missing_ok=True)
        command += [part.junit, str(results)]

    status, output = run_program(part, command)
    if part.junit:
        counts = count_junit(results) if results.exists() else Counts()
    else:
        counts = count_output(output)
    if status is None:
        print(f"{part.name}: stopped after {part.limit_s} s")
    if counts.failed == 0 and (status != 0 or counts.passed + counts.skipped == 0):
        print(f"{part.name}: exit status {status}, {counts}")
        counts.failed += 1
    return counts, output


def show_failures(outputs: dict[str, str]):
    """Prints the ends of the outputs of parts that failed once more: what failed stands beside the
    sums, where whoever sees only the end of a long run looks."""
    for name, output in outputs.items():
        print(f"\n==> {name} failed; the end of its output again:")
        print(output[-MOST_REPEATED:].rstrip())


def main() -> int:
    """Runs the chosen parts and prints the sums; 1 when a test failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="less of each part, under 5 minutes")
    parser.add_argument("--only", metavar="PART,...", help="run these parts alone")
    options = parser.parse_args()
    if options.quick:
        os.environ["CAIRN_TEST_QUICK"] = "1"

    parts = list_parts(options.quick)
    if options.only:
        chosen = options.only.split(",")
        unknown = set(chosen) - {part.name for part in parts}
        if unknown:
            parser.error(f"no such part: {', '.join(sorted(unknown))}; "
                         f"there are {', '.join(part.name for part in parts)}")
        parts = [part for part in parts if part.name in chosen]
    else:
        parts = [part for part in parts if not part.by_name]

    RESULTS.mkdir(parents=True, exist_ok=True)
    total = Counts()
    summary = []
    failed = {}
    for part in parts:
        print(f"\n==> {part.name}: {' '.join(part.command)}", flush=True)
        started = time.monotonic()
        counts, output = run_part(part)
        total.add(counts)
        summary.append(f"{part.name:16} {counts}  ({time.monotonic() - started:.0f} s)")
        if counts.failed:
            failed[part.name] = output
    show_failures(failed)
    print("\n" + "\n".join(summary) + "\n")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
