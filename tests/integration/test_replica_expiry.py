# SPDX-License-Identifier: BSD-3-Clause
"""A replica, and keys and fields that have expired on the primary but are not deleted there yet.

The replica considers them present until the stream deletes them. So the primary must replicate the deletion before
every command whose result depends on it. Active expiry is off, because it would hide a missing deletion.
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
    """A primary without active expiry, and its replica."""
    with start("cairn", enable_debug_command="yes") as primary, start("cairn") as replica:
        primary.client().execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        follow(replica, primary)
        yield primary, replica


def run(client, line):
    """A command given as a line."""
    return client.execute_command(*line.split())


def make_due_fields(client, key, fields):
    """A hash of FIELDS, each 10, some of which have expired."""
    client.hset(key, mapping=dict.fromkeys(FIELDS, 10))
    run(client, f"HPEXPIRE {key} 1 FIELDS {len(fields)} {' '.join(fields)}")
    let_pass(1)


def hash_with_times(client, key):
    """The visible fields of a hash, with their values and expiries."""
    values = client.hgetall(key)
    times = client.execute_command("HPEXPIRETIME", key, "FIELDS", len(FIELDS), *FIELDS)
    return values, {field: when for field, when in zip(FIELDS, times, strict=True) if field.encode() in values}


def assert_same_hashes(couple, keys, stays_due=()):
    """The replica has the same hashes; only the replica may still have expired fields that no command has used."""
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
def test_an_expired_field_is_changed(couple, form, due):
    """The replica does not keep the old expiry or the old value."""
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
def test_the_last_expired_field_deletes_the_key(couple, form, line, due, lasts):
    """Fields that are set afterwards are in a new key without the old key's expiry, as in Redis."""
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
def test_a_key_is_deleted_with_its_last_expired_field(couple, form):
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
def test_a_command_that_does_not_see_a_field_does_not_change_its_expiry(couple, line):
    """A command on an expired field gives it no new expiry on the replica either."""
    client, other = (server.client() for server in couple)
    client.flushall()
    make_due_fields(client, "h", "a")
    run(client, "HPEXPIREAT h 4000000000000 FIELDS 1 b")
    run(client, line)
    assert_same_hashes(couple, ["h"], stays_due="a")
    when = run(other, "HPEXPIRETIME h FIELDS 1 a")[0]
    assert when == -2 or 0 < when < time.time() * 1000


def test_expired_fields_in_transactions_and_scripts(couple):
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
def test_hsetex_on_an_expired_key(couple, line):
    """The deletion of the old key is replicated before the new fields, not after them."""
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


def test_sort_stores_the_result_of_the_primary(couple):
    """SORT reads keys and fields that only a replica still sees."""
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
def test_an_expired_source_key(couple, kind, around):
    """The result of several source keys is the same on both servers, although one of them has expired only on the
    primary."""
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
    "overwritten": ["SET k v PXAT 1", "LPUSH k a"],
    "set where it is not": ["SET k v PXAT 1", "SETNX k w"],
    "counted": ["SET k 5 EXAT 1", "INCR k"],
    "set with its time": ["SET k v PXAT 1", "SET k w KEEPTTL"],
    "moved from before": ["LMOVE l o LEFT LEFT", "SET l v PXAT 1", "GET l", "SET z 1"],
    "copied before": ["COPY s o", "SET s v PXAT 1", "EXISTS s", "SET z 1"],
    "in another database": ["SWAPDB 0 1", "SET k v PXAT 1", "APPEND k w", "SWAPDB 0 1"],
}


@pytest.mark.parametrize("around", ["exec", "script"])
@pytest.mark.parametrize("lines", WITHIN.values(), ids=WITHIN)
def test_a_key_is_set_and_expires_within_a_transaction(couple, lines, around):
    """Its deletion is replicated where a command meets it: after the commands that used the old value, before the new
    one."""
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
