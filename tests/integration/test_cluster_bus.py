# SPDX-License-Identifier: BSD-3-Clause
"""The cluster bus: nodes find each other, replace failed masters, and do both among real redis-servers."""

import contextlib
import re
import shutil
import socket

import pytest
import redis
from cluster_nodes import (TIMEOUT_MS, address, await_ok, call, cluster, flags_of, give_slots_away, info, logs,
                           make_cluster, node_id, nodes_of, redis_cli, start_node)
from harness import Server
from raw_client import RawClient
from redis.cluster import ClusterNode, RedisCluster
from waiting import assert_stays, wait_until


def fill(server, count=200):
    """Writes keys by a client of the cluster, and reads them back."""
    with RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", server.port)]) as client:
        for i in range(count):
            assert client.set(f"key:{i}", i)
        assert [int(client.get(f"key:{i}")) for i in range(count)] == list(range(count))


def check(server):
    """redis-cli --cluster check finds nothing."""
    text = redis_cli("check", address(server))
    assert "[OK] All nodes agree about slots configuration." in text, text
    assert "[OK] All 16384 slots covered." in text, text


def met(server):
    """The nodes that are not in a handshake."""
    return [node for node, fields in nodes_of(server).items() if "handshake" not in fields[2]]


def role(server):
    """master or slave, as the node itself says."""
    return call(server, "ROLE")[0]


@pytest.mark.slow
def test_redis_cli_makes_and_changes_a_cluster():
    """create, check, info, add-node, reshard: what an operator does first."""
    with cluster("cairn", "cairn", "cairn") as servers:
        check(servers[0])
        fill(servers[1], 3000)
        assert "3000 keys in 3 masters" in redis_cli("info", address(servers[2]))
        assert int(info(servers[0])["cluster_stats_messages_ping_sent"]) > 0
        links = call(servers[0], "CLUSTER", "LINKS")
        assert len(links) == 4
        with contextlib.ExitStack() as stack:
            new = start_node(stack)
            redis_cli("add-node", address(new), address(servers[0]))
            everyone = [*servers, new]
            wait_until(lambda: all(len(nodes_of(server)) == 4 for server in everyone), "four nodes")
            await_ok(everyone)
            redis_cli("reshard", address(servers[0]), "--cluster-from", node_id(servers[0]), "--cluster-to",
                      node_id(new), "--cluster-slots", 100, "--cluster-yes")
            await_ok(everyone)
            check(new)
            fill(new)
            assert new.client().dbsize() > 0


@pytest.mark.slow
def test_redis_cli_rebalances_mends_and_shrinks_a_cluster():
    """rebalance to an empty node, fix of a slot that was left open and of one without an owner, call, del-node."""
    with cluster("cairn", "cairn", "cairn") as servers:
        fill(servers[0], 1000)
        with contextlib.ExitStack() as stack:
            new = start_node(stack)
            redis_cli("add-node", address(new), address(servers[0]))
            everyone = [*servers, new]
            wait_until(lambda: all(len(nodes_of(server)) == 4 for server in everyone), "four nodes")
            await_ok(everyone)
            redis_cli("rebalance", address(servers[0]), "--cluster-use-empty-masters", "--cluster-weight",
                      f"{node_id(new)}=0.05")
            await_ok(everyone)
            check(servers[1])
            owned = int(re.search(r"slots:.*\((\d+) slots\)", redis_cli("check", address(new)))[1])
            assert 200 < owned < 350
            fill(new)
            # An operator stopped a migration, and another slot lost its owner.
            slot = next(slot for slot in range(16384) if call(new, "CLUSTER", "COUNTKEYSINSLOT", slot))
            owner = next(server for server in everyone if call(server, "CLUSTER", "COUNTKEYSINSLOT", slot))
            other = next(server for server in everyone if server is not owner)
            call(other, "CLUSTER", "SETSLOT", slot, "IMPORTING", node_id(owner))
            call(owner, "CLUSTER", "SETSLOT", slot, "MIGRATING", node_id(other))
            redis_cli("fix", address(servers[0]))
            await_ok(everyone)
            check(servers[2])
            assert redis_cli("call", address(servers[0]), "DBSIZE").count(": ") >= 4
            redis_cli("reshard", address(servers[0]), "--cluster-from", node_id(new), "--cluster-to",
                      node_id(servers[0]), "--cluster-slots", owned, "--cluster-yes")
            await_ok(everyone)
            # It may be a replica of the first by now, as masters without slots become.
            assert len(nodes_of(servers[0])[node_id(new)]) == 8
            redis_cli("del-node", address(servers[0]), node_id(new))
            wait_until(lambda: all(len(nodes_of(server)) == 3 for server in servers), "three nodes")
            check(servers[0])
            fill(servers[2], 1000)


