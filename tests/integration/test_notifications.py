# SPDX-License-Identifier: BSD-3-Clause
"""Changes of keys are published and counted as in redis-server.

Both servers get the same commands. After each command the messages on `__key*__:*` are compared, in order, and so is
the growth of rdb_changes_since_last_save.
"""

import threading

import pytest

from harness import Server
from raw_client import RawClient, leaves
from waiting import let_pass, wait_until

ALL_EVENTS = "KEAmn"


class Watched:
    """A server, a client of it, and a client that subscribes to every event."""

    def __init__(self, server, events=ALL_EVENTS):
        self.client = RawClient(server.port)
        self.listener = RawClient(server.port)
        self.client("config", "set", "notify-keyspace-events", events)
        self.listener("psubscribe", "__key*__:*")
        self.listener("subscribe", "end")
        self.changes = self.count_changes()

    def close(self):
        self.client("config", "set", "notify-keyspace-events", "")
        self.client.close()
        self.listener.close()

    def count_changes(self):
        """The number of changes in INFO."""
        lines = self.client("info", "persistence")[1].decode().splitlines()
        return next(int(ln.split(":")[1]) for ln in lines if ln.startswith("rdb_changes_since"))

    def heard(self):
        """The events since the last call, each a channel and a message."""
        self.client("publish", "end", "")
        events = []
        while True:
            words = leaves(self.listener.read())
            if words[0] == b"message":
                return events
            events.append(tuple(words[2:]))

    def tell(self, *words):
        """Runs a command; returns its events and the number of counted changes."""
        self.client(*words)
        events = self.heard()
        before, self.changes = self.changes, self.count_changes()
        return events, self.changes - before


@pytest.fixture
def both(server, redis_server):
    """Both servers with a subscriber."""
    watched = [Watched(server), Watched(redis_server)]
    yield watched
    for one in watched:
        one.close()


def compare(both, text):
    """Sends every line of `text` to both servers."""
    for line in filter(None, map(str.strip, text.splitlines())):
        words = ["" if word == "''" else word for word in line.split()]
        if words[0] == "sleep":
            let_pass(float(words[1]) * 1000)
            continue
        ours, theirs = (one.tell(*words) for one in both)
        assert ours == theirs, line


def test_strings(both):
    compare(both, """
        set k v
        set k v2
        set k v nx
        set n v nx
        set k w xx get
        set k v ex 100
        set k v px 100000 keepttl
        set k v keepttl
        set missing v xx
        set missing v xx get
        setnx k x
        setnx fresh x
        setex e 100 v
        psetex e2 100000 v
        getset k y
        getset g y
        getdel g
        getdel g
        getex k ex 100
        getex k persist
        getex k persist
        getex k
        getex k pxat 1
        getex missing
        mset a 1 b 2 a 3
        msetnx a 1 z 2
        msetnx y 1 z 2
        incr a
        incrby a 5
        decr a
        decrby a 2
        incrbyfloat a 1.5
        incrbyfloat fl 1.5
        append a x
        append new1 x
        append new1 ''
        setrange a 1 y
        setrange a 1 ''
        setrange new2 3 y
        get missing
        get a
        mget a missing missing2
        strlen missing
        getrange missing 0 1
        lcs a missing
    """)


def test_keys_of_any_type(both):
    compare(both, """
        set k v
        rpush l 1 2 3
        del k missing l
        set k v
        sadd s a b
        unlink k s k
        set k v
        rename k k2
        rename k2 k2
        rename missing k2
        set other v
        rename k2 other
        renamenx other k2
        set other v
        renamenx k2 other
        move other 5
        move missing 5
        select 5
        move other 5
        select 0
        copy k2 k3
        copy k2 k3
        copy k2 k3 replace
        copy k2 k3 db 5
        copy missing k3
        expire k2 100
        pexpire k2 100000
        expire k2 100 nx
        expire k2 1 gt
        expireat k2 99999999999
        pexpireat k2 99999999999999
        persist k2
        persist k2
        expire k2 -1
        expire missing 5
        set k v
        expireat k 1
        exists missing k3
        touch missing k3
        type missing
        ttl missing
        object encoding missing
        dump missing
        flushdb
        flushall
        flushall
        set k v
        swapdb 0 5
        swapdb 0 0
        randomkey
        scan 0
    """)


def test_expired_keys(both):
    compare(both, """
        debug set-active-expire 0
        set a v px 10
        set b v px 10
        rpush l 1
        pexpire l 10
        sleep 0.05
        get a
        set b w
        lpush l 5
        set c v px 10
        set d v px 10
        set e v px 10
        set f v
        sleep 0.05
        del c
        rename f d
        exists e
        set g v px 10
        sleep 0.05
        incr g
        debug set-active-expire 1
    """)


