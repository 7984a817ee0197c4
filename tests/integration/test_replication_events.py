# SPDX-License-Identifier: BSD-3-Clause
"""Replication waits for events: a write reaches an idle replica at once, and an idle thread sleeps.

Times depend on the machine, so the delay of a write is compared with the time of a request on the same machine.
bench/replication checks the absolute figure, a median below a millisecond.
"""

import statistics
import time

import pytest

from harness import PATIENCE
from pairs import follow, start
from process_threads import read_of_threads
from raw_client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.alone]

WRITES = 200
IDLE_S = 5
LOAD_S = 3
REPLICATION_THREADS = ("stream", "primary-link", "replica-")
# The longest wait of a thread is a second; acknowledgements and PINGs also wake it.
MOST_WAKES_PER_S = 6


@pytest.fixture(scope="module", name="pair")
def fixture_pair():
    """A primary and its replica, without other clients."""
    with start("cairn") as primary, start("cairn") as replica:
        follow(replica, primary)
        yield primary, replica


def median_ms(measure):
    """The median time of a function. It is called many times, with pauses, so each call finds an idle pair."""
    taken = []
    for number in range(WRITES):
        began = time.perf_counter()
        measure(number)
        taken.append(time.perf_counter() - began)
        time.sleep(0.005)  # so the next call finds an idle pair
    return statistics.median(taken) * 1000


@pytest.mark.measures("time")
def test_a_write_reaches_an_idle_replica_at_once(pair):
    """The sender of the stream does not poll for commits; it once did, every 10 ms."""
    primary, replica = pair
    with RawClient(primary.port) as here, RawClient(replica.port) as there:
        def write_and_read(number):
            here("set", "probe", number)
            here("get", "probe")

        def write_and_look(number):
            here("set", "probe", number)
            while there("get", "probe") != (b"$", b"%d" % number):
                pass

        request_ms = median_ms(write_and_read)
        delay_ms = median_ms(lambda number: write_and_look(WRITES + number))
    print(f"to the replica in {delay_ms:.3f} ms, two requests of the primary take {request_ms:.3f} ms")
    assert delay_ms < 2 + 4 * request_ms


@pytest.mark.measures("time")
def test_wait_is_answered_at_once(pair):
    """WAIT needs a GETACK to the replica and its acknowledgement, without a pause."""
    primary, _ = pair
    with RawClient(primary.port) as here:
        def write_and_wait(number):
            here("set", "probe", number)
            assert here("wait", 1, 60000 * PATIENCE) == (b":", b"1")

        request_ms = median_ms(lambda number: (here("set", "probe", number), here("get", "probe")))
        wait_ms = median_ms(write_and_wait)
    print(f"WAIT in {wait_ms:.3f} ms, two requests of the primary take {request_ms:.3f} ms")
    assert wait_ms < 4 + 8 * request_ms


def threads(pid):
    """The voluntary context switches and the CPU time in ticks of each thread of a process."""
    found = {}
    for comm, status_lines, stat in read_of_threads(pid, "comm", "status", "stat"):
        status = dict(line.split(":", 1) for line in status_lines.splitlines())
        fields = stat.rpartition(")")[2].split()
        found[comm.strip()] = int(status["voluntary_ctxt_switches"]), int(fields[11]) + int(fields[12])
    return found


def difference(before, after):
    """The context switches and ticks of each thread between two samples."""
    return {name: tuple(b - a for a, b in zip(before[name], figures))
            for name, figures in after.items() if name in before}


@pytest.mark.measures("time")
def test_an_idle_pair_sleeps(pair):
    """No thread of replication polls, and none but the timer's uses CPU time."""
    pids = [server.process.pid for server in pair]
    time.sleep(1)  # the work of the other tests ends
    before = [threads(pid) for pid in pids]
    time.sleep(IDLE_S)  # the measured time
    seen = set()
    for pid, earlier in zip(pids, before):
        for name, (wakes, ticks) in difference(earlier, threads(pid)).items():
            print(f"{name}: woken {wakes} times, {ticks} ticks")
            assert ticks <= 1 or name == "cron"
            if name.startswith(REPLICATION_THREADS):
                seen.add(name.partition("-")[0])
                assert wakes <= MOST_WAKES_PER_S * IDLE_S
    assert seen == {"stream", "primary", "replica"}


@pytest.mark.measures("time")
def test_commits_do_not_each_wake_a_sender(pair):
    """Under load a sender reads the log once a millisecond, and commits do not wake it meanwhile."""
    primary, _ = pair
    before = threads(primary.process.pid)
    began = time.monotonic()
    commits = 0
    with RawClient(primary.port) as client:
        while time.monotonic() - began < LOAD_S:
            client("set", "probe", commits)
            commits += 1
    elapsed_ms = (time.monotonic() - began) * 1000
    wakes = {name: wakes for name, (wakes, _) in difference(before, threads(primary.process.pid)).items()}
    print(f"{commits} commits in {elapsed_ms:.0f} ms, threads woken: {wakes}")
    # Two waits a millisecond, for a commit and for the rest of the millisecond; some for contended locks.
    assert all(count < 3 * elapsed_ms for name, count in wakes.items() if name.startswith(("stream", "replica-")))
