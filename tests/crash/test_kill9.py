# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 during writes loses no acknowledged write and adds no write that was not sent.

Each test kills the process at random moments, some of them during its restart. The seed is printed with a failure;
CAIRN_CRASH_SEED repeats it (the moment of the kill cannot be repeated exactly).
"""

import random

from harness import Server
from kills import KILLS, SEED, WRITERS, kill_while_starting, kill_while_writing, pause, settled_state
from model import read_data
import pytest
from resp import Connection
from writer import Writer
from waiting import let_pass, wait_until


@pytest.mark.parametrize("appendfsync", ["always", "everysec", "no"])
def test_acknowledged_writes_survive(appendfsync):
    """All types, several writers: every acknowledged write is present, and DBSIZE is exact."""
    rng = random.Random(f"{SEED}/{appendfsync}")
    print(f"CAIRN_CRASH_SEED={SEED}")
    writers = [Writer(random.Random(rng.random()), b"writer%d" % i) for i in range(WRITERS)]
    kept = 0
    with Server(appendfsync=appendfsync) as server:
        for _ in range(KILLS):
            kill_while_writing(server, writers, rng)
            if rng.random() < 0.4:
                kill_while_starting(server, rng)
            server.start()
            kept += settled_state(server, writers)
        server.restart()  # after a normal shutdown the data is the same
        settled_state(server, writers)
    acknowledged = sum(writer.acknowledged for writer in writers)
    print(f"{appendfsync}: {acknowledged} acknowledged, {kept} kept that were not")
    assert acknowledged > 100 * KILLS


def test_a_shared_counter_counts_every_acknowledged_write():
    """Writers share one key: its value is between the numbers of acknowledged and of sent increments."""
    rng = random.Random(f"{SEED}/counter")
    print(f"CAIRN_CRASH_SEED={SEED}")
    low = high = 0
    with Server(appendfsync="always") as server:
        for _ in range(KILLS):
            writers = [Writer(random.Random(rng.random()), b"w%d" % i) for i in range(WRITERS)]
            for writer in writers:
                writer.operations.keys["counter"] = [b"shared"] * 2
                writer.operations.draws = [writer.operations.write_counter]
            kill_while_writing(server, writers, rng)
            server.start()
            low += sum(int(writer.data.get(b"shared", 0)) for writer in writers)
            high = low + sum(int(o.words[2]) for writer in writers for o in writer.in_flight)
            connection = Connection(server.host, server.port)
            found = int(connection.call(b"GET", b"shared")[1] or 0)
            connection.close()
            assert low <= found <= high
            low = found


def test_dbsize_is_exact_with_keys_that_writers_share():
    """All writers create, replace and delete the same keys: DBSIZE equals the number of keys that SCAN finds."""
    rng = random.Random(f"{SEED}/dbsize")
    print(f"CAIRN_CRASH_SEED={SEED}")
    with Server(appendfsync="everysec") as server:
        for _ in range(KILLS):
            writers = [Writer(random.Random(rng.random()), b"same") for _ in range(WRITERS)]
            kill_while_writing(server, writers, rng)
            server.start()
            connection = Connection(server.host, server.port)
            found = read_data(connection)
            assert connection.call(b"DBSIZE") == (b":", len(found))
            connection.close()


def test_a_flush_deletes_all_keys_or_none():
    """FLUSHDB and DEL of large collections, killed at a random moment, never delete only a part of the keys."""
    rng = random.Random(f"{SEED}/flush")
    keys = 2000
    with Server(appendfsync="always") as server:
        for attempt in range(KILLS):
            connection = Connection(server.host, server.port)
            connection.call(b"FLUSHALL")
            members = [b"%d" % i for i in range(1000)]
            connection.pipeline([[b"SET", b"k%d" % i, b"v"] for i in range(keys - 1)])
            connection.pipeline([[b"SADD", b"large", *members]])
            mark = connection.send_batch(b"FLUSHDB\r\n" if attempt % 2 else b"DEL large\r\n")
            pause(rng, 0, 0.003)
            server.kill9()
            try:
                connection.read_batch(mark)
                done = True
            except OSError:
                done = False
            connection.close()
            server.start()
            connection = Connection(server.host, server.port)
            counted, large = connection.call(b"DBSIZE")[1], connection.call(b"SCARD", b"large")[1]
            connection.close()
            after = (0, 0) if attempt % 2 else (keys - 1, 0)
            assert (counted, large) == after or (not done and (counted, large) == (keys, 1000))


def test_keys_expire_while_the_server_is_down():
    """A key that expires while the server is down does not exist after the start, read or not; other keys keep their
    expiry."""
    with Server(appendfsync="always") as server:
        client = server.client()
        for i in range(50):
            client.set(f"short:{i}", "v", px=300)
            client.set(f"long:{i}", "v", ex=1000)
        server.kill9()
        let_pass(300)
        client = server.start().client()
        assert client.get("short:0") is None
        assert all(990 < client.ttl(f"long:{i}") <= 1000 for i in range(50))
        wait_until(lambda: client.dbsize() == 50, "the end of the short-lived keys")
