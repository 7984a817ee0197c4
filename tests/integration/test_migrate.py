# SPDX-License-Identifier: BSD-3-Clause
"""MIGRATE transfers keys from one server to another, between Cairns and to and from redis-server."""

import socket
import threading

import pytest
import redis

from harness import Server, free_port

FILL = """
set string text
rpush list a b c
sadd set a 1
hset hash f v
zadd zset 1 a 2.5 b
xadd stream 1-1 f v
"""


@pytest.fixture(scope="module")
def module_target():
    """The process behind `target`."""
    with Server() as server:
        yield server


@pytest.fixture(params=["cairn to cairn", "cairn to redis", "redis to cairn"])
def ends(request, server, module_target, redis_server):
    """(source, its client, target, its client), both empty."""
    module_target.client().flushall()
    source, target = {
        "cairn to cairn": (server, module_target),
        "cairn to redis": (server, redis_server),
        "redis to cairn": (redis_server, server),
    }[request.param]
    return source, source.client(), target, target.client()


def fill(client):
    """Creates a key of each type; returns their names."""
    for line in FILL.split("\n"):
        if line:
            client.execute_command(*line.split())
    return sorted(client.keys())


def digest(client, key):
    """A digest that distinguishes two values."""
    return client.execute_command("debug", "digest-value", key)


def test_every_type_is_transferred_completely(ends):
    _, ours, target, theirs = ends
    keys = fill(ours)
    before = {key: digest(ours, key) for key in keys}
    for key in keys:
        assert ours.migrate("127.0.0.1", target.port, key, 0, 5000) == b"OK"
    assert ours.dbsize() == 0
    assert {key: digest(theirs, key) for key in theirs.keys()} == before


def test_many_keys_are_transferred_and_missing_ones_ignored(ends):
    _, ours, target, theirs = ends
    keys = fill(ours)
    assert ours.migrate("127.0.0.1", target.port, [*keys[:4], "nokey"], 0, 5000) == b"OK"
    assert sorted(theirs.keys()) == keys[:4]
    assert sorted(ours.keys()) == keys[4:]
    assert ours.migrate("127.0.0.1", target.port, ["nokey", "nor this"], 0, 5000) == b"NOKEY"


def test_copy_keeps_and_replace_overwrites(ends):
    _, ours, target, theirs = ends
    ours.set("key", "new")
    assert ours.migrate("127.0.0.1", target.port, "key", 0, 5000, copy=True) == b"OK"
    assert ours.get("key") == theirs.get("key") == b"new"
    theirs.rpush("list", "old")
    ours.rpush("list", "new")
    with pytest.raises(redis.ResponseError) as refused:
        ours.migrate("127.0.0.1", target.port, ["list", "key"], 0, 5000)
    assert str(refused.value) == (
        "Target instance replied with error: BUSYKEY Target key name already exists."
    )
    assert ours.get("key") == b"new"
    assert ours.migrate("127.0.0.1", target.port, ["list", "key"], 0, 5000, replace=True) == b"OK"
    assert theirs.lrange("list", 0, -1) == [b"new"]
    assert ours.dbsize() == 0


@pytest.mark.parametrize("timeout_ms", [1 << 32, (1 << 63) - 1])
def test_a_timeout_may_be_of_any_length(server, r, module_target, timeout_ms):
    """Such times are beyond the range of poll(), or of microseconds in 64 bits."""
    module_target.client().flushall()
    r.set("key", "value")
    assert r.migrate("127.0.0.1", module_target.port, "key", 0, timeout_ms) == b"OK"
    assert module_target.client().get("key") == b"value"


def test_the_expiry_and_the_database_are_transferred(ends):
    _, ours, target, theirs = ends
    ours.set("key", "value", px=50000)
    assert ours.migrate("127.0.0.1", target.port, "key", 3, 5000) == b"OK"
    assert theirs.dbsize() == 0
    other = target.client(db=3)
    assert 40000 < other.pttl("key") <= 50000
    ours.set("key", "value")
    with pytest.raises(redis.ResponseError) as refused:
        ours.migrate("127.0.0.1", target.port, "key", 99, 5000)
    assert str(refused.value) == "Target instance replied with error: ERR DB index is out of range"
    assert ours.get("key") == b"value"


