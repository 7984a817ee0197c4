# SPDX-License-Identifier: BSD-3-Clause
"""Keys of any type and whole databases compared with redis-server."""

import collections

import pytest
from redis.crc import key_slot
from waiting import wait_until

BASICS = """
mset a 1 b 2 c 3
rpush list x y
exists a b nokey a
touch a b nokey a
del nokey
del a nokey a
unlink b list nokey
dbsize
type nokey
set s v
type s
rpush l v
type l
sadd set v
type set
zadd z 1 v
type z
hset h f v
type h
rename nokey x
rename nokey nokey
rename s s
rename s t
get t
renamenx t t
renamenx nokey t
renamenx t h
renamenx t u
get u
rename u h
type h
set k v pxat 9999999999999
rename k h
pexpiretime h
set plain v
rename plain h
pexpiretime h
"""

MOVING = """
set k v pxat 9999999999999
move k x
move k -1
move k 16
move k 99999999999
move k 99999999999999999999
move k 0
move nokey 1
move k 1
exists k
select 1
get k
pexpiretime k
dbsize
select 0
set k other
move k 1
get k
copy k k
copy k k2
copy k k2
copy k k2 replace
copy nokey k2
copy nokey k2 replace
get k2
copy k k db 1
copy k k db 1 replace
copy k k db 0
copy k k db 16
copy k k db x
copy k k db
copy k k2 foo
copy k k2 replace replace db 2
copy k k2 db x foo
select 2
get k2
swapdb 0 2
get k
dbsize
swapdb 0 0
swapdb x 1
swapdb 0 x
swapdb 0 16
swapdb -1 0
swapdb 0 99999999999
select 0
get k2
dbsize
flushdb foo
flushdb sync foo
flushdb async
dbsize
select 2
dbsize
flushall sync sync
flushall SYNC
dbsize
randomkey
"""

OBJECTS = """
object
object foo
object foo k
object encoding
object encoding nokey
object freq nokey
object refcount nokey
object idletime nokey
object help x
set k v
object freq k
object idletime k
object refcount k
set k 9999
object refcount k
set k 10000
object refcount k
rpush l a
object encoding l
object refcount l
hset h f v
object encoding h
zadd z 1 a
object encoding z
sadd s 1
object encoding s
sadd s a
object encoding s
"""

BIG = 600  # elements, beyond every limit of a packed collection


def fill_collections(pair, count):
    """A collection of each type with `count` elements."""
    pair("rpush", "list", *(f"e{i}" for i in range(count)))
    pair("sadd", "set", *(f"m{i}" for i in range(count)))
    pair("sadd", "numbers", *range(count))
    pair("hset", "hash", *(word for i in range(count) for word in (f"f{i}", i)))
    pair("zadd", "zset", *(word for i in range(count) for word in (i / 2, f"m{i}")))


TYPES = ["list", "set", "numbers", "hash", "zset"]


def contents(client, name, key):
    """All elements of a collection, sorted if the type has no order."""
    whole = {"list": ["lrange", key, 0, -1], "set": ["smembers", key], "numbers": ["smembers", key],
             "hash": ["hgetall", key], "zset": ["zrange", key, 0, -1, "withscores"]}[name]
    reply = client(*whole)
    return sorted(reply[1]) if name in ("set", "numbers") else reply


def test_basics(pair):
    pair.lines(BASICS)


def test_moving_copying_and_swapping(pair):
    pair.lines(MOVING)


def test_object(pair):
    pair.lines(OBJECTS)


@pytest.mark.parametrize("count", [3, BIG])
def test_copies_are_complete_and_independent(pair, count):
    fill_collections(pair, count)
    for name in TYPES:
        before = contents(pair.ours, name, name)
        pair("copy", name, "copy")
        pair("object", "encoding", "copy")
        assert contents(pair.ours, name, "copy") == before
        pair("copy", name, "copy", "db", 5)
        pair("del", name)
        assert contents(pair.ours, name, "copy") == before
        pair("select", 5)
        assert contents(pair.ours, name, "copy") == before
        pair("del", "copy")
        pair("select", 0)
        pair("del", "copy")


@pytest.mark.parametrize("count", [3, BIG])
def test_a_changed_copy_leaves_the_original(pair, count):
    fill_collections(pair, count)
    for name, change in (("list", ["lpop"]), ("set", ["srem", "m1"]), ("numbers", ["srem", "1"]),
                         ("hash", ["hdel", "f1"]), ("zset", ["zrem", "m1"])):
        before = contents(pair.ours, name, name)
        pair("copy", name, "copy")
        pair(change[0], "copy", *change[1:])
        assert contents(pair.ours, name, name) == before
        assert contents(pair.ours, name, "copy") != before
        pair("del", "copy")


@pytest.mark.parametrize("count", [3, BIG])
def test_renamed_and_moved_collections_are_complete(pair, count):
    fill_collections(pair, count)
    for name in TYPES:
        before = contents(pair.ours, name, name)
        pair("rename", name, "renamed")
        assert contents(pair.ours, name, "renamed") == before
        pair("move", "renamed", 7)
        pair("exists", "renamed")
        pair("select", 7)
        assert contents(pair.ours, name, "renamed") == before
        pair("del", "renamed")
        pair("dbsize")
        pair("select", 0)


@pytest.mark.parametrize("how", ["shutdown", "kill9"])
def test_databases_and_their_counts_survive_a_restart(server, how):
    client = server.client()
    client.config_set("appendfsync", "always")
    for db in range(3):
        server.client(db=db).mset({f"k{i}": db for i in range(100 + db)})
    client.swapdb(0, 2)
    server.client(db=1).flushdb()
    client.delete("k0")
    server.restart(how)
    assert [server.client(db=db).dbsize() for db in range(4)] == [101, 0, 100, 0]
    assert server.client().get("k5") == b"2"
    server.client().flushall()
    server.restart(how)
    assert server.client().dbsize() == 0


def test_randomkey_prefers_no_key(r):
    """Also where only a part of the slots has keys, as in a node of a cluster."""
    names = [name for name in (b"key:%d" % i for i in range(200)) if 3000 <= key_slot(name) < 8000]
    r.flushdb()
    r.mset({name: "v" for name in names})
    draws = 100 * len(names)
    with r.pipeline(transaction=False) as pipeline:
        for _ in range(draws):
            pipeline.randomkey()
        counts = collections.Counter(pipeline.execute())
    assert len(names) > 40 and set(counts) == set(names)
    assert max(counts.values()) < 4 * draws / len(names), counts.most_common(5)


def test_randomkey_can_return_every_key(r):
    names = {f"key:{i}".encode() for i in range(20)} | {f"{{tag}}{i}".encode() for i in range(20)}
    r.mset({name: 1 for name in names})
    seen = set()
    for _ in range(200):
        with r.pipeline(transaction=False) as pipeline:
            for _ in range(500):
                pipeline.randomkey()
            seen.update(pipeline.execute())
        if seen == names:
            break
    assert seen == names


@pytest.mark.slow
def test_idle_time_counts_from_the_last_use(r):
    r.mset({"used": 1, "left": 1})
    wait_until(lambda: r.get("used") and r.object("idletime", "left") >= 2, "the idle time")
    assert r.object("idletime", "used") <= 1
    r.execute_command("object", "encoding", "left")
    assert r.object("idletime", "left") >= 2
    r.touch("left")
    assert r.object("idletime", "left") == 0
