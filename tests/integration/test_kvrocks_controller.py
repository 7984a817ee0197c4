# SPDX-License-Identifier: BSD-3-Clause
"""CLUSTERX as kvrocks-controller uses it: a cluster is made, a slot moves under load, a master is replaced."""

import contextlib
import threading

import pytest
import redis
from cluster_nodes import call, start_node
from kvrocks_controller import Controller, Shard, parse_nodes
from redis.cluster import ClusterNode, RedisCluster
from redis.crc import key_slot
from waiting import wait_until

SLOT = key_slot(b"tag")
KEYS = [f"{{tag}}:{i}" for i in range(200)]


@pytest.fixture(name="controller")
def fixture_controller():
    """A controller with two shards: a master and a replica, and a master."""
    with contextlib.ExitStack() as stack:
        first, replica, second = (start_node(stack) for _ in range(3))
        shards = [Shard([first, replica], [(0, 8191)]), Shard([second], [(8192, 16383)])]
        if SLOT >= 8192:
            shards[0].ranges, shards[1].ranges = shards[1].ranges, shards[0].ranges
        controller = Controller(shards)
        controller.create()
        yield controller


def connect(controller):
    """A client of the cluster."""
    return RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", controller.shards[1].servers[0].port)])


def error(call_it):
    """The text of the error of a call."""
    with pytest.raises(redis.ResponseError) as refusal:
        call_it()
    return str(refusal.value)


def test_all_nodes_have_the_topology_and_the_version(controller):
    """In CLUSTERX VERSION, CLUSTER INFO and CLUSTER NODES, from which a controller imports a cluster."""
    ids = [controller.ids[server.port] for server in controller.servers()]
    expected = {ids[0]: ("{}-{}".format(*controller.shards[0].ranges[0]), [ids[1]]),
                ids[2]: ("{}-{}".format(*controller.shards[1].ranges[0]), [])}
    for server in controller.servers():
        assert call(server, "CLUSTERX", "VERSION") == 1
        assert parse_nodes(call(server, "CLUSTER", "NODES")) == (1, expected)
        assert controller.info(server)["cluster_state"] == "ok"
        assert "migrating_state" not in controller.info(server)
    assert error(lambda: call(controller.servers()[0], "CLUSTERX", "SETNODES", controller.text(), 0)) == \
        "Invalid cluster version"


@pytest.mark.slow
def test_a_slot_moves_while_clients_write(controller):
    """No increment is lost: each key is on one node at a time, and clients follow."""
    source, target = controller.shards
    with connect(controller) as client:
        for key in KEYS:
            client.incr(key)
    ends = threading.Event()
    counts = []

    def write():
        with connect(controller) as writer:
            done = 0
            while not ends.is_set():
                writer.incr(KEYS[done % len(KEYS)])
                writer.incr(f"{{tag}}:new:{done}")  # keys that the target creates
                done += 1
            counts.append(done)

    threads = [threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    try:
        assert controller.migrate(SLOT, source, target) == "OK"
        assert controller.await_migration(SLOT, source, target) == "success"
        assert call(source.servers[0], "CLUSTER", "COUNTKEYSINSLOT", SLOT) == 0
        controller.move((SLOT, SLOT), source, target)
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    (done,) = counts
    with connect(controller) as client:
        sums = sum(int(client.get(key)) for key in KEYS)
        assert sums == len(KEYS) + done
        assert all(client.get(f"{{tag}}:new:{i}") for i in range(done))
    assert call(target.servers[0], "CLUSTER", "COUNTKEYSINSLOT", SLOT) == len(KEYS) + done
    assert error(lambda: call(source.servers[0], "GET", KEYS[0])).startswith(f"MOVED {SLOT} ")
    for server in controller.servers():
        assert call(server, "CLUSTERX", "VERSION") == 2
        assert "->-" not in call(server, "CLUSTER", "NODES") and "-<-" not in call(server, "CLUSTER", "NODES")


@pytest.mark.slow
def test_a_master_that_dies_is_replaced_and_returns_as_a_replica(controller):
    shard = controller.shards[0]
    old, replica = shard.servers
    wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up", "the link", replica)
    with connect(controller) as client:
        for key in KEYS:
            client.set(key, "v")
    wait_until(lambda: replica.client().dbsize() == len(KEYS), "the data", replica)
    old.kill9()
    assert controller.probe() == [old]
    assert controller.fail_over(shard) is replica
    assert call(replica, "ROLE")[0] == "master"
    with connect(controller) as client:
        assert all(client.get(key) == b"v" for key in KEYS)
        client.set(KEYS[0], "new")
    old.start()
    assert controller.probe() == []
    assert call(old, "CLUSTERX", "VERSION") == 2
    wait_until(lambda: call(old, "ROLE")[0] == "slave", "the demotion", old)
    wait_until(lambda: old.client().info("replication")["master_link_status"] == "up", "the link", old)


@pytest.mark.slow
def test_a_move_that_breaks_off_is_finished_by_another(controller):
    """The target is dead: the state is fail, and no key is lost. Then it is back, and a range of slots moves."""
    source, target = controller.shards
    node = source.servers[0]
    with connect(controller) as client:
        for key in KEYS:
            client.set(key, "v")
    target.servers[0].kill9()
    assert controller.migrate(SLOT, source, target) == "OK"
    assert controller.await_migration(SLOT, source, target) == "fail"
    assert call(node, "CLUSTER", "COUNTKEYSINSLOT", SLOT) == len(KEYS)
    target.servers[0].start()
    # As if the move had broken off when only the target knew of its end.
    assert call(target.servers[0], "CLUSTER", "SETSLOT", SLOT, "NODE", controller.ids[target.servers[0].port]) == "OK"
    slots = (SLOT - 1, SLOT) if SLOT % 8192 else (SLOT, SLOT + 1)
    text = f"{slots[0]}-{slots[1]}"
    assert controller.migrate(text, source, target) == "OK"
    assert controller.await_migration(text, source, target) == "success"
    controller.move(slots, source, target)
    with connect(controller) as client:
        assert all(client.get(key) == b"v" for key in KEYS)
    assert call(target.servers[0], "CLUSTER", "COUNTKEYSINSLOT", SLOT) == len(KEYS)


def test_moves_that_make_no_sense_are_refused(controller):
    """With the words of kvrocks, by which a controller knows them."""
    source, target = controller.shards
    node, replica = source.servers
    ids = controller.ids
    def migrate(server, *arguments):
        return error(lambda: call(server, "CLUSTERX", "MIGRATE", *arguments))
    foreign = target.ranges[0][0]
    assert migrate(node, SLOT, "x" * 40) == "Can't find the destination node id"
    assert migrate(node, foreign, ids[target.servers[0].port]) == "Can't migrate slot which doesn't belong to me"
    assert migrate(replica, SLOT, ids[target.servers[0].port]) == "Can't migrate slot which doesn't belong to me"
    assert migrate(node, SLOT, ids[node.port]) == "Can't migrate slot to myself"
    assert migrate(node, SLOT, ids[replica.port]) == "Can't migrate slot to a slave"
    assert migrate(node, SLOT, ids[target.servers[0].port], "SYNC") == "Invalid sync flag"
    assert migrate(node, 16384, ids[target.servers[0].port]) == "Invalid slot range"
    with contextlib.ExitStack() as stack:
        alone = start_node(stack)
        call(alone, "CLUSTER", "ADDSLOTS", 1)
        assert "needs a controller" in migrate(alone, 1, "x" * 40)
