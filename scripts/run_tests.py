# SPDX-License-Identifier: BSD-3-Clause
"""Runs every part of the test suite and adds up their counts.

A part is a separate program that can be run by hand. ctest and pytest write a JUnit file. Every other program prints "N
passed, N failed" as its last line (", N skipped" may follow); Redis's own suite counts the tests that pass on
redis-server. A part that is missing, dies, hangs or fails without naming a test counts as one failure: silence is never
success. A part hangs if it prints nothing for HANG_S; no part fails only because the machine is slow.

Parts that need about a core run at the end, two at a time; the output of each is shown when it ends. The others run
before them, one after the other.

There are three sizes: fewer parts with less of each (--quick), the default, and the long forms (--long).
CAIRN_TEST_SIZE passes the size to the parts that use it.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import select
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
HANG_S = 1800  # of silence: no part is silent for more than a few minutes, even on a slow machine
# The files of Redis's suite for --quick: 10 seconds together.
QUICK_UNITS = ("protocol", "keyspace", "info-command", "type/incr", "type/hash", "quit", "lazyfree")
QUICK_FRAMEWORKS = ["--only", "connect-redis,rq"]
MOST_REPEATED = 6000  # the characters of a failed part's output that are repeated at the end


@dataclasses.dataclass(frozen=True)
class Part:
    """One program: `command` runs it, `junit` is its flag for a JUnit file if it has one."""

    name: str
    command: list[str]
    junit: str | None = None
    by_name: bool = False  # long: it runs only if --only names it
    one_core: bool = False  # it needs about a core at most and measures no times: it may run beside another such part


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


def list_parts(size: str) -> list[Part]:
    """The parts, the quickest to fail first. `size` is quick, normal or long."""
    quick, long = size == "quick", size == "long"
    flags = {"quick": ["--quick"], "normal": [], "long": ["--long"]}[size]
    # Tests of three files at a time, because many tests wait. Each test has its own ports and directories.
    three_at_a_time = ["-n", "3", "--dist", "loadfile", "-m", "not alone" + (" and not slow" if quick else "")]
    pytest = [sys.executable, "-m", "pytest", "-q", "--durations=5"]
    ctest = ["ctest", "--test-dir", str(BUILD), "--output-on-failure", "-j", str(os.cpu_count())]
    units = [word for unit in QUICK_UNITS for word in ("--only", f"unit/{unit}")] if quick else []
    cluster_units = ["--only", "unit/cluster/misc"] if quick else []
    commands = ("20000", "10000") if quick else ("400000", "100000")
    damage = {"quick": ["--count", "20000", "--files", "1000", "--preset", "release"],
              "normal": ["--count", "50000", "--files", "5000", "--preset", "release"],
              "long": ["--count", "50000", "--files", "5000"]}[size]  # with AddressSanitizer, which builds all again
    return [
        Part("unit", ctest, "--output-junit"),
        Part("tidy", pytest + ["tests/tidy"], "--junitxml", one_core=True),
        Part("locks", ["tests/locks/run"] + ([] if long else ["--quick"]), by_name=quick),
        Part("integration", pytest + three_at_a_time + ["tests/integration"], "--junitxml"),
        # Other work on the machine can only make a time longer, so one of three measurements has to hold.
        Part("integration_alone", pytest + ["-m", "alone", "--reruns", "2", "tests/integration"], "--junitxml",
             by_name=quick),
        # A fixed seed, so that a failure is caused by the change; by hand each run draws a new one.
        Part("differential", ["tests/differential/run", "--seed", "7", "--commands", commands[0]],
             one_core=True),
        Part("differential_valkey", ["tests/differential/run", "--oracle", "valkey", "--seed", "7",
                                     "--commands", commands[1]], one_core=True),
        Part("fuzz", ["tests/fuzz/run"] + damage),
        Part("redis_suite", ["tests/compat/redis_suite"] + units + (flags if long else []), one_core=True),
        Part("faults", ["tests/faults/run"], by_name=quick, one_core=True),
        Part("redis_own_servers", ["tests/compat/redis_suite", "--own-servers"], by_name=True),
        Part("redis_cluster", ["tests/compat/redis_suite", "--cluster"] + cluster_units + (flags if long else []),
             one_core=True),
        Part("redis_benchmark", ["tests/compat/redis_benchmark"] + flags, by_name=quick),
        Part("clients", ["tests/clients/run"] + (flags if quick else [])),
        Part("client_suites", ["tests/clients/suites", "redis-py-json", "redis-py-bloom"], by_name=quick,
             one_core=True),
        Part("frameworks", ["tests/frameworks/run"] + (flags + QUICK_FRAMEWORKS if quick else []), one_core=True),
        Part("simulation", ["tests/simulation/run", "--first", "1", "--seeds", "6" if quick else "60"],
             one_core=True),
        Part("crash", ["tests/crash/run"] + flags + (["--only", "atomicity"] if quick else []), one_core=True),
        Part("flood", ["tests/flood/run"], by_name=quick),
        Part("pairs", ["tests/pairs/run"] + flags, by_name=quick, one_core=True),
        Part("clusters", ["tests/clusters/run"] + flags, by_name=quick),
        Part("simulation_long", ["tests/simulation/run", "--minutes", "30"], by_name=True),
        Part("histories", ["tests/histories/run"] + flags),
        Part("upgrade", pytest + ["-m", "not older", "tests/upgrade"], "--junitxml", one_core=True),
        Part("upgrade_older", pytest + ["-m", "older", "tests/upgrade"], "--junitxml", by_name=True),
        Part("package", pytest + ["tests/package"], "--junitxml", by_name=quick, one_core=True),
        Part("sanitize_thread", ["tests/sanitize/run", "thread"], by_name=True),
        Part("sanitize_address", ["tests/sanitize/run", "address"], by_name=True),
        Part("sanitize_undefined", ["tests/sanitize/run", "undefined"], by_name=True),
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


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a program ended: the status is None if it was stopped after HANG_S of silence."""

    status: int | None
    output: str
    cpu_s: float  # of the program and of all that it has waited for


