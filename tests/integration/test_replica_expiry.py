# SPDX-License-Identifier: BSD-3-Clause
"""A replica and what is past its time on the primary but not deleted there yet.

The replica takes it for there until it is told otherwise, so the primary has to tell of its end ahead of every command
that goes by it. Active expiry is switched off: it would hide what is missing.
"""

import itertools
import time

import pytest

from pairs import follow, start, wait_for_offset
from waiting import let_pass

LIMITS = {"packed": 512, "spread": 0}
FIELDS = ("a", "b", "c")


@pytest.fixture(scope="module")
def couple():
    """A primary that deletes nothing by itself, and its replica."""
    with start("cairn", enable_debug_command="yes") as primary, start("cairn") as replica:
        primary.client().execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        follow(replica, primary)
        yield primary, replica


def run(client, line):
    """A command given as a line."""
    return client.execute_command(*line.split())


def make_due_fields(client, key, fields):
    """A hash of FIELDS, each 10, some of which are past their time."""
    client.hset(key, mapping=dict.fromkeys(FIELDS, 10))
    run(client, f"HPEXPIRE {key} 1 FIELDS {len(fields)} {' '.join(fields)}")
    let_pass(1)


def hash_with_times(client, key):
    """A hash's fields that can be seen, with their values and deadlines."""
    values = client.hgetall(key)
    times = client.execute_command("HPEXPIRETIME", key, "FIELDS", len(FIELDS), *FIELDS)
    return values, {field: when for field, when in zip(FIELDS, times, strict=True) if field.encode() in values}


def assert_same_hashes(couple, keys, stays_due=()):
    """The replica has the same hashes; fields that nobody has touched since may still be there for it alone."""
    wait_for_offset(*couple)
    for key in keys:
        primary, replica = (hash_with_times(server.client(), key) for server in couple)
        for field in set(stays_due) - set(primary[1]):
            replica[0].pop(field.encode(), None)
            replica[1].pop(field, None)
        assert replica == primary, key


CHANGES = {
    "HINCRBY {} a 1": b"1",
    "HINCRBYFLOAT {} a 1.5": b"1.5",
    "HSETNX {} a new": b"new",
    "HSET {} a new": b"new",
    "HMSET {} a new b new": b"new",
    "HSETEX {} KEEPTTL FIELDS 1 a new": b"new",
    "HSETEX {} FNX KEEPTTL FIELDS 1 a new": b"new",
    "HSETEX {} PXAT 4000000000123 FIELDS 1 a new": b"new",
    "HSETEX {} PXAT 1 FIELDS 1 a new": None,
    "HDEL {} a": None,
    "HDEL {} a b": None,
    "HDEL {} b a": None,
}


@pytest.mark.parametrize("form", LIMITS)
@pytest.mark.parametrize("due", [["a"], ["a", "c"], list(FIELDS)], ids="".join)
def test_a_field_past_its_time_is_changed(couple, form, due):
    """The deadline, or the value, that it had is not taken over by the replica."""
    client = couple[0].client()
    client.flushall()
    client.config_set("hash-max-listpack-entries", LIMITS[form])
    for key, (line, value) in enumerate(CHANGES.items()):
        make_due_fields(client, key, due)
        run(client, line.format(key))
        assert client.hget(key, "a") == value, line
    assert_same_hashes(couple, range(len(CHANGES)), stays_due=set(due) - {"a"})


@pytest.mark.parametrize("form", LIMITS)
@pytest.mark.parametrize("line, due, lasts", [
    ("HSET h a 1 b 2 c 3", FIELDS, False), ("HSET h a 1 b 2", FIELDS, True), ("HSET h d 1 a 1 b 2 c 3", FIELDS, False),
    ("HSET h a 1 b 2 c 3", ("a", "b"), True), ("HSETEX h KEEPTTL FIELDS 3 a 1 b 2 c 3", FIELDS, False)])
def test_the_last_field_past_its_time_ends_the_key(couple, form, line, due, lasts):
    """What is set after it is a key of its own, without the time to live of the old one, as in Redis."""
    client, other = (server.client() for server in couple)
    client.flushall()
    client.config_set("hash-max-listpack-entries", LIMITS[form])
    make_due_fields(client, "h", due)
    client.pexpireat("h", 4000000000000)
    run(client, line)
    wait_for_offset(*couple)
    when = 4000000000000 if lasts else -1
    assert [run(each, "PEXPIRETIME h") for each in (client, other)] == [when, when]


