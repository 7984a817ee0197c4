# SPDX-License-Identifier: BSD-3-Clause
"""Expiry of keys compared with redis-server and with the clock."""

import time

import pytest
import redis
from waiting import let_pass, wait_until

ARGUMENTS = """
set k v
expire k x
expire k 1.5
expire k 10 foo
expire k x foo
expire k 10 nx xx
expire k 10 nx gt
expire k 10 lt nx
expire k 10 gt lt
expire k 10 nx gt lt
expire k 10 xx gt
expire k 9223372036854775807
expire k 9223372036854776
expire k -9223372036854776
pexpire k 9223372036854775807
expireat k 9223372036854776
expireat nokey 9223372036854776
expire nokey x
expire nokey 10
pexpire nokey 10 gt
ttl nokey
pttl nokey
expiretime nokey
pexpiretime nokey
persist nokey
ttl k
pttl k
expiretime k
pexpiretime k
persist k
pexpireat k 9999999999999
pexpiretime k
expiretime k
pexpireat k 9999999999499
expiretime k
pexpireat k 9999999999500
expiretime k
pexpireat k 9223372036854775807
pexpiretime k
expiretime k
persist k
pexpiretime k
expireat k 9223372036854775
pexpiretime k
expireat k 9999999999 nx
expireat k 9999999999 gt
expireat k 9999999999 lt
expiretime k
expireat k 9999999998 gt
expireat k 9999999999 gt
expireat k 9999999999 lt
expireat k 10000000000 gt
expireat k 9999999999 xx
expiretime k
persist k
expireat k 9999999999 xx
expireat k 9999999999 gt
expireat k 9999999999 xx gt
expireat k 9999999999 xx lt
expireat k 9999999999 lt
expiretime k
expireat k 9999999990 lt xx
expiretime k
expire k 0
exists k
set k v
pexpire k -1
exists k
set k v
expireat k 1
exists k
set k v
pexpireat k -9223372036854775808
exists k
set k v
expire k -1 gt
exists k
expire k -1 xx
exists k
expire k -1 lt
exists k
"""


def test_arguments_and_conditions(pair):
    pair.lines(ARGUMENTS)


@pytest.mark.parametrize("name", ["list", "hash", "set", "zset", "spread"])
def test_every_type_can_expire(r, name):
    fill = {"list": lambda: r.rpush("k", 1), "hash": lambda: r.hset("k", "f", 1),
            "set": lambda: r.sadd("k", 1), "zset": lambda: r.zadd("k", {"m": 1}),
            "spread": lambda: r.sadd("k", *range(2000))}[name]
    fill()
    r.pexpire("k", 80)
    assert r.exists("k") == 1
    let_pass(80)
    assert r.exists("k") == 0
    assert r.type("k") == b"none"
    assert r.ttl("k") == -2
    fill()  # the old value must not show through
    assert r.ttl("k") == -1


def test_a_key_exists_until_its_deadline_and_not_after(r):
    for _ in range(5):
        now_ms = int(time.time() * 1000)
        r.set("k", "v", pxat=now_ms + 60)
        seen = []
        while time.time() * 1000 < now_ms + 120:
            before = time.time() * 1000
            value = r.get("k")
            after = time.time() * 1000
            seen.append((before, value, after))
        assert all(value == b"v" for _, value, after in seen if after < now_ms + 60)
        assert all(value is None for before, value, _ in seen if before > now_ms + 61)


def test_debug_object_shows_an_expired_key(r):
    """It neither hides nor deletes an expired key, so a test sees whether another command has deleted it."""
    r.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    r.set("short", "v", px=1)
    let_pass(50)
    for _ in range(2):
        assert "encoding" in r.debug_object("short")
    assert r.get("short") is None
    with pytest.raises(redis.ResponseError, match="no such key"):
        r.debug_object("short")
    r.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 1)


@pytest.mark.parametrize("words", [("SCAN", 0), ("RANDOMKEY",)], ids=lambda words: words[0])
def test_a_walk_over_names_deletes_expired_keys(r, words):
    """SCAN and RANDOMKEY delete expired keys that they pass, so that DBSIZE counts them no longer, as in Redis."""
    r.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    for number in range(20):
        r.set(f"short:{number}", "v", px=1)
    let_pass(50)
    assert r.dbsize() == 20
    r.execute_command(*words)
    assert r.dbsize() == 0
    r.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 1)


def test_expired_keys_are_deleted_without_being_touched(r):
    r.mset({f"stays{i}": 1 for i in range(10)})
    with r.pipeline(transaction=False) as pipeline:
        for i in range(1000):
            pipeline.set(f"goes{i}", i, px=50)
        pipeline.execute()
    wait_until(lambda: r.dbsize() <= 10, "the end of the keys")
    assert r.dbsize() == 10


def test_a_key_found_expired_no_longer_counts_even_right_after_a_flush(r):
    pipeline = r.pipeline(transaction=False)
    for command in (("FLUSHDB",), ("SET", "k", "v", "EXAT", 1), ("EXISTS", "k"), ("DBSIZE",)):
        pipeline.execute_command(*command)
    assert pipeline.execute() == [True, True, 0, 0]


@pytest.mark.parametrize("how", ["shutdown", "kill9"])
def test_deadlines_survive_a_restart(server, how):
    client = server.client()
    client.config_set("appendfsync", "always")
    client.set("later", "v", px=100_000)
    client.set("cleared", "v", px=300)
    client.persist("cleared")
    client.set("soon", "v", px=300)
    server.restart(how)
    client = server.client()
    assert 0 < client.pttl("later") <= 100_000
    assert client.pttl("cleared") == -1
    let_pass(300)
    assert client.get("soon") is None
    assert client.get("cleared") == b"v"
    assert client.get("later") == b"v"