@pytest.mark.slow
def test_redis_cli_imports_and_backs_up_a_cluster(tmp_path):
    """import copies the keys of a server that stands alone to their owners; backup fetches a file of each master."""
    with cluster("cairn", "redis", "cairn") as servers, Server() as alone:
        alone.client().mset({f"key:{i}": i for i in range(300)})
        redis_cli("import", address(servers[0]), "--cluster-from", address(alone), "--cluster-copy")
        assert sum(server.client().dbsize() for server in servers) == alone.client().dbsize() == 300
        redis_cli("backup", address(servers[2]), tmp_path)
        files = list(tmp_path.glob("*.rdb"))
        assert len(files) == 3
        for path in files:
            with Server(start=False) as copy:
                shutil.copy(path, copy.data_dir / "dump.rdb")
                copy.start()
                assert 60 < copy.client().dbsize() < 140


@pytest.mark.slow
@pytest.mark.parametrize("other", ["redis", "valkey"])
def test_a_mixed_cluster_serves(other):
    """Cairns and redis-servers or Valkeys agree, and each serves its slots."""
    with cluster("cairn", other, "cairn", other) as servers:
        for server in servers:
            check(server)
        fill(servers[0])
        assert all(server.client().dbsize() > 0 for server in servers)
        redis_cli("reshard", address(servers[1]), "--cluster-from", node_id(servers[0]), "--cluster-to",
                  node_id(servers[1]), "--cluster-slots", 20, "--cluster-yes")
        redis_cli("reshard", address(servers[0]), "--cluster-from", node_id(servers[1]), "--cluster-to",
                  node_id(servers[2]), "--cluster-slots", 20, "--cluster-yes")
        await_ok(servers)
        check(servers[0])
        fill(servers[3])


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("cairn",) * 6, ("redis", "cairn", "cairn", "cairn", "cairn", "cairn"),
                                   ("cairn", "redis", "redis", "redis", "redis", "redis"),
                                   ("cairn", "valkey", "valkey", "cairn", "valkey", "valkey")])
def test_a_replica_replaces_a_killed_master(kinds):
    """Also across the two servers; the old master returns as a replica of the new one."""
    with cluster(*kinds, replicas=1) as servers:
        fill(servers[1])
        ids = [node_id(server) for server in servers]
        victim = servers[0]
        assert role(victim) == "master"
        replica = next(server for server in servers if nodes_of(server)[node_id(server)][3] == ids[0])
        wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up", "the link", replica)
        wait_until(lambda: replica.client().dbsize() == victim.client().dbsize(), "the data", replica)
        victim.kill9()
        wait_until(lambda: role(replica) == "master", "the promotion:\n" + logs(servers), replica)
        alive = servers[1:]
        await_ok(alive)
        assert all("fail" in flags_of(server, ids[0]) for server in alive)
        fill(replica)
        victim.start()
        wait_until(lambda: role(victim) == "slave", "the old master's demotion", victim)
        await_ok(servers)
        check(victim)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("cairn",) * 6, ("redis", "cairn", "cairn", "cairn", "cairn", "cairn"),
                                   ("cairn", "redis", "redis", "redis", "redis", "redis")])
