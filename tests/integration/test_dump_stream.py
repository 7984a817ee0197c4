# SPDX-License-Identifier: BSD-3-Clause
"""DUMP and RESTORE of streams compared with redis-server: entries, and the complete state of consumer groups."""

import random

import pytest
import redis

from rdb_payloads import NEW_ENCODINGS, STREAM_ID, STREAM_NODE, payload, stream2

DAMAGED = 2000  # payloads
FILL = """
xadd x 1-1 a 1 b 2
xadd x 1-2 a 3 b 4
xadd x 2-0 other field a 5
xadd x 18446744073709551615-0 a 1 b \xff
xadd x 18446744073709551615-18446744073709551615 a 1 b 9223372036854775807
xdel x 1-2
xgroup create x g 0
xgroup create x 12345 2-0 entriesread 2
xgroup create x empty $
xgroup createconsumer x g idle
xreadgroup group g alice count 2 streams x >
xreadgroup group g bob streams x >
xreadgroup group 12345 alice streams x >
xack x g 2-0
xclaim x g carol 0 1-1 time 1000 retrycount 7
xdel x 1-1
"""


def fill(client):
    """Creates the stream x."""
    for line in filter(None, map(str.strip, FILL.splitlines())):
        client.execute_command(*line.split(" "))


def whole(client, key):
    """XINFO's description of a stream, as a dictionary, without the storage and the current times."""
    def tidy(value):
        if isinstance(value, list):
            return [tidy(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {field: tidy(each) for field, each in value.items()
                if field not in (b"radix-tree-keys", b"radix-tree-nodes", b"active-time")}
    return tidy(client.execute_command("xinfo", "stream", key, "full", "count", 0))


@pytest.fixture
def servers(server, redis_server):
    """RESP3 clients of Cairn and of redis-server, so XINFO replies with maps."""
    clients = [redis.Redis("127.0.0.1", each.port, protocol=3) for each in (server, redis_server)]
    for client in clients:
        client.response_callbacks.clear()
        client.flushall()
    yield clients
    for client in clients:
        client.close()


@pytest.mark.parametrize("way", [(0, 1), (1, 0)], ids=["to Redis", "from Redis"])
def test_groups_and_pending_entries_are_restored(servers, way):
    source, target = (servers[i] for i in way)
    fill(source)
    before = whole(source, "x")
    assert len(before[b"groups"]) == 3
    target.restore("x", 0, source.dump("x"))
    assert whole(target, "x") == before
    for consumer in ("alice", "bob", "carol", "idle"):
        read = "xreadgroup", "group", "g", consumer, "streams", "x", "0"
        assert target.execute_command(*read) == source.execute_command(*read)
    for client in servers:
        client.xadd("y", {"a": 1})
        client.execute_command("xsetid", "x", "18446744073709551615-18446744073709551615")
    source.restore("x", 0, target.dump("x"), replace=True)
    assert source.xlen("x") == target.xlen("x") == 3


def test_a_restored_stream_can_be_used(servers):
    for client, other in (servers, servers[::-1]):
        for i in range(1, 400):
            client.xadd("x", {"n": i}, id=f"{i}-1")
        client.xtrim("x", maxlen=250, approximate=False)
        client.xdel("x", "300-1")
        client.xgroup_create("x", "g", "200-1")
        other.restore("copy", 0, client.dump("x"))
        for one, key in ((client, "x"), (other, "copy")):
            one.execute_command("xadd", key, "400-*", "n", "400")
            one.xtrim(key, maxlen=120, approximate=False)
            one.xreadgroup("g", "c", {key: ">"}, count=30)
            one.xack(key, "g", "350-1")
        ours, theirs = whole(client, "x"), whole(other, "copy")
        for info in (ours, theirs):
            for group in info[b"groups"]:
                group[b"pending"] = group[b"consumers"] = None
        assert ours == theirs
        assert client.xrange("x") == other.xrange("copy")
        client.flushall()
        other.flushall()


def test_an_empty_stream_is_restored(servers):
    for client, other in (servers, servers[::-1]):
        client.xgroup_create("x", "g", "5-5", mkstream=True)
        client.execute_command("xsetid", "x", "9-9", "entriesadded", "20", "maxdeletedid", "8-8")
        other.restore("x", 0, client.dump("x"))
        assert whole(other, "x") == whole(client, "x")
        assert other.xadd("x", {"a": 1}, id="9-10") == b"9-10"
        client.flushall()
        other.flushall()


def test_a_deleted_id_above_the_last_id_is_restored(servers):
    """XSETID of Redis 7.0 can set the last id back to that of the last remaining entry, below deleted ids."""
    ours, theirs = servers
    theirs.execute_command("xadd", "x", "24-0", "f", "v")
    theirs.execute_command("xsetid", "x", "40-0", "entriesadded", 100, "maxdeletedid", "39-3")
    theirs.execute_command("xsetid", "x", "31-1")
    ours.execute_command("restore", "x", 0, theirs.execute_command("dump", "x"))
    theirs.execute_command("restore", "y", 0, ours.execute_command("dump", "x"))
    assert whole(ours, "x") == whole(theirs, "x") == whole(theirs, "y")


def test_payloads_are_those_of_redis_byte_for_byte(pair):
    rng = random.Random(3)
    for i in range(3):
        pair("xadd", "small", f"{i + 1}-{2 * i}", "a", i, "b", "text")
    pair("dump", "small")
    for i in range(1, 1000):
        fields = ["n", rng.randbytes(20), "m", i] if i % 5 else [rng.randbytes(9), -i * 10**6]
        pair("xadd", "large", f"{i}-{i % 3}", *fields)
    pair("dump", "large")
    pair("config", "set", "stream-node-max-entries", 7)
    pair("xadd", "nodes", "1-1", "a", rng.randbytes(30))
    for i in range(2, 40):
        pair("xadd", "nodes", f"{i}-1", "a", rng.randbytes(30))
    pair("dump", "nodes")
    pair("config", "set", "stream-node-max-entries", 100)


def test_streams_of_redis_7_2_are_understood(servers):
    version, value = NEW_ENCODINGS["stream 3"]
    servers[0].restore("x", 0, payload(value, version))
    consumer = whole(servers[0], "x")[b"groups"][0][b"consumers"][0]
    assert (consumer[b"name"], consumer[b"seen-time"]) == (b"c", 2000)
    assert consumer[b"pending"] == [[b"5-1", 1000, 2]]
    full = servers[0].execute_command("xinfo", "stream", "x", "full")
    assert full[b"groups"][0][b"consumers"][0][b"active-time"] == 3000


# The result is an error or a stream, and the server continues. redis-server accepts every payload that Cairn accepts.
def test_damage_with_a_valid_checksum_does_no_harm(servers):
    ours, theirs = servers
    theirs.config_set("sanitize-dump-payload", "yes")
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    fill(theirs)
    values = [theirs.dump("x")[:-10], bytes.fromhex(stream2())]
    accepted = 0
    for _ in range(DAMAGED):
        value = bytearray(rng.choice(values))
        for _ in range(rng.randint(1, 3)):
            value[rng.randrange(1, len(value))] = rng.choice([rng.randrange(256), 255, 0, 0x81])
        damaged = payload(bytes(value))
        try:
            ours.restore("key", 0, damaged, replace=True)
        except redis.ResponseError as error:
            assert "Bad data format" in str(error)
            continue
        theirs.restore("key", 0, damaged, replace=True)
        assert ours.xrange("key") == theirs.xrange("key"), (seed, damaged)
        before = whole(ours, "key")
        theirs.restore("back", 0, ours.dump("key"), replace=True)
        ours.restore("key", 0, theirs.dump("back"), replace=True)
        assert whole(ours, "key") == before, (seed, damaged)
        accepted += 1
    assert accepted > DAMAGED // 100


# Redis accepts these payloads and then has an inconsistent stream.
@pytest.mark.parametrize("value", [
    stream2(state="02 0501 0501 0000 02"),
    stream2(state="01 0500 0501 0000 01"),
    stream2(state="01 0501 0501 0000 00"),
    stream2(state="01 0501 0501 0000 81 ffffffffffffffff"),
    stream2(node=STREAM_NODE.replace("0001 0001 816202", "df05 02 df04 02 816202".replace(" ", ""))
            .replace("1d 1d000000", "1f 1f000000")),
    stream2(node="02" + STREAM_NODE[2:] + STREAM_NODE[2:], state="02 0501 0501 0000 02"),
    stream2(pending=f"01 {STREAM_ID} ffffffffffffffff 02"),
])
def test_inconsistent_streams_are_refused(servers, value):
    with pytest.raises(redis.ResponseError, match="Bad data format"):
        servers[0].restore("x", 0, payload(value))
    assert not servers[0].exists("x")
    assert servers[0].restore("x", 0, payload(stream2())) == b"OK"
