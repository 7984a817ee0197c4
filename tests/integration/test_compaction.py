# SPDX-License-Identifier: BSD-3-Clause
"""COMPACT, its progress and its end; and compactions by the schedule, which free space without a command."""

import os
import random
import threading
import time

import pytest
import redis
from data_files import data_bytes
from harness import Server
from process_threads import read_of_threads
from waiting import wait_until

VALUE_BYTES = 4000


def fill(client, keys, prefix="k"):
    """Sets keys with values that do not compress."""
    pipe = client.pipeline(transaction=False)
    for i in range(keys):
        pipe.set(f"{prefix}:{i}", os.urandom(VALUE_BYTES))
        if i % 500 == 499:
            pipe.execute()
    pipe.execute()


def status(client):
    """COMPACT STATUS as a dictionary."""
    reply = client.execute_command("COMPACT", "STATUS")
    if isinstance(reply, list):
        reply = dict(zip(reply[::2], reply[1::2]))
    return {name.decode(): value.decode() if isinstance(value, bytes) else value for name, value in reply.items()}


@pytest.mark.slow
def test_deleted_data_leaves_the_disk_without_a_command():
    with Server(memory_budget="64mb") as server:
        client = server.client()
        fill(client, 5000)
        wait_until(lambda: data_bytes(server) > 4000 * VALUE_BYTES, "the tables")
        for i in range(5000):
            client.delete(f"k:{i}")
        # Only now: a compaction between the deletions would leave the rest of the data to the next one.
        client.config_set("compaction-after-writes", 10_000)
        wait_until(lambda: data_bytes(server) < 100 * VALUE_BYTES, "the space", timeout_s=60)
        wait_until(lambda: status(client)["state"] == "idle", "the end")
        state = status(client)
        assert state["reason"] == "writes" and state["result"] == "ok" and state["scope"] == "all"
        assert client.info("compaction")["compactions_completed"] >= 1


def priorities_of_compactions(server):
    """The values of nice(2) of the threads that have run RocksDB's compactions, and those of I/O threads."""
    nice_field = 16  # of stat, counted behind the name (proc(5))
    compacting, serving = set(), set()
    for name, stat, times in read_of_threads(server.pid, "comm", "stat", "schedstat"):
        nice = stat.rpartition(")")[2].split()[nice_field]
        ran_ns = int(times.split()[0])
        if name == "rocksdb:low\n" and ran_ns > 5_000_000:
            compacting.add(nice)
        if name.startswith("io-") and name.endswith("-0\n"):
            serving.add(nice)
    return compacting, serving


def test_compactions_of_rocksdb_have_the_usual_priority():
    # At a lower one they do not keep up beside other programs that keep the processors busy, and writes stop.
    with Server(memory_budget="64mb") as server:
        fill(server.client(), 5000)
        wait_until(lambda: priorities_of_compactions(server)[0], "a compaction")
        compacting, serving = priorities_of_compactions(server)
        assert compacting == serving


@pytest.mark.slow
def test_the_schedule_survives_kill_9():
    with Server(compaction_after_writes=2000, compaction_window="00:00-00:01") as server:
        client = server.client()
        fill(client, 1500)
        assert status(client)["writes-since-compaction"] >= 1500
        last = status(client)["last-compaction-unix-time"]
        server.kill9()
        server.start()
        client = server.client()
        assert status(client)["writes-since-compaction"] >= 1500
        assert status(client)["last-compaction-unix-time"] == last
        client.config_set("compaction-window", "")
        fill(client, 600, "more")
        wait_until(lambda: status(client)["reason"] == "writes" and status(client)["state"] == "idle", "the compaction")
        assert status(client)["writes-since-compaction"] < 600


def test_window_is_checked():
    with Server() as server:
        client = server.client()
        for wrong in ("1:00-05:00", "01:00", "24:00-05:00", "01:60-05:00", "01:00-05:00 x", "01:00 - 05:00"):
            with pytest.raises(redis.ResponseError, match="must be two times of the day"):
                client.config_set("compaction-window", wrong)
        client.config_set("compaction-window", "23:30-04:05")
        assert client.config_get("compaction-window") == {"compaction-window": "23:30-04:05"}
        client.config_set("compaction-window", "")
        assert client.config_get("compaction-window") == {"compaction-window": ""}


@pytest.mark.slow
def test_compact_of_a_database_or_a_pattern_leaves_the_others():
    with Server(compaction_after_writes=0, compaction_interval_hours=0, databases=4) as server:
        clients = [server.client(db=db) for db in range(2)]
        for client in clients:
            for name in ("{a}x", "{b}x"):
                client.hset(name, mapping={f"f{i}": os.urandom(500) for i in range(2000)})
        clients[0].execute_command("COMPACT")
        full = data_bytes(server)
        for client in clients:
            client.delete("{a}x", "{b}x")
        assert clients[0].execute_command("COMPACT", "{a}*") == b"OK"
        assert status(clients[0])["scope"] == "{a}*"
        assert data_bytes(server) > full * 0.5
        assert clients[0].execute_command("COMPACT", "1", "SYNC") == b"OK"
        assert status(clients[0])["scope"] == "db1"
        assert clients[0].execute_command("COMPACT") == b"OK"
        assert data_bytes(server) < full * 0.05
        with pytest.raises(redis.ResponseError, match="DB index is out of range"):
            clients[0].execute_command("COMPACT", "4")
        with pytest.raises(redis.ResponseError, match="syntax error"):
            clients[0].execute_command("COMPACT", "0", "1")


