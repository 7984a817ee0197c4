# SPDX-License-Identifier: BSD-3-Clause
"""The library hits the calls that it was armed for, and no others."""

import errno
import os
import socket
import subprocess
import sys
import time

import pytest

from fault_control import Faults
from harness import Server


class Child:
    """A Python process with the library, which evaluates lines and returns their values."""

    LOOP = """
import errno, mmap, os, sys
for line in sys.stdin:
    try:
        print(eval(line), flush=True)
    except OSError as error:
        print(errno.errorcode[error.errno], flush=True)
"""

    def __init__(self, faults, folder):
        self.process = subprocess.Popen([sys.executable, "-c", self.LOOP], cwd=folder, text=True,
                                        env={**os.environ, **faults.environment()},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, expression):
        """The value of a Python expression, or the name of the OSError that it raised, as text."""
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        """Ends it."""
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture(name="faults")
def fixture_faults():
    """A control file."""
    with Faults() as faults:
        yield faults


@pytest.fixture(name="child")
def fixture_child(faults, tmp_path):
    """A process with the library, in an empty folder."""
    child = Child(faults, tmp_path)
    yield child
    child.close()


OPEN = "os.open('{}', os.O_RDWR | os.O_CREAT)"


def test_only_the_nth_call_on_a_matching_file_fails(faults, child):
    log, other = child.ask(OPEN.format("1.log")), child.ask(OPEN.format("other"))
    faults.arm("write", errno.ENOSPC, path="*.log", first=3, count=2)
    assert [child.ask(f"os.write({fd}, b'abcd')") for fd in (log, other, log, log, other, log, log)] == [
        "4", "4", "4", "ENOSPC", "4", "ENOSPC", "4"]
    assert (faults.seen, faults.fired, faults.fired_by_kind()) == (5, 2, {"write": 2})
    assert faults.last_path.endswith("/1.log")
    faults.disarm()
    assert child.ask(f"os.write({log}, b'abcd')") == "4"
    assert child.ask("os.stat('1.log').st_size") == "16"


def test_every_kind_of_call_can_fail(faults, child):
    calls = {
        "write": ["os.write({fd}, b'x')", "os.pwrite({fd}, b'x', 0)", "os.writev({fd}, [b'x'])",
                  "os.pwritev({fd}, [b'x'], 0)"],
        "sync": ["os.fsync({fd})", "os.fdatasync({fd})"],
        "allocate": ["os.posix_fallocate({fd}, 0, 10)"],
        "open": ["os.open('f', 0)"],
        "rename": ["os.rename('f', 'f')"],
        "truncate": ["os.ftruncate({fd}, 10)", "os.truncate('f', 10)"],
        "map": ["mmap.mmap({fd}, 10)"],
        "link": ["os.link('f', 'g')"],
        "read": ["os.read({fd}, 1)", "os.pread({fd}, 1, 0)", "os.readv({fd}, [bytearray(1)])",
                 "os.preadv({fd}, [bytearray(1)], 0)", "os.preadv({fd}, [bytearray(1)], 0, os.RWF_HIPRI)"],
    }
    fd = child.ask(OPEN.format("f"))
    child.ask(f"os.ftruncate({fd}, 10)")
    for kind, expressions in calls.items():
        for expression in expressions:
            faults.arm(kind, errno.EIO, path="*/f")
            assert child.ask(expression.format(fd=fd)) == "EIO", expression
            assert child.ask(expression.format(fd=fd)) != "EIO", expression


def test_calls_of_all_kinds_share_one_numbering(faults, child):
    fd = child.ask(OPEN.format("1.log"))
    faults.arm("write sync", errno.EIO, path="*.log", first=3, hit_kinds="sync")
    calls = [f"os.fsync({fd})", *[f"os.write({fd}, b'x')"] * 3, f"os.fsync({fd})", f"os.fsync({fd})"]
    assert [child.ask(call) for call in calls] == ["None", "1", "1", "1", "EIO", "None"]


def test_a_short_write_writes_half_and_a_torn_one_fails_afterwards(faults, child):
    fd = child.ask(OPEN.format("f"))
    faults.arm("write", short=True)
    assert [child.ask(f"os.write({fd}, b'12345678')") for _ in range(2)] == ["4", "8"]
    faults.arm("write", errno.ENOSPC, torn=True, count=2)
    assert [child.ask(f"os.write({fd}, b'12345678')") for _ in range(3)] == ["4", "ENOSPC", "8"]


def test_a_delay_ends_after_its_time_or_when_it_is_disarmed(faults, child):
    fd = child.ask(OPEN.format("f"))
    for delay_ms, waits in ((600, True), (20000, False)):
        faults.arm("sync", delay_ms=delay_ms)
        began = time.monotonic()
        child.process.stdin.write(f"os.fdatasync({fd})\n")
        child.process.stdin.flush()
        faults.wait_fired()
        if not waits:
            faults.disarm()
        child.process.stdout.readline()
        assert waits == (time.monotonic() - began >= 0.5)


def test_a_server_with_the_library_serves_and_its_sockets_are_not_hit(faults):
    with Server(command=faults.command()) as server:
        faults.arm("write", errno.EIO, path="*|/*|*socket*|*", count=10**9)
        with socket.create_connection((server.host, server.port)) as connection:
            connection.sendall(b"GET k\r\n")
            assert connection.recv(100) == b"$-1\r\n"
            connection.sendall(b"SET k v\r\n")
            assert connection.recv(100).startswith(b"-MISCONF")
        assert faults.fired > 0
        assert faults.last_path.startswith(str(server.data_dir))
