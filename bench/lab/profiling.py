# SPDX-License-Identifier: BSD-3-Clause
"""Profiles a server's CPU time: perf's samples by function, and the kernel's count by thread.

perf is used if it is installed and allowed, with the CPU-clock event, which works in virtual machines that hide the
hardware's counters. The split by thread always works.
"""

import pathlib
import shutil
import signal
import subprocess

from process import thread_cpu_seconds

SAMPLES_PER_SECOND = "499"
SHOWN_FUNCTIONS = 12


class Profiler:
    """Profiles a process during the `with` block; `report` returns the result."""

    def __init__(self, pid: int, folder: str, name: str):
        self.pid = pid
        self.folder = pathlib.Path(folder)
        self.name = name
        self.threads: dict[str, float] = {}
        self._recorder = None

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self._before = thread_cpu_seconds(self.pid)
        if shutil.which("perf"):
            self._recorder = subprocess.Popen(
                ["perf", "record", "-q", "-e", "cpu-clock", "-F", SAMPLES_PER_SECOND, "-g",
                 "-p", str(self.pid), "-o", str(self._samples())],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        if self._recorder:
            self._recorder.send_signal(signal.SIGINT)
            self._recorder.wait(60)
        after = thread_cpu_seconds(self.pid)
        self.threads = {name: used - self._before.get(name, 0.0) for name, used in after.items()}

    def _samples(self) -> pathlib.Path:
        return self.folder / f"{self.name}.perf"

    def report(self) -> str:
        """The shares by thread and the functions used most; all functions go to NAME.txt."""
        total = sum(self.threads.values()) or 1.0
        busiest = sorted(self.threads.items(), key=lambda item: -item[1])[:6]
        lines = ["  threads: " + ", ".join(f"{name} {used / total:.0%}" for name, used in busiest)]
        if not self._samples().exists():
            return "\n".join(lines + ["  functions: perf is not here"])
        text = subprocess.run(
            ["perf", "report", "-i", str(self._samples()), "--stdio", "--no-children", "-g", "none",
             "--sort", "dso,symbol"], capture_output=True, text=True).stdout
        functions = [line.rstrip(" -") for line in text.splitlines() if line and line[0] != "#"]
        (self.folder / f"{self.name}.txt").write_text("\n".join(functions) + "\n")
        return "\n".join(lines + ["  " + line for line in functions[:SHOWN_FUNCTIONS]])
