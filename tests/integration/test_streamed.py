# SPDX-License-Identifier: BSD-3-Clause
"""Separate threads send data to replicas, so they do not compete with clients of the same port."""

import random

import pytest
from pairs import assert_same, follow, start, wait_for_offset
from process_threads import read_of_threads

pytestmark = pytest.mark.slow

KEYS, VALUE_BYTES = 400, 100_000


def seconds_by_thread(pid):
    """Name -> the processor time of the threads with that name (/proc/PID/task/TID/schedstat)."""
    seconds = {}
    for comm, schedstat in read_of_threads(pid, "comm", "schedstat"):
        name = comm.strip()
        seconds[name] = seconds.get(name, 0) + int(schedstat.split()[0]) / 1e9
    return seconds


@pytest.mark.parametrize("sync_files", ["yes", "no"])
@pytest.mark.parametrize("replica_kind", ["cairn", "redis"])
def test_a_first_transfer_and_the_stream_do_not_use_the_ports_thread(replica_kind, sync_files):
    """The port's I/O thread sends none of it; bytes pushed while the connection moved arrive too."""
    noise = random.Random(3)
    with start("cairn", repl_sync_files=sync_files) as primary, start(replica_kind) as replica:
        client = primary.client()
        for number in range(KEYS):
            client.set(f"key:{number}", noise.randbytes(VALUE_BYTES))
        before = seconds_by_thread(primary.pid)
        follow(replica, primary)
        after = seconds_by_thread(primary.pid)
        spent = {name: after[name] - before[name] for name in ("io-transfers", f"io-{primary.port}-0")}
        assert spent["io-transfers"] > 2 * spent[f"io-{primary.port}-0"], spent
        client.set("after the transfer", "and its end")
        wait_for_offset(primary, replica)
        after = seconds_by_thread(primary.pid)
        for number in range(KEYS):
            client.set(f"after the transfer:{number}", noise.randbytes(VALUE_BYTES))
        wait_for_offset(primary, replica)
        last = seconds_by_thread(primary.pid)
        assert last["io-streams"] - after["io-streams"] > 2 * (last["io-transfers"] - after["io-transfers"])
        assert_same(primary, replica)