def test_keys_expire_by_themselves(both):
    for one in both:
        one.client("set", "k", "v", "px", "20")
        one.heard()
        events = wait_until(one.heard, "the events")
        assert events == [(b"__keyspace@0__:k", b"expired"), (b"__keyevent@0__:expired", b"k")]


def test_hashes(both):
    compare(both, """
        hset h a 1 b 2
        hset h a 1
        hmset h a 5 c 6
        hsetnx h a 1
        hsetnx h d 1
        hincrby h n 5
        hincrbyfloat h f 1.5
        hdel h a missing
        hdel h missing
        hdel missing a
        hdel h b c d n f
        hget missing a
        hgetall missing
        hrandfield missing
        hscan missing 0
    """)


def test_lists(both):
    compare(both, """
        rpush l a b c
        lpush l a
        lpushx l a
        rpushx missing a
        lset l 0 z
        linsert l before z y
        linsert l before nothing y
        lrem l 0 nothing
        lrem l 0 a
        ltrim l 0 -1
        ltrim l 0 2
        lpop l
        rpop l 1
        lpop l 0
        lpop missing
        lmove l l2 left right
        lmove l2 l2 left right
        lmove l2 l left left
        rpoplpush l l3
        rpoplpush missing l3
        lmpop 2 missing l3 left count 5
        rpush l 1 2 3
        ltrim l 5 6
        rpush l 1
        lrem l 1 1
        rpush l 1 2 3
        lpop l 10
        rpush l 1 2 3
        blpop l 0
        brpop missing l 0
        blmove l m left left 0
        brpoplpush m l 0
        blmpop 0 1 l left count 2
        lrange missing 0 1
        llen missing
    """)


def test_sets(both):
    compare(both, """
        sadd s a b c 1 2 3
        sadd s a
        srem s a missing
        srem s missing
        smove s t b
        smove s t missing
        sadd t c
        smove s t c
        smove t t c
        spop s
        spop s 1
        spop s 0
        spop s 100
        spop missing
        sadd a 1 2 3
        sadd b 2 3 4
        sinterstore c a b
        sunionstore c a b
        sdiffstore c a b
        sinterstore c a missing
        sinterstore c a missing
        sdiffstore c missing
        sadd one x
        srem one x
        sadd one x
        smove one b x
        sadd many 1 2 3 4 5 6 7 8 9 10
        spop many 9
        sinter a missing
        smembers missing
        srandmember missing
    """)


def test_sorted_sets(both):
    compare(both, """
        zadd z 1 a 2 b 3 c
        zadd z 1 a
        zadd z ch 5 a 6 d
        zadd z nx 5 a
        zadd z incr 1 a
        zadd z nx incr 1 a
        zincrby z 2 b
        zrem z a missing
        zrem z missing
        zpopmin z
        zpopmax z 5
        zpopmin z
        zadd z 1 a 2 b 3 c 4 d
        zmpop 1 z min count 1
        bzpopmin z 0
        bzpopmax missing z 0
        bzmpop 0 1 z max
        zadd z 1 a 2 b 3 c 4 d 5 e
        zremrangebyrank z 0 0
        zremrangebyscore z 2 2
        zremrangebylex z [c [c
        zremrangebyscore z 100 200
        zremrangebyrank z 0 -1
        zadd a 1 x 2 y
        zadd b 1 y 2 z
        zunionstore d 2 a b
        zinterstore d 2 a b
        zdiffstore d 2 a b
        zrangestore d a 0 -1
        zinterstore d 2 a missing
        zinterstore d 2 a missing
        zrangestore d a 5 10
        zscore missing a
        zrange missing 0 1
    """)


def test_geo_and_sort(both):
    compare(both, """
        geoadd g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
        geoadd g nx 13 38 Palermo
        geoadd g ch 13 38 Palermo
        geosearchstore d g fromlonlat 15 37 byradius 200 km
        georadius g 15 37 200 km store e
        geosearchstore d g fromlonlat 100 37 byradius 1 km
        geosearchstore d g fromlonlat 100 37 byradius 1 km
        rpush l 3 1 2
        sort l store sorted
        sort l store sorted
        sort missing store sorted
        sort missing store sorted
        set sorted x
        sort l store sorted
        sort_ro l
    """)


