# SPDX-License-Identifier: BSD-3-Clause
"""DUMP and RESTORE compared with redis-server: values are the same after a transfer in either direction.

The servers' limits are set so that every encoding occurs. tests/rdb/ tests the bytes of payloads and damaged ones; here
two servers must understand each other.
"""

import random
import threading
import time

import pytest
import redis

from rdb_payloads import NEW_ENCODINGS, OLD_ENCODINGS, WRONG_VALUES, payload
from waiting import wait_for_blocked, wait_until

# Settings under which a corpus is built; the last ones make every collection large, or small.
SETTINGS = [
    {},
    {"hash-max-listpack-entries": 0, "zset-max-listpack-entries": 0, "set-max-intset-entries": 0,
     "list-max-listpack-size": 1},
    {"hash-max-listpack-entries": 5000, "hash-max-listpack-value": 5000,
     "zset-max-listpack-entries": 5000, "zset-max-listpack-value": 5000,
     "set-max-intset-entries": 5000, "list-max-listpack-size": -5},
    {"list-max-listpack-size": 3},
]
DEFAULTS = {"hash-max-listpack-entries": 512, "hash-max-listpack-value": 64,
            "zset-max-listpack-entries": 128, "zset-max-listpack-value": 64,
            "set-max-intset-entries": 512, "list-max-listpack-size": -2}

INTEGERS = [0, 1, 12, 13, 63, 64, 127, 128, -1, -128, -129, 4095, 4096, -4096, -4097, 32767, 32768,
            -32768, -32769, 8388607, 8388608, -8388609, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1,
            2**53, 2**62 - 1, 2**62, -(2**62), 2**63 - 1, -(2**63)]
TEXTS = [b"", b"a", b"007", b"-0", b"1.5", b"\x00\xff\r\n", b"9223372036854775808", b"x" * 20,
         b"x" * 21, b"x" * 63, b"x" * 64, b"x" * 65, bytes(range(256)), b"y" * 4095, b"y" * 4096,
         b"z" * 16383, b"z" * 16384, b"abc" * 7000]
SCORES = [0, 1, -1, 1.5, -2.25, 0.1, 1e-300, 1e300, 2**53, -(2**53), 3.0000000000000004,
          float("inf"), float("-inf"), 123456789012345]