@pytest.mark.parametrize("form", LIMITS)
def test_a_key_goes_with_its_last_field_past_its_time(couple, form):
    client, other = (server.client() for server in couple)
    client.flushall()
    client.config_set("hash-max-listpack-entries", LIMITS[form])
    client.config_set("notify-keyspace-events", "KEA")
    listener = client.pubsub()
    listener.psubscribe("__keyevent@0__:*")
    make_due_fields(client, "h", FIELDS)
    assert client.hdel("h", *FIELDS) == 0
    client.config_set("notify-keyspace-events", "")
    messages = itertools.takewhile(bool, iter(lambda: listener.get_message(timeout=1), ()))
    events = [message["channel"].decode().split(":")[1] for message in messages if message["type"] == "pmessage"]
    assert events == ["hset", "hexpire"] + ["hexpired"] * 3 + ["del"]
    wait_for_offset(*couple)
    assert [client.exists("h"), other.exists("h")] == [0, 0]


@pytest.mark.parametrize("line", ["HPERSIST h FIELDS 2 a b", "HGETEX h PERSIST FIELDS 2 a b",
                                  "HGETDEL h FIELDS 2 a b", "HPEXPIREAT h 4000000000123 FIELDS 2 a b",
                                  "HGETEX h PXAT 4000000000123 FIELDS 2 a b", "HEXPIRE h 0 FIELDS 2 a b"])
def test_what_does_not_see_a_field_leaves_its_end_to_come(couple, line):
    """A command that names a field past its time gives it no new time on the replica either."""
    client, other = (server.client() for server in couple)
    client.flushall()
    make_due_fields(client, "h", "a")
    run(client, "HPEXPIREAT h 4000000000000 FIELDS 1 b")
    run(client, line)
    assert_same_hashes(couple, ["h"], stays_due="a")
    when = run(other, "HPEXPIRETIME h FIELDS 1 a")[0]
    assert when == -2 or 0 < when < time.time() * 1000


def test_fields_past_their_time_in_transactions_and_scripts(couple):
    client = couple[0].client()
    client.flushall()
    for key in ("exec", "script"):
        make_due_fields(client, key, FIELDS)
    with client.pipeline(transaction=True) as pipe:
        pipe.hincrby("exec", "a", 1).hsetnx("exec", "b", "new").hdel("exec", "c").hincrby("exec", "a", 1)
        assert pipe.execute() == [1, 1, 0, 2]
    assert client.eval("redis.call('hincrby', KEYS[1], 'a', 1) redis.call('hsetnx', KEYS[1], 'b', 'new') "
                       "return redis.call('hdel', KEYS[1], 'c')", 1, "script") == 0
    assert_same_hashes(couple, ["exec", "script"])


@pytest.mark.parametrize("line", ["HSETEX h EX 1000 FIELDS 1 b 2", "HSETEX h KEEPTTL FIELDS 1 b 2",
                                  "HSETEX h FIELDS 1 b 2", "HSETEX h PXAT 1 FIELDS 1 b 2"])
def test_hsetex_where_a_key_is_past_its_time(couple, line):
    """The end of the old key is told before what is set, not after it."""
    client, other = (server.client() for server in couple)
    client.flushall()
    client.hset("h", "a", 1)
    client.pexpire("h", 1)
    let_pass(1)
    assert run(client, line) == 1
    if client.exists("h"):
        assert_same_hashes(couple, ["h"])
        assert other.hget("h", "b") == b"2"
    else:
        assert client.hget("h", "a") is None


