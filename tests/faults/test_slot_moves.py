# SPDX-License-Identifier: BSD-3-Clause
"""Moves of slots between nodes of a cluster (CLUSTER MIGRATESLOTS) while the disk of a node refuses writes."""

import contextlib
import errno
import time

import pytest
import redis

from cluster_nodes import call, info, make_cluster, node_id, nodes_of, start_node
from fault_control import Faults
from raw_client import RawClient
from slot_moves import ask_taken, await_end, begin, begin_import, establish, move, start_target, state
from waiting import assert_stays, wait_until

SLOT = 866
KEY = "{hello}key"
LOGS = "0*.log"  # of RocksDB, not the log of the server


@pytest.fixture(name="faults")
def fixture_faults():
    """A control file."""
    with Faults() as faults:
        yield faults


def succeeds(server, *command):
    """Whether the reply is OK, not an error."""
    with contextlib.suppress(redis.ResponseError):
        return call(server, *command) == "OK"
    return False


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
        target, source = start_target(stack, SLOT, SLOT, command=faults.command())
        client = stack.enter_context(RawClient(target.port))
        establish(client, source, "a" * 40, SLOT)
        assert client.read() == (b"+", b"OK")
        assert client("CLUSTER", "SYNCSLOTS", "PAUSED") == (b"+", b"OK")
        faults.arm("write", errno.ENOSPC, path=LOGS, count=10**9)
        assert client("CLUSTER", "SYNCSLOTS", "TAKEOVER") == (b"+", b"OK")
        faults.wait_fired()
        faults.disarm()
        assert nodes_of(target)[node_id(target)][8:] == ["0-16383"]


def test_a_flush_waits_for_the_takeover(faults):
    """The source deletes its keys after the take-over. So a FLUSHALL that has replied before it must end the import,
    and a later one must wait."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, SLOT, SLOT, command=faults.command(), cluster_node_timeout=600_000)
        client = begin_import(stack, target, source, SLOT, KEY)
        flusher = stack.enter_context(RawClient(target.port))
        assert client("CLUSTER", "SYNCSLOTS", "PAUSED") == (b"+", b"OK")
        faults.arm("rename", path="nodes.conf*", delay_ms=120_000)
        client.send("CLUSTER", "SYNCSLOTS", "TAKEOVER")
        faults.wait_fired()
        assert ask_taken(target, "a" * 40, SLOT) == 2
        flusher.send("FLUSHALL")
        assert_stays(lambda: call(target, "DBSIZE") == 1, 0.3, "the imported key")
        faults.disarm()
        assert client.read() == (b"+", b"OK")
        assert flusher.read() == (b"+", b"OK")
        assert call(target, "DBSIZE") == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ADDSLOTS", "SETSLOT"])
def test_keys_of_a_broken_import_do_not_appear_when_the_slot_is_given_to_this_node(faults, command):
    """redis-cli --cluster fix does that when the source is dead. A key may have arrived in part."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, SLOT, SLOT, command=faults.command())
        client = begin_import(stack, target, source, SLOT, KEY)
        faults.arm("write", errno.ENOSPC, path=LOGS)
        client.close()
        faults.wait_fired()  # the key is not deleted, and it takes a second until the next attempt
        assert call(target, "CLUSTER", "DELSLOTS", SLOT) == "OK"
        words = ["CLUSTER", command, SLOT, *(["NODE", node_id(target)] if command == "SETSLOT" else [])]
        wait_until(lambda: succeeds(target, *words), "the slot to be given", target)
        assert nodes_of(target)[node_id(target)][8:] == ["0-16383"]
        assert call(target, "CLUSTER", "COUNTKEYSINSLOT", SLOT) == 0


@pytest.mark.slow
def test_keys_of_a_lost_slot_are_deleted_when_the_disk_works_again(faults):
    """A master notes the slots that another one has taken, then deletes their keys. If it cannot, it tries again."""
    with contextlib.ExitStack() as stack:
        loser = start_node(stack, command=faults.command())
        call(loser, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: info(loser)["cluster_state"] == "ok", "the node to serve", loser)
        call(loser, "SET", KEY, "x")
        taker = start_node(stack)
        call(taker, "CLUSTER", "MEET", "127.0.0.1", loser.port)
        wait_until(lambda: nodes_of(taker).get(node_id(loser), [])[8:] == ["0-16383"], "the slots to be known", taker)
        wait_until(lambda: node_id(taker) in nodes_of(loser), "the nodes to meet", loser)
        faults.arm("write", errno.ENOSPC, path=LOGS, count=10**9)
        call(taker, "CLUSTER", "SETSLOT", SLOT, "IMPORTING", node_id(loser))
        call(taker, "CLUSTER", "SETSLOT", SLOT, "NODE", node_id(taker))
        wait_until(lambda: "masters took are not deleted yet" in loser.log_tail(), "the note to fail", loser)
        faults.disarm()
        wait_until(lambda: call(loser, "DBSIZE") == 0, "the keys to be deleted", loser)


@pytest.mark.slow
def test_the_end_of_an_import_does_not_wait_for_the_commit_of_another_one(faults):
    """An I/O thread sees that the source has closed its connection. It serves clients while the disk is slow."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, SLOT, SLOT + 1, command=faults.command())
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
