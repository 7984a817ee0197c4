# SPDX-License-Identifier: BSD-3-Clause
"""Hashes compared with redis-server: both get the same commands and must give the same replies.

tests/types/hash_test.cc tests the type itself. This file tests what clients see: replies, error texts and their order,
encodings, random fields, scans, and the data after a kill.
"""

import random

import pytest
import redis

from harness import Server

COMMANDS = """hdel hexists hget hgetall hincrby hincrbyfloat hkeys hlen hmget hmset hrandfield hscan
              hset hsetnx hstrlen hvals""".split()

ERRORS = """
hset | hset h | hset h f | hset h f v g | hset string f v | hset string f v g | hmset h f
hmset h f v g | hmset string f v | hmset h f v | hsetnx h f v x | hsetnx string f v | hsetnx h a 2
hget h | hget h a b | hget string f | hget nokey f | hget h nofield | hmget h | hmget string f
hmget nokey f g | hmget h a nofield n | hdel h | hdel string f | hdel nokey f | hdel h a a nofield
hexists h | hexists string f | hexists nokey f | hexists h a | hlen | hlen string | hlen nokey
hstrlen h | hstrlen string f | hstrlen nokey f | hstrlen h a | hstrlen h n | hstrlen h nofield
hkeys string | hkeys nokey | hvals string | hvals nokey | hgetall string | hgetall nokey
hgetall one | hkeys one | hvals one | hincrby h n | hincrby h n x | hincrby h n 1.5
hincrby string f x | hincrby string f 1 | hincrby h a 1 | hincrby h n 9223372036854775807
hincrby h n 9223372036854775808 | hincrby h max 1 | hincrby h min -1 | hincrby h max -1
hincrby nokey f 5 | hincrby h n -8 | hincrby h n +1 | hincrby h float 1 | hincrbyfloat h n
hincrbyfloat h n x | hincrbyfloat string f x | hincrbyfloat string f 1 | hincrbyfloat h n inf
hincrbyfloat h n -inf | hincrbyfloat h n nan | hincrbyfloat h a 1 | hincrbyfloat h float 1.1
hincrbyfloat h n 1e3 | hincrbyfloat h n 0.1 | hincrbyfloat nokey f -1.50 | hincrbyfloat h huge 1e308
hincrbyfloat h n 1e5000 | hincrbyfloat h infinite 1 | hincrbyfloat h n 0x10 | hrandfield
hrandfield string | hrandfield nokey | hrandfield one | hrandfield string x | hrandfield h x
hrandfield h 1 x | hrandfield h 1 withvalues x | hrandfield string 1 x | hrandfield nokey 5
hrandfield nokey 5 withvalues | hrandfield h 0 | hrandfield h 0 withvalues | hrandfield one 5
hrandfield one 5 withvalues | hrandfield one -3 | hrandfield one -3 WITHVALUES
hrandfield h -9223372036854775808 | hrandfield h -9223372036854775808 x
hrandfield h 9223372036854775808 | hrandfield h 9223372036854775807 withvalues
hrandfield h -4611686018427387904 withvalues | hrandfield one 4611686018427387903 withvalues
hrandfield one 9223372036854775807 | hscan h | hscan h x | hscan string x | hscan string 0
hscan string 0 count | hscan nokey 0 count x | hscan nokey x | hscan nokey 5 | hscan h 0 count
hscan h 0 count 0 | hscan h 0 count x | hscan h 0 match | hscan h 0 type hash | hscan h 0 other 1
hscan h -1 count 0 | hscan h 18446744073709551616 | hscan one 0 match o* count 5
hscan one 0 match x* | hscan one 0 count 9223372036854775807
"""


def ask(client, *command):
    """The unconverted reply, or the error's text."""
    try:
        return client.execute_command(*command)
    except redis.ResponseError as error:
        return f"error: {error}"


def raw_client(server, protocol=2):
    """A client that does not convert replies."""
    client = server.client(protocol=protocol)
    client.response_callbacks.clear()
    return client


def fill(client):
    """Creates the keys that ERRORS uses."""
    client.flushall()
    client.set("string", "text")
    client.hset("one", mapping={"only": "value"})
    client.hset("h", mapping={"a": "text", "n": -5, "max": 2**63 - 1, "min": -(2**63),
                              "float": "3.25", "huge": "1.7e4932", "infinite": "inf"})


def as_map(client, key):
    """All fields of a hash as a dictionary, in both protocols."""
    reply = ask(client, "hgetall", key)
    if isinstance(reply, list):
        return dict(zip(reply[::2], reply[1::2]))
    return reply


@pytest.mark.parametrize("protocol", [2, 3])
def test_errors_and_small_replies_equal_redis(server, redis_server, protocol):
    ours, theirs = raw_client(server, protocol), raw_client(redis_server, protocol)
    for line in filter(None, (part.strip() for part in ERRORS.replace("\n", "|").split("|"))):
        fill(ours)
        fill(theirs)
        assert ask(ours, *line.split()) == ask(theirs, *line.split()), line
        for key in ("h", "nokey", "string"):
            assert as_map(ours, key) == as_map(theirs, key), line


def test_command_info_is_that_of_redis(server, redis_server):
    ours, theirs = server.client(), redis_server.client()
    for name in COMMANDS:
        mine, reference = (ask(client, "command", "info", name) for client in (ours, theirs))
        assert mine == reference, name


