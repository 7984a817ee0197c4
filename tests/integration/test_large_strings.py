# SPDX-License-Identifier: BSD-3-Clause
"""Large strings that are edited in part are stored in fragments. Every command on one replies like redis-server; they
survive restarts and kills, are copied and moved like other values, and leave no rows behind.

A string is split into fragments by an edit after which it has at least 8 KB, and a fragment has 1 KB
(docs/decisions/fragments.md). These tests use sizes around such borders.
"""

import random
import threading

import pytest
import redis

from data_files import data_bytes
from harness import Server
from pairs import follow, start, wait_for_offset
from waiting import wait_until

pytestmark = pytest.mark.slow

FRAGMENT = 1024
FRAGMENTED = 8192
MEGABYTE = 1 << 20

EDGES = f"""
setrange s {FRAGMENTED - 1} x
strlen s
object encoding s
getrange s 0 -1
append s tail
getrange s -6 -1
getrange s {FRAGMENTED - 2} {FRAGMENTED}
getrange s {2 * FRAGMENTED} -1
getrange s 5 3
substr s -1 0
setrange s 0 ''
setrange s {FRAGMENT - 2} abcd
getrange s {FRAGMENT - 3} {FRAGMENT + 3}
setrange s 536870912 x
setrange s -1 x
incr s
incrbyfloat s 1
getbit s {8 * FRAGMENTED - 1}
getbit s 4294967295
setbit s {8 * FRAGMENT} 1
setbit s {8 * FRAGMENT} 1
bitcount s
bitcount s {FRAGMENT} {FRAGMENT + 1}
bitpos s 1
bitpos s 0 {FRAGMENT} -1
bitpos s 1 {16 * FRAGMENT} -1
bitfield s get u8 {8 * FRAGMENT - 4} set u16 {8 * FRAGMENT - 9} 513 incrby i64 #1023 7
bitfield_ro s get i33 {8 * FRAGMENT - 17} get u8 99999999
bitfield s overflow fail set u8 {8 * 3 * FRAGMENTED} 256
strlen s
lpush s a
hget s f
getex s
mget s none s
rename s t
exists s
strlen t
copy t u
setbit t 0 1
bitop xor d t u
bitcount d
bitop not d t
bitop and t t none
strlen t
object encoding t
setnx u x
set u 12 xx get
incr u
getset d short
append d er
object encoding d
append missing ''
exists missing
"""


def test_edge_cases_equal_redis(pair):
    pair.lines(EDGES)


class Edits:
    """Random commands on a few strings, at positions around the borders of fragments."""

    def __init__(self, seed):
        self.luck = random.Random(seed)

    def key(self):
        """One of a few keys."""
        return self.luck.choice("abcd")

    def position(self):
        """An offset in bytes, mostly near a border."""
        near = self.luck.choice([0, 1, 7, 8, 9, 15, 20]) * FRAGMENT
        return max(0, near + self.luck.randint(-4, 4))

    def end(self):
        """The start or end of a range."""
        return self.luck.choice([1, 1, -1]) * self.position()

    def text(self):
        """Bytes to write; sometimes zeros, sometimes long."""
        size = self.luck.choice([1, 2, 5, 5, FRAGMENT, 2 * FRAGMENT + 3, 9 * FRAGMENT])
        return self.luck.choice([self.luck.randbytes(size), b"\0" * size, b"7" * size])

    def field(self):
        """A bit field's type and offset."""
        width = self.luck.choice([f"i{self.luck.randint(1, 64)}", f"u{self.luck.randint(1, 63)}"])
        return width, 8 * self.position() + self.luck.randrange(8)

    def edit(self):
        """A command that changes a part of a string, or all of it."""
        key, luck = self.key(), self.luck
        return luck.choice([
            lambda: ("setrange", key, self.position(), self.text()),
            lambda: ("append", key, self.text()),
            lambda: ("setbit", key, 8 * self.position() + luck.randrange(8), luck.randrange(2)),
            lambda: ("bitfield", key, "overflow", luck.choice(["wrap", "sat", "fail"]),
                     "set", *self.field(), luck.randint(-(2**40), 2**40),
                     "incrby", *self.field(), luck.randint(-9, 9), "get", *self.field()),
        ])()

    def command(self):
        """Any command on a string."""
        luck, key = self.luck, self.key()
        if luck.random() < 0.55:
            return self.edit()
        unit = luck.choice([("byte",), ("bit",)])
        return luck.choice([
            lambda: ("get", key),
            lambda: ("strlen", key),
            lambda: ("getrange", key, self.end(), self.end()),
            lambda: ("getbit", key, 8 * self.position()),
            lambda: ("bitcount", key),
            lambda: ("bitcount", key, self.end(), self.end(), *unit),
            lambda: ("bitpos", key, luck.randrange(2), self.end()),
            lambda: ("bitpos", key, luck.randrange(2), self.end(), self.end(), *unit),
            lambda: ("bitfield_ro", key, "get", *self.field(), "get", *self.field()),
            lambda: ("bitop", luck.choice(["and", "or", "xor"]), key, self.key(), self.key()),
            lambda: ("bitop", "not", key, self.key()),
            lambda: ("mget", "a", "b", "c", "d"),
            lambda: ("copy", key, self.key(), "replace"),
            lambda: ("copy", key, "e"),
            lambda: ("rename", "e", key),
            lambda: ("set", key, self.text()),
            lambda: ("getset", key, self.text()),
            lambda: ("getex", key, "ex", 10000),
            lambda: ("persist", key),
            lambda: ("incr", key),
            lambda: ("object", "encoding", key),
            lambda: ("type", key),
            lambda: ("getdel", key) if luck.random() < 0.3 else ("exists", key),
            lambda: ("sort", "names", "by", "nosort", "get", "*"),
            lambda: ("eval", "return redis.call('getrange', KEYS[1], ARGV[1], ARGV[1] + 9)", 1, key,
                     self.position()),
        ])()


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_agree(pair, seed):
    """After each command both servers have given the same reply, and at the end both have the same data."""
    edits = Edits(seed)
    pair("rpush", "names", "a", "b", "c", "d")
    # A SETBIT without a change makes an embstr of Redis raw; fragments do not matter here.
    for _ in range(1200):
        words = edits.command()
        if words[0] == "object" and pair("strlen", words[2])[1] < b"45":
            continue
        pair(*words)
    for key in "abcde":
        pair("get", key)
        pair("debug", "digest-value", key)


