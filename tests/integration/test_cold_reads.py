# SPDX-License-Identifier: BSD-3-Clause
"""Reads of data many times the memory: one block of a table each, and few look-ups that an I/O thread drops.

With direct I/O the kernel keeps no data of tables, so a row outside Cairn's caches is on the disk.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import random
import threading
import time

import pytest

from harness import Server, by_size
from waiting import wait_until

KEYS = 120_000
CLIENTS = 16
READS = by_size(400, 400, 1_500)  # of each client
BATCH = 50


def value_of(number):
    """A kilobyte that compresses badly and tells its number."""
    return b"%08d" % number + random.Random(number).randbytes(1000)


@pytest.fixture(name="large", scope="module")
def fixture_large():
    """A server with a tenth of its data in memory."""
    with Server(memory_budget="64mb", rocksdb_direct_io="yes") as server:
        r = server.client(decode_responses=False)
        for first in range(0, KEYS, 1000):
            r.mset({f"key:{number}": value_of(number) for number in range(first, first + 1000)})
        r.execute_command("COMPACT")
        yield server


def read_random(server, seed):
    """Reads random keys and compares; one request at a time and in pipelines, in turns."""
    client = server.client(decode_responses=False)
    pick = random.Random(seed)
    for batch in range(READS // BATCH):
        numbers = [pick.randrange(KEYS) for _ in range(BATCH)]
        if batch % 2:
            with client.pipeline(transaction=False) as pipe:
                for number in numbers:
                    pipe.get(f"key:{number}")
                found = pipe.execute()
        else:
            found = [client.get(f"key:{number}") for number in numbers]
        assert found == [value_of(number) for number in numbers]


def counted(client):
    """Blocks that were not in RocksDB's cache, and look-ups in memory that did not find their row."""
    rocksdb = client.info("rocksdb")
    kinds = ("block_cache_data_misses", "block_cache_index_misses", "block_cache_filter_misses")
    return sum(rocksdb[kind] for kind in kinds), rocksdb["incomplete_probes"]


@pytest.mark.slow
def test_a_cold_get_reads_one_block_and_is_rarely_tried_in_vain(large):
    client = large.client()
    read_random(large, 1)  # reads indexes and filters, and the server learns that rows are on the disk
    blocks, probes = counted(client)
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda seed: read_random(large, seed), range(10, 10 + CLIENTS)))
    more_blocks, more_probes = counted(client)
    reads = CLIENTS * READS
    assert (more_blocks - blocks) / reads <= 1.1
    assert (more_probes - probes) / reads <= 0.2


@pytest.mark.slow
def test_an_absent_key_reads_no_block(large):
    client = large.client()
    read_random(large, 2)
    blocks, _ = counted(client)
    assert not any(client.mget([f"absent:{number}" for number in range(5000)]))
    assert (counted(client)[0] - blocks) / 5000 <= 0.02


# A write fetches the row that it misses. Its second run must ask RocksDB even while probes are thought to be in vain.
@pytest.mark.slow
def test_writes_of_cold_keys_change_each_key_once(large):
    client = large.client(decode_responses=False)
    read_random(large, 3)
    numbers = random.Random(4).sample(range(KEYS), 500)
    with client.pipeline(transaction=False) as pipe:
        for number in numbers:
            pipe.append(f"key:{number}", b"!")
            pipe.setrange(f"new:{number}", 2, b"x")
        replies = pipe.execute()
    assert replies == [len(value_of(0)) + 1, 3] * len(numbers)
    assert client.mget([f"key:{number}" for number in numbers]) == [value_of(number) + b"!" for number in numbers]
    client.delete(*(f"new:{number}" for number in numbers))
    with client.pipeline(transaction=False) as pipe:
        for number in numbers:
            pipe.set(f"key:{number}", value_of(number))
        pipe.execute()
    assert client.dbsize() == KEYS


