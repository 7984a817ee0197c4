# SPDX-License-Identifier: BSD-3-Clause
"""A data directory that is a copy or an older state of another one: replicas do not mistake its stream for the
original's."""

import shutil

import pytest
from harness import Server
from pairs import assert_same, follow, replication, start, wait_for_link, wait_for_offset

pytestmark = pytest.mark.slow


def copy_of(server, target):
    """Copies the data directory of a stopped server."""
    shutil.copytree(server.data_dir, target, dirs_exist_ok=True)
    return target


def full_syncs(server):
    """The number of full synchronizations."""
    return server.client().info("stats")["sync_full"]


def write(server, prefix, count):
    """Writes this many keys."""
    with server.client().pipeline(transaction=False) as pipe:
        for number in range(count):
            pipe.set(f"{prefix}{number}", f"value of {prefix}")
        pipe.execute()


def test_a_restored_backup(tmp_path):
    """The replica is ahead of the backup, and then the server gets other writes: the replica gets a full
    synchronization."""
    with start("cairn", enable_debug_command="yes") as primary, start("cairn", enable_debug_command="yes") as replica:
        follow(replica, primary)
        write(primary, "before:", 100)
        wait_for_offset(primary, replica)
        primary.shutdown()
        backup = copy_of(primary, tmp_path / "backup")
        primary.start()
        wait_for_link(replica)
        write(primary, "lost:", 98)
        wait_for_offset(primary, replica)
        replica.shutdown()
        primary.shutdown()
        shutil.rmtree(primary.data_dir)
        shutil.copytree(backup, primary.data_dir)
        primary.start()
        write(primary, "instead:", 200)
        replica.start()
        follow(replica, primary)
        assert_same(primary, replica)
        assert full_syncs(primary) == 1
        assert replica.client().exists("lost:1") == 0


def test_a_copy_has_its_own_stream(tmp_path):
    """It gets a full synchronization when it becomes a replica of the original."""
    with start("cairn", enable_debug_command="yes") as original, start("cairn") as replica:
        follow(replica, original)
        write(original, "both:", 10)
        original.shutdown()
        directory = copy_of(original, tmp_path / "copy")
        original.start()
        with Server(data_dir=directory, enable_debug_command="yes") as other:
            write(original, "original:", 10)
            write(other, "copy:", 10)
            assert replication(original)["master_replid"] != replication(other)["master_replid"]
            follow(other, original)
            assert_same(original, other)
            assert full_syncs(original) == 1


def test_two_copies_of_a_server_without_replicas(tmp_path):
    """Their streams have the same start and then other contents."""
    with start("cairn", enable_debug_command="yes") as original, start("cairn", enable_debug_command="yes") as replica:
        write(original, "both:", 10)
        original.shutdown()
        directory = copy_of(original, tmp_path / "copy")
        original.start()
        with Server(data_dir=directory, enable_debug_command="yes") as other:
            follow(replica, original)
            write(original, "original:", 10)
            with start("cairn") as another:
                follow(another, other)
                write(other, "copy:", 50)
                wait_for_offset(original, replica)
                follow(replica, other)
                assert_same(other, replica)
                assert full_syncs(other) == 2


def test_a_replica_misses_several_starts():
    """Each start gives the stream another id; a replica that was disconnected resumes."""
    with start("cairn", enable_debug_command="yes") as primary, start("cairn", enable_debug_command="yes") as replica:
        follow(replica, primary)
        write(primary, "a:", 10)
        wait_for_offset(primary, replica)
        replica.directives["replicaof"] = f"127.0.0.1 {primary.port}"
        replica.shutdown()
        names = set()
        for how in ("shutdown", "kill9", "kill9", "shutdown"):
            primary.restart(how)
            write(primary, f"{how}{len(names)}:", 10)
            names.add(replication(primary)["master_replid"])
        assert len(names) == 4
        replica.start()
        wait_for_link(replica)
        assert_same(primary, replica)
        assert full_syncs(primary) == 0


def test_an_old_primary_comes_back():
    """It was a primary again until it was reconfigured, without any write: no full synchronization is needed."""
    with start("cairn", enable_debug_command="yes") as old, start("cairn", enable_debug_command="yes") as new:
        follow(new, old)
        write(old, "a:", 10)
        wait_for_offset(old, new)
        old.kill9()
        new.client().execute_command("REPLICAOF", "NO", "ONE")
        write(new, "b:", 10)
        old.start()
        assert replication(old)["role"] == "master"
        follow(old, new)
        assert_same(new, old)
        assert full_syncs(new) == 0
        old.client().execute_command("REPLICAOF", "NO", "ONE")
        follow(old, new)
        assert_same(new, old)
        assert full_syncs(new) == 0