def random_command(rng):
    """A hash command with mostly valid arguments."""
    key = rng.choice(["a", "b", "c"])
    field = lambda: rng.choice(["f%d" % rng.randrange(400), str(rng.randrange(400))])  # noqa: E731
    texts = ["text", "", "007", "1.5", "x" * 64, "x" * (65 if rng.random() < 0.01 else 9)]
    value = lambda: rng.choice([str(rng.randrange(-9, 10**9)), *texts])  # noqa: E731
    pairs = [text for _ in range(rng.choice([1, 1, 2, 30])) for text in (field(), value())]
    fields = [field() for _ in range(rng.choice([1, 2, 10]))]
    return rng.choice([
        ["hset", key, *pairs], ["hset", key, *pairs], ["hmset", key, *pairs],
        ["hsetnx", key, field(), value()], ["hget", key, field()], ["hmget", key, *fields],
        ["hdel", key, *fields], ["hexists", key, field()], ["hlen", key], ["hstrlen", key, field()],
        ["hincrby", key, field(), str(rng.randrange(-5, 5))],
        ["hincrbyfloat", key, field(), rng.choice(["0.5", "-3", "1e2"])],
        ["object", "encoding", key]] + ([["del", key]] if rng.random() < 0.02 else []))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_commands_equal_redis(server, redis_server, seed):
    """Hashes grow from empty through packed to spread, and the encodings are always equal."""
    ours, theirs = raw_client(server), raw_client(redis_server)
    rng = random.Random(seed)
    for step in range(3000):
        command = random_command(rng)
        assert ask(ours, *command) == ask(theirs, *command), (seed, step, command)
        if step % 200 == 0:
            for key in "abc":
                assert as_map(ours, key) == as_map(theirs, key), (seed, step, key)


def test_a_packed_hash_keeps_the_order_of_insertion(r, redis_server):
    for client in (r, redis_server.client()):
        client.hset("h", mapping={"z": 1, "a": 2, "5": 3})
        client.hset("h", "a", "again")
        client.hdel("h", "z")
        client.hset("h", "z", "last")
        assert client.hkeys("h") == [b"a", b"5", b"z"]
        assert client.hvals("h") == [b"again", b"3", b"last"]


@pytest.mark.parametrize("size", [20, 2000])
def test_random_fields(r, size):
    """Distinct fields are distinct, other draws may repeat, and values belong to their fields."""
    fields = {b"f%d" % i: b"v%d" % i for i in range(size)}
    r.hset("h", mapping=fields)
    assert r.hrandfield("h") in fields
    for count in (1, 5, size // 2, size - 1, size, size * 10):
        got = r.hrandfield("h", count)
        assert len(got) == len(set(got)) == min(count, size)
        assert set(got) <= set(fields)
        flat = r.hrandfield("h", count, withvalues=True)
        pairs = dict(zip(flat[::2], flat[1::2]))
        assert len(pairs) == min(count, size) and pairs.items() <= fields.items()
    for count in (1, 10, size * 3):
        got = r.hrandfield("h", -count)
        assert len(got) == count and set(got) <= set(fields)
        flat = r.hrandfield("h", -count, withvalues=True)
        assert all(fields[field] == value for field, value in zip(flat[::2], flat[1::2]))
    assert len(set(r.hrandfield("h", -20 * size))) > size * 0.9


def test_random_fields_in_resp3_come_in_pairs(server):
    client = raw_client(server, protocol=3)
    client.execute_command("hset", "h", "f", "v", "g", "w")
    assert sorted(ask(client, "hrandfield", "h", 2, "withvalues")) == [[b"f", b"v"], [b"g", b"w"]]


def scan_all(client, key, **options):
    """All pairs of a whole HSCAN, and the number of steps."""
    pairs, cursor, steps = {}, 0, 0
    while steps == 0 or cursor != 0:
        cursor, found = client.hscan(key, cursor, **options)
        pairs.update(found)
        steps += 1
    return pairs, steps


def test_scan_returns_all_lasting_fields_across_changes_and_a_restart():
    with Server(appendfsync="always") as server:
        client = server.client()
        stays = {b"stay%d" % i: b"%d" % i for i in range(3000)}
        client.hset("h", mapping=stays)
        seen, cursor, steps = {}, 0, 0
        while steps == 0 or cursor != 0:
            cursor, found = client.hscan("h", cursor, count=100)
            seen.update(found)
            client.hset("h", "new%d" % steps, 1)
            client.hdel("h", "new%d" % (steps - 3))
            steps += 1
            if steps == 10:
                server.restart("kill9")
                client = server.client()
        assert steps > 20
        assert stays.items() <= seen.items()
        assert scan_all(client, "h", match="stay1?")[0] == {
            name: value for name, value in stays.items()
            if len(name) == 6 and name.startswith(b"stay1")}


def test_a_small_hash_is_scanned_in_one_step(r):
    r.hset("h", mapping={"f%d" % i: i for i in range(100)})
    assert scan_all(r, "h", count=5)[1] == 1


def test_a_changed_hash_keeps_its_expiry(r):
    for size in (5, 1000):
        r.hset("h", mapping={"f%d" % i: i for i in range(size)})
        r.expire("h", 1000)
        r.hset("h", "more", "x" * 100)
        r.hincrby("h", "f1", 5)
        r.hdel("h", "f2")
        assert 990 < r.ttl("h") <= 1000
        r.delete("h")


def test_hashes_survive_a_kill():
    with Server(appendfsync="always") as server:
        client = server.client()
        small = {b"f%d" % i: b"%d" % i for i in range(50)}
        large = {b"field:%d" % i: b"x" * (i % 200) for i in range(5000)}
        client.hset("small", mapping=small)
        client.hset("large", mapping=large)
        server.restart("kill9")
        client = server.client()
        assert client.hgetall("small") == small
        assert client.hgetall("large") == large
        assert client.hlen("large") == 5000