def test_a_manual_failover_exchanges_the_roles(kinds):
    """CLUSTER FAILOVER, whichever of the two is a Cairn."""
    with cluster(*kinds, replicas=1) as servers:
        first = node_id(servers[0])
        replica = next(server for server in servers if nodes_of(server)[node_id(server)][3] == first)
        wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up", "the link", replica)
        fill(servers[0])
        assert call(replica, "CLUSTER", "FAILOVER") == "OK"
        wait_until(lambda: role(replica) == "master" and role(servers[0]) == "slave", "the failover", replica)
        await_ok(servers)
        fill(servers[0])
        check(servers[0])


@pytest.mark.slow
def test_a_cairn_joins_a_live_redis_cluster_and_takes_a_master_over():
    """Step by step as docs/cluster.md says: add-node as a replica, the transfer, CLUSTER FAILOVER."""
    with cluster("redis", "redis", "redis") as servers, contextlib.ExitStack() as stack:
        fill(servers[0], 500)
        new = start_node(stack)
        first = node_id(servers[0])
        redis_cli("add-node", address(new), address(servers[1]), "--cluster-slave", "--cluster-master-id", first)
        everyone = [*servers, new]
        await_ok(everyone)
        wait_until(lambda: new.client().info("replication").get("master_link_status") == "up", "the transfer", new)
        # It votes and is elected only by masters that know it as a replica.
        wait_until(lambda: all(nodes_of(server).get(node_id(new), [""] * 4)[3] == first for server in servers),
                   "the replica to be known")
        wait_until(lambda: new.client().dbsize() == servers[0].client().dbsize(), "the data", new)
        assert call(new, "CLUSTER", "FAILOVER") == "OK"
        wait_until(lambda: role(new) == "master" and role(servers[0]) == "slave", "the failover", new)
        await_ok(everyone)
        check(servers[1])
        fill(new, 500)


@pytest.mark.slow
def test_a_node_that_is_met_by_nobody_is_alone():
    """A MEET without an answer ends; wrong addresses are refused."""
    with contextlib.ExitStack() as stack:
        server = start_node(stack)
        for arguments in (("x", 1), ("127.0.0.1", 0), ("127.0.0.1", 70000)):
            with pytest.raises(redis.ResponseError, match="Invalid node address specified"):
                call(server, "CLUSTER", "MEET", *arguments)
        assert call(server, "CLUSTER", "MEET", "127.0.0.1", 1, 2) == "OK"
        assert len(nodes_of(server)) == 2
        wait_until(lambda: len(nodes_of(server)) == 1, "the end of the handshake", server)


def test_damaged_bytes_close_a_link():
    """With a line that names the peer; the node goes on."""
    with contextlib.ExitStack() as stack:
        server = start_node(stack)
        with socket.create_connection(("127.0.0.1", server.port + 10000)) as peer:
            peer.sendall(b"RCmb" + b"\xff" * 3000)
            peer.settimeout(20)
            assert peer.recv(1) == b""
        assert "the link with 127.0.0.1 is closed, its bytes are damaged: totlen" in server.log_path.read_text()
        assert server.client().ping()


def test_a_controller_may_give_long_names():
    """Names of a Kubernetes service are longer than an address; the file of the nodes keeps them."""
    with contextlib.ExitStack() as stack:
        server = start_node(stack)
        host = "redis-0.redis-headless.production.svc.cluster.local"
        text = f"{node_id(server)} {host} {server.port} master - 0-16383"
        assert call(server, "CLUSTERX", "SETNODES", text, 1) == "OK"
        server.restart("kill9")
        assert nodes_of(server)[node_id(server)][1].startswith(f"{host}:{server.port}@")
        with pytest.raises(redis.ResponseError, match="Invalid cluster node host"):
            call(server, "CLUSTERX", "SETNODES", text.replace(host, "'a b'"), 2)
        assert call(server, "CLUSTER", "RESET") == "OK"
        other = start_node(stack)
        assert call(server, "CLUSTER", "MEET", "127.0.0.1", other.port) == "OK"
        wait_until(lambda: len(met(other)) == 2, "the nodes to meet")


