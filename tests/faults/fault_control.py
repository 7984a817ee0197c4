# SPDX-License-Identifier: BSD-3-Clause
"""Makes system calls of a server fail: the test's side of fault_library.c, which is compiled on first use.

    with Faults() as faults, Server(command=faults.command(), appendfsync="always") as server:
        faults.arm("sync", errno.ENOSPC, path="*.log")          # the next fsync of a log fails
        faults.arm("write", errno.EIO, path="*.log", first=7)   # the 7th write from now fails
        faults.arm("sync", delay_ms=3000, path="*.log")         # the next one takes 3 s, or until disarm()
        faults.arm("write open", errno.EMFILE, count=10**9)     # all fail until disarm()
        faults.arm("write", errno.ENOSPC, torn=True, count=5)   # one writes half, the next four fail
        faults.wait_fired()
        faults.disarm()
        faults.shift_clock(-3600)                               # the wall clock jumps back by an hour

A fault that is armed before the server starts also counts the calls of the start.
"""

import ctypes
import mmap
import os
import pathlib
import subprocess
import tempfile

from harness import REPOSITORY, default_command
from waiting import wait_until

SOURCE = pathlib.Path(__file__).resolve().parent / "fault_library.c"
LIBRARY = REPOSITORY / "build" / "faults" / "libfaults.so"
KINDS = ("write", "sync", "sync_range", "allocate", "open", "rename", "truncate", "map", "link", "read")
PASS, FAIL, SHORT, TORN, DELAY = range(5)
PATTERN_SIZE = 256


class Control(ctypes.Structure):
    """struct Control of fault_library.c."""

    _fields_ = [
        ("armed", ctypes.c_uint32),
        ("kinds", ctypes.c_uint32),
        ("hit_kinds", ctypes.c_uint32),
        ("action", ctypes.c_uint32),
        ("error", ctypes.c_int32),
        ("unused", ctypes.c_uint32),
        ("delay_ms", ctypes.c_uint64),
        ("first", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("seen", ctypes.c_uint64),
        ("claimed", ctypes.c_uint64),
        ("fired", ctypes.c_uint64),
        ("fired_by", ctypes.c_uint64 * len(KINDS)),
        ("pattern", ctypes.c_char * PATTERN_SIZE),
        ("hit_pattern", ctypes.c_char * PATTERN_SIZE),
        ("last", ctypes.c_char * PATTERN_SIZE),
        ("clock_shift_s", ctypes.c_int64),
    ]


def build_library():
    """Compiles the library if it is older than its source; returns its path."""
    if not LIBRARY.exists() or LIBRARY.stat().st_mtime < SOURCE.stat().st_mtime:
        LIBRARY.parent.mkdir(parents=True, exist_ok=True)
        fresh = LIBRARY.with_suffix(f".{os.getpid()}")
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-fno-builtin",
                        "-o", str(fresh), str(SOURCE)], check=True)
        fresh.rename(LIBRARY)
    return LIBRARY


def _mask(kinds):
    return sum(1 << KINDS.index(kind) for kind in kinds.split())


class Faults:
    """The control file of one process at a time; a restarted server continues to use it."""

    def __init__(self):
        build_library()
        self._file = tempfile.NamedTemporaryFile(prefix="cairn-faults-")  # noqa: SIM115
        self._file.truncate(ctypes.sizeof(Control))
        self._map = mmap.mmap(self._file.fileno(), ctypes.sizeof(Control))
        self._control = Control.from_buffer(self._map)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Removes the control file. The armed fault of a running process stays armed."""
        self._control = None
        self._map.close()
        self._file.close()

    def environment(self):
        """The environment variables for the process."""
        return {"LD_PRELOAD": str(LIBRARY), "FAULT_CONTROL": self._file.name}

    def command(self, command=None):
        """The command line of the server under test, or another one, with the library."""
        return ["env", *(f"{k}={v}" for k, v in self.environment().items()), *(command or default_command())]

    def arm(self, kinds, error=0, *, path="*", first=1, count=1, short=False, torn=False, delay_ms=0,
            hit_kinds=None, hit_path=None, keeps_numbers=False):
        """Counts matching calls from now on and hits `count` of them, starting with call number `first`.

        `kinds` are words of KINDS. `path` is a glob for the last part of the path, or for the whole path if it contains
        a '/'; several are separated by '|'. Without an error, `short` or `delay_ms` calls are only counted. With
        `hit_kinds` or `hit_path`, the first calls that match these are hit, from number `first` on. `keeps_numbers`
        continues the numbers of the previous fault.
        """
        self.disarm()
        control = self._control
        control.kinds = _mask(kinds)
        control.hit_kinds = _mask(hit_kinds or kinds)
        control.action = (TORN if torn else FAIL if error else SHORT if short else DELAY if delay_ms else PASS)
        control.error, control.delay_ms = error, delay_ms
        control.first, control.count = first, count
        control.fired = control.claimed = 0
        if not keeps_numbers:
            control.seen = 0
        for kind in range(len(KINDS)):
            control.fired_by[kind] = 0
        control.pattern = path.encode()
        control.hit_pattern = (hit_path or path).encode()
        control.armed = 1

    def disarm(self):
        """Lets all calls through again and ends a running delay. The counters are kept."""
        self._control.armed = 0

    def shift_clock(self, seconds):
        """The process sees a wall clock that is wrong by so many seconds, also after disarm()."""
        self._control.clock_shift_s = seconds

    @property
    def seen(self):
        """The number of matching calls since the fault was armed."""
        return self._control.seen

    @property
    def fired(self):
        """The number of calls that were hit."""
        return self._control.fired

    def fired_by_kind(self):
        """The number of calls that were hit, by kind."""
        return {kind: n for kind, n in zip(KINDS, self._control.fired_by, strict=True) if n}

    @property
    def last_path(self):
        """The path of the last call that was hit."""
        return self._control.last.decode()

    def wait_fired(self, times=1):
        """Waits until this many calls were hit."""
        wait_until(lambda: self.fired >= times, f"hit number {times}", pause_s=0.001)
