# SPDX-License-Identifier: BSD-3-Clause
"""Transactions and scripts write and ask for ranks on the fast lane, and then run again on the slow lane.

The rank indexes must forget the rows of the first run, which were never committed. A command on the fast lane may not
scan a hash of 5,000 fields, so it moves to the slow lane.
"""

import pytest

from harness import Server


@pytest.fixture
def large(r):
    """A client of a server that has the large hash."""
    r.hset("h", mapping={f"f{i}": "v" for i in range(5000)})
    return r


def run(r, *commands):
    """Runs the commands and a read of the whole hash in one EXEC."""
    pipe = r.pipeline(transaction=True)
    for command in (*commands, ("HGETALL", "h")):
        pipe.execute_command(*command)
    return pipe.execute()[:-1]


def fill_list(r, count=20000):
    for i in range(0, count, 500):
        r.rpush("l", *range(i, i + 500))


def test_the_rank_after_a_removed_member(large):
    large.zadd("z", {f"m{i:03}": i for i in range(200)})
    assert run(large, ("ZREM", "z", "m050"), ("ZRANK", "z", "m060")) == [1, 59]
    assert [large.zrank("z", f"m{i:03}") for i in range(51, 200)] == list(range(50, 199))
    assert large.zcard("z") == 199


def test_a_random_member_of_a_set_in_a_script(large):
    large.sadd("s", *(f"m{i}" + "x" * 30 for i in range(200)))
    script = """redis.call('SREM', KEYS[1], ARGV[1])
                redis.call('SRANDMEMBER', KEYS[1])
                return #redis.call('HGETALL', KEYS[2])"""
    for i in range(200):
        assert large.eval(script, 2, "s", "h", f"m{i}" + "x" * 30) == 10000
        assert large.scard("s") == 199 - i
        assert len(large.srandmember("s", 200)) == 199 - i


def test_an_item_far_from_both_ends(large):
    fill_list(large)
    assert run(large, ("LPUSH", "l", "x"), ("RPOP", "l"), ("LINDEX", "l", 10000))[1:] == [b"19999", b"9999"]
    for i in range(1000, 20000, 1000):
        assert large.lindex("l", i) == b"%d" % (i - 1)
        assert large.lrange("l", i, i) == [b"%d" % (i - 1)]


def test_a_renamed_collection(large):
    large.zadd("a", {f"m{i:03}": i for i in range(200)})
    assert run(large, ("RENAME", "a", "b"), ("ZREM", "b", "m010"), ("ZRANK", "b", "m020"))[1:] == [1, 19]
    large.rename("b", "a")
    large.zrem("a", "m011")
    assert run(large, ("ZRANK", "a", "m020"), ("RENAME", "a", "b"), ("ZRANK", "b", "m020"))[::2] == [18, 18]
    assert [large.zrank("b", f"m{i:03}") for i in range(12, 200)] == list(range(10, 198))


def test_a_failing_command_of_a_script(large):
    large.zadd("z", {f"m{i:03}": i for i in range(200)})
    script = """redis.call('ZREM', KEYS[1], 'm010')
                local rank = redis.call('ZRANK', KEYS[1], 'm020')
                redis.pcall('ZRANGESTORE', KEYS[2], KEYS[1], 'x', 'y')
                redis.call('ZADD', KEYS[1], 10, 'm010')
                return {rank, redis.call('ZRANK', KEYS[1], 'm020'), #redis.call('HGETALL', KEYS[3])}"""
    assert large.eval(script, 3, "z", "other", "h") == [19, 20, 10000]
    assert [large.zrank("z", f"m{i:03}") for i in range(200)] == list(range(200))


@pytest.mark.measures("memory")
def test_the_memory_of_an_abandoned_large_push_is_freed():
    with Server(memory_budget="64mb", maxmemory_clients="0") as server:
        r = server.client()
        fill_list(r)
        assert r.lindex("l", 10000) == b"10000"
        before = r.info("memory")["used_memory"]
        for _ in range(2):
            r.rpush("l", *range(500000))
            assert r.lindex("l", 300000) == b"280000"
        assert r.info("memory")["used_memory"] - before < 60 << 20
