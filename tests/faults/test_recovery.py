# SPDX-License-Identifier: BSD-3-Clause
"""After an I/O error the server continues without a restart, or ends with a reason."""

import contextlib
import errno
import pathlib
import random
import time

import pytest
import redis

from data_files import table_bytes
from fault_control import Faults
from harness import Server
from pairs import wait_for_link, wait_for_offset
from waiting import wait_until

# After a failure of these calls RocksDB refuses writes until it recovers or the database is opened again.
FATAL = {
    "a log that cannot be written": ("write", "*.log", errno.EIO),
    "a log that cannot be opened": ("open", "*.log", errno.EMFILE),
    "a table that cannot be written": ("write", "*.sst", errno.EIO),
    "a table that cannot be opened": ("open", "*.sst", errno.EMFILE),
    "a manifest that cannot be written": ("write", "MANIFEST*", errno.EIO),
    "a manifest that cannot be synced": ("sync", "MANIFEST*", errno.EIO),
}


@pytest.fixture(name="faults")
def fixture_faults():
    """A control file."""
    with Faults() as faults:
        yield faults


def set_one(client, key):
    """Whether the write is accepted."""
    try:
        return client.set(key, "v")
    except redis.ResponseError as error:
        assert str(error).startswith("MISCONF"), error
        return False


@pytest.mark.parametrize("what", FATAL)
def test_writes_resume_without_a_restart(faults, what):
    kind, path, error = FATAL[what]
    with Server(command=faults.command()) as server:
        client = server.client()
        acknowledged = [f"before:{i}" for i in range(100)]
        for key in acknowledged:
            client.set(key, "v")
        faults.arm(kind, error, path=path)
        if path == "*.log" and kind == "write":
            assert not set_one(client, "refused")
        else:
            with pytest.raises(redis.ResponseError):
                client.execute_command("COMPACT")
                client.set("until", "the error of the compaction is noticed")
        faults.wait_fired()
        wait_until(lambda: set_one(client, "after"), "a write")
        server.kill9()
        server.start()
        client = server.client()
        assert client.exists(*acknowledged, "after") == len(acknowledged) + 1
        assert client.exists("refused") == 0


@pytest.mark.parametrize("first", range(1, 7))
def test_the_log_fails_after_a_compaction_that_could_not_write_the_manifest(faults, first):
    """RocksDB does not disable the deletion of files after such a compaction, but its recovery asserts that it did."""
    with Server(command=faults.command()) as server:
        client = server.client()
        client.set("before", "v")
        client.execute_command("COMPACT")
        client.set("before", "w")
        faults.arm("write", errno.EIO, path="MANIFEST*", first=first)
        with contextlib.suppress(redis.ResponseError):
            client.execute_command("COMPACT")
        wait_until(lambda: set_one(client, "between"), "a write")
        faults.arm("write", errno.EIO, path="*.log")
        assert not set_one(client, "refused")
        wait_until(lambda: set_one(client, "after"), "a write")
        for _ in range(10):
            client.set("before", "x")
            client.execute_command("COMPACT")
        wait_until(lambda: len(list(pathlib.Path(server.data_dir).glob("*.sst"))) < 10, "old tables to be deleted")
        server.restart("kill9")
        assert sorted(server.client().keys()) == [b"after", b"before", b"between"]


def test_a_refused_write_does_not_reach_a_replica_that_reads_the_log_later(faults):
    with Server(command=faults.command()) as primary, Server() as replica:
        replica.client().execute_command("REPLICAOF", primary.host, primary.port)
        wait_for_link(replica)
        client = primary.client()
        client.set("before", "v")
        wait_for_offset(primary, replica)
        replica.shutdown()
        faults.arm("write", errno.EIO, path="*.log")
        assert not set_one(client, "refused")
        wait_until(lambda: set_one(client, "after"), "a write")
        client.set("later", "v")
        primary.restart("kill9")  # this clears the log's copy in memory
        replica.start()
        replica.client().execute_command("REPLICAOF", primary.host, primary.port)
        wait_for_link(replica)
        wait_for_offset(primary, replica)
        assert primary.client().info("stats")["sync_full"] == 0
        assert sorted(replica.client().keys()) == [b"after", b"before", b"later"]


