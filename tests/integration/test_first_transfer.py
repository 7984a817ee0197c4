# SPDX-License-Identifier: BSD-3-Clause
"""The start of a first transfer: `repl-diskless-sync-delay` and `repl-diskless-sync-max-replicas` of a primary."""

import time

import pytest
from pairs import assert_same, follow, replication, start, wait_for_link
from raw_client import RawClient
from waiting import assert_stays, wait_until

pytestmark = pytest.mark.slow


def ask_to_follow(replica, primary):
    """Makes `replica` a replica of `primary` without waiting for it."""
    replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)


def states(primary):
    """The state of each replica in the primary's INFO."""
    info = replication(primary)
    return [info[f"slave{number}"]["state"] for number in range(info["connected_slaves"])]


@pytest.mark.parametrize("replica_kind", ["redis", "cairn"])
def test_enough_replicas_begin_together(replica_kind):
    """A waiting replica gets keepalives and does not time out; the second of two ends the waiting."""
    directives = {"repl_diskless_sync_delay": 1000, "repl_diskless_sync_max_replicas": 2}
    with start("cairn", **directives) as primary, start(replica_kind, repl_timeout=2) as first, \
            start(replica_kind, repl_timeout=2) as second:
        primary.client().set("a", "b")
        ask_to_follow(first, primary)
        wait_until(lambda: states(primary) == ["wait_bgsave"])
        wait_until(lambda: first.client().execute_command("ROLE")[3] == b"handshake")
        assert_stays(lambda: states(primary) == ["wait_bgsave"], 4, "the waiting")  # two times its repl-timeout
        assert primary.client().info("persistence")["rdb_bgsave_in_progress"] == 0
        ask_to_follow(second, primary)
        wait_for_link(first)
        wait_for_link(second)
        assert_same(primary, first, second)
        assert primary.client().info("stats")["sync_full"] == 2


def test_a_replica_begins_alone_after_the_delay():
    """It also begins at once when the delay is set to 0, and without a delay if a file is written first."""
    with start("cairn", repl_diskless_sync_delay=1) as primary, start("cairn") as first, start("redis") as second, \
            start("redis") as third:
        began = time.monotonic()
        follow(first, primary)
        assert time.monotonic() - began >= 1
        primary.client().config_set("repl-diskless-sync-delay", 1000)
        ask_to_follow(second, primary)
        wait_until(lambda: primary.client().info("stats")["sync_full"] == 2)
        primary.client().config_set("repl-diskless-sync", "no")
        follow(third, primary)
        assert replication(second)["master_link_status"] == "down"
        primary.client().config_set("repl-diskless-sync-delay", 0)
        wait_for_link(second)
        assert_same(primary, first, second, third)


def first_byte_of_a_file(server):
    """The first byte that an old replica gets; empty if the server closes the connection."""
    with RawClient(server.port) as client:
        client.send("SYNC")
        return client.stream.read(1)


def test_a_nearly_full_disk_refuses_the_file_of_a_first_transfer():
    """The file of a transfer that is not diskless takes no part of min-free-disk, as the file of a BGSAVE does not."""
    with start("cairn") as primary:
        primary.client().set("a", "b")
        assert first_byte_of_a_file(primary) == b"$"
        primary.client().config_set("min-free-disk", "1000000gb")
        wait_until(lambda: first_byte_of_a_file(primary) == b"", "the refusal", primary)
        assert list((primary.data_dir / "sync-sent").glob("*.rdb*")) == []


def test_a_replica_that_disconnects_while_it_waits():
    """It is forgotten, and a primary with waiting replicas shuts down without a delay."""
    with start("cairn", repl_diskless_sync_delay=1000) as primary, \
            start("cairn") as replica:
        ask_to_follow(replica, primary)
        wait_until(lambda: states(primary) == ["wait_bgsave"])
        replica.client().execute_command("REPLICAOF", "NO", "ONE")
        wait_until(lambda: states(primary) == [])
        ask_to_follow(replica, primary)
        wait_until(lambda: states(primary) == ["wait_bgsave"])
        began = time.monotonic()
        primary.shutdown("NOSAVE")
        assert time.monotonic() - began < 9.5  # a shutdown that waits for replicas takes 10 s
