# SPDX-License-Identifier: BSD-3-Clause
"""HREPLACE, SREPLACE and ZREPLACE replace the value of a key, of any type, by a new collection."""

import threading

import pytest
import redis
from waiting import wait_for_blocked

# Command, its arguments, and the Redis commands that create the same value.
NEW = {
    "hash": ("hreplace", ["f", "1", "g", "x"], ["hset", "f", "1", "g", "x"], 2),
    "integers": ("sreplace", ["3", "1", "2"], ["sadd", "3", "1", "2"], 3),
    "set": ("sreplace", ["b", "a", "b"], ["sadd", "b", "a", "b"], 2),
    "zset": ("zreplace", ["2", "b", "-inf", "a"], ["zadd", "2", "b", "-inf", "a"], 2),
}
OLD = {
    "nothing": [],
    "string": [["set", "old"]],
    "list": [["rpush", "a", "b"]],
    "stream": [["xadd", "1-1", "f", "v"]],
    "small hash": [["hset", "old", "1"]],
    "large hash": [["hset", *[word for i in range(3000) for word in (f"f{i}", "v")]]],
    "large set": [["sadd", *[f"m{i}" for i in range(3000)]]],
    "large zset": [["zadd", *[word for i in range(3000) for word in (str(i), f"m{i}")]]],
}


def digest(client, key):
    """A digest that distinguishes two values."""
    return client.execute_command("debug", "digest-value", key)


@pytest.mark.parametrize("old", OLD)
@pytest.mark.parametrize("new", NEW)
def test_any_value_is_replaced_and_its_expiry_removed(r, new, old):
    name, words, (make, *elements), count = NEW[new]
    r.execute_command(make, "expected", *elements)
    for command, *rest in OLD[old]:
        r.execute_command(command, "key", *rest)
    r.expire("key", 1000)
    assert r.execute_command(name, "key", *words) == count
    assert digest(r, "key") == digest(r, "expected")
    assert r.object("encoding", "key") == r.object("encoding", "expected")
    assert r.ttl("key") == -1
    assert r.dbsize() == 2


def test_a_repeated_element_counts_once_and_its_last_value_applies(r):
    assert r.execute_command("hreplace", "h", "a", 1, "b", 2, "a", 3) == 2
    assert list(r.hgetall("h").items()) == [(b"a", b"3"), (b"b", b"2")]
    assert r.execute_command("zreplace", "z", 1, "a", 2, "b", 3, "a") == 2
    assert r.zrange("z", 0, -1, withscores=True) == [(b"b", 2), (b"a", 3)]


@pytest.mark.parametrize("line, error", [
    ("hreplace k f", "wrong number of arguments for 'hreplace' command"),
    ("hreplace k f v g", "wrong number of arguments for 'hreplace' command"),
    ("sreplace k", "wrong number of arguments for 'sreplace' command"),
    ("zreplace k 1", "wrong number of arguments for 'zreplace' command"),
    ("zreplace k 1 a 2", "syntax error"),
    ("zreplace k x a", "value is not a valid float"),
    ("zreplace k 1 a nan b", "value is not a valid float"),
])
def test_a_wrong_call_changes_nothing(r, line, error):
    r.set("k", "before")
    with pytest.raises(redis.ResponseError, match=error):
        r.execute_command(*line.split())
    assert r.get("k") == b"before"


def test_large_collections_replace_each_other_and_survive_a_restart(server):
    r = server.client()
    for turn in range(3):
        fields = {f"f{i}": f"{turn}-{i}" for i in range(turn, 20000, 7)}
        words = [word for pair in fields.items() for word in pair]
        assert r.execute_command("hreplace", "h", *words) == len(fields)
        assert r.execute_command("sreplace", "s", *fields) == len(fields)
        scores = [word for i, field in enumerate(fields) for word in (i, field)]
        assert r.execute_command("zreplace", "z", *scores) == len(fields)
        assert r.hlen("h") == r.scard("s") == r.zcard("z") == len(fields)
    server.restart("kill9")
    r = server.client()
    assert r.hgetall("h") == {field.encode(): text.encode() for field, text in fields.items()}
    assert r.smembers("s") == {field.encode() for field in fields}
    assert r.zrange("z", 0, -1) == [field.encode() for field in fields]
    assert r.execute_command("hreplace", "h", "a", 1) == 1
    assert r.object("encoding", "h") == b"listpack"


def test_a_client_blocked_on_a_sorted_set_is_served(server):
    waiting, other = server.client(), server.client()
    served = []
    thread = threading.Thread(target=lambda: served.append(waiting.bzpopmin("z", 20)))
    thread.start()
    wait_for_blocked(server)
    other.execute_command("zreplace", "z", 2, "b", 1, "a")
    thread.join(60)
    assert served == [(b"z", b"a", 1.0)]
    assert other.zrange("z", 0, -1) == [b"b"]
