# SPDX-License-Identifier: BSD-3-Clause
"""LMOVEM and BLMOVEM of Redis 8.10, which neither redis-server 7.0 nor Valkey has: compared with a model, on replicas
of Redis 7.0, blocked, and with a large count."""

import random
import threading

import pytest
from harness import SANITIZER, Server
from pairs import assert_same, follow, start
from waiting import assert_stays, wait_for_blocked

SIDES = ("LEFT", "RIGHT")


class Model:
    """Lists and the moves between them, as documented for Redis 8.10."""

    def __init__(self):
        self.lists = {}

    def move(self, source, destination, sides, count, exact, order):
        """Moves elements and returns the reply."""
        items = self.lists.get(source, [])
        if not items or exact and len(items) < count:
            return None
        count = min(count, len(items))
        if sides[0] == "LEFT":
            moved, self.lists[source] = items[:count], items[count:]
        else:
            moved, self.lists[source] = items[len(items) - count:], items[:len(items) - count]
        if order == "OBO" and sides[0] == sides[1]:
            moved.reverse()
        target = self.lists.get(destination, [])
        self.lists[destination] = moved + target if sides[1] == "LEFT" else target + moved
        return moved


def wait_for(server, *command):
    """Runs a blocking command in a thread; returns the thread and the list that gets its reply."""
    replies = []
    client = server.client(socket_timeout=60)
    thread = threading.Thread(target=lambda: replies.append(client.execute_command(*command)), daemon=True)
    thread.start()
    return thread, replies


def result(waiter):
    """The reply of a blocked command."""
    thread, replies = waiter
    thread.join(30)
    assert replies, "still waiting"
    return replies[0]


@pytest.mark.parametrize("replica_kind", ["redis", "cairn"])
def test_random_moves_equal_a_model_also_on_a_replica(replica_kind):
    """Replicas get the same lists in the same state of expiry, whatever their size and encoding."""
    rng = random.Random(97)
    model, names = Model(), ("a", "b", "c")
    with start("cairn") as primary, start(replica_kind) as replica:
        follow(replica, primary)
        client = primary.client(decode_responses=True)
        for step in range(500):
            if step % 10 == 0:
                name = rng.choice(names)
                items = [f"{step}:{i}" if i % 2 else str(step * i) for i in range(rng.choice((1, 5, 300, 3000)))]
                model.lists[name] = model.lists.get(name, []) + items
                client.rpush(name, *items)
                client.expire(name, 10000)
            source, destination = rng.choice(names), rng.choice(names)
            sides, count = rng.choices(SIDES, k=2), rng.choice((1, 2, 7, 200, 2500, 10**9))
            exact, order = rng.random() < 0.3, rng.choice(("OBO", "BULK"))
            words = ["LMOVEM", source, destination, *sides, "EXACTLY" if exact else "COUNT", count, order]
            assert client.execute_command(*words) == model.move(source, destination, sides, count, exact, order), words
        for name in names:
            assert client.lrange(name, 0, -1) == model.lists.get(name, [])
        assert_same(primary, replica)
        for name in names:
            assert client.ttl(name) == pytest.approx(replica.client().ttl(name), abs=30)


def test_a_list_that_is_reversed_keeps_its_expiry():
    """The list is not empty at any moment, so the key stays."""
    with start("cairn") as primary, start("redis") as replica:
        follow(replica, primary)
        client = primary.client()
        client.rpush("k", *range(1000))
        client.expire("k", 1000)
        assert client.execute_command("LMOVEM", "k", "k", "LEFT", "LEFT", "COUNT", 5000, "OBO")[0] == b"999"
        assert client.execute_command("LMOVEM", "k", "k", "RIGHT", "LEFT", "COUNT", 5000, "BULK")[0] == b"999"
        assert_same(primary, replica)
        assert client.ttl("k") > 900 and replica.client().ttl("k") > 900


def test_events_are_those_of_lmove(r):
    """A push to the destination, then a pop from the source, and `del` when it is empty."""
    r.config_set("notify-keyspace-events", "KEA")
    with r.pubsub() as listener:
        listener.psubscribe("__keyevent@0__:*")
        assert listener.get_message(timeout=10)["type"] == "psubscribe"
        r.rpush("l", "a", "b", "c")
        r.execute_command("LMOVEM", "l", "m", "RIGHT", "LEFT", "COUNT", 2, "BULK")
        r.execute_command("LMOVEM", "l", "m", "LEFT", "RIGHT", "COUNT", 2, "BULK")
        heard = [listener.get_message(timeout=10) for _ in range(6)]
    events = [(message["channel"].split(b":")[1].decode(), message["data"].decode()) for message in heard]
    assert events == [("rpush", "l"), ("lpush", "m"), ("rpop", "l"), ("rpush", "m"), ("lpop", "l"), ("del", "l")]
    r.config_set("notify-keyspace-events", "")