def test_a_controlled_node_has_no_bus():
    """Where a controller sets the topology, the bus does not change it, until CLUSTER RESET."""
    with contextlib.ExitStack() as stack:
        server, other = start_node(stack), start_node(stack)
        me = node_id(server)
        text = f"{me} 127.0.0.1 {server.port} master - 0-16383\n{'b' * 40} 127.0.0.1 {other.port} slave {me}"
        assert call(server, "CLUSTERX", "SETNODES", text, 1) == "OK"
        with pytest.raises(redis.ResponseError, match="A controller sets the nodes"):
            call(server, "CLUSTER", "MEET", "127.0.0.1", other.port)
        assert call(server, "CLUSTER", "LINKS") == []
        server.restart("kill9")
        assert call(server, "CLUSTER", "LINKS") == []
        assert flags_of(server, "b" * 40) == ["slave"]
        assert call(server, "CLUSTER", "RESET") == "OK"
        assert call(server, "CLUSTER", "MEET", "127.0.0.1", other.port) == "OK"
        wait_until(lambda: len(nodes_of(other)) == 2, "the meeting", other)


@pytest.mark.slow
def test_messages_reach_subscribers_of_other_nodes():
    """PUBLISH those of all nodes, SPUBLISH those of the shard; each once, and events of keys none."""
    with cluster("cairn", "cairn", "redis") as servers:
        with contextlib.ExitStack() as stack:
            subscribers = []
            for server in servers:
                subscriber = stack.enter_context(contextlib.closing(server.client().pubsub()))
                subscriber.subscribe("news", "__keyevent@0__:set")
                wait_until(lambda server=server: server.client().pubsub_numsub("news")[0][1] == 1, "the subscription")
                subscribers.append(subscriber)
            for server in servers:
                server.client().config_set("notify-keyspace-events", "KEA")
                server.client().publish("news", f"of {server.port}")
            fill(servers[0], 50)
            expected = sorted(f"of {server.port}".encode() for server in servers)
            for server, subscriber in zip(servers, subscribers):
                texts, events = [], 0

                def read(subscriber=subscriber, texts=texts):
                    message = subscriber.get_message(ignore_subscribe_messages=True, timeout=0.1)
                    if message and message["channel"] == b"news":
                        texts.append(message["data"])
                    return len(texts) == 3
                wait_until(read, "three messages", server)
                assert sorted(texts) == expected
                while message := subscriber.get_message(ignore_subscribe_messages=True, timeout=0.5):
                    assert message["channel"] != b"news"
                    events += 1
                assert events <= server.client().dbsize()


@pytest.mark.slow
def test_a_client_cannot_publish_faster_than_the_bus_sends():
    """Messages that wait for the bus take memory, and the bus answers no PING until it has sent them."""
    count, most_waiting = 40000, 10000
    with cluster("cairn", "cairn", "cairn") as servers:
        with socket.create_connection((servers[0].host, servers[0].port)) as client:
            client.sendall(b"PUBLISH news 0123456789\r\n" * count)
            with client.makefile("rb") as stream:
                assert stream.read(4 * count) == b":0\r\n" * count
        # Twice, because each message goes to two nodes.
        assert int(info(servers[0])["cluster_stats_messages_publish_sent"]) > 2 * (count - most_waiting)
        for server in servers[1:]:
            wait_until(lambda server=server: info(server).get("cluster_stats_messages_publish_received") == str(count),
                       "all messages", server)