def test_a_transaction_keeps_the_writes_of_its_successful_commands(pair):
    pair("setrange", "s", FRAGMENTED, "x")
    pair("watch", "s")
    pair("multi")
    pair("setbit", "s", 8 * FRAGMENT, 1)
    pair("lpush", "s", "x")
    pair("append", "s", "y" * FRAGMENT)
    pair("exec")
    pair("get", "s")


def test_a_hyperloglog_in_fragments_can_be_used(pair):
    """A HyperLogLog that SETRANGE wrote piece by piece is the same HyperLogLog."""
    for i in range(3000):
        pair("pfadd", "h", f"element {i}")
    dense = pair("get", "h")[1]
    assert len(dense) > FRAGMENTED
    pair("setrange", "copy", 0, dense[:5000])
    pair("append", "copy", dense[5000:])
    pair("pfcount", "copy")
    pair("pfadd", "copy", "another")
    pair("pfmerge", "merged", "copy", "h")
    pair("pfcount", "copy", "merged")
    pair("get", "copy")


def test_watch_detects_a_change_within_a_fragment(server, r):
    """The key's record does not change with a fragment; WATCH must detect the change all the same."""
    r.setrange("s", FRAGMENTED, "x")
    with r.pipeline() as pipe:
        pipe.watch("s")
        server.client().setbit("s", 8, 1)
        pipe.multi()
        pipe.get("s")
        with pytest.raises(redis.WatchError):
            pipe.execute()
    assert r.object("idletime", "s") == 0


@pytest.mark.measures("memory")
def test_a_distant_bit_of_an_empty_bitmap_is_cheap(server, r):
    """512 MB of zeros and one bit use neither memory nor disk nor time for the zeros."""
    before = server.resident_bytes()
    assert r.setbit("far", 2**32 - 1, 1) == 0
    assert r.strlen("far") == 512 * MEGABYTE
    assert r.getbit("far", 2**32 - 1) == 1
    assert r.getbit("far", 2**31) == 0
    assert r.bitcount("far") == 1
    assert r.bitpos("far", 1) == 2**32 - 1
    assert r.getrange("far", -3, -1) == b"\0\0\x01"
    assert r.copy("far", "other")
    assert r.bitcount("other", 400 * MEGABYTE, -1) == 1
    assert server.resident_bytes() - before < 400 * MEGABYTE


@pytest.mark.parametrize("how", ["shutdown", "kill9"])
def test_survives_a_restart(how):
    """All acknowledged writes are present, in fragments as before."""
    luck = random.Random(5)
    model = bytearray(300_000)
    with Server() as server:
        r = server.client()
        r.setrange("s", len(model) - 1, "\0")
        for _ in range(2):
            for _ in range(2000):
                at = luck.randrange(8 * len(model))
                model[at >> 3] |= 0x80 >> (at & 7)
                r.setbit("s", at, 1)
            server.restart(how)
            r = server.client()
            assert r.get("s") == bytes(model)