def test_a_promotion_whose_second_commit_fails_keeps_the_history(faults):
    """With the new id of the stream, which its primary does not know, the replica would need a full transfer."""
    with Server(repl_ping_replica_period=3600, repl_diskless_sync_delay=0) as primary, \
            Server(command=faults.command()) as replica:
        ours, theirs = replica.client(), primary.client()
        ours.execute_command("REPLICAOF", primary.host, primary.port)
        wait_for_link(replica)
        theirs.set("before", "v")
        wait_for_offset(primary, replica)
        faults.arm("write", errno.EIO, path="*.log", first=2)
        with pytest.raises(redis.ResponseError):
            ours.execute_command("REPLICAOF", "NO", "ONE")
        assert faults.fired == 1
        wait_until(lambda: "recovered from an error" in replica.log_tail(), "the recovery", replica)
        theirs.set("after", "v")
        wait_until(lambda: ours.get("after") == b"v", "the stream", replica)
        assert theirs.info("stats")["sync_full"] == 1
        assert ours.execute_command("REPLICAOF", "NO", "ONE") == b"OK"
        assert ours.set("own", "v")


def test_a_log_that_fails_just_after_a_flush_ends_the_server_with_a_reason(faults):
    """RocksDB begins a new log only with a flush, and has nothing to flush."""
    with Server(command=faults.command()) as server:
        client = server.client()
        client.set("before", "v")
        client.execute_command("COMPACT")
        faults.arm("write", errno.EIO, path="*.log")
        with pytest.raises(redis.ConnectionError):
            client.set("refused", "v")
        assert server.process.wait(60) == 1
        assert "FATAL: the log failed" in server.log_tail()
        server.start()
        assert server.client().keys() == [b"before"]


def test_a_refused_storage_mode_is_not_that_of_a_later_flush(faults):
    """The keys of a database in memory would be lost at the next start, although none is configured."""
    with Server(command=faults.command()) as server:
        client, other = server.client(), server.client(db=1)
        client.set("before", "v")
        faults.arm("write", errno.EIO, path="*.log")
        with pytest.raises(redis.ResponseError, match="CONFIG SET failed"):
            client.config_set("database", "1 storage-mode memory")
        wait_until(lambda: set_one(client, "after"), "a write")
        assert client.config_get("database")["database"] == ""
        other.flushdb()
        other.set("k", "v")
        server.restart("kill9")
        client, other = server.client(), server.client(db=1)
        assert other.get("k") == b"v"
        other.flushdb()
        client.config_set("database", "1 storage-mode memory")
        other.set("k", "v")
        assert client.info("keyspace")["db1"]["storage_mode"] == "memory"


def test_the_files_of_a_flushed_database_are_deleted_after_a_failure(faults):
    """Otherwise they stay until a compaction, which nothing but new writes causes."""
    with Server(command=faults.command()) as server:
        client = server.client()
        for key in range(50):
            client.set(key, random.randbytes(10_000))
        client.execute_command("COMPACT")
        assert table_bytes(server) > 400_000
        faults.arm("sync", errno.EIO, path="MANIFEST*")
        client.flushall()
        faults.wait_fired()
        wait_until(lambda: table_bytes(server) < 100_000, "the end of the files", timeout_s=10)


def test_reads_are_served_while_writes_fail(faults):
    with Server(command=faults.command()) as server:
        client = server.client()
        client.set("before", "v")
        faults.arm("write open", errno.EIO, count=10**9, path=f"{server.data_dir}/*")
        assert not set_one(client, "refused")
        until = time.monotonic() + 1
        while time.monotonic() < until:
            assert client.get("before") == b"v"
        faults.disarm()
        wait_until(lambda: set_one(client, "after"), "a write")


def test_a_server_shuts_down_while_its_disk_is_broken(faults):
    """RocksDB's recovery is running, and its Close would wait for it forever."""
    with Server(command=faults.command()) as server:
        client = server.client()
        client.set("before", "v")
        faults.arm("write open", errno.EIO, count=10**9, path=f"{server.data_dir}/*")
        assert not set_one(client, "refused")
        server.process.terminate()
        assert server.process.wait(60) == 1
        assert "FATAL: RocksDB cannot be closed" in server.log_tail()
        faults.disarm()
        server.start()
        assert server.client().keys() == [b"before"]


def test_a_full_disk_opens_without_room_to_flush_the_logs_rows(faults):
    with Server(command=faults.command()) as server:
        server.client().set("before", "v")
        server.kill9()
        faults.arm("write", errno.ENOSPC, count=10**9, path="*.sst")
        server.start()
        client = server.client()
        assert client.get("before") == b"v"
        faults.disarm()
        assert client.execute_command("COMPACT")
        wait_until(lambda: set_one(client, "after"), "a write")
        server.restart("kill9")
        assert sorted(server.client().keys()) == [b"after", b"before"]