def test_bits_and_hyperloglogs(both):
    compare(both, """
        setbit b 5 1
        setbit b 5 1
        setbit b 100 0
        bitop or d b missing
        bitop not d b
        bitop or d missing missing2
        bitop or d missing missing2
        bitfield b set u8 0 255
        bitfield b set u8 0 255
        bitfield b set u8 0 1 incrby u8 8 5 get u8 0
        bitfield b get u8 0
        bitfield new incrby i5 100 1
        bitfield new2 set u8 0 0
        bitcount missing
        pfadd h a b c
        pfadd h a
        pfadd h2
        pfadd h2
        pfcount h
        pfcount h
        pfmerge h3 h h2
        pfmerge h3
        pfmerge h3 missing
        pfcount missing
    """)


def test_streams(both):
    compare(both, """
        xadd s 1-1 a b
        xadd s 2-* a b
        xadd s maxlen 2 3-1 a b
        xadd s nomkstream minid 3 4-1 a b
        xadd missing nomkstream * a b
        xtrim s maxlen 1
        xtrim s maxlen 1
        xdel s 4-1 9-9
        xdel s 9-9
        xgroup create s g $
        xgroup create s g $
        xgroup create new g $ mkstream
        xgroup createconsumer s g c
        xgroup createconsumer s g c
        xadd s 5-1 a b
        xadd s 6-1 a b
        xreadgroup group g c streams s >
        xclaim s g d 0 5-1
        xclaim s g d 0 9-9
        xautoclaim s g c 0 0
        xack s g 5-1
        xack s g 5-1
        xadd s 7-1 a b
        xreadgroup group g e noack streams s >
        xgroup setid s g 0
        xgroup delconsumer s g c
        xgroup delconsumer s g c
        xgroup destroy s g
        xgroup destroy s g
        xsetid s 100-1
        xread streams s 0
        xread streams missing 0
        xlen missing
    """)


def test_restore(both):
    payloads = [one.client("dump", "k")[1] for one in both if one.client("set", "k", "v")]
    for words in (("restore", "new", "0"), ("restore", "new", "1000"),
                  ("restore", "k", "100000", "replace"), ("restore", "k", "1", "replace", "absttl"),
                  ("restore", "gone", "1", "absttl")):
        ours, theirs = (one.tell(*words[:3], payload, *words[3:])
                        for one, payload in zip(both, payloads))
        assert ours == theirs, words
    for words in (("rpush", "a", "b"), ("xadd", "1-1", "a", "b"), ("hset", "a", "b"), ("sadd", "a")):
        told = []
        for one in both:
            one.client("del", "from", "to")
            one.client(words[0], "from", *words[1:])
            one.client("set", "to", "v")
            told.append(one.tell("restore", "to", "0", one.client("dump", "from")[1], "replace"))
        assert told[0] == told[1], words


def test_a_transaction_publishes_in_the_order_of_its_commands(both):
    for one in both:
        for line in ("multi", "set k v", "incr n", "del k", "get missing", "lpush k x",
                     "incr k", "expire n 10"):
            one.client(*line.split())
    ours, theirs = (one.tell("exec") for one in both)
    assert ours == theirs
    for one in both:
        one.client("multi")
        one.client("set", "k", "v")
    assert both[0].tell("discard") == both[1].tell("discard") == ([], 0)


def test_a_blocked_clients_pop_follows_the_push(both):
    for one, server_client in ((one, RawClient(one.client.socket.getpeername()[1])) for one in both):
        taker = threading.Thread(target=server_client, args=("blpop", "l", "0"))
        taker.start()
        wait_until(lambda client=one.client: b"blocked_clients:1" in client("info", "clients")[1], "the wait")
        one.client("rpush", "l", "a")
        taker.join()
        server_client.close()
    ours, theirs = (one.heard() for one in both)
    assert ours == theirs
    assert [message for channel, message in ours if channel == b"__keyspace@0__:l"] == [
        b"new", b"rpush", b"lpop", b"del"]


@pytest.mark.parametrize("events", ["K$", "Eg", "KE$", "A", "KEx", "El", "KA", ""])
def test_only_the_selected_classes_are_published(both, events):
    for one in both:
        one.client("config", "set", "notify-keyspace-events", events)
    compare(both, """
        set k v
        set k v ex 100
        lpush l a
        del k l
        get k
    """)


def test_the_letters_are_kept_as_in_redis(both):
    for letters in ("KEA", "g$lshzxetdmKE", "Kx$", "AKEm", ""):
        for one in both:
            one.client("config", "set", "notify-keyspace-events", letters)
        ours, theirs = (one.client("config", "get", "notify-keyspace-events") for one in both)
        assert ours == theirs


def test_the_directive_applies_from_the_start():
    with Server(notify_keyspace_events="KEA") as server:
        watched = Watched(server, "KEA")
        assert watched.tell("set", "k", "v")[0] == [
            (b"__keyspace@0__:k", b"set"), (b"__keyevent@0__:set", b"k")]
        watched.client.close()
        watched.listener.close()
