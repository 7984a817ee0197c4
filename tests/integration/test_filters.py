# SPDX-License-Identifier: BSD-3-Clause
"""Bloom and cuckoo filters as values of a server: what tests/command/bloom.test and cuckoo.test cannot see. Replies in
RESP3, replication, restarts, copies, saved files, permissions, and the cost of large filters."""

import pytest
import redis

from harness import Server
from pairs import follow, start, wait_for_offset
from value_copies import COPY_PREFIXES, make_copies, value_digests

MANY = 20_000


def fill(client):
    """Filters of several sizes, and items that they must find."""
    client.execute_command("BF.MADD", "small", *range(50))
    client.execute_command("BF.RESERVE", "large", 0.001, 1_000_000)
    client.execute_command("BF.MADD", "large", *range(3_000))
    client.execute_command("BF.RESERVE", "chain", 0.01, 10, "EXPANSION", 3)
    client.execute_command("BF.MADD", "chain", *range(2_000))
    client.execute_command("BF.RESERVE", "huge", 0.01, 1 << 30)
    client.execute_command("CF.INSERT", "cuckoo", "ITEMS", *range(500))
    client.execute_command("CF.RESERVE", "buckets", 1_000_000, "BUCKETSIZE", 4)
    client.execute_command("CF.INSERT", "buckets", "ITEMS", *range(3_000))
    client.execute_command("CF.RESERVE", "grown", 8, "EXPANSION", 2)
    client.execute_command("CF.INSERT", "grown", "ITEMS", *range(2_000))


def assert_full(client, prefix=""):
    """All items are found."""
    for name, count in (("small", 50), ("large", 3_000), ("chain", 2_000)):
        assert all(client.execute_command("BF.MEXISTS", prefix + name, *range(count)))
    for name, count in (("cuckoo", 500), ("buckets", 3_000), ("grown", 2_000)):
        assert all(client.execute_command("CF.MEXISTS", prefix + name, *range(count)))
    assert client.execute_command("BF.CARD", prefix + "huge") == 0


NAMES = ("small", "large", "chain", "huge", "cuckoo", "buckets", "grown")


def replies(client, *commands):
    """The replies, without the library's own conversions."""
    client.response_callbacks.clear()
    return [client.execute_command(*command.split()) for command in commands]


def test_resp3_has_booleans_and_maps(server):
    """RedisBloom's types, with its exceptions: CF.INSERTNX and CF.COUNT reply integers."""
    assert replies(
        server.client(protocol=3), "BF.ADD b x", "BF.MADD b x y", "BF.INSERT b ITEMS y z", "BF.EXISTS b x",
        "BF.MEXISTS b x nothing", "BF.EXISTS none x", "BF.CARD b", "BF.INFO b ITEMS", "BF.INFO b",
    ) == [
        True, [False, True], [False, True], True, [True, False], False, 3, {b"Number of items inserted": 3},
        {b"Capacity": 100, b"Size": 240, b"Number of filters": 1, b"Number of items inserted": 3,
         b"Expansion rate": 2},
    ]
    assert replies(
        server.client(protocol=3), "CF.RESERVE c 9 EXPANSION 0", "CF.ADD c 3", "CF.ADDNX c 3", "CF.INSERT c ITEMS 4 5",
        "CF.INSERTNX c ITEMS 4 6", "CF.DEL c 3", "CF.DEL c 3", "CF.EXISTS c 4", "CF.MEXISTS c 4 3", "CF.COUNT c 4",
        "CF.INFO c",
    ) == [
        b"OK", True, False, [True, True], [0, 1], True, False, True, [True, False], 1,
        {b"Size": 64, b"Number of buckets": 4, b"Number of filters": 1, b"Number of items inserted": 3,
         b"Number of items deleted": 1, b"Bucket size": 2, b"Expansion rate": 0, b"Max iterations": 20},
    ]


def test_filters_survive_restarts_and_kills(server):
    """The record and the pages are in one batch."""
    fill(server.client())
    before = value_digests(server.client(), NAMES)
    for how in ("shutdown", "kill9"):
        server.restart(how)
        assert value_digests(server.client(), NAMES) == before
        assert_full(server.client())


def test_copies_and_dumps_have_the_same_bits(r):
    """COPY, RENAME, DUMP and RESTORE, with an expiry, and deletion of what they made."""
    fill(r)
    before = value_digests(r, NAMES)
    make_copies(r, NAMES)
    for prefix in COPY_PREFIXES:
        assert value_digests(r, NAMES, prefix) == before
        assert_full(r, prefix)
    r.execute_command("BF.ADD", "copy:large", "other")
    assert not r.execute_command("BF.EXISTS", "renamed:large", "other")
    r.delete(*r.keys())
    fill(r)
    assert value_digests(r, NAMES) == before


def test_a_saved_file_has_the_filters(server):
    """DEBUG RELOAD writes and reads an RDB file; large filters are read in pieces."""
    client = server.client()
    fill(client)
    client.execute_command("BF.RESERVE", "dense", 0.0001, 500_000)
    for begin in range(0, 100_000, 10_000):
        client.execute_command("BF.MADD", "dense", *range(begin, begin + 10_000))
    before = value_digests(client, NAMES)
    dense = client.execute_command("DEBUG", "DIGEST-VALUE", "dense")
    client.execute_command("DEBUG", "RELOAD")
    assert value_digests(client, NAMES) == before
    assert client.execute_command("DEBUG", "DIGEST-VALUE", "dense") == dense
    assert_full(client)