@pytest.mark.slow
def test_pattern_compacts_the_rows_of_its_collections():
    with Server(compaction_after_writes=0, compaction_interval_hours=0) as server:
        client = server.client()
        for name in ("drop", "keep"):
            client.hset(name, mapping={f"f{i}": os.urandom(500) for i in range(4000)})
        client.execute_command("COMPACT")
        full = data_bytes(server)
        client.hdel("drop", *[f"f{i}" for i in range(3999)])
        client.execute_command("COMPACT", "dro?")
        assert data_bytes(server) < full * 0.7


@pytest.mark.slow
def test_progress_and_cancel():
    with Server(compaction_after_writes=0, compaction_interval_hours=0, memory_budget="64mb") as server:
        client = server.client()
        with pytest.raises(redis.ResponseError, match="No compaction in progress"):
            client.execute_command("COMPACT", "CANCEL")
        assert status(client)["state"] == "idle" and status(client)["reason"] == ""
        fill(client, 8000)
        client.config_set("compaction-rate-limit", "2mb")
        failures = []

        def compact():
            with pytest.raises(redis.ResponseError, match="was cancelled") as failure:
                server.client().execute_command("COMPACT")
            failures.append(failure)

        thread = threading.Thread(target=compact)
        thread.start()
        wait_until(lambda: status(client)["state"] == "running", "the compaction")
        with pytest.raises(redis.ResponseError, match="already in progress"):
            client.execute_command("COMPACT", "ASYNC")
        with pytest.raises(redis.ResponseError, match="already in progress"):
            client.execute_command("COMPACT")
        begun = time.monotonic()
        client.set("k", "v")
        assert client.get("k") == b"v" and time.monotonic() - begun < 1
        client.config_set("compaction-rate-limit", 0)
        client.execute_command("COMPACT", "CANCEL")
        thread.join()
        assert failures
        state = status(client)
        assert state["state"] == "idle" and state["result"] == "cancelled" and state["reason"] == "command"
        assert client.execute_command("COMPACT", "ASYNC") == b"Background compaction started"
        wait_until(lambda: status(client)["result"] == "ok", "the end")
        assert status(client)["percent"] == 100


def test_shutdown_does_not_wait_for_a_compaction():
    with Server(compaction_after_writes=0, compaction_interval_hours=0, memory_budget="64mb") as server:
        client = server.client()
        fill(client, 8000)
        client.config_set("compaction-rate-limit", "1mb")
        client.execute_command("COMPACT", "ASYNC")
        wait_until(lambda: status(client)["state"] == "running", "the compaction")
        begun = time.monotonic()
        server.shutdown()
        assert time.monotonic() - begun < 15


@pytest.mark.slow
def test_write_amplification_adds_up_and_is_known_by_level():
    with Server(compaction_after_writes=0, compaction_interval_hours=0, memory_budget="64mb") as server:
        client = server.client()
        fill(client, 8000)
        client.execute_command("COMPACT")
        info = client.info("amplification")
        given = 8000 * VALUE_BYTES
        assert given < info["written_bytes_rows"] < 1.1 * given
        assert given < info["written_bytes_log"] < 1.1 * given
        work = [value for name, value in info.items() if name.startswith("keys_level")]
        assert work and sum(level["bytes"] for level in work) > given
        by_level = sum(level["written_bytes"] for level in work)
        by_cause = info["written_bytes_flushes"] + info["written_bytes_compactions"]
        assert by_level == pytest.approx(by_cause, rel=0.05)
        total = info["written_bytes_log"] + by_cause
        assert info["write_amplification"] == pytest.approx(total / info["written_bytes_rows"], abs=0.01)
        assert given < info["db0_key_row_bytes"] < 1.2 * given and "db1_key_row_bytes" not in info


@pytest.mark.slow
def test_a_write_that_waits_for_compactions_is_reported():
    with Server(compaction_after_writes=0, memory_budget="64mb", compaction_rate_limit="1mb") as server:
        client = server.client()
        before = client.info("compaction")
        assert before["write_stall_state"] == "normal" and before["write_stall_last_time"] == 0
        begun = int(time.time())
        wait_until(lambda: client.info("compaction")["compaction_rate_bytes"] == 1 << 20, "the limit")
        client.execute_command("DEBUG", "PAUSE-CRON", 1)  # the limit would rise
        pipe = client.pipeline(transaction=False)
        while client.info("compaction")["write_stops"] + client.info("compaction")["write_delays"] == 0:
            for i in range(500):
                pipe.set(f"k:{i}", os.urandom(VALUE_BYTES))
            pipe.execute()
        client.execute_command("DEBUG", "PAUSE-CRON", 0)
        wait_until(lambda: client.info("compaction")["write_stall_state"] == "normal", "the end of the stall")
        after = client.info("compaction")
        assert after["write_delayed_seconds"] + after["write_stopped_seconds"] > 0
        assert after["write_stall_last_time"] >= begun and after["write_stall_last_space"] == "keys"
        assert sum(value for name, value in after.items()
                   if name.startswith(("write_delayed_for_", "write_stopped_for_"))) > 0


@pytest.mark.slow
def test_a_limit_below_what_the_writes_cause_does_not_stop_them():
    with Server(compaction_after_writes=0, memory_budget="64mb", compaction_rate_limit="1mb") as server:
        client = server.client()
        pipe = client.pipeline(transaction=False)
        highest = 0
        for _ in range(150):  # 75 MB
            for i in range(500):
                pipe.set(f"k:{random.randrange(20_000)}:{i % 2}", os.urandom(1000))
            pipe.execute()
            highest = max(highest, client.info("compaction")["compaction_rate_bytes"] or 1 << 40)
        assert highest > 1 << 20
        assert client.info("compaction")["write_stopped_seconds"] < 1  # the limit rises ten times a second
        wait_until(lambda: client.info("compaction")["compaction_rate_bytes"] == 1 << 20, "the usual limit")
