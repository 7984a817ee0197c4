# SPDX-License-Identifier: BSD-3-Clause
"""A replica on a machine without a free processor carries its stream out in long turns.

What it has taken off the connection and not carried out is its own to lose: whoever waits for it, takes it for the new
primary, or kills the primary must not notice that it gathers.
"""

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

import pytest

from fake_peers import encode
from harness import PATIENCE
from pairs import follow, replication, start, wait_for_offset, wait_until

COMMANDS = 500  # of a piece of load, of which the last is an INCR
BUSY = "import time\nend = time.monotonic() + 120\nwhile time.monotonic() < end: pass"
DELAY_MS = 1000
pytestmark = pytest.mark.measures("time")


@contextlib.contextmanager
def no_free_processor():
    """As many loops as there are processors."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Load:
    """SETs as fast as they go, and an INCR for each piece of them, until the `with` block ends or the server does."""

    def __init__(self, port):
        self.acknowledged = 0  # INCRs
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(port,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _run(self, port):
        pieces = [b"".join(encode(b"SET", b"key:%d:%d" % (piece, key), b"x" * 64) for key in range(COMMANDS - 1))
                  + encode(b"INCR", b"counter") for piece in range(40)]
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as connection:
            for count in range(1 << 30):
                if self._ended.is_set():
                    return
                connection.sendall(pieces[count % len(pieces)])
                lines = 0
                while lines < COMMANDS:
                    got = connection.recv(65536)
                    if not got:
                        return
                    lines += got.count(b"\n")
                self.acknowledged += 1


@contextlib.contextmanager
def gathering_pair():
    """A primary under load and its replica, once that gathers."""
    with start("cairn") as primary, start("cairn", repl_apply_delay=DELAY_MS) as replica, no_free_processor():
        follow(replica, primary)
        with Load(primary.port) as load:
            wait_until(lambda: behind(replica) > 100_000, 60, "gathering")
            yield primary, replica, load


def behind(replica):
    """Bytes that have come and are not carried out."""
    info = replication(replica)
    return info["slave_read_repl_offset"] - info["slave_repl_offset"]


def usually_behind(replica, seconds=4):
    """The median of what is not carried out."""
    seen = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        seen.append(behind(replica))
        time.sleep(0.01)
    return statistics.median(seen)


def test_turns_are_long_while_no_processor_is_free():
    """And short again by CONFIG SET, at once."""
    with gathering_pair() as (primary, replica, load):
        long = usually_behind(replica)
        replica.client().config_set("repl-apply-delay", 0)
        time.sleep(DELAY_MS / 1000)
        short = usually_behind(replica)
        print("bytes behind:", long, "and", short)
        assert long > 3 * short
        load.__exit__()
        wait_for_offset(primary, replica)
        assert replica.client().get("counter") == b"%d" % load.acknowledged


def test_who_waits_does_not_wait_for_the_turn():
    """WAIT is answered when the replica has the write, without the delay; and there is none for a while."""
    with gathering_pair() as (primary, replica, _):
        client = primary.client()
        took = []
        for _ in range(5):
            wait_until(lambda: behind(replica) > 100_000, 60, "gathering")
            client.set("waited for", "1")
            began = time.monotonic()
            assert client.wait(1, 30000) >= 1
            took.append(time.monotonic() - began)
        print("WAIT took", took)
        assert statistics.mean(took) < DELAY_MS / 1000 * 0.3 * PATIENCE  # a turn's end is 0.6 away on average


def wait_until_much_has_come(replica):
    """Some tenths of a second's load, with as many to go."""
    wait_until(lambda: behind(replica) > 40 * COMMANDS * 50, 60, "gathering much")


def promote(replica, received):
    """REPLICAOF NO ONE: what was received is carried out first, but for a part of a command at its end."""
    client = replica.client()
    client.execute_command("REPLICAOF", "NO", "ONE")
    info = replication(replica)
    print("received", received, "has", info["master_repl_offset"])
    assert info["role"] == "master"
    assert info["master_repl_offset"] > received - 200
    return int(client.get("counter"))


def test_a_new_primary_has_all_that_has_come():
    """REPLICAOF NO ONE in the midst of gathering."""
    with gathering_pair() as (_, replica, __):
        wait_until_much_has_come(replica)
        promote(replica, replication(replica)["slave_read_repl_offset"])


def test_a_killed_primary_takes_nothing_with_it_that_has_come():
    """The replica carries out what it has gathered although the link is gone."""
    with gathering_pair() as (primary, replica, load):
        wait_until_much_has_come(replica)
        done = int(replica.client().get("counter"))
        info = replication(replica)
        primary.kill9()
        wait_until(lambda: replication(replica)["master_link_status"] == "down", 20, "the end of the link")
        gathered = promote(replica, info["slave_read_repl_offset"]) - done
        print("carried out", gathered, "of", load.acknowledged)
        assert gathered > (info["slave_read_repl_offset"] - info["slave_repl_offset"]) // (COMMANDS * 150)