def test_what_sort_stores_is_what_the_primary_saw(couple):
    """It reads through keys and fields that only a replica still sees."""
    client, other = (server.client() for server in couple)
    client.flushall()
    client.rpush("l", *range(3000))
    client.rpush("short", 1, 2, 3)
    client.set("d3", "replaced")
    for element in (1, 2, 3):
        client.hset(f"h{element}", mapping={"weight": -element, "name": f"n{element}"})
        client.set(f"s{element}", -element)
    for element in (1, 3):
        run(client, f"HPEXPIRE h{element} 1 FIELDS 2 weight name")
        client.pexpire(f"s{element}", 1)
    client.copy("short", "gone")
    client.pexpire("gone", 1)
    let_pass(1)
    assert run(client, "SORT short BY h*->weight GET # GET h*->name STORE d1") == 6
    assert run(client, "SORT short BY s* STORE d2") == 3
    assert run(client, "SORT gone STORE d3") == 0
    assert run(client, "SORT l DESC STORE d4") == 3000
    wait_for_offset(*couple)
    assert client.lrange("d1", 0, -1) == [b"2", b"n2", b"1", b"", b"3", b""]
    for key in ("d1", "d2", "d4"):
        assert other.lrange(key, 0, -1) == client.lrange(key, 0, -1), key
    assert other.exists("d3") == client.exists("d3") == 0


SOURCES = {
    "set": ("SADD {} a b", "SADD {} c", ["SUNIONSTORE {d} {s} {t}", "SDIFFSTORE {d} {t} {s}"]),
    "zset": ("ZADD {} 1 a 2 b", "ZADD {} 3 c", ["ZUNIONSTORE {d} 2 {s} {t}", "ZDIFFSTORE {d} 2 {t} {s}"]),
    "string": ("SET {} abc", "SET {} xyz", ["BITOP OR {d} {s} {t}", "BITOP XOR {d} {t} {s}"]),
    "hyperloglog": ("PFADD {} a b", "PFADD {} c", ["PFMERGE {d} {s} {t}"]),
}


@pytest.mark.parametrize("around", ["alone", "exec", "script"])
@pytest.mark.parametrize("kind", SOURCES)
def test_a_source_past_its_time(couple, kind, around):
    """What is stored from several keys is the same on both, though one of them is past its time only here."""
    client, other = (server.client() for server in couple)
    make, make_other, lines = SOURCES[kind]
    for line in lines:
        client.flushall()
        run(client, make.format("s"))
        run(client, make_other.format("t"))
        client.pexpire("s", 1)
        let_pass(1)
        words = line.format(s="s", t="t", d="d").split()
        if around == "exec":
            with client.pipeline(transaction=True) as pipe:
                pipe.swapdb(0, 1).swapdb(0, 1).execute_command(*words)
                pipe.execute()
        elif around == "script":
            client.eval("return redis.call(unpack(ARGV))", 3, "s", "t", "d", *words)
        else:
            client.execute_command(*words)
        wait_for_offset(*couple)
        assert client.dump("d") == other.dump("d") is not None, line
        assert other.exists("s") == 0


WITHIN = {
    "written anew": ["SET k v PXAT 1", "LPUSH k a"],
    "set where it is not": ["SET k v PXAT 1", "SETNX k w"],
    "counted": ["SET k 5 EXAT 1", "INCR k"],
    "set with its time": ["SET k v PXAT 1", "SET k w KEEPTTL"],
    "moved from before": ["LMOVE l o LEFT LEFT", "SET l v PXAT 1", "GET l", "SET z 1"],
    "copied before": ["COPY s o", "SET s v PXAT 1", "EXISTS s", "SET z 1"],
    "in another database": ["SWAPDB 0 1", "SET k v PXAT 1", "APPEND k w", "SWAPDB 0 1"],
}


@pytest.mark.parametrize("around", ["exec", "script"])
@pytest.mark.parametrize("lines", WITHIN.values(), ids=WITHIN)
def test_a_key_is_set_and_past_its_time_within_a_transaction(couple, lines, around):
    """Its end is told where it is met, neither before what used the old value nor after what makes a new one."""
    client, other = (server.client() for server in couple)
    client.flushall()
    client.rpush("l", "a", "b")
    client.set("s", "v")
    if around == "exec":
        with client.pipeline(transaction=True) as pipe:
            for line in lines:
                pipe.execute_command(*line.split())
            pipe.execute()
    else:
        body = " ".join(f"redis.call({', '.join(repr(word) for word in line.split())})" for line in lines)
        client.eval(body, 5, "k", "l", "s", "o", "z")
    wait_for_offset(*couple)
    for db in (0, 1):
        one, two = (server.client(db=db) for server in couple)
        for key in ("k", "l", "s", "o", "z"):
            assert two.dump(key) == one.dump(key), (db, key)
            assert two.pttl(key) == one.pttl(key), (db, key)
