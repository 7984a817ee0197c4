# SPDX-License-Identifier: BSD-3-Clause
"""Count-min sketches, Top-K sketches and t-digests on a running server: they survive restarts, copies and transfers
with every bit, are replicated with the same results, and a change of a large one writes little.

A sketch is in fragments if its counters take 8 KB or more; both forms are used here.
"""

import random

import pytest
import redis
from data_files import size_of
from harness import Server
from pairs import follow, start, wait_for_offset
from waiting import wait_until

pytestmark = pytest.mark.slow

MEGABYTE = 1 << 20


def create(r):
    """Creates a small and a large sketch of each kind."""
    for words in ("CMS.INITBYDIM cms:small 20 5", "CMS.INITBYDIM cms:large 50000 5", "TOPK.RESERVE topk:small 5",
                  "TOPK.RESERVE topk:large 5 2000 7 0.9", "TDIGEST.CREATE td:small",
                  "TDIGEST.CREATE td:large COMPRESSION 1000"):
        assert r.execute_command(*words.split()) in (b"OK", True)


def change(r, luck, rounds):
    """Changes all of them; Top-K sketches of one cell a row draw random numbers."""
    for _ in range(rounds):
        item = f"item:{int(luck.expovariate(0.1))}"
        for size in "small", "large":
            r.execute_command("CMS.INCRBY", f"cms:{size}", item, luck.randrange(100))
            r.execute_command("TOPK.ADD", f"topk:{size}", item)
            r.execute_command("TOPK.INCRBY", f"topk:{size}", item, luck.randrange(50), "other", 1)
            r.execute_command("TDIGEST.ADD", f"td:{size}", luck.random() * 1000, luck.randrange(10))
    r.execute_command("CMS.MERGE", "cms:large", 1, "cms:large", "WEIGHTS", 2)
    r.execute_command("TDIGEST.MERGE", "td:small", 1, "td:large")


def digests(r):
    """What the keys hold, whatever their representation."""
    return {key: r.execute_command("DEBUG", "DIGEST-VALUE", key) for key in sorted(r.keys())}


@pytest.mark.parametrize("how", ["shutdown", "kill9"])
def test_survive_a_restart(how):
    """All acknowledged changes are present."""
    with Server() as server:
        create(server.client())
        change(server.client(), random.Random(1), 200)
        before = digests(server.client())
        server.restart(how)
        assert digests(server.client()) == before


def test_are_the_same_after_copies_dumps_and_files(server, r):
    """COPY, RESTORE and an RDB file transfer every bit."""
    create(r)
    change(r, random.Random(2), 100)
    before = digests(r)
    r.execute_command("DEBUG", "RELOAD")
    assert digests(r) == before
    for key in list(before):
        payload = r.dump(key)
        assert r.copy(key, key + b":copy")
        r.restore(key, 0, payload, replace=True)
    after = digests(r)
    assert {key: after[key] for key in before} == before
    assert {key: after[key + b":copy"] for key in before} == before


def test_are_replicated_with_the_same_results():
    """First by the snapshot, then by each command, also those that draw random numbers."""
    with start("cairn") as primary, start("cairn") as replica:
        r = primary.client()
        create(r)
        change(r, random.Random(3), 100)
        follow(replica, primary)
        change(r, random.Random(4), 300)
        wait_for_offset(primary, replica)
        assert digests(replica.client()) == digests(r)


@pytest.mark.parametrize("words", [
    "CMS.INCRBY cms:large a 0", "CMS.QUERY cms:large a", "CMS.MERGE cms:large 1 cms:large",
    "TOPK.INCRBY topk:large a 0", "TOPK.LIST topk:large", "TDIGEST.QUANTILE td:large 0.5", "TDIGEST.RESET td:empty"])
def test_commands_that_change_nothing_are_no_changes(r, words):
    """So they are not replicated."""
    create(r)
    r.execute_command("TDIGEST.CREATE", "td:empty")
    r.execute_command("CMS.INCRBY", "cms:large", "a", 1)
    r.execute_command("TOPK.ADD", "topk:large", "a")
    r.execute_command("TDIGEST.ADD", "td:large", 1)
    before = r.info("persistence")["rdb_changes_since_last_save"]
    r.execute_command(*words.split())
    assert r.info("persistence")["rdb_changes_since_last_save"] == before


def log_bytes(server):
    """The size of RocksDB's logs."""
    return size_of(path for path in server.data_dir.rglob("*.log") if path.name != "server.log")


def test_an_increment_of_a_large_sketch_writes_little():
    """A sketch of 40 MB is created at once, and an increment writes only the fragments that it touches."""
    with Server() as server:
        r = server.client()
        r.execute_command("CMS.INITBYDIM", "cms", 2_000_000, 5)
        r.execute_command("TOPK.RESERVE", "topk", 10, 1_000_000, 5, 0.9)
        before = log_bytes(server)
        for i in range(200):
            r.execute_command("CMS.INCRBY", "cms", f"item:{i}", 1)
            r.execute_command("TOPK.ADD", "topk", f"item:{i}")
        assert log_bytes(server) - before < 4 * MEGABYTE
        assert r.execute_command("CMS.QUERY", "cms", "item:7", "none") == [1, 0]
        r.delete("cms", "topk")
        wait_until(lambda: r.dbsize() == 0)


def test_watch_detects_a_change_within_a_sketch(server, r):
    """Also one that leaves the key's record as it was."""
    r.execute_command("TOPK.RESERVE", "topk", 1, 2000, 5, 0.9)
    r.execute_command("TOPK.INCRBY", "topk", "frequent", 100)
    with r.pipeline() as pipe:
        pipe.watch("topk")
        server.client().execute_command("TOPK.ADD", "topk", "rare")
        pipe.multi()
        pipe.get("none")
        with pytest.raises(Exception, match="Watched variable"):
            pipe.execute()


def test_a_rank_beyond_64_bits_is_the_highest_integer(r):
    """The weights of a t-digest add up to 2^63 - 1 at most, which as a double is 2^63."""
    r.execute_command("TDIGEST.CREATE", "td")
    for _ in range(63):
        r.execute_command("TDIGEST.MERGE", "td", 1, "td")
        r.execute_command("TDIGEST.ADD", "td", 1)
    with pytest.raises(redis.ResponseError, match="overflow"):
        r.execute_command("TDIGEST.ADD", "td", 1)
    assert r.execute_command("TDIGEST.RANK", "td", 0, 2) == [-1, (1 << 63) - 1]
    assert r.execute_command("TDIGEST.REVRANK", "td", 0, 2) == [(1 << 63) - 1, -1]