def test_count_blocks_only_while_the_source_is_empty(server, r):
    waiter = wait_for(server, "BLMOVEM", "l", "m", "LEFT", "RIGHT", 0, "COUNT", 5, "BULK")
    wait_for_blocked(server)
    r.rpush("l", "a", "b")
    assert result(waiter) == [b"a", b"b"]
    assert r.lrange("m", 0, -1) == [b"a", b"b"] and not r.exists("l")


@pytest.mark.parametrize("grow", [
    ("RPUSH", "l", "c"),
    ("LINSERT", "l", "BEFORE", "a", "c"),
    ("LMOVE", "other", "l", "LEFT", "RIGHT"),
    ("LMOVEM", "other", "l", "LEFT", "RIGHT", "COUNT", "9", "OBO"),
    ("SORT", "three", "ALPHA", "STORE", "l"),
    ("RENAME", "three", "l"),
])
def test_exactly_blocks_until_there_are_enough(server, r, grow):
    """Every way to get more elements wakes the client, and too few of them are left alone."""
    r.rpush("l", "a")
    r.rpush("other", "c")
    r.rpush("three", "a", "b", "c")
    waiter = wait_for(server, "BLMOVEM", "l", "m", "LEFT", "RIGHT", 0, "EXACTLY", 3, "BULK")
    wait_for_blocked(server)
    r.rpush("l", "b")
    assert_stays(lambda: not waiter[1], 0.1, "the wait")
    assert r.llen("l") == 2 and not r.exists("m")
    r.execute_command(*grow)
    assert sorted(result(waiter)) == [b"a", b"b", b"c"]
    assert r.llen("m") == 3 and not r.exists("l")


def test_a_client_that_needs_more_lets_the_next_one_go_first(server, r):
    """The one that waits for three elements takes none of the two that serve the other."""
    many = wait_for(server, "BLMOVEM", "l", "m", "LEFT", "RIGHT", 0, "EXACTLY", 3, "BULK")
    wait_for_blocked(server)
    one = wait_for(server, "BLPOP", "l", 0)
    wait_for_blocked(server, 2)
    r.rpush("l", "a", "b")
    assert result(one) == (b"l", b"a")
    r.rpush("l", "c", "d")
    assert result(many) == [b"b", b"c", b"d"]


def test_a_moved_element_serves_the_next_blocked_client(server, r):
    last = wait_for(server, "BLPOP", "m", 0)
    wait_for_blocked(server)
    first = wait_for(server, "BLMOVEM", "l", "m", "LEFT", "RIGHT", 0, "EXACTLY", 2, "BULK")
    wait_for_blocked(server, 2)
    r.rpush("l", "a", "b")
    assert result(first) == [b"a", b"b"]
    assert result(last) == (b"m", b"a")


def test_a_wait_ends_with_null(server, r):
    """After the timeout, in a transaction and in a script."""
    r.rpush("l", "a")
    words = ("BLMOVEM", "l", "m", "LEFT", "RIGHT", "0.05", "EXACTLY", 2, "BULK")
    assert r.execute_command(*words) is None
    pipe = r.pipeline(transaction=True)
    pipe.execute_command(*words)
    assert pipe.execute() == [None]
    assert r.eval("return redis.call('blmovem', 'l', 'm', 'left', 'right', 0, 'exactly', 2, 'bulk')", 0) is None
    assert r.lrange("l", 0, -1) == [b"a"]


@pytest.mark.slow
@pytest.mark.parametrize("sides,order", [(("LEFT", "RIGHT"), "OBO"), (("LEFT", "LEFT"), "BULK"),
                                         (("RIGHT", "RIGHT"), "OBO")])
def test_a_large_count_needs_little_more_memory_than_its_reply(sides, order):
    """Moving 24 MB: the reply, the transaction's rows, its batch and a memtable are held, but not the elements."""
    element, count = "x" * 1000, 24_000
    with Server(memory_budget="256mb", maxmemory_clients="0") as server:
        client = server.client(socket_timeout=300)
        for first in range(0, count, 1000):
            client.rpush("l", *[f"{first + i:06}{element}" for i in range(1000)])
        client.rpush("l", "last")
        before = server.resident_bytes()
        peak, done = [before], threading.Event()

        def watch():
            while not done.wait(0.01):
                peak.append(server.resident_bytes())

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            moved = client.execute_command("LMOVEM", "l", "m", *sides, "COUNT", count, order)
        finally:
            done.set()
            watcher.join()
        assert len(moved) == count and client.llen("m") == count and client.llen("l") == 1
        assert client.lindex("m", 0) == moved[0] and client.lindex("m", -1) == moved[-1]
        assert SANITIZER or max(peak) - before < 6.5 * count * len(element)
