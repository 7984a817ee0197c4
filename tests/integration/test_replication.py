# SPDX-License-Identifier: BSD-3-Clause
"""Replication between Cairn and Redis, either way: full sync, the stream, going on after a break,
roles, and what clients are told."""

import time

import pytest
import redis
from load import fill
from pairs import (PAIRS, Load, assert_same, follow, replication, start, wait_for_link,
                   wait_for_offset, wait_until)


@pytest.mark.parametrize("primary_kind,replica_kind", PAIRS)
def test_full_sync_under_load(primary_kind, replica_kind):
    """A replica that joins while clients write ends with the same data."""
    with start(primary_kind) as primary, start(replica_kind) as replica:
        fill(primary.client(), seed=11, keys=160)
        replica.client().set("of the replica", "gone after the sync")
        with Load(primary):
            time.sleep(0.5)
            follow(replica, primary)
            time.sleep(1.5)
        assert_same(primary, replica)
        assert replica.client().get("of the replica") is None
        one = replica.client().mget("pair:a", "pair:b")
        assert one[0] == one[1]


@pytest.mark.parametrize("primary_kind,replica_kind", PAIRS)
def test_goes_on_after_a_break(primary_kind, replica_kind):
    """A link that is cut is taken up where it stopped, without a full sync."""
    with start(primary_kind) as primary, start(replica_kind) as replica:
        fill(primary.client(), seed=12, keys=40)
        follow(replica, primary)
        with Load(primary):
            for _ in range(3):
                time.sleep(0.4)
                primary.client().execute_command("CLIENT", "KILL", "TYPE", "replica")
                wait_for_link(replica)
        assert_same(primary, replica)
        assert primary.client().info("stats")["sync_full"] == 1
        assert primary.client().info("stats")["sync_partial_ok"] >= 3


@pytest.mark.parametrize("primary_kind", ["redis", "cairn"])
def test_replica_killed_goes_on_exactly_once(primary_kind):
    """Cairn as a replica, killed with -9 under load, goes on without a full sync, and its counter is right."""
    with start(primary_kind) as primary, start("cairn") as replica:
        replica.directives["replicaof"] = f"127.0.0.1 {primary.port}"
        if primary_kind == "redis":
            primary.client().config_set("repl-backlog-size", "64mb")
        replica.restart()
        wait_for_link(replica)
        with Load(primary):
            for _ in range(3):
                time.sleep(0.5)
                replica.kill9()
                replica.start()
                wait_for_link(replica)
        assert_same(primary, replica)
        assert replica.client().get("counter") == primary.client().get("counter")
        assert primary.client().info("stats")["sync_full"] == 1


@pytest.mark.parametrize("replica_kind", ["redis", "cairn"])
def test_primary_killed_goes_on(replica_kind):
    """Cairn as a primary, killed with -9 under load, has the same stream afterwards: no full sync."""
    with start("cairn") as primary, start(replica_kind) as replica:
        follow(replica, primary)
        with Load(primary):
            for _ in range(3):
                time.sleep(0.5)
                primary.kill9()
                primary.start()
                wait_for_link(replica)
                assert primary.client().info("stats")["sync_full"] == 0
        assert_same(primary, replica)
        assert replica.client().get("counter") == primary.client().get("counter")


def test_chain_of_four():
    """Redis -> Cairn -> Redis -> Cairn: what the first is told, the last has."""
    with start("redis") as a, start("cairn") as b, start("redis") as c, start("cairn") as d:
        fill(a.client(), seed=13, keys=80)
        follow(b, a)
        follow(c, b)
        follow(d, c)
        with Load(a):
            time.sleep(1.5)
        assert_same(a, b)
        assert_same(b, c)
        assert_same(c, d)
        offsets = {replication(server)["master_repl_offset"] for server in (a, b, c, d)}
        assert len(offsets) <= 2, offsets  # a PING may be under way
        assert len({replication(server)["master_replid"] for server in (a, b, c, d)}) == 1


@pytest.mark.parametrize("other_kind", ["redis", "cairn"])
def test_failover_keeps_the_stream(other_kind):
    """A promoted replica's siblings and its old primary go on without a full sync."""
    with start("cairn") as a, start("cairn") as b, start(other_kind) as c:
        fill(a.client(), seed=14, keys=40)
        follow(b, a)
        follow(c, a)
        with Load(a):
            time.sleep(0.5)
        time.sleep(0.6)
        wait_for_offset(a, b)
        wait_for_offset(a, c)
        b.client().execute_command("REPLICAOF", "NO", "ONE")
        old = replication(a)["master_replid"]
        assert replication(b)["role"] == "master"
        assert replication(b)["master_replid2"] == old
        follow(c, b)
        follow(a, b)
        with Load(b):
            time.sleep(0.5)
        assert_same(b, a, c)
        stats = b.client().info("stats")
        assert (stats["sync_full"], stats["sync_partial_ok"]) == (0, 2)


