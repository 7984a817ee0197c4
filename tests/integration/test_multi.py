# SPDX-License-Identifier: BSD-3-Clause
"""MULTI, EXEC, DISCARD, WATCH, UNWATCH: a queue runs as one transaction, or not at all."""

import pytest

from harness import Server
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


def test_replies_to_a_queue_equal_redis(pair):
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


def test_errors_equal_redis(pair):
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
    ("set k 1", "incr k"), ("rpush k a", "lpop k"), ("rpush k a", "ltrim k 0 -1"), ("set k 1", "del k"),
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


@pytest.mark.parametrize("change, counts", [
    ("xreadgroup group g b count 1 streams s >", False), ("xack s g 1-0", False), ("xclaim s g b 0 1-0", False),
    ("xautoclaim s g b 0 0", False), ("xgroup createconsumer s g c", False), ("xgroup delconsumer s g a", False),
    ("xgroup setid s g 0", False), ("xadd s 9-0 f v", True), ("xdel s 1-0", True), ("xtrim s maxlen 1", True)])
def test_the_work_of_consumers_is_no_change_of_a_watched_stream(connect, change, counts):
    watcher, other = connect(), connect()
    for command in ("del s", "xadd s 1-0 f v", "xadd s 2-0 f v", "xgroup create s g 0",
                    "xreadgroup group g a count 1 streams s >"):
        other(*command.split())
    watcher("watch", "s")
    assert other(*change.split())[0] != b"-"
    watcher("multi")
    watcher("ping")
    assert watcher("exec") == (b"*", None if counts else [(b"+", b"PONG")])


# Deadlines of fields are stored beside the fields of a large hash.
def test_a_deadline_of_a_field_is_a_change_of_a_watched_hash(connect):
    watcher, other = connect(), connect()
    other("del", "h")
    for i in range(3):
        other("hset", "h", f"f{i}", "v" * 60000)
    other("hexpire", "h", 1000, "fields", 2, "f0", "f1")
    watcher("watch", "h")
    assert other("hexpire", "h", 2000, "fields", 1, "f1") == (b"*", [(b":", b"1")])
    watcher("multi")
    watcher("ping")
    assert watcher("exec") == (b"*", None)


# A missing or expired key has changed if it exists after a change; a deletion of it is no change.
@pytest.mark.parametrize("before", [["del k"], ["debug set-active-expire 0", "psetex k 1 old", "debug sleep 0.002"]])
@pytest.mark.parametrize("changes, counts", [
    (["flushall"], False), (["flushdb"], False), (["swapdb 0 1"], False), (["exists k"], False), (["del k"], False),
    (["flushall", "set k 1"], True), (["swapdb 0 1", "set k 1"], True), (["set k 1", "del k"], True),
    (["select 1", "set k 1", "swapdb 0 1"], True)])
def test_a_watched_missing_key(server, connect, before, changes, counts):
    watcher, other = connect(), connect()
    for command in ("flushall", *before):
        other(*command.split())
    watcher("watch", "k")
    for command in changes:
        other(*command.split())
    watcher("multi")
    watcher("ping")
    assert watcher("exec") == (b"*", None if counts else [(b"+", b"PONG")])
    other("debug", "set-active-expire", "1")


def test_an_exec_that_is_refused_ends_the_transaction(connect):
    client, admin = connect(), connect()
    client("multi")
    client("set", "k", 1)
    admin("config", "set", "min-replicas-to-write", 1)
    refusal = client("exec")
    admin("config", "set", "min-replicas-to-write", 0)
    why = b"NOREPLICAS Not enough good replicas to write."
    assert refusal == (b"-", b"EXECABORT Transaction discarded because of: " + why)
    assert client("set", "k", 2) == (b"+", b"OK")


def test_queued_commands_are_counted_when_they_run(connect):
    client = connect()
    for command in ("config resetstat", "config set slowlog-log-slower-than 0", "slowlog reset", "multi", "set k v"):
        client(*command.split())
    assert b"cmdstat_set:" not in connect()("info", "commandstats")[1]
    client("exec")
    client("config", "set", "slowlog-log-slower-than", 10000)
    assert b"cmdstat_set:calls=1," in client("info", "commandstats")[1]
    words = [[word for _, word in entry[3][1]] for _, entry in client("slowlog", "get", -1)[1]]
    assert [b"set", b"k", b"v"] in words and [b"exec"] not in words


@pytest.mark.parametrize("forget", [["unwatch"], ["multi", "discard"], ["multi", "exec"], ["reset"]])
def test_a_watch_ends_with_the_queue_or_earlier(connect, forget):
    watcher, other = connect(), connect()
    watcher("watch", "k")
    other("incr", "k")
    for command in forget:
        watcher(command)
    watcher("multi")
    watcher("set", "mark", 1)
    assert watcher("exec") == (b"*", [(b"+", b"OK")])


def test_a_clients_own_change_counts_too(pair):
    pair.lines("""
        watch k
        set k 1
        multi
        set mark 1
        exec
        exists mark
    """)


def test_other_clients_see_all_of_it_or_nothing(connect):
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


# Commands of one packet run in one tick, before the notifications of the tick's changes.
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
def test_a_write_before_watch_is_no_change(connect, in_one_packet):
    client = connect()
    before = [("set", "watched", "first"), ("watch", "watched")]
    queue = [("multi",), ("set", "watched", "last"), ("exec",)]
    for packet in [before + queue] if in_one_packet else [before, queue]:
        client.send_together(*packet)
        replies = [client.read() for _ in packet]
    assert replies[-1] == (b"*", [(b"+", b"OK")])


@pytest.mark.parametrize("words, reply", [
    (("client", "tracking", "on", "bcast", "prefix", "foo"), (b"+", b"OK")),
    (("acl", "setuser", "once", "<old", ">new"), (b"+", b"OK")),
    (("acl", "deluser", "twice"), (b":", b"1")),
])
def test_commands_without_data_run_once_although_a_key_is_on_the_disk(words, reply):
    """What they do is not undone by a second run of EXEC."""
    with Server(memory_budget="64mb") as server:
        with RawClient(server.port) as client:
            client("set", "cold", "v")
        server.restart()
        with RawClient(server.port) as client:
            client("acl", "setuser", "once", ">old")
            client("acl", "setuser", "twice", ">old")
            client("multi")
            client(*words)
            client("get", "cold")
            assert client("exec") == (b"*", [reply, (b"$", b"v")])


def test_a_subscription_survives_a_second_run(server):
    """PUBLISH to the own connection waits for the commit, so EXEC runs again."""
    with RawClient(server.port) as client, RawClient(server.port) as other:
        other("subscribe", "b")
        client("multi")
        client("subscribe", "a")
        client("publish", "b", "message")
        client("subscribe", "b")
        kind, replies = client("exec")
        assert kind == b"*" and [reply[0] for reply in replies] == [b"*", b":", b"*"], replies
        assert other.read() == (b"*", [(b"$", b"message"), (b"$", b"b"), (b"$", b"message")])
