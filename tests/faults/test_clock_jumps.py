# SPDX-License-Identifier: BSD-3-Clause
"""The wall clock jumps by hours while clients are served: waits keep their length, and background work goes on.

An NTP client that starts late, or a virtual machine that is resumed, moves the clock. Only the times at which keys
expire are times of the wall clock, as in Redis. Timeouts of commands, pauses and the periods of the background work are
lengths, and must not follow it.
"""

import threading
import time

import pytest
import redis

from cluster_nodes import cluster, flags_of, info, node_id
from fault_control import Faults
from harness import PATIENCE, Server
from waiting import assert_stays, wait_for_blocked, wait_until

HOUR_S = 3600
JUMPS = [3 * HOUR_S, pytest.param(-3 * HOUR_S, marks=pytest.mark.slow)]
SIDES = ["primary", "replica"]
LONGEST_S = 30 * PATIENCE  # for a wait of a second; a wrong one would take hours, or end at once


@pytest.fixture(name="faults")
def fixture_faults():
    """A control file."""
    with Faults() as faults:
        yield faults


def seconds_of(action):
    """How long the action takes."""
    begin = time.monotonic()
    action()
    return time.monotonic() - begin


@pytest.mark.parametrize("jump_s", JUMPS)
def test_a_blocked_client_waits_as_long_as_it_asked(faults, jump_s):
    with Server(command=faults.command()) as server:
        waited = []
        blocked = threading.Thread(target=lambda: waited.append(seconds_of(lambda: server.client().blpop("list", 2))))
        blocked.start()
        wait_for_blocked(server)
        faults.shift_clock(jump_s)
        blocked.join(LONGEST_S)
        assert len(waited) == 1 and 1.9 < waited[0] < LONGEST_S


@pytest.mark.parametrize("jump_s", JUMPS)
def test_waits_that_begin_after_the_jump_have_their_length(faults, jump_s):
    with Server(command=faults.command()) as server:
        client = server.client()
        faults.shift_clock(jump_s)
        assert 0.9 < seconds_of(lambda: client.blpop("list", 1)) < LONGEST_S
        client.set("key", "value")
        assert 0.9 < seconds_of(lambda: client.wait(1, 1000)) < LONGEST_S


# The cron thread deletes expired keys that no client reads; it must not sleep until the clock is back where it was.
@pytest.mark.parametrize("jump_s", JUMPS)
def test_expired_keys_are_deleted_in_the_background(faults, jump_s):
    with Server(command=faults.command()) as server:
        client = server.client()
        client.set("before", "value", px=200)
        wait_until(lambda: client.dbsize() == 0, "the end of a key before the jump")
        faults.shift_clock(jump_s)
        client.set("after", "value", px=200)
        wait_until(lambda: client.dbsize() == 0, "the end of a key after the jump")


def test_deadlines_of_keys_follow_the_wall_clock(faults):
    with Server(command=faults.command()) as server:
        client = server.client()
        client.set("hour", "value", ex=HOUR_S)
        client.set("day", "value", ex=24 * HOUR_S)
        faults.shift_clock(-3 * HOUR_S)
        assert 3.9 * HOUR_S < client.ttl("hour") <= 4 * HOUR_S
        faults.shift_clock(2 * HOUR_S)
        assert client.get("hour") is None
        assert client.get("day") == b"value"


@pytest.mark.parametrize("jump_s", JUMPS)
def test_a_pause_of_clients_keeps_its_length(faults, jump_s):
    with Server(command=faults.command()) as server:
        client = server.client(socket_timeout=LONGEST_S)
        client.client_pause(2000, all=False)
        faults.shift_clock(jump_s)
        assert 1 < seconds_of(lambda: client.set("key", "value")) < LONGEST_S


def accepts_writes(client):
    """Whether min-replicas-to-write lets a write pass."""
    try:
        return client.set("key", "value")
    except redis.ResponseError:
        return False


def stays_connected(primary, replica, seconds):
    """Checks that the link lasts so long, without writes, and that the replica's ACKs arrive."""
    client = primary.client()
    before = client.info("stats")
    assert_stays(lambda: replica.client().info("replication")["master_link_status"] == "up", seconds, "the link")
    after = client.info("stats")
    assert all(after[name] == before[name] for name in ("sync_full", "sync_partial_ok", "sync_partial_err"))
    assert accepts_writes(client)
    assert client.wait(1, 20000 * PATIENCE) == 1


@pytest.mark.parametrize("jumps", ["both", *(pytest.param(side, marks=pytest.mark.slow) for side in SIDES)])
@pytest.mark.parametrize("jump_s", JUMPS)
def test_a_replica_stays_connected(faults, jump_s, jumps):
    times = {"repl_timeout": 3 * PATIENCE, "repl_ping_replica_period": 1, "min_replicas_max_lag": 3 * PATIENCE}
    with Faults() as others:
        commands = {"primary": faults.command() if jumps != "replica" else others.command(),
                    "replica": faults.command() if jumps != "primary" else others.command()}
        with Server(command=commands["primary"], min_replicas_to_write=1, **times) as primary, \
                Server(command=commands["replica"], replicaof=f"127.0.0.1 {primary.port}", **times) as replica:
            client = primary.client()
            wait_until(lambda: client.info("replication").get("slave0", {}).get("state") == "online", "the replica")
            wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up", "the link")
            wait_until(lambda: accepts_writes(client), "the first ACK")
            faults.shift_clock(jump_s)
            stays_connected(primary, replica, 4 * PATIENCE)
            assert client.info("replication")["slave0"]["lag"] <= 2 * PATIENCE


def is_whole(server, ids):
    """Whether a node of a cluster serves, and sees all of these nodes alive."""
    seen = [flag for name in ids for flag in flags_of(server, name)]
    return info(server)["cluster_state"] == "ok" and not any(flag.startswith("fail") for flag in seen)


@pytest.mark.parametrize("jump_s", JUMPS)
def test_nodes_of_a_cluster_see_who_is_alive(faults, jump_s):
    with cluster("cairn", "cairn", "cairn", command=faults.command()) as servers:
        ids = [node_id(server) for server in servers]
        faults.shift_clock(jump_s)
        assert_stays(lambda: all(is_whole(server, ids) for server in servers), 3 * PATIENCE, "the cluster")


@pytest.mark.parametrize("jump_s", JUMPS)
def test_a_jump_does_not_hide_that_a_node_has_failed(faults, jump_s):
    with cluster("cairn", "cairn", "cairn", command=faults.command()) as servers:
        gone = node_id(servers[2])
        servers[2].kill9()
        faults.shift_clock(jump_s)
        wait_until(lambda: all("fail" in flags_of(server, gone) for server in servers[:2]), "the failure",
                   timeout_s=10)