@pytest.mark.slow
def test_gossip_does_not_add_a_node_again_while_forget_waits():
    """FORGET waits for commands that hold keys. Meanwhile another node gossips about the forgotten one."""
    with cluster("cairn", "cairn", "cairn") as servers, RawClient(servers[0].port) as holder:
        gone = node_id(servers[2])
        holder.send_together(("multi",), ("set", "bar", 1), ("debug", "sleep", 3), ("exec",))
        wait_until(lambda: "cmd=exec" in call(servers[0], "CLIENT", "LIST"), "the slow command")
        assert call(servers[0], "CLUSTER", "FORGET", gone) == "OK"
        assert gone not in nodes_of(servers[0])


def test_a_replica_that_never_had_the_data_is_not_elected():
    """Its election would replace the shard's data by nothing."""
    with contextlib.ExitStack() as stack:
        *masters, replica = [start_node(stack) for _ in range(4)]
        make_cluster(masters)
        gone = node_id(masters[0])
        call(masters[0], "CONFIG", "SET", "requirepass", "secret")  # so that the replica's link stays down
        call(replica, "CLUSTER", "MEET", "127.0.0.1", masters[1].port)
        wait_until(lambda: gone in met(replica) and node_id(replica) in met(masters[1]), "the nodes to meet")
        call(replica, "CLUSTER", "REPLICATE", gone)
        wait_until(lambda: "slave" in flags_of(masters[1], node_id(replica)), "the new role")
        assert call(replica, "INFO", "replication").count("master_link_down_since_seconds:-1") == 1
        masters[0].kill9()
        wait_until(lambda: "fail" in flags_of(masters[1], gone), "the failure", timeout_s=30)
        seconds = 4 * TIMEOUT_MS / 1000
        assert_stays(lambda: "slave" in flags_of(replica, node_id(replica)), seconds, "the replica's role")


def test_an_address_that_the_bus_cannot_send_is_refused():
    with cluster("cairn", "cairn", "cairn") as servers:
        for text in ("x" * 46, "with space", "a,b"):
            with pytest.raises(redis.ResponseError, match="cluster-announce-ip must be"):
                call(servers[0], "CONFIG", "SET", "cluster-announce-ip", text)
        call(servers[0], "CONFIG", "SET", "cluster-announce-ip", "127.0.0.1")
        servers[0].restart()
        await_ok(servers)


def test_a_node_deletes_keys_that_a_kill_left_in_slots_of_others():
    """A node writes nodes.conf before it notes which slots it has lost. A kill -9 in between leaves the keys there."""
    with contextlib.ExitStack() as stack:
        server = start_node(stack)
        call(server, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: info(server)["cluster_state"] == "ok", "the node to serve")
        call(server, "MSET", "{hello}a", 1, "{hello}b", 2)
        call(server, "SET", "foo", 3)
        give_slots_away(server, 866, 866)
        wait_until(lambda: call(server, "DBSIZE") == 1, "the keys to be deleted", server)
        assert call(server, "KEYS", "*") == ["foo"]
        server.restart("kill9")
        assert call(server, "DBSIZE") == 1


def test_a_master_that_gives_its_last_slot_away_becomes_a_replica():
    with contextlib.ExitStack() as stack:
        one, other = [start_node(stack, cluster_require_full_coverage=False) for _ in range(2)]
        call(one, "CLUSTER", "MEET", "127.0.0.1", other.port)
        wait_until(lambda: all(len(met(server)) == 2 for server in (one, other)), "the nodes to meet")
        call(one, "CLUSTER", "ADDSLOTS", 0)
        call(other, "CLUSTER", "ADDSLOTS", 1)
        call(other, "CLUSTER", "SETSLOT", 0, "IMPORTING", node_id(one))
        call(one, "CLUSTER", "SETSLOT", 0, "MIGRATING", node_id(other))
        call(one, "CLUSTER", "SETSLOT", 0, "NODE", node_id(other))
        wait_until(lambda: "slave" in flags_of(one, node_id(one)), "the new role")
        call(other, "CLUSTER", "SETSLOT", 0, "NODE", node_id(other))
        wait_until(lambda: "slave" in flags_of(other, node_id(one)), "the new role, at the other node")