def build_corpus(client):
    """Creates keys of all types and sizes; returns their names."""
    rng = random.Random(5)
    members = [str(i).encode() for i in INTEGERS] + TEXTS
    pipe = client.pipeline(transaction=False)
    for number, text in enumerate(members):
        pipe.set(f"string:{number}", text)
    pipe.append("string:appended", "12")
    for size in (1, 3, 100, 1000):
        pipe.rpush(f"list:small:{size}", *[f"item {i}" for i in range(size)])
        pipe.lpush(f"list:integers:{size}", *[rng.choice(INTEGERS) for _ in range(size)])
        pipe.sadd(f"set:integers16:{size}", *range(-size // 2, size))
        pipe.sadd(f"set:integers64:{size}", *[2**40 + 3 * i for i in range(size)])
        pipe.sadd(f"set:texts:{size}", *[f"member {i}" for i in range(size)])
        pipe.hset(f"hash:{size}", mapping={f"field {i}": i * 37 for i in range(size)})
        pipe.zadd(f"zset:{size}", {f"member {i}": rng.choice(SCORES) for i in range(size)})
        pipe.zadd(f"zset:integers:{size}", {i: i for i in range(size)})
    pipe.rpush("list:texts", *members)
    pipe.sadd("set:mixed", *members)
    pipe.sadd("set:integers32", 70000, -70000, 5)
    pipe.hset("hash:texts", mapping={member: member[::-1] for member in members})
    pipe.hset("hash:long", mapping={"field": "v" * 65})
    pipe.zadd("zset:texts", {member: rng.choice(SCORES) for member in members})
    for size in (1, 3, 100, 1000):
        for i in range(size):
            pipe.xadd(f"stream:{size}", {"field": i, f"other {i % 7 // 6}": TEXTS[i % 10]},
                      id=f"{1000 + i // 3}-{i}")
    pipe.execute()
    return sorted(client.keys())


def configure(*clients, **settings):
    """Sets the same limits on all clients' servers."""
    for client in clients:
        for name, value in {**DEFAULTS, **settings}.items():
            client.config_set(name, value)


def digest(client, key):
    """A digest of type and value, the same on both servers."""
    return client.execute_command("debug", "digest-value", key)


@pytest.fixture
def servers(server, redis_server):
    """Clients of Cairn and of redis-server, both with default limits."""
    ours, theirs = server.client(), redis_server.client()
    yield ours, theirs
    configure(ours, theirs)


def cross(source, target, keys):
    """Restores every key of `source` on `target`; then both hold the same data."""
    for key in keys:
        target.restore(key, 0, source.dump(key))
    for key in keys:
        assert digest(source, key) == digest(target, key), key


@pytest.mark.parametrize("settings", SETTINGS)
def test_values_of_redis_are_understood(servers, settings):
    ours, theirs = servers
    configure(ours, theirs, **settings)
    keys = build_corpus(theirs)
    cross(theirs, ours, keys)
    for key in keys:
        assert ours.object("encoding", key) == theirs.object("encoding", key), key


@pytest.mark.parametrize("settings", SETTINGS)
def test_redis_understands_our_values(servers, settings):
    ours, theirs = servers
    configure(ours, theirs, **settings)
    keys = build_corpus(ours)
    cross(ours, theirs, keys)
    for key in keys:
        assert ours.object("encoding", key) == theirs.object("encoding", key), key


# The payloads are dumped under one limit and restored under another.
@pytest.mark.parametrize("first, second", [(1, 0), (2, 0), (0, 1), (1, 2)])
def test_encodings_after_a_restore_are_those_of_redis(servers, first, second):
    ours, theirs = servers
    configure(theirs, **SETTINGS[first])
    keys = build_corpus(theirs)
    configure(ours, theirs, **SETTINGS[second])
    for key in keys:
        dumped = theirs.dump(key)
        ours.restore(key, 0, dumped)
        theirs.restore(key, 0, dumped, replace=True)
        assert ours.object("encoding", key) == theirs.object("encoding", key), key
        assert digest(ours, key) == digest(theirs, key), key


# Every key is sent to the other server and back, and is unchanged.
def test_a_value_survives_a_round_trip(servers):
    ours, theirs = servers
    keys = build_corpus(theirs)
    cross(theirs, ours, keys)
    before = {key: digest(theirs, key) for key in keys}
    theirs.flushall()
    cross(ours, theirs, keys)
    assert {key: digest(theirs, key) for key in keys} == before


# If the value alone determines Redis's bytes, ours are the same. Compressible texts are left out, because their bytes
# are not determined.
def test_payloads_are_those_of_redis_byte_for_byte(pair):
    rng = random.Random(9)
    for number in INTEGERS:
        pair("set", "string", number)
        pair("dump", "string")
    for command in ("rpush list a 1 -200", "zadd zset 1 a 2.5 b -inf c", "hset hash a 1 b 2",
                    "sadd set 1 2 3", "sadd set 70000"):
        pair(*command.split())
        pair("dump", command.split()[1])
    pair("rpush", "noise", *[rng.randbytes(40) for _ in range(3000)])
    pair("dump", "noise")
    pair("config", "set", "list-max-listpack-size", 3)
    pair("rpush", "nodes", *range(500))
    pair("dump", "nodes")
    pair("config", "set", "list-max-listpack-size", -2)
    pair("config", "set", "zset-max-listpack-entries", 0)
    pair("zadd", "skiplist", *[word for i in range(500) for word in (i % 19 / 8, f"m{i}")])
    pair("dump", "skiplist")
    pair("config", "set", "zset-max-listpack-entries", 128)


@pytest.mark.parametrize("name", OLD_ENCODINGS)
def test_encodings_of_older_servers_are_understood(servers, name):
    version, value = OLD_ENCODINGS[name]
    for client in servers:
        for written in range(version, 11):
            client.restore("key", 0, payload(value, written), replace=True)
    ours, theirs = servers
    assert ours.type("key") == theirs.type("key")
    assert digest(ours, "key") == digest(theirs, "key")
    assert ours.object("encoding", "key") == theirs.object("encoding", "key")


def test_encodings_of_redis_7_2_are_understood(r):
    version, value = NEW_ENCODINGS["set listpack"]
    r.restore("key", 0, payload(value, version))
    assert r.smembers("key") == {b"1", b"a"}
    with pytest.raises(redis.ResponseError, match="DUMP payload version or checksum are wrong"):
        r.restore("other", 0, payload(value, 16))


def test_a_field_time_beyond_the_largest_is_refused(r):
    """It was stored, and the RDB file that was written then could not be loaded."""
    value = bytes.fromhex("18 0000000000000100 01 81 0001000000000000 0161 0162")
    with pytest.raises(redis.ResponseError, match="Bad data format"):
        r.restore("key", 0, payload(value, 12))


def test_a_stream_with_the_largest_number_of_entries_added_can_be_restored(r):
    r.xadd("stream", {"f": "v"}, id="1-1")
    r.execute_command("XSETID", "stream", "1-1", "ENTRIESADDED", 2**63 - 1)
    r.xadd("stream", {"f": "v"}, id="2-1")
    r.xgroup_create("stream", "group", 0, entries_read=2**63 - 1)
    r.restore("copy", 0, r.dump("stream"))
    assert r.xinfo_stream("copy")["entries-added"] == 2**63 - 1
    assert r.xinfo_groups("copy")[0]["entries-read"] == 2**63 - 1


# Redis 7.0.15 accepts these payloads, Debian's security updates of it do not.
LATELY_REFUSED = {"stream entry pending for two"}


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_invalid_values_are_refused_like_by_redis(pair, name):
    pair.theirs("config", "set", "sanitize-dump-payload", "yes")
    command = ("restore", "key", 0, payload(WRONG_VALUES[name]))
    if name in LATELY_REFUSED and pair.theirs(*command) == (b"+", b"OK"):
        assert pair.ours(*command) == (b"-", b"ERR Bad data format")
        return
    assert pair(*command) == (b"-", b"ERR Bad data format")
    pair("exists", "key")


def test_every_changed_byte_is_detected(servers):
    ours, theirs = servers
    theirs.hset("hash", mapping={f"field{i}": i for i in range(20)})
    dumped = theirs.dump("hash")
    for at in range(len(dumped)):
        damaged = bytearray(dumped)
        damaged[at] ^= 0x40
        with pytest.raises(redis.ResponseError, match="DUMP payload version or checksum are wrong"):
            ours.restore("key", 0, bytes(damaged))
    for size in range(len(dumped)):
        with pytest.raises(redis.ResponseError, match="DUMP payload version or checksum are wrong"):
            ours.restore("key", 0, dumped[:size])
    assert not ours.exists("key")


def test_debug_can_disable_checksums(pair):
    """For tests of damaged payloads, as in Redis."""
    good = payload(bytes.fromhex("00 03 616263"))
    wrong = good[:-1] + bytes([good[-1] ^ 1])
    assert pair("restore", "key", 0, wrong)[0] == b"-"
    pair("debug", "set-skip-checksum-validation", 1)
    try:
        assert pair("restore", "key", 0, wrong) == (b"+", b"OK")
        pair("get", "key")
        pair("restore", "other", 0, good[:-10] + b"\xff\xff" + good[-8:])  # of a future version
    finally:
        pair("debug", "set-skip-checksum-validation", 0)
    pair("restore", "key", 0, wrong, "replace")


# The largest type number that redis-server 7.0 knows; Cairn knows those of newer versions too, and has its own.
NEWEST_TYPE = 19


# Damaged bytes with a valid checksum: the result is an error or a value, and the server continues. redis-server accepts
# every payload that Cairn accepts, if it knows the type, and gets the same value.
@pytest.mark.slow
def test_damage_with_a_valid_checksum_does_no_harm(servers):
    ours, theirs = servers
    theirs.config_set("sanitize-dump-payload", "yes")
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    values = [theirs.dump(key)[:-10] for key in build_corpus(theirs)]
    values = [value for value in values if len(value) < 2000]
    accepted = 0
    for _ in range(3000):
        value = bytearray(rng.choice(values))
        for _ in range(rng.randint(1, 3)):
            value[rng.randrange(len(value))] = rng.choice([rng.randrange(256), 255, 0, 0x81, 0xC3])
        damaged = payload(bytes(value))
        try:
            ours.restore("key", 0, damaged, replace=True)
        except redis.ResponseError as error:
            assert str(error) == "Bad data format"
            continue
        if value[0] > NEWEST_TYPE:
            continue
        theirs.restore("key", 0, damaged, replace=True)
        assert digest(ours, "key") == digest(theirs, "key"), (seed, damaged)
        theirs.restore("back", 0, ours.dump("key"), replace=True)
        assert digest(theirs, "back") == digest(theirs, "key"), (seed, damaged)
        accepted += 1
    assert accepted > 100


REFUSALS = """
dump
dump nokey
dump string extra
restore
restore new 0
restore new 0 x
restore new x PAYLOAD
restore new -1 PAYLOAD
restore new 1.5 PAYLOAD
restore new 9223372036854775808 PAYLOAD
restore string 0 x
restore string x x
restore string -1 PAYLOAD
restore string 0 PAYLOAD
restore string -1 x replace
restore new 0 PAYLOAD other
restore new 0 PAYLOAD replace other
restore string 0 x other
restore new 0 PAYLOAD idletime
restore new 0 PAYLOAD freq
restore new 0 PAYLOAD idletime x
restore new 0 PAYLOAD idletime -1
restore new 0 PAYLOAD idletime -1 freq x
restore new 0 PAYLOAD idletime 1 freq 1
restore new 0 PAYLOAD freq 1 idletime 1
restore new 0 PAYLOAD freq x
restore new 0 PAYLOAD freq -1
restore new 0 PAYLOAD freq 256
restore new 0 PAYLOAD freq 256 other
restore new 0 PAYLOAD absttl absttl replace REPLACE freq 0 freq 255
restore new 0 PAYLOAD IdleTime 5 idletime 10 AbsTtl
restore list 0 PAYLOAD replace
restore string 0 PAYLOAD replace
restore new 1 PAYLOAD absttl
restore string 1 PAYLOAD absttl
restore string 1 PAYLOAD absttl replace
restore new 9223372036854775807 PAYLOAD
restore string 9223372036854775807 PAYLOAD replace
restore string 1 x absttl replace
restore new 9223372036854775807 PAYLOAD absttl
restore new 100000 PAYLOAD
restore new 4000000000000 PAYLOAD absttl
restore-asking new 0 PAYLOAD
restore-asking string 0 PAYLOAD
restore-asking
"""


def test_replies_and_effects_are_those_of_redis(pair):
    for line in filter(None, REFUSALS.splitlines()):
        pair("flushall")
        pair("set", "string", "text")
        pair("rpush", "list", "a", "b")
        dumped = payload("00 05 76616c7565")
        pair(*(dumped if word == "PAYLOAD" else word for word in line.split()))
        for key in ("new", "string", "list"):
            pair("type", key)
            pair("expiretime", key, normal=lambda reply: int(reply[1]) // 10)
        pair("dbsize")


def test_command_info_is_that_of_redis(pair):
    for name in ("dump", "restore", "restore-asking"):
        pair("command", "info", name)


def test_a_restored_key_has_the_ttl_and_no_other(r):
    r.set("key", "value", ex=100)
    dumped = r.dump("key")
    r.restore("forever", 0, dumped)
    assert r.ttl("forever") == -1
    r.restore("key", 0, dumped, replace=True)
    assert r.ttl("key") == -1
    r.restore("key", 5000, dumped, replace=True)
    assert 4000 < r.pttl("key") <= 5000
    when = int(time.time() * 1000) + 7000
    r.restore("key", when, dumped, replace=True, absttl=True)
    assert r.pexpiretime("key") == when
    r.restore("soon", 30, dumped)
    wait_until(lambda: r.get("soon") is None, "the end of the key")
    r.restore("soon", 0, dumped)


def test_idletime_comes_from_the_payload_until_the_key_is_used(servers):
    for client in servers:
        client.restore("key", 0, payload("00 0161"), idletime=1000)
        client.restore("volatile", 100000, payload("00 0161"), idletime=2000)
        assert 1000 <= client.object("idletime", "key") < 1010
        assert 2000 <= client.object("idletime", "volatile") < 2010
        client.get("key")
        client.restore("volatile", 0, payload("00 0161"), replace=True)
        assert client.object("idletime", "key") < 10
        assert client.object("idletime", "volatile") < 10
    pipe = servers[0].pipeline(transaction=False)
    pipe.restore("pipe", 0, payload("00 0161"), idletime=1000)
    pipe.object("idletime", "pipe")
    pipe.set("pipe", "again")
    pipe.object("idletime", "pipe")
    replies = pipe.execute()
    assert 1000 <= replies[1] < 1010 and replies[3] == 0
    assert servers[0].object("idletime", "pipe") < 10


@pytest.mark.parametrize("kind", ["rpush", "sadd", "hset", "zadd"])
def test_a_large_collection_with_a_ttl_is_restored_completely(r, kind):
    elements = [f"element {i}" for i in range(20000)]
    if kind == "hset":
        r.hset("key", mapping=dict(zip(elements, elements)))
    elif kind == "zadd":
        r.zadd("key", {element: i for i, element in enumerate(elements)})
    else:
        getattr(r, kind)("key", *elements)
    r.set("copy", "in the way")
    r.restore("copy", 60000, r.dump("key"), replace=True)
    assert 0 < r.ttl("copy") <= 60
    r.persist("copy")
    assert digest(r, "copy") == digest(r, "key")
    assert r.dbsize() == 2


def test_a_refused_restore_in_a_transaction_leaves_no_trace(pair):
    right = payload("04 01 0161 0162")
    wrong = payload("04 02 0161 0162 0161 0163")
    pair("multi")
    pair("restore", "a", 0, right)
    pair("restore", "b", 0, wrong)
    pair("restore", "a", 0, right)
    pair("hset", "a", "c", "d")
    pair("dump", "nokey")
    pair("exec")
    pair("hlen", "a")
    pair("exists", "b")


def test_a_client_blocked_on_a_list_is_served_by_restore(server):
    waiting, other = server.client(), server.client()
    served = []
    thread = threading.Thread(target=lambda: served.append(waiting.blpop("list", 20)))
    thread.start()
    wait_for_blocked(server)
    other.restore("list", 0, payload("01 02 0161 0162"))
    thread.join(60)
    assert served == [(b"list", b"a")]
    assert other.lrange("list", 0, -1) == [b"b"]


def test_restored_keys_survive_a_restart(server, redis_server):
    theirs = redis_server.client()
    keys = build_corpus(theirs)
    ours = server.client()
    cross(theirs, ours, keys)
    server.restart("kill9")
    ours = server.client()
    for key in keys:
        assert digest(ours, key) == digest(theirs, key), key
