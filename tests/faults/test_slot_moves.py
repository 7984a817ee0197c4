# SPDX-License-Identifier: BSD-3-Clause
"""Moves of slots between nodes of a cluster (CLUSTER MIGRATESLOTS) while the disk of a node refuses writes."""

import contextlib
import errno
import re
import time

import pytest
import redis

from cluster_nodes import call, give_slots_away, info, make_cluster, node_id, nodes_of, start_node
from fault_control import Faults
from harness import REPOSITORY
from raw_client import RawClient
from slot_moves import await_end, begin, move, state
from waiting import wait_until

SLOT = 866
KEY = "{hello}key"
LOGS = "0*.log"  # of RocksDB, not the log of the server


@pytest.fixture(name="faults")
def fixture_faults():
    """A control file."""
    with Faults() as faults:
        yield faults


def start_target(stack, faults, last):
    """A node that may import the slots from SLOT to `last`, and the id of their owner."""
    target = start_node(stack, command=faults.command(), io_threads=1)
    call(target, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    return target, give_slots_away(target, SLOT, last)


def establish(client, source, name, slot):
    """Sends what the source of a migration sends first."""
    text = (REPOSITORY / "src" / "storage" / "format.h").read_text()
    version = re.search(r"kFormatVersion = (\d+);", text)[1]
    client.send("CLUSTER", "SYNCSLOTS", "ESTABLISH", "SOURCE", source, "NAME", name, "FORMAT", version, "SLOTSRANGE",
                slot, slot)


def is_writable(server):
    """Whether the server accepts writes."""
    try:
        return call(server, "SET", "{hello}other", "x") == "OK"
    except redis.ResponseError as refusal:
        assert "MISCONF" in str(refusal), refusal
        return False


def test_a_takeover_whose_end_cannot_be_noted_succeeds(faults):
    """The slots belong to the target once nodes.conf says so. After an error the source would serve them too."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, faults, SLOT)
        client = stack.enter_context(RawClient(target.port))
        establish(client, source, "a" * 40, SLOT)
        assert client.read() == (b"+", b"OK")
        faults.arm("write", errno.ENOSPC, path=LOGS, count=10**9)
        assert client("CLUSTER", "SYNCSLOTS", "TAKEOVER") == (b"+", b"OK")
        faults.wait_fired()
        faults.disarm()
        assert nodes_of(target)[node_id(target)][8:] == ["0-16383"]


@pytest.mark.slow
def test_the_end_of_an_import_does_not_wait_for_the_commit_of_another_one(faults):
    """An I/O thread sees that the source has closed its connection. It serves clients while the disk is slow."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, faults, SLOT + 1)
        one = stack.enter_context(RawClient(target.port))
        other = stack.enter_context(RawClient(target.port))
        establish(one, source, "a" * 40, SLOT)
        assert one.read() == (b"+", b"OK")
        faults.arm("write", delay_ms=120_000, path=LOGS)
        establish(other, source, "c" * 40, SLOT + 1)
        faults.wait_fired()
        began = time.monotonic()
        one.close()
        wait_until(lambda: state(target, "a" * 40) == "cleaning-up", "the end of the import", target)
        assert call(target, "PING") == "PONG"
        assert time.monotonic() - began < 100  # the commit goes on
        faults.disarm()
        assert other.read() == (b"+", b"OK")


@pytest.mark.slow
def test_keys_leave_after_a_move_that_could_not_be_noted(faults):
    """The note that the source could not write hides nothing later: the next move deletes the keys."""
    with contextlib.ExitStack() as stack:
        nodes = [start_node(stack, command=faults.command()), start_node(stack), start_node(stack)]
        make_cluster(nodes)
        source, target, _ = nodes
        call(source, "SET", KEY, "x")
        with RawClient(source.port) as replica:  # the source logs from then on, so its next write is the note
            replica.send("SYNC")
            assert replica.stream.read(1) == b"$"
        wait_until(lambda: "connected_slaves:0" in call(source, "INFO", "replication"), "the replica to end", source)
        faults.arm("write", errno.ENOSPC, path=LOGS)
        await_end(source, begin(source, target, SLOT, SLOT), "failed")
        faults.wait_fired()
        wait_until(lambda: is_writable(source), "writes", source)
        assert info(source)["cluster_state"] == "ok"
        move(source, target, SLOT, SLOT)
        wait_until(lambda: call(source, "DBSIZE") == 0, "the keys to be deleted", source)
        assert call(target, "GET", KEY) == "x"
