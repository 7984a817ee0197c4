# SPDX-License-Identifier: BSD-3-Clause
"""A replica that needs an unreadable part of the primary's log gets exactly one full synchronization."""

import random

import pytest
from pairs import assert_same, follow, start, wait_for_link, wait_for_offset

VALUE_BYTES = 8192
VALUES = 300
LOGS = 4


def write(client, part):
    """Writes some MB of values, and begins a new log after them."""
    rng = random.Random(part)
    for begin in range(part * VALUES, (part + 1) * VALUES, 100):
        client.mset({f"k:{number}": rng.randbytes(VALUE_BYTES) for number in range(begin, begin + 100)})
    client.execute_command("COMPACT")


def flip_a_byte(path):
    """Flips a byte in the middle of the file."""
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 0x40]))


HOLES = {"a flipped byte": flip_a_byte, "a missing file": lambda path: path.unlink()}


def old_logs(server):
    """The logs that are kept for replicas, the oldest first."""
    return sorted((server.data_dir / "archive").glob("*.log"))


def count_syncs(server):
    """The numbers of full and partial synchronizations so far."""
    stats = server.client().info("stats")
    return stats["sync_full"], stats["sync_partial_ok"]


@pytest.mark.parametrize("hole", [pytest.param("a flipped byte", marks=pytest.mark.slow), "a missing file"])
def test_a_replica_that_needs_an_unreadable_log_gets_one_full_sync(hole):
    with start("cairn", repl_backlog_size="64mb") as primary, start("cairn") as replica:
        follow(replica, primary)
        write(primary.client(), 0)
        wait_for_offset(primary, replica)
        replica.shutdown()
        had = old_logs(primary)
        for part in range(1, 1 + LOGS):
            write(primary.client(), part)
        full, partial = count_syncs(primary)
        needed = [log for log in old_logs(primary) if log not in had and log.stat().st_size > VALUE_BYTES]
        assert len(needed) >= LOGS, needed
        HOLES[hole](needed[1])  # too old to be in memory
        replica.directives["replicaof"] = f"127.0.0.1 {primary.port}"
        replica.start()
        wait_for_link(replica)
        assert_same(primary, replica)
        full_after, partial_after = count_syncs(primary)
        assert full_after - full == 1
        assert partial_after - partial <= 1
        assert "the log cannot be read at offset" in primary.log_tail(400)
        # A replica with a short disconnection still gets the writes after the hole from the log.
        primary.client().client_kill_filter(_type="slave")
        primary.client().set("after", "v")
        wait_for_link(replica)
        assert_same(primary, replica)
        assert count_syncs(primary) == (full_after, partial_after + 1)


def test_a_primary_starts_with_a_damaged_log_and_gives_one_full_sync():
    with start("cairn") as primary, start("cairn") as replica:
        follow(replica, primary)
        client = primary.client()
        for number in range(50):
            client.set(f"k:{number}", random.randbytes(VALUE_BYTES))
        wait_for_offset(primary, replica)
        primary.kill9()
        log = max(primary.data_dir.glob("*.log"), key=lambda path: path.stat().st_size)
        assert log.stat().st_size > 50 * VALUE_BYTES
        flip_a_byte(log)
        primary.start()
        assert 0 < primary.client().dbsize() < 50  # those before the damage
        wait_for_link(replica)
        assert_same(primary, replica)
        assert count_syncs(primary) == (1, 0)