def forget_tables(server):
    """Removes the tables from the kernel's page cache."""
    for table in pathlib.Path(server.data_dir).glob("*.sst"):
        try:
            descriptor = os.open(table, os.O_RDONLY)
        except FileNotFoundError:
            continue  # a compaction has deleted it
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


# Through the page cache, the reads of a pipeline and of a command's keys are started before they run.
@pytest.mark.slow
def test_pipelines_and_commands_of_many_cold_keys_reply_in_order(large):
    large.shutdown()
    with Server(memory_budget="64mb", data_dir=large.data_dir) as server:
        client = server.client(decode_responses=False)
        for seed in range(20):
            forget_tables(server)
            numbers = random.Random(seed).sample(range(KEYS), 300)
            expected = [value_of(number) for number in numbers]
            with client.pipeline(transaction=False) as pipe:
                for number in numbers[:200]:
                    pipe.get(f"key:{number}")
                    pipe.expire(f"key:{number}", 100000)
                assert pipe.execute()[::2] == expected[:200]
            assert client.mget([f"key:{number}" for number in numbers]) == expected
            assert client.exists(*(f"key:{number}" for number in numbers)) == len(numbers)
        assert client.info("stats")["slow_lane_commands"] > 0
        assert client.dbsize() == KEYS
    large.start()


@contextlib.contextmanager
def stopped_writes(server, write, count):
    """`count` clients repeat `write(client, number)` while compactions are slower than they are.

    RocksDB stops writes when flushes or compactions do not keep up.
    """
    client = server.client()
    client.config_set("compaction-rate-limit", "1mb")
    wait_until(lambda: client.info("compaction")["compaction_rate_bytes"] == 1 << 20, "the limit")
    client.execute_command("DEBUG", "PAUSE-CRON", 1)  # the limit would rise
    stop = threading.Event()

    def run(number):
        writer = server.client()
        while not stop.is_set():
            write(writer, number)

    writers = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for writer in writers:
        writer.start()
    try:
        wait_until(lambda: client.info("compaction")["write_stops"] > 0, "the stop")
        yield
    finally:
        stop.set()
        client.execute_command("DEBUG", "PAUSE-CRON", 0)
        for writer in writers:
            writer.join()


# The writes that wait must not take all threads of the slow lane.
@pytest.mark.slow
@pytest.mark.alone
def test_cold_reads_go_on_while_writes_are_stopped():
    def write(client, number):
        client.set(f"other:{number}:{random.randrange(KEYS)}", random.randbytes(60_000))

    with Server(memory_budget="64mb", rocksdb_direct_io="yes", compaction_after_writes=0) as server:
        client = server.client(decode_responses=False)
        for start in range(0, KEYS // 2, BATCH):
            client.mset({f"key:{number}": value_of(number) for number in range(start, start + BATCH)})
        with stopped_writes(server, write, CLIENTS):
            begun = time.monotonic()
            for number in random.Random(5).sample(range(KEYS // 2), 200):
                assert client.get(f"key:{number}") == value_of(number)
            assert time.monotonic() - begun < 4  # 0.5 to 0.8; 8 to 14 when writes may take all threads


# A tick that is full cannot end while the one before it is being committed.
@pytest.mark.slow
@pytest.mark.alone
def test_reads_go_on_while_a_full_tick_waits_for_a_commit():
    def write(client, number):
        client.sadd(f"set:{number}:{random.randrange(20)}", *(random.randbytes(600) for _ in range(500)))

    with Server(memory_budget="64mb", compaction_after_writes=0) as server:
        client = server.client()
        client.set("hot", "x")
        with stopped_writes(server, write, 8):
            slowest = 0
            end = time.monotonic() + 15
            while time.monotonic() < end:
                begun = time.monotonic()
                assert client.ping() and client.get("hot") == b"x"
                slowest = max(slowest, time.monotonic() - begun)
        assert slowest < 1  # 9 s when the thread runs nothing until the commit
