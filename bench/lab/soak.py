# SPDX-License-Identifier: BSD-3-Clause
"""A server under load for hours, in a memory cgroup, with data larger than that: does anything grow or get slower?

The load is that of `bench/endurance mix`, at a lower rate, with the rough clients of its case memory: slow readers,
deletes of large sets, scans, large scripts. It runs in slices of --slice minutes. After each slice the report is
written anew, so a run that is stopped leaves one: report.md, its plot soak.svg, and figures.json. At the end
cairn-doctor looks at the server.

Fails if the server ends, if its memory exceeds the budget by a tenth, or if the last quarter of the run has more
descriptors, more disk for the same data or a much higher latency than the second one.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from beyond_memory import MB, fill, run_load, running
from cases import compile_program
from endurance import Sampler, latency_panels, parts_of
from rough_clients import RoughClients
from series_plot import Panel, draw_lines
from servers import ROOT

from harness import tool_path  # of tests/integration, whose path servers.py sets

# The last quarter of the run may have this many times the median of the second quarter.
MOST_GROWTH = {"descriptors": 1.2, "disk_mb": 1.5, "read p99, ms": 3.0}
MOST_OF_BUDGET = 1.1
ROUGH_PAUSE_S = 0.05


class SoakSampler(Sampler):
    """Samples descriptors too, each tenth second."""

    def sample(self):
        """Takes one sample."""
        before = len(self.info)
        super().sample()
        if len(self.info) > before:
            folder = pathlib.Path(f"/proc/{self.pid}/fd")
            self.info[-1]["descriptors"] = sum(1 for _ in folder.iterdir())
            self.info[-1]["at_s"] = len(self.samples)


class Run:
    """The figures of all slices so far."""

    def __init__(self):
        self.resident: list[float] = []
        self.info: list[dict] = []
        self.by_second: dict[str, list] = {}
        self.slices: list[dict] = []
        self.errors: dict[str, int] = {}

    def add(self, sampler, groups, rough):
        """Adds a slice."""
        start = len(self.resident)
        self.info += [info | {"at_s": start + info["at_s"]} for info in sampler.info]
        self.resident += sampler.resident
        for group in groups:
            self.by_second.setdefault(group["kind"], []).extend(group["by_second"])
        self.slices.append({group["kind"]: {name: figure for name, figure in group.items() if name != "by_second"}
                            for group in groups})
        for answer, count in rough.answers.items():
            self.errors[answer] = self.errors.get(answer, 0) + count

    def series(self) -> dict[str, list[float]]:
        """What must not grow: the figures of each sample or slice."""
        return {"descriptors": [info["descriptors"] for info in self.info],
                "disk_mb": [info["disk_mb"] for info in self.info],
                "read p99, ms": [one["read"]["p99_ms"] for one in self.slices]}

    def failures(self, budget_mb: float) -> list[str]:
        """What is beyond its bar, in sentences."""
        found = []
        most = max(self.resident)
        if most > MOST_OF_BUDGET * budget_mb:
            found.append(f"The process took {most:.0f} MB, more than {MOST_OF_BUDGET} times the budget.")
        for name, values in self.series().items():
            quarter = len(values) // 4
            if quarter == 0:
                continue
            early = statistics.median(values[quarter:2 * quarter])
            late = statistics.median(values[-quarter:])
            if late > MOST_GROWTH[name] * max(early, 1e-9):
                found.append(f"{name}: {late:.1f} in the last quarter, {early:.1f} in the second one.")
        return found


def panels_of(run, budget_mb):
    """The charts: by minute, because hours have too many seconds for one."""
    def by_minute(values):
        return [(at / 60, max(values[at:at + 60])) for at in range(0, len(values), 60)]

    figures = [{"kind": kind, "by_second": [worst_of(seconds[at:at + 60]) for at in range(0, len(seconds), 60)]}
               for kind, seconds in run.by_second.items()]
    samples = [(info["at_s"] / 60, info) for info in run.info]
    parts = {part: [(at, parts_of(info)[part]) for at, info in samples] for part in parts_of(run.info[0])}
    return latency_panels(figures) + [
        Panel("resident memory, MB", {"resident": by_minute(run.resident)}, limits={"budget": budget_mb}),
        Panel("parts of the memory, MB", parts),
        Panel("disk, MB", {"disk": [(at, info["disk_mb"]) for at, info in samples]}),
        Panel("open descriptors", {"descriptors": [(at, info["descriptors"]) for at, info in samples]})]


def worst_of(seconds):
    """Of some seconds: the mean rate, the median of p50, and the highest of p99, p99.9 and the slowest."""
    rate = statistics.mean(second[0] for second in seconds)
    median = statistics.median(second[1] for second in seconds)
    return [rate, median] + [max(second[i] for second in seconds) for i in range(2, 5)]


def write_report(folder, run, options, doctor):
    """Writes report.md, soak.svg and figures.json; returns the failures."""
    failures = run.failures(options.budget)
    title = f"scripts/soak: memory-budget {options.budget} MB, cgroup of {options.limit} MB, {options.keys} objects"
    (folder / "soak.svg").write_text(draw_lines(title, "minutes", panels_of(run, options.budget)))
    (folder / "figures.json").write_text(json.dumps(vars(run), indent=1))
    last = run.info[-1]
    lines = [f"# {len(run.resident) / 3600:.2f} hours of {options.hours:g}", "", title, "",
             "No figure is beyond its bar." if not failures else "\n".join(f"- {failure}" for failure in failures), "",
             "![memory, latency, disk, descriptors](soak.svg)", "", "| figure | value |", "|---|---|",
             f"| resident memory, at most | {max(run.resident):.0f} MB |",
             f"| descriptors, at most | {max(info['descriptors'] for info in run.info)} |",
             f"| disk at the start | {run.info[0]['disk_mb']:.0f} MB, "
             f"{run.info[0]['disk_mb'] / options.budget:.1f} times the budget |",
             f"| disk, at most | {max(info['disk_mb'] for info in run.info):.0f} MB |",
             f"| write amplification | {last['write_amplification']} |",
             f"| writes stopped, delayed | {last['write_stopped_seconds']} s, {last['write_delayed_seconds']} s |"]
    for name, values in run.series().items():
        quarter = max(1, len(values) // 4)
        lines.append(f"| {name}, by quarter | " + ", ".join(
            f"{statistics.median(values[at:at + quarter]):.1f}" for at in range(0, 4 * quarter, quarter)
            if values[at:at + quarter]) + " |")
    lines += ["", "| slice | kind | a second | p50 ms | p99 ms | p99.9 ms | slowest ms |",
              "|---|---|---|---|---|---|---|"]
    for number, one in enumerate(run.slices, 1):
        lines += [f"| {number} | {kind} | {group['per_second']:.0f} | {group['p50_ms']:.2f} | {group['p99_ms']:.2f} | "
                  f"{group['p999_ms']:.2f} | {group['max_ms']:.0f} |" for kind, group in one.items()]
    lines += ["", "Error replies to rough clients: " + (", ".join(
        f"{text} ({count})" for text, count in run.errors.items()) or "none") + "."]
    if doctor:
        lines += ["", "cairn-doctor at the end:", "", "```", doctor.strip(), "```"]
    (folder / "report.md").write_text("\n".join(lines) + "\n")
    return failures


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=12)
    parser.add_argument("--slice", type=float, default=10, metavar="MINUTES")
    parser.add_argument("--keys", type=int, default=23_000_000,
                        help="objects of the fill; with the default, seven times the budget on disk")
    parser.add_argument("--budget", type=int, default=256, metavar="MB", help="memory-budget")
    parser.add_argument("--limit", type=int, default=640, metavar="MB", help="memory of the cgroup")
    parser.add_argument("--write-rate", type=int, default=1000,
                        help="a second; less than the machine can serve, or the latencies are those of a queue")
    parser.add_argument("--read-rate", type=int, default=1000, help="a second")
    parser.add_argument("--dir", type=pathlib.Path, help="folder that keeps the data for the next run")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "soak")
    options = parser.parse_args()
    options.build = ""
    return options


def main() -> int:
    """Runs the slices; returns the exit status."""
    options = parse_options()
    options.out.mkdir(parents=True, exist_ok=True)
    program = compile_program("beyond_memory")
    folder = options.dir or pathlib.Path(tempfile.mkdtemp(prefix="cairn-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    run, failures, doctor = Run(), [], ""
    try:
        fill(options, program, folder, [("load", options.keys)])
        end = time.monotonic() + options.hours * 3600
        with running(options, options.build, folder) as (server, second):
            server.client().execute_command("COMPACT")  # the fill wrote tables in the size for another budget
            groups = [(server.port, "write", 32, options.write_rate), (second, "read", 4, options.read_rate)]
            while (left_s := end - time.monotonic()) > 1:
                seconds = max(1, int(min(options.slice * 60, left_s)))
                with SoakSampler(server, folder) as sampler, RoughClients(server.port, ROUGH_PAUSE_S) as rough:
                    figures = run_load(program, seconds, options.keys, 4 + len(run.slices), *groups)
                run.add(sampler, figures, rough)
                failures = write_report(options.out, run, options, doctor)
                print(f"{len(run.resident) / 60:.0f} minutes, {len(failures)} failures: {options.out}/report.md",
                      flush=True)
            doctor = subprocess.run([str(tool_path("cairn-doctor")), f"127.0.0.1:{server.port}"], capture_output=True,
                                    text=True, check=False).stdout
            failures = write_report(options.out, run, options, doctor)
    finally:
        if not options.dir:
            shutil.rmtree(folder)
    print("\n".join(failures) or "no figure is beyond its bar")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