def test_damaged_payloads_are_refused(r):
    """A payload with a wrong header or a part beyond the end changes nothing."""
    r.execute_command("BF.ADD", "b", "x")
    r.execute_command("CF.ADD", "c", "x")
    for name in "bc":
        payload = bytearray(r.dump(name))
        payload[2] ^= 0xff
        with pytest.raises(redis.ResponseError, match="checksum"):
            r.restore("new", 0, bytes(payload))
        assert not r.exists("new")


@pytest.mark.slow
def test_a_replica_has_the_same_filters():
    """First by a transfer, then by the commands. A command that adds nothing is not replicated."""
    with start("cairn") as primary, start("cairn") as replica:
        client = primary.client()
        fill(client)
        follow(replica, primary)
        wait_for_offset(primary, replica)
        assert value_digests(replica.client(), NAMES) == value_digests(client, NAMES)
        client.execute_command("BF.MADD", "large", *range(3_000, 4_000))
        client.execute_command("CF.INSERT", "cuckoo", "ITEMS", *range(500, 900))
        for item in range(450):
            client.execute_command("CF.DEL", "cuckoo", item)
        client.execute_command("CF.COMPACT", "cuckoo")
        wait_for_offset(primary, replica)
        assert value_digests(replica.client(), NAMES) == value_digests(client, NAMES)
        assert_full_after_changes(replica.client())
        offset = client.info("replication")["master_repl_offset"]
        client.execute_command("BF.ADD", "large", 1)
        client.execute_command("CF.ADDNX", "cuckoo", 800)
        client.execute_command("CF.COMPACT", "cuckoo")
        with pytest.raises(redis.ResponseError):
            client.execute_command("BF.RESERVE", "large", 0.1, 1)
        assert client.info("replication")["master_repl_offset"] == offset


def assert_full_after_changes(client):
    """What the changes above left."""
    assert all(client.execute_command("BF.MEXISTS", "large", *range(4_000)))
    assert all(client.execute_command("CF.MEXISTS", "cuckoo", *range(450, 900)))


def test_chunks_rebuild_a_filter(r):
    """SCANDUMP and LOADCHUNK of a filter whose chunks cross 16 MB; a client copies filters between servers so."""
    r.execute_command("BF.RESERVE", "bf", 0.01, 20_000_000)
    r.execute_command("BF.MADD", "bf", *range(1_000))
    r.execute_command("CF.RESERVE", "cf", 20_000_000)
    r.execute_command("CF.INSERT", "cf", "ITEMS", *range(1_000))
    for name in ("bf", "cf"):
        position, sizes = 0, []
        while True:
            position, chunk = r.execute_command(f"{name}.SCANDUMP", name, position)
            if position == 0:
                break
            sizes.append(len(chunk))
            assert r.execute_command(f"{name}.LOADCHUNK", "copy:" + name, position, chunk) in (b"OK", "OK")
        assert max(sizes) == 16 << 20
        found = r.execute_command("DEBUG", "DIGEST-VALUE", name, "copy:" + name)
        assert found[0] == found[1]


def test_acl_categories(r):
    """@bloom and @cuckoo, as Redis 8 has them."""
    assert {"bloom", "cuckoo"} <= set(r.acl_cat())
    assert "bf.add" in r.acl_cat("bloom") and "cf.add" not in r.acl_cat("bloom")
    assert "cf.add" in r.acl_cat("cuckoo") and "cf.exists" in r.acl_cat("read")


def test_client_libraries_find_the_module(r):
    """MODULE LIST names `bf` once."""
    names = [module[b"name"] if b"name" in module else module["name"] for module in r.module_list()]
    assert [name for name in names if name in (b"bf", "bf")] != []


def test_a_change_ends_a_watch(r):
    """WATCH must see a change of a page as a change of the key."""
    r.execute_command("BF.RESERVE", "b", 0.01, 1_000_000)
    with r.pipeline() as pipe:
        pipe.watch("b")
        r.execute_command("BF.ADD", "b", "x")
        pipe.multi()
        pipe.set("done", 1)
        with pytest.raises(redis.WatchError):
            pipe.execute()


@pytest.mark.slow
def test_a_large_filter_costs_what_was_added():
    """A filter of 1.2 GB is created at once, an item costs its pages, and MEMORY USAGE tells the bytes in use."""
    with Server() as server:
        client = server.client()
        client.execute_command("BF.RESERVE", "b", 0.01, 1 << 30)
        assert client.memory_usage("b") < 1_000
        for begin in range(0, MANY, 1_000):
            client.execute_command("BF.MADD", "b", *range(begin, begin + 1_000))
        hashes = 8
        estimate = client.memory_usage("b")
        exact = client.memory_usage("b", samples=0)
        assert 0.5 < estimate / exact < 3
        assert exact < MANY * hashes * 300
        assert client.info("persistence")["loading"] == 0
        client.delete("b")
        assert client.dbsize() == 0