def run_program(command: list[str], show: bool) -> Ended:
    """Runs the command to its end, and shows its output at once if `show`."""
    own_python = os.path.dirname(sys.executable)  # Python programs among the parts use it too
    environment = dict(os.environ, PYTHONUNBUFFERED="1", PATH=f"{own_python}:{os.environ['PATH']}")
    child = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True)
    pieces = []
    while True:
        hangs = not select.select([child.stdout], [], [], HANG_S)[0]
        if hangs:
            os.killpg(child.pid, signal.SIGKILL)
            break
        piece = os.read(child.stdout.fileno(), 1 << 16)  # not a line, because pytest's dots have no line end
        if not piece:
            break
        pieces.append(piece)
        if show:
            sys.stdout.buffer.write(piece)
            sys.stdout.flush()
    _, wait_status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(wait_status)
    return Ended(None if hangs else child.returncode, b"".join(pieces).decode(errors="replace"),
                 usage.ru_utime + usage.ru_stime)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a part has shown: its output ends with what is wrong with the part itself."""

    counts: Counts
    output: str
    seconds: float = 0
    cpu_s: float = 0


def run_part(part: Part, show: bool) -> Outcome:
    """Runs one part; one that fails without naming a test counts as one failure. Its output is shown at once if `show`.
    """
    started = time.monotonic()
    program = ROOT / part.command[0]
    if "/" in part.command[0] and not program.exists():
        return Outcome(Counts(failed=1), f"{part.name}: {part.command[0]} does not exist")
    command = list(part.command)
    results = RESULTS / f"{part.name}.xml"
    if part.junit:
        results.unlink(missing_ok=True)
        command += [part.junit, str(results)]

    ended = run_program(command, show)
    if part.junit:
        counts = count_junit(results) if results.exists() else Counts()
    else:
        counts = count_output(ended.output)
    remarks = ""
    if ended.status is None:
        remarks += f"{part.name}: stopped, it printed nothing for {HANG_S} s\n"
    if counts.failed == 0 and (ended.status != 0 or counts.passed + counts.skipped == 0):
        remarks += f"{part.name}: exit status {ended.status}, {counts}\n"
        counts.failed += 1
    if show:
        print(remarks, end="", flush=True)
    return Outcome(counts, ended.output + remarks, time.monotonic() - started, ended.cpu_s)


def run_parts(parts: list[Part]) -> dict[str, Outcome]:
    """Runs the parts, those of one core two at a time after the others; returns what each has shown, by its name."""
    outcomes = {}
    for part in parts:
        if not part.one_core:
            print(title_of(part), flush=True)
            outcomes[part.name] = run_part(part, show=True)
    one_writes = threading.Lock()

    def run_beside_another(part: Part):
        outcome = run_part(part, show=False)
        with one_writes:
            print(f"{title_of(part)}\n{outcome.output.rstrip()}", flush=True)
            outcomes[part.name] = outcome

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for future in [pool.submit(run_beside_another, part) for part in parts if part.one_core]:
            future.result()
    return outcomes


def title_of(part: Part) -> str:
    """The line above a part's output."""
    return f"\n==> {part.name}: {' '.join(part.command)}"


def show_failures(outputs: dict[str, str]):
    """Repeats the ends of the outputs of failed parts below the sums, because readers of a long run look at its end."""
    for name, output in outputs.items():
        print(f"\n==> {name} failed; the end of its output again:")
        print(output[-MOST_REPEATED:].rstrip())


def main() -> int:
    """Runs the chosen parts and prints the sums; returns 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick",
                      help="a part of each part, in under 5 minutes")
    size.add_argument("--long", dest="size", action="store_const", const="long",
                      help="the long form of the parts that have one, in an hour and a half")
    parser.add_argument("--only", metavar="PART,...", help="run only these parts")
    options = parser.parse_args()
    size = options.size or "normal"
    os.environ["CAIRN_TEST_SIZE"] = size

    parts = list_parts(size)
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
    outcomes = run_parts(parts)
    show_failures({name: outcome.output for name, outcome in outcomes.items() if outcome.counts.failed})
    print()
    total = Counts()
    for name, outcome in outcomes.items():
        total.add(outcome.counts)
        print(f"{name:16} {outcome.counts}  ({outcome.seconds:.0f} s, {outcome.cpu_s:.0f} s of CPU)")
    print(f"\n{total}")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
