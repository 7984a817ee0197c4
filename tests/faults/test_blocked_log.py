# SPDX-License-Identifier: BSD-3-Clause
"""A write to the log that takes long, as in a write stall, delays no client that only reads."""

import pytest

from fake_peers import FakeReplica
from fault_control import Faults
from harness import Server
from raw_client import RawClient

HELD_MS = 600_000  # the test ends the delay before


@pytest.mark.slow
@pytest.mark.parametrize("words", [("role",), ("cluster", "shards")], ids=" ".join)
def test_a_command_that_shows_the_offset_delays_no_other_client(words):
    """The PING to the replicas waits for the disk, and a reader of the offset waits for the PING. Client libraries poll
    both commands. CLUSTER INFO needs the I/O thread and the lock of the topology, as the cluster bus does."""
    with Faults() as faults, \
            Server(command=faults.command(), cluster_enabled=True, io_threads=1, repl_ping_replica_period=1,
                   repl_diskless_sync_delay=0) as server, \
            FakeReplica(server.port), RawClient(server.port) as asker:
        other = server.client(socket_timeout=20)
        other.ping()
        faults.arm("write", path="0*.log", delay_ms=HELD_MS)
        faults.wait_fired()
        asker.send(*words)
        for _ in range(100):
            assert b"cluster_state" in other.execute_command("CLUSTER", "INFO")
        faults.disarm()
        kind, _ = asker.read()
        assert kind == b"*"
