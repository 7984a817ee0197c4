# SPDX-License-Identifier: BSD-3-Clause
"""Large values in blob files: written about once, and their garbage is collected."""

import os
import random

import pytest
import redis
from data_files import blob_bytes, data_bytes
from harness import Server
from waiting import wait_until

VALUES = 1500
VALUE_BYTES = 30_000
LIVE = VALUES * VALUE_BYTES
QUIET = {"compaction_after_writes": 0, "compaction_interval_hours": 0, "memory_budget": "64mb"}


def overwrite(client, keys):
    """Sets the keys to random bytes, in a random order; returns the values."""
    keys = list(keys)
    random.shuffle(keys)
    values = {}
    for key in keys:
        values[key] = os.urandom(VALUE_BYTES)
        client.set(f"k:{key}", values[key])
    return values


@pytest.mark.slow
def test_overwritten_values_are_written_about_once_and_leave_the_disk():
    # RocksDB does not know the garbage that the flushes in level 0 have made, up to 18 MB. It must be a small part.
    count = 4000
    with Server(**QUIET) as server:
        client = server.client()
        for _ in range(4):
            values = overwrite(client, range(count))
        wait_until(lambda: data_bytes(server) < 1.5 * count * VALUE_BYTES, "the space", timeout_s=60)
        info = client.info("amplification")
        # The log writes each byte once, and a flush once. The collection may write less than half a byte more.
        assert info["write_amplification"] < 2.4, info
        assert all(client.get(f"k:{key}") == value for key, value in values.items())
        server.restart("kill9")
        assert all(server.client().get(f"k:{key}") == value for key, value in values.items())


@pytest.mark.slow
def test_scattered_garbage_is_collected_at_rest_and_by_compact():
    """Each blob file keeps some values that are alive, so no file could be deleted without moving them."""
    with Server(**QUIET, blob_garbage_share=100) as server:
        client = server.client()
        values = overwrite(client, range(VALUES))
        client.execute_command("COMPACT")
        for key in [key for key in values if key % 3]:
            client.delete(f"k:{key}")
            del values[key]
        client.execute_command("COMPACT", "0")  # no collection, but RocksDB learns of the garbage
        wait_until(lambda: client.info("compaction")["blob_garbage_bytes"] > 0.5 * LIVE, "the garbage")
        assert data_bytes(server) > 0.9 * LIVE
        client.config_set("blob-garbage-share", 25)
        wait_until(lambda: data_bytes(server) < 0.5 * LIVE, "the space", timeout_s=60)
        info = client.info("compaction")
        assert info["compaction_reason"] == "garbage" and 0 < info["blob_moved_bytes"] < 0.5 * LIVE
        assert info["blob_live_bytes"] == info["blob_bytes"] - info["blob_garbage_bytes"]
        assert all(client.get(f"k:{key}") == value for key, value in values.items())
        client.execute_command("COMPACT")
        assert client.info("compaction")["blob_garbage_bytes"] <= 0.05 * client.info("compaction")["blob_bytes"]
        assert all(client.get(f"k:{key}") == value for key, value in values.items())


@pytest.mark.slow
def test_values_that_are_only_added_are_not_moved():
    with Server(**QUIET) as server:
        client = server.client()
        for keys in range(0, 4 * VALUES, VALUES):
            overwrite(client, range(keys, keys + VALUES))
        client.execute_command("COMPACT")
        info = client.info("compaction")
        assert info["blob_bytes"] > 3.9 * LIVE and info["blob_moved_bytes"] == 0


def test_the_size_and_compression_of_blobs_can_be_set():
    with Server(**QUIET) as server:
        client = server.client()
        client.set("a", b"x" * 16384)
        client.execute_command("COMPACT")
        assert 0 < client.info("compaction")["blob_bytes"] < 2000  # compressed
        client.config_set("rocksdb-blob-compression", "none")
        client.config_set("rocksdb-blob-min-size", "4kb")
        client.set("b", b"x" * 4096)
        client.execute_command("COMPACT")
        assert client.info("compaction")["blob_bytes"] > 4096
        client.config_set("rocksdb-blob-min-size", 0)
        client.config_set("rocksdb-blob-file-size", "2mb")
        client.config_set("blob-garbage-step", "1mb")
        client.set("c", b"x" * 100_000)
        files = client.info("compaction")["blob_files"]
        client.execute_command("COMPACT", "c")
        assert client.info("compaction")["blob_files"] <= files
        assert (client.get("a"), client.get("b"), client.get("c")) == (b"x" * 16384, b"x" * 4096, b"x" * 100_000)
        with pytest.raises(redis.ResponseError):
            client.config_set("blob-garbage-share", 0)
        with pytest.raises(redis.ResponseError):
            client.config_set("rocksdb-blob-compression", "lzma")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["FLUSHALL", "FLUSHDB"])
def test_a_flush_frees_the_values_and_leaves_those_of_other_databases(command):
    """RocksDB keeps the values of tables that are deleted without a compaction: they are not counted as garbage."""
    with Server(**QUIET) as server:
        client, other = server.client(), server.client(db=1)
        other.set("old", "o" * VALUE_BYTES)
        client.execute_command("COMPACT")
        values = overwrite(client, range(VALUES))
        client.set("small", "s")
        client.execute_command("COMPACT")
        assert blob_bytes(server) > 0.9 * LIVE
        client.execute_command(command)
        wait_until(lambda: blob_bytes(server) < 0.1 * LIVE, "the space", timeout_s=30)
        wait_until(lambda: client.info("cairn")["data_size"] < 0.1 * LIVE, "the size", timeout_s=30)
        assert other.get("old") == (None if command == "FLUSHALL" else b"o" * VALUE_BYTES)
        assert client.dbsize() == 0
        server.restart("kill9")
        assert server.client().dbsize() == 0
        assert server.client(db=1).dbsize() == (0 if command == "FLUSHALL" else 1)
        assert blob_bytes(server) < 0.1 * LIVE
        server.client().set("new", values[0])
        assert server.client().get("new") == values[0]


def read_bytes(server):
    """The bytes that the process has read since its start, from files and sockets."""
    with open(f"/proc/{server.pid}/io", encoding="ascii") as file:
        return int(file.readline().removeprefix("rchar: "))


@pytest.mark.slow
def test_a_compaction_does_not_read_the_values():
    """Which rows are dead can be seen without their values."""
    with Server(**QUIET, blob_garbage_share=100) as server:
        client = server.client()
        overwrite(client, range(VALUES))
        client.execute_command("COMPACT", "0")
        before = read_bytes(server)
        client.execute_command("COMPACT", "0")
        assert read_bytes(server) - before < 0.2 * LIVE