def test_keys_that_arrived_before_an_error_are_deleted_at_the_source(ends):
    _, ours, target, theirs = ends
    for key in ("a", "b", "c"):
        ours.set(key, "new")
    theirs.set("b", "old")
    with pytest.raises(redis.ResponseError, match="BUSYKEY"):
        ours.migrate("127.0.0.1", target.port, ["a", "b", "c"], 0, 5000)
    assert ours.keys() == [b"b"]
    assert theirs.get("a") == theirs.get("c") == b"new" and theirs.get("b") == b"old"


def test_passwords_are_passed_on(server):
    ours = server.client()
    with Server(requirepass="secret") as target:
        ours.set("a", 1)
        ours.set("b", 1)
        with pytest.raises(redis.ResponseError, match="error: NOAUTH Authentication required."):
            ours.migrate("127.0.0.1", target.port, "a", 0, 5000)
        with pytest.raises(redis.ResponseError, match="error: WRONGPASS"):
            ours.migrate("127.0.0.1", target.port, "a", 0, 5000, auth="wrong")
        assert ours.migrate("127.0.0.1", target.port, "a", 0, 5000, auth="secret") == b"OK"
        words = ["127.0.0.1", target.port, "", 0, 5000, "auth2", "default", "secret", "keys", "b"]
        assert ours.execute_command("migrate", *words) == b"OK"
        assert target.client(password="secret").dbsize() == 2
    ours.config_set("slowlog-log-slower-than", 0)
    ours.set("c", 1)
    with pytest.raises(redis.ResponseError, match="IOERR"):
        ours.migrate("127.0.0.1", free_port(), "c", 0, 100, auth="secret")
    ours.config_set("slowlog-log-slower-than", -1)
    assert not any(b"secret" in entry["command"] for entry in ours.slowlog_get(10))


@pytest.mark.parametrize("line", """
migrate
migrate 127.0.0.1 PORT key 0
migrate 127.0.0.1 PORT key x 100
migrate 127.0.0.1 PORT key 0 x
migrate 127.0.0.1 PORT key 0 100 other
migrate 127.0.0.1 PORT key 0 100 auth
migrate 127.0.0.1 PORT key 0 100 auth2 x
migrate 127.0.0.1 PORT key 0 100 keys a b
migrate 127.0.0.1 PORT key 0 100 copy replace copy
migrate 127.0.0.1 PORT nokey x 100
migrate 127.0.0.1 PORT nokey 0 100
migrate 127.0.0.1 PORT nokey 99 0 replace
""".strip().split("\n"))
def test_replies_are_those_of_redis(pair, line):
    pair("set", "key", "value")
    pair(*line.replace("PORT", str(free_port())).split())
    pair("exists", "key")


def test_command_info_and_keys_are_those_of_redis(pair):
    pair("command", "info", "migrate")
    for rest in ("key 0 10", "'' 0 10 keys a b", "key 0 10 copy keys a", "'' 0 10 auth keys keys a"):
        words = ["" if word == "''" else word for word in rest.split()]
        pair("command", "getkeys", "migrate", "host", "1", *words)


def test_a_silent_target_times_out_and_delays_no_other_client(server):
    ours, other = server.client(), server.client()
    ours.set("key", "value")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        errors = []

        def migrate():
            try:
                ours.migrate("127.0.0.1", port, "key", 0, 1000)
            except redis.ResponseError as error:
                errors.append(str(error))

        thread = threading.Thread(target=migrate)
        thread.start()
        taken = silent.accept()[0]
        for i in range(50):
            other.set(f"other:{i}", i)
        assert not errors
        thread.join()
        taken.close()
    assert errors == ["IOERR error or timeout reading to target instance"] or errors == [
        "error or timeout reading to target instance"
    ]
    assert other.get("key") == b"value"


def test_a_migrate_in_a_transaction(ends):
    _, ours, target, theirs = ends
    ours.set("key", "value")
    pipe = ours.pipeline(transaction=True)
    pipe.set("key", "changed")
    pipe.execute_command("migrate", "127.0.0.1", target.port, "key", 0, 5000)
    pipe.exists("key")
    assert pipe.execute() == [True, b"OK", 0]
    assert theirs.get("key") == b"changed"
