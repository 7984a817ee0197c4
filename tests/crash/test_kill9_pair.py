# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of a primary, its replica or both during writes: no acknowledged write is lost, and the pair is equal again.

The seed is printed with a failure; CAIRN_CRASH_SEED repeats it (the moment of a kill cannot be repeated exactly).
"""

import collections
import random

import pytest

from harness import Server
from kills import KILLS, SEED, WRITERS, kill_while_starting, pause, settled_state
from model import read_data
from pairs import follow, wait_for_offset
from resp import Connection
from writer import Writer


def data_of(server):
    """All keys and values."""
    connection = Connection(server.host, server.port)
    try:
        return read_data(connection)
    finally:
        connection.close()


def kill_some(primary, replica, writers, rng):
    """Lets the writers write for a random time and kills the primary, both, or the replica earlier; returns who."""
    for writer in writers:
        writer.start(primary)
    pause(rng, 0.05, 0.8)
    who = rng.choice(("primary", "replica", "both"))
    if who != "primary":
        replica.kill9()
    if who != "replica":
        primary.kill9()
    else:
        pause(rng, 0.0, 0.3)  # the replica misses writes
        primary.kill9()  # the writers end only with their server
    for writer in writers:
        writer.join()
    return who


@pytest.mark.parametrize("appendfsync", ["always", "everysec", "no"])
def test_a_pair_keeps_what_was_acknowledged_and_becomes_equal(appendfsync):
    rng = random.Random(f"{SEED}/pair/{appendfsync}")
    print(f"CAIRN_CRASH_SEED={SEED}")
    writers = [Writer(random.Random(rng.random()), b"writer%d" % i) for i in range(WRITERS)]
    kept, full_syncs, killed = 0, 0, collections.Counter()
    with Server(appendfsync=appendfsync) as primary, Server(appendfsync=appendfsync) as replica:
        follow(replica, primary)
        for _ in range(KILLS):
            who = kill_some(primary, replica, writers, rng)
            killed[who] += 1
            if who != "replica" and rng.random() < 0.3:
                kill_while_starting(primary, rng)
            primary.start()
            if who != "primary":
                if rng.random() < 0.3:
                    kill_while_starting(replica, rng)
                replica.start()
                follow(replica, primary)
            kept += settled_state(primary, writers)
            wait_for_offset(primary, replica)
            assert data_of(primary) == data_of(replica)
            full_syncs += primary.client().info("stats")["sync_full"]
    acknowledged = sum(writer.acknowledged for writer in writers)
    print(f"{appendfsync}: kills {dict(killed)}, {acknowledged} acknowledged, {kept} kept that were not, "
          f"{full_syncs} full syncs")
    assert acknowledged > 100 * KILLS