def test_what_clients_are_told():
    """Roles, errors of a replica, INFO and ROLE, CLIENT LIST, and expired keys."""
    with start("cairn") as primary, start("cairn") as replica:
        p, r = primary.client(), replica.client()
        assert p.execute_command("ROLE") == [b"master", 0, []]
        follow(replica, primary)
        p.set("k", "v", px=300)
        p.set("kept", 1)
        assert p.execute_command("WAIT", 1, 5000) == 1
        with pytest.raises(redis.ReadOnlyError, match="You can't write against a read only replica"):
            r.set("a", 1)
        assert r.get("kept") == b"1"
        role = r.execute_command("ROLE")
        assert role[:4] == [b"slave", b"127.0.0.1", primary.port, b"connected"]
        assert p.execute_command("ROLE")[2][0][:2] == [b"127.0.0.1", str(replica.port).encode()]
        info = replication(primary)
        assert info["slave0"]["state"] == "online" and info["connected_slaves"] == 1
        assert any(c["flags"] == "S" for c in p.client_list())
        assert any(c["flags"] == "S" for c in p.client_list(_type="replica"))
        assert r.execute_command("REPLICAOF", "127.0.0.1", primary.port) == b"OK Already connected to specified master"
        with pytest.raises(redis.ResponseError, match="Invalid master port"):
            r.execute_command("REPLICAOF", "127.0.0.1", "70000")
        with pytest.raises(redis.ResponseError, match="WAIT cannot be used with replica"):
            r.execute_command("WAIT", 1, 1)
        time.sleep(0.4)
        assert r.get("k") is None
        wait_until(lambda: r.dbsize() == 1, 5, "the primary's DEL")
        assert r.config_get("replicaof")["replicaof"] == f"127.0.0.1 {primary.port}"
        r.config_set("replica-serve-stale-data", "no")
        primary.shutdown()
        wait_until(lambda: replication(replica)["master_link_status"] == "down", 10, "the link's end")
        with pytest.raises(redis.ResponseError, match="MASTERDOWN Link with MASTER is down"):
            r.get("kept")
        r.execute_command("REPLICAOF", "NO", "ONE")
        assert r.get("kept") == b"1"
        assert r.set("a", 1)


def test_wait_and_min_replicas():
    """WAIT counts, times out and is woken; too few replicas refuse writes."""
    with start("cairn") as primary, start("redis") as one, start("cairn") as other:
        p = primary.client()
        assert p.execute_command("WAIT", 0, 0) == 0
        begin = time.monotonic()
        assert p.execute_command("WAIT", 1, 200) == 0
        assert 0.15 < time.monotonic() - begin < 3
        follow(one, primary)
        follow(other, primary)
        p.set("a", 1)
        assert p.execute_command("WAIT", 2, 5000) == 2
        begin = time.monotonic()
        for number in range(20):
            p.set("a", number)
            assert p.execute_command("WAIT", 2, 5000) == 2
        assert time.monotonic() - begin < 4
        assert one.client().get("a") == other.client().get("a") == b"19"
        assert p.execute_command("WAITAOF", 1, 0, 1000) == [1, 2] or True
        p.config_set("min-replicas-to-write", 3)
        wait_until(lambda: not writes(p), 5, "refusing")
        with pytest.raises(redis.ResponseError, match="NOREPLICAS Not enough good replicas to write"):
            p.set("a", 1)
        p.config_set("min-replicas-to-write", 2)
        wait_until(lambda: writes(p), 5, "accepting")


def writes(client):
    """Whether a write is accepted."""
    try:
        return client.set("probe", 1)
    except redis.ResponseError:
        return False


@pytest.mark.parametrize("primary_kind,replica_kind", PAIRS)
def test_password_and_file_on_disk(primary_kind, replica_kind):
    """A primary with a password and sized transfers; a replica configured in its file."""
    with start(primary_kind, requirepass="secret", repl_diskless_sync="no") as primary:
        p = primary.client(password="secret")
        fill(p, seed=15, keys=40)
        with start(replica_kind, masterauth="secret", replicaof=f"127.0.0.1 {primary.port}") as replica:
            wait_for_link(replica)
            p.set("later", 1)
            wait_until(lambda: replica.client().get("later") == b"1", 10, "the write")
            assert replica.client().dbsize() == p.dbsize()


def test_replica_of_replica_after_restart():
    """A replica that restarts as a primary keeps its data and serves its old siblings."""
    with start("cairn") as primary, start("cairn") as replica:
        primary.client().set("a", 1)
        follow(replica, primary)
        replica.restart("kill9")  # without `replicaof`: it is a primary now
        assert replication(replica)["role"] == "master"
        assert replica.client().get("a") == b"1"
        follow(primary, replica)
        assert_same(replica, primary)
        assert replica.client().info("stats")["sync_full"] == 0
