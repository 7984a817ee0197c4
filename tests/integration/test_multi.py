# SPDX-License-Identifier: BSD-3-Clause
"""MULTI, EXEC, DISCARD, WATCH, UNWATCH: a queue that runs as one, or not at all."""

import pytest

from raw_client import RawClient


@pytest.fixture
def connect(server):
    """Opens connections to the server; they are closed after the test."""
    clients = []

    def open_client():
        clients.append(RawClient(server.port))
        return clients[-1]
    yield open_client
    for client in clients:
        client.close()


def test_a_queue_answers_as_in_redis(pair):
    pair.lines("""
        set s text
        multi
        incr n
        lpush l a b
        lpush s x
        hset h f v
        blpop nokey 0
        blmove nokey l left left 0
        blmpop 0 1 nokey left
        lmpop 1 l left count 5
        bzpopmin nokey 0
        bzpopmax nokey 0
        bzmpop 0 1 nokey min
        select 3
        set there 1
        get s
        exec
        get n
        exists there
    """)


def test_mistakes_are_told_as_in_redis(pair):
    pair.lines("""
        exec
        discard
        multi
        multi
        watch k
        nosuch x
        set k v
        exec
        get k
        multi
        get
        set k v
        exec
        exists k
        multi
        set k v
        discard
        exists k
        multi
        exec
        unwatch
        unwatch x
        multi x
    """)


@pytest.mark.parametrize("before, change", [
    ("set k 1", "incr k"), ("rpush k a", "lpop k"), ("set k 1", "del k"),
    ("set k 1", "expire k 100"), ("del k", "set k 1"), ("set k 1", "flushdb"),
    ("set k 1", "rename k k2"), ("hset k f v", "hincrby k n 1"), ("set k 1", "swapdb 0 1")])
def test_a_change_of_a_watched_key_stops_the_queue(connect, before, change):
    watcher, other = connect(), connect()
    other(*before.split())
    watcher("watch", "unrelated", "k")
    other(*change.split())
    watcher("multi")
    watcher("set", "mark", 1)
    assert watcher("exec") == (b"*", None)
    assert other("exists", "mark") == (b":", b"0")


@pytest.mark.parametrize("forget", [["unwatch"], ["multi", "discard"], ["multi", "exec"], ["reset"]])
def test_a_watch_ends_with_the_queue_or_before(connect, forget):
    watcher, other = connect(), connect()
    watcher("watch", "k")
    other("incr", "k")
    for command in forget:
        watcher(command)
    watcher("multi")
    watcher("set", "mark", 1)
    assert watcher("exec") == (b"*", [(b"+", b"OK")])


def test_one_s_own_change_counts_too(pair):
    pair.lines("""
        watch k
        set k 1
        multi
        set mark 1
        exec
        exists mark
    """)


def test_nobody_sees_half_of_it(connect):
    writer, reader = connect(), connect()
    writer("mset", "a", 0, "b", 0)
    for _ in range(300):
        for word in ("multi", "incr a", "incr b", "exec"):
            writer.send(*word.split())
        reader.send("mget", "a", "b")
        seen = [content for _, content in reader.read()[1]]
        assert seen[0] == seen[1]
        for _ in range(4):
            writer.read()


# Commands of one packet meet in one tick, before anybody has been told of what the tick has changed.
@pytest.mark.parametrize("change", [
    ("set", "watched", "changed"),
    ("eval", "return redis.call('set', ARGV[1], 'changed')", 0, "watched"),
    ("eval", "return redis.call('set', KEYS[1], 'changed')", 1, "watched"),
    ("flushall",),
])
def test_a_change_in_the_same_packet_counts_as_well(connect, change):
    client = connect()
    client("set", "watched", "first")
    commands = [("watch", "watched"), change, ("multi",), ("set", "watched", "last"), ("exec",)]
    client.send_together(*commands)
    assert [client.read() for _ in commands][-1] == (b"*", None)


@pytest.mark.parametrize("in_one_packet", [True, False])
def test_what_was_written_before_watch_is_no_change(connect, in_one_packet):
    client = connect()
    before = [("set", "watched", "first"), ("watch", "watched")]
    queue = [("multi",), ("set", "watched", "last"), ("exec",)]
    for packet in [before + queue] if in_one_packet else [before, queue]:
        client.send_together(*packet)
        replies = [client.read() for _ in packet]
    assert replies[-1] == (b"*", [(b"+", b"OK")])
