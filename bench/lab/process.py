# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's figures about a server process: CPU time, memory, threads; and waiting until it is idle.

CPU time comes from the process's own CPU clock, which counts user and system time of all its threads, also of ended
ones, in nanoseconds; /proc/PID/stat has the same sum in hundredths of a second.
"""

import contextlib
import os
import pathlib
import threading
import time

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """CPU time the process has used so far, all threads, user and system."""
    return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3) makes the same number


def thread_cpu_seconds(pid: int) -> dict[str, float]:
    """CPU time of the live threads, summed by name."""
    seconds: dict[str, float] = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue  # the thread has just ended
        fields = rest.split()
        used = (int(fields[11]) + int(fields[12])) / CLOCK_TICKS
        seconds[name] = seconds.get(name, 0.0) + used
    return seconds


def status_bytes(pid: int, field: str) -> int:
    """A size from /proc/PID/status: VmRSS is the resident memory, VmHWM its maximum."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def disk_bytes(folder: pathlib.Path, *suffixes: str) -> int:
    """The size of the files in the folder and below it, of all or of those with one of these suffixes (".sst").

    Files that are deleted meanwhile do not count.
    """
    total = 0
    for path in folder.rglob("*"):
        if not suffixes or path.suffix in suffixes:
            with contextlib.suppress(FileNotFoundError):
                total += path.stat().st_size
    return total


def io_counters(pid: int) -> dict[str, int]:
    """The kernel's counters of the process's reads and writes: read_bytes, write_bytes, ... (proc(5), /proc/PID/io)."""
    text = pathlib.Path(f"/proc/{pid}/io").read_text()
    return {name: int(value) for name, value in (line.split(": ") for line in text.splitlines())}


def wait_until_quiet(pids: list[int], limit_s: float = 60.0) -> bool:
    """Waits until the processes use less than 3 percent of a core; False if they never do.

    Otherwise background work for the previous load (freeing, compacting) would be charged to the next measurement.
    """
    window_s = 0.2
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        before = sum(cpu_seconds(pid) for pid in pids)
        time.sleep(window_s)
        if sum(cpu_seconds(pid) for pid in pids) - before < 0.03 * window_s:
            return True
    return False


def wait_until_at_rest(pid: int, folder: pathlib.Path, limit_s: float):
    """Waits until the process is quiet and its directory has not changed for some seconds, but not beyond the limit."""
    deadline, stable, last = time.monotonic() + limit_s, 0, 0
    while stable < 5 and time.monotonic() < deadline:
        wait_until_quiet([pid])
        time.sleep(1)
        now = disk_bytes(folder)
        stable, last = (stable + 1 if now == last else 0), now


class ResidentSampler:
    """Samples a process's resident memory each second during the `with` block."""

    def __init__(self, pid: int, interval_s: float = 1.0):
        self.pid = pid
        self.interval_s = interval_s
        self.samples: list[int] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def sample(self):
        """Takes one sample."""
        self.samples.append(status_bytes(self.pid, "VmRSS"))

    def _run(self):
        while not self._done.is_set():
            try:
                self.sample()
            except OSError:
                return  # the process has ended, which the caller detects
            self._done.wait(self.interval_s)

    def highest(self) -> int:
        """The highest sample so far, in bytes."""
        return max(self.samples, default=0)
