# SPDX-License-Identifier: BSD-3-Clause
"""Values of many megabytes: the memory that one command takes, and many at once, beside the value itself.

While a value is written it is in memory twice at most: in the request and in the transaction, in the transaction and in
RocksDB's batch, in the batch and in a memtable. Peaks are those of the process's resident memory.
"""

import os
import threading

import pytest
from harness import Server
from pairs import follow, wait_for_offset
from raw_client import RawClient

MB = 1 << 20
SIZE = 100 * MB
TWICE = int(2.3 * SIZE)

LARGE = os.urandom(3 * MB)
OTHER = os.urandom(2 * MB)


def grown(server, *words):
    """Runs a command; returns its reply and how far it raised the resident memory."""
    before = server.begin_peak()
    with RawClient(server.port) as client:
        reply = client(*words)
    return reply, server.peak_bytes() - before


@pytest.mark.slow
@pytest.mark.measures("memory")
@pytest.mark.parametrize("options", [(), ("EX", "1000"), ("NX",)], ids=["plain", "with an expiry", "if missing"])
def test_a_large_value_is_in_memory_twice_at_most(options):
    """A new value, one that replaces another as large, and a read."""
    value = os.urandom(MB) * (SIZE // MB)
    with Server(memory_budget="1gb", maxmemory_clients=0) as server:
        reply, added = grown(server, "SET", "k", value, *options)
        assert reply == (b"+", b"OK")
        assert added < TWICE
        reply, added = grown(server, "GET", "k")
        assert reply == (b"$", value)
        assert added < TWICE
        if "NX" not in options:
            assert grown(server, "SET", "k", value, *options)[1] < TWICE


@pytest.mark.slow
@pytest.mark.measures("memory")
def test_many_large_values_at_once_do_not_multiply_their_memory():
    """Eight clients send a value each that is most of the memtables' share: the requests take their memory, and the
    commits that of a few values."""
    size, clients = 25 * MB, 8
    value = os.urandom(MB) * (size // MB)
    replies = []
    with Server(memory_budget="256mb", maxmemory_clients=0) as server:

        def write(name):
            with RawClient(server.port) as client:
                replies.append(client("SET", name, value))

        before = server.begin_peak()
        writers = [threading.Thread(target=write, args=(f"k{i}",)) for i in range(clients)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert replies == [(b"+", b"OK")] * clients
        assert server.peak_bytes() - before < (clients + 5) * size
        with server.client() as client:
            assert all(client.get(f"k{i}") == value for i in range(clients))


def fill(client):
    """Writes large values in all ways: alone, several in one command, in EXEC, and by scripts."""
    assert client("SET", "plain", LARGE) == (b"+", b"OK")
    assert client("MSET", "small", "1", "first", LARGE, "second", OTHER) == (b"+", b"OK")
    client("MULTI")
    client("SET", "queued", LARGE)
    client("APPEND", "log", "x")
    client("SET", "queued too", OTHER)
    client("EXEC")
    client("EVAL", "redis.call('SET', KEYS[1], ARGV[1] .. 'end') return redis.call('STRLEN', KEYS[1])", "1",
           "scripted", LARGE)
    client("HSET", "hash", "small", "1", "large", LARGE)
    client("COPY", "plain", "copied")
    client("EXPIRE", "copied", "1000")
    client("GETSET", "second", LARGE)


def is_filled(client):
    """Asserts that all values of `fill` are there."""
    for key, value in [("plain", LARGE), ("small", b"1"), ("first", LARGE), ("second", LARGE), ("queued", LARGE),
                       ("log", b"x"), ("queued too", OTHER), ("scripted", LARGE + b"end"), ("copied", LARGE)]:
        assert client("GET", key) == (b"$", value), key
    assert client("HGET", "hash", "large") == (b"$", LARGE)
    return True


@pytest.mark.slow
def test_large_values_survive_a_kill_and_reach_replicas():
    with Server() as primary, Server() as replica:
        follow(replica, primary)
        with RawClient(primary.port) as client:
            fill(client)
            assert is_filled(client)
        wait_for_offset(primary, replica)
        with RawClient(replica.port) as client:
            assert is_filled(client)
        primary.kill9()
        primary.start()
        with RawClient(primary.port) as client:
            assert is_filled(client)


def test_large_values_in_a_database_in_memory():
    with Server(database="0 storage-mode memory", memory_budget="1gb") as server, RawClient(server.port) as client:
        fill(client)
        assert is_filled(client)


def test_logs_show_the_arguments_of_a_large_write():
    """The server frees a request's large values before the commit, but not what it still shows of them."""
    key = b"key " + LARGE[:MB]
    with Server(slowlog_log_slower_than=0) as server, RawClient(server.port) as client, \
            RawClient(server.port) as monitor:
        monitor("MONITOR")
        client("SET", key, b"x" * MB + b"the end")
        entry = client("SLOWLOG", "GET", "1")[1][0][1][3][1]
        assert entry[2][1].startswith(b"x" * 100)
        assert entry[2][1].endswith(b" more bytes)")
        assert monitor.read()[1].endswith(b'the end"')
        assert client("GET", key) == (b"$", b"x" * MB + b"the end")


def test_writes_before_and_after_a_large_one_keep_their_order():
    """The requests of a pipeline run in order, though a large write runs on another thread."""
    with Server() as server, RawClient(server.port) as client:
        for i in range(20):
            client.send("APPEND", "k", str(i % 10))
            client.send("SET", f"large {i}", LARGE)
            client.send("GET", "k")
        for i in range(20):
            assert client.read() == (b":", b"%d" % (i + 1))
            assert client.read() == (b"+", b"OK")
            assert client.read() == (b"$", b"0123456789" * 2 if i == 19 else (b"0123456789" * 2)[:i + 1])