@pytest.mark.parametrize("words", [("del", "s"), ("unlink", "s"), ("set", "s", "x"), ("flushall",),
                                   ("pexpire", "s", 1)], ids=lambda words: words[0])
def test_fragments_are_deleted_with_the_string(words):
    """However the string is deleted, its fragments are deleted too."""
    with Server() as server:
        r = server.client(socket_timeout=120)
        for start_at in range(0, 24 * MEGABYTE, MEGABYTE):
            r.setrange("s", start_at, random.Random(start_at).randbytes(MEGABYTE))
        server.restart()
        r = server.client(socket_timeout=120)
        assert data_bytes(server) > 20 * MEGABYTE
        r.execute_command(*words)
        wait_until(lambda: r.strlen("s") <= 1)
        r.execute_command("COMPACT")
        wait_until(lambda: data_bytes(server) < 8 * MEGABYTE, "giving the space back")


def test_can_be_renamed_and_moved(pair):
    """RENAME over another key, MOVE and SWAPDB keep the bytes and the expiry."""
    for key, fill in ("one", b"1"), ("two", b"2"):
        pair("setrange", key, FRAGMENTED, fill * FRAGMENT)
    pair("expire", "one", 10000)
    pair("rename", "one", "two")
    pair("renamenx", "two", "three")
    pair("move", "three", 1)
    pair("swapdb", 0, 1)
    pair("ttl", "three")
    pair("append", "three", "end")
    pair("copy", "three", "three", "db", 2)
    pair("setbit", "three", 5, 1)
    pair("debug", "digest")
    pair("select", 2)
    pair("get", "three")


def test_expires_like_any_key(r):
    r.setrange("s", FRAGMENTED, "x")
    r.pexpire("s", 30)
    r.setbit("s", 3, 1)
    wait_until(lambda: r.exists("s") == 0)
    assert r.setbit("s", 3, 1) == 0
    assert r.strlen("s") == 1


def test_is_a_plain_string_for_other_servers(r, redis_server):
    """DUMP and RESTORE in both directions, and MIGRATE."""
    theirs = redis_server.client()
    r.setrange("s", 3 * FRAGMENTED, random.Random(1).randbytes(FRAGMENT))
    assert theirs.restore("s", 0, r.dump("s"))
    assert theirs.get("s") == r.get("s")
    assert r.restore("back", 0, theirs.dump("s"))
    assert r.get("back") == r.get("s")
    text = r.get("s")
    assert r.migrate("127.0.0.1", redis_server.port, "s", 1, 5000) == b"OK"
    assert redis_server.client(db=1).get("s") == text


@pytest.mark.parametrize("kind", ["cairn", "redis"])
def test_is_replicated(kind):
    """First by the snapshot, then by each edit."""
    with start("cairn", enable_debug_command="yes") as primary, start(kind) as replica:
        r = primary.client()
        r.setrange("s", 5 * FRAGMENTED, "x" * FRAGMENT)
        follow(replica, primary)
        luck = random.Random(2)
        for _ in range(500):
            r.setbit("s", luck.randrange(8 * 8 * FRAGMENTED), 1)
            r.append("log", luck.randbytes(100))
            r.bitfield("s").set("u16", luck.randrange(10**5), 513).execute()
        r.setrange("new", 2 * FRAGMENTED, "y")
        wait_for_offset(primary, replica)
        for key in "s", "log", "new":
            assert replica.client().get(key) == r.get(key)


def test_is_in_an_rdb_file(tmp_path):
    """A background save during edits is a snapshot; DEBUG RELOAD reads it back."""
    with Server(dir=tmp_path, data_dir=tmp_path, enable_debug_command="yes") as server:
        r = server.client()
        r.setrange("s", 40 * FRAGMENTED, "x" * 3000)
        text = r.get("s")
        r.execute_command("DEBUG", "RELOAD")
        assert r.get("s") == text


def test_many_clients_edit_one_bitmap(server):
    """No bit is lost when several clients edit one fragment, or several."""
    clients, bits = 4, 2000
    server.client().setrange("s", FRAGMENTED, "\0")

    def work(number):
        r = server.client()
        for start_at in range(0, bits, 50):
            with r.pipeline(transaction=False) as pipe:
                for i in range(start_at, start_at + 50):
                    pipe.setbit("s", clients * i * 9 + number, 1)
                pipe.execute()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.client().bitcount("s") == clients * bits


def test_memory_commands_report_its_size(r):
    """MEMORY USAGE and DEBUG OBJECT report the size of the string, not of the record that refers to it."""
    r.setrange("s", 99 * MEGABYTE, "x")
    assert r.memory_usage("s") > 99 * MEGABYTE
    assert r.object("encoding", "s") == b"raw"
    assert r.debug_object("s")["serializedlength"] == 99 * MEGABYTE + 1
