# SPDX-License-Identifier: BSD-3-Clause
"""The cost of a read, by RocksDB's own counters: a small collection is one record."""

import time

import pytest

READS = {
    "hash": ("HGETALL", "hash"),
    "set": ("SMEMBERS", "set"),
    "zset": ("ZRANGE", "zset", "0", "-1"),
}


def counters(client):
    """RocksDB's counters of point reads and seeks.

    A look-up on the fast lane that RocksDB could not answer from memory is in its counter of read keys, although it
    read nothing; `incomplete_probes` counts these.
    """
    rocksdb = client.info("rocksdb")
    return rocksdb["number_keys_read"] - rocksdb["incomplete_probes"], rocksdb["number_seeks"]


@pytest.fixture(name="cold")
def fixture_cold(server):
    """Three collections of 100 elements, integers and short texts, on disk and in no cache."""
    r = server.client()
    for i in range(100):
        value = i * 7919 if i % 2 else f"text {i}"
        r.hset("hash", f"field{i}", value)
        r.sadd("set", value)
        r.zadd("zset", {str(value): i * 1.5})
    r.execute_command("COMPACT")
    r.config_set("key-cache-warmup", "no")
    server.directives["key_cache_warmup"] = "no"
    server.restart()
    time.sleep(0.5)  # the expiry thread makes its first scan, which is a seek
    return server.client()


@pytest.mark.parametrize("kind", READS)
def test_a_small_collection_is_one_point_read_cold_and_none_warm(cold, kind):
    reads, seeks = counters(cold)
    first = cold.execute_command(*READS[kind])
    after_reads, after_seeks = counters(cold)
    assert (after_reads - reads, after_seeks - seeks) == (1, 0)
    assert len(first) == 100
    assert cold.execute_command(*READS[kind]) == first
    assert counters(cold) == (after_reads, after_seeks)
