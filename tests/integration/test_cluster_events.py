# SPDX-License-Identifier: BSD-3-Clause
"""What a node does when slots, nodes and links of its cluster change: subscribers, keys of lost slots, replicas that
migrate, nodes that are forgotten or reset."""

import contextlib
import os
import signal

import pytest
import redis
from cluster_nodes import address, await_ok, call, cluster, info, node_id, nodes_of, redis_cli, start_node
from waiting import wait_until

SLOT, KEY = 10, "2281"  # a key of this slot


@contextlib.contextmanager
def subscribed(server, *channels):
    """A client that has subscribed to shard channels."""
    client = server.client(decode_responses=True)
    with contextlib.closing(client), contextlib.closing(client.pubsub()) as found:
        for channel in channels:
            found.ssubscribe(channel)
            assert next_message(found)["type"] == "ssubscribe"
        yield found


def next_message(subscriber, timeout_s=20):
    """The next message of a subscriber."""
    message = subscriber.get_message(timeout=timeout_s)
    assert message is not None, "no message came"
    return message


def owner_of(servers, slot):
    """The server that owns a slot in its own view."""
    for server in servers:
        if any(first <= slot <= last for first, last, *nodes in call(server, "CLUSTER", "SLOTS")
               if nodes[0][2] == node_id(server)):
            return server
    raise AssertionError(f"slot {slot} has no owner")


def replica_of(servers, master):
    """A server that replicates the master."""
    return next(server for server in servers if nodes_of(server)[node_id(server)][3] == node_id(master))


def give_slot(servers, slot, target):
    """Gives a slot to a master, as an operator does. With the end of an import the target gets a higher epoch; else the
    others could believe the old owner, whose message may come first, and the slot would be nobody's."""
    owner = owner_of(servers, slot)
    call(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", node_id(owner))
    call(owner, "CLUSTER", "SETSLOT", slot, "MIGRATING", node_id(target))
    for server in (target, owner):
        call(server, "CLUSTER", "SETSLOT", slot, "NODE", node_id(target))


@pytest.mark.slow
def test_shard_messages_and_the_end_of_their_subscriptions():
    """SPUBLISH reaches the replica's subscribers, of Cairn and of redis-server. When the slot leaves, each subscriber
    of its channels gets SUNSUBSCRIBE and can run other commands again; other channels stay."""
    kinds = ("cairn",) * 3 + ("cairn", "redis", "cairn")
    with cluster(*kinds, replicas=1) as servers, contextlib.ExitStack() as stack:
        masters, replicas = servers[:3], servers[3:]
        slot = int(call(servers[0], "CLUSTER", "KEYSLOT", "leaving"))
        master = owner_of(masters, slot)
        stays = next(name for name in map(str, range(100000))
                     if (other := int(call(master, "CLUSTER", "KEYSLOT", name))) != slot
                     and owner_of(masters, other) is master)
        replica = replica_of(replicas, master)
        subscribers = [stack.enter_context(subscribed(server, "leaving", stays)) for server in (master, replica)]
        call(master, "SPUBLISH", "leaving", "one")
        for subscriber in subscribers:
            assert next_message(subscriber)["data"] == "one"
        call(replica, "SPUBLISH", "leaving", "two")
        for subscriber in subscribers:
            assert next_message(subscriber)["data"] == "two"
        other = next(server for server in masters if server is not master)
        with contextlib.closing(other.client().pubsub()) as elsewhere, pytest.raises(redis.ResponseError,
                                                                                     match=f"MOVED {slot} "):
            elsewhere.ssubscribe("leaving")
            elsewhere.get_message(timeout=20)
        give_slot(masters, slot, other)
        for subscriber in subscribers:
            message = next_message(subscriber)
            assert (message["type"], message["channel"], message["data"]) == ("sunsubscribe", "leaving", 1)
        call(master, "SPUBLISH", stays, "three")
        for subscriber in subscribers:
            assert next_message(subscriber)["data"] == "three"
        wait_until(lambda: call(master, "PUBSUB", "SHARDNUMSUB", "leaving", stays) == ["leaving", 0, stays, 1],
                   "the end of the subscription", master)
        give_slot(masters, int(call(master, "CLUSTER", "KEYSLOT", stays)), other)
        for subscriber in subscribers:
            assert next_message(subscriber)["data"] == 0
            subscriber.connection.send_command("ECHO", "back")  # refused while there are subscriptions
            assert subscriber.connection.read_response() == "back"


@pytest.mark.slow
def test_a_peer_that_does_not_read_is_disconnected():
    """cluster-link-sendbuf-limit bounds the memory that messages for a stopped peer take."""
    with cluster("cairn", "cairn", "cairn", cluster_node_timeout=60000) as servers:
        first, stopped = servers[0], servers[1]
        limit = 256 << 10
        call(first, "CONFIG", "SET", "cluster-link-sendbuf-limit", limit)

        def opened_ms():
            rows = [dict(zip(row[::2], row[1::2])) for row in call(first, "CLUSTER", "LINKS")]
            times = [row["create-time"] for row in rows if (row["direction"], row["node"]) == ("to", node)]
            return max(times, default=0)
        node = node_id(stopped)
        before = opened_ms()
        os.kill(stopped.process.pid, signal.SIGSTOP)
        try:
            def is_cut():
                call(first, "PUBLISH", "channel", "x" * (128 << 10))
                return int(info(first)["total_cluster_links_buffer_limit_exceeded"]) > 0
            wait_until(is_cut, "the disconnection", first)
            wait_until(lambda: opened_ms() > before, "a new link", first)
        finally:
            os.kill(stopped.process.pid, signal.SIGCONT)
        wait_until(lambda: info(stopped)["cluster_state"] == "ok", "the return", stopped)
        assert int(info(servers[2])["total_cluster_links_buffer_limit_exceeded"]) == 0


@pytest.mark.slow
def test_the_keys_of_a_lost_slot_are_deleted():
    """Another master claims a slot with a larger epoch; the old owner has no use for its keys, and replicas neither."""
    with cluster(*("cairn",) * 6, replicas=1) as servers:
        masters = servers[:3]
        assert call(servers[0], "CLUSTER", "KEYSLOT", KEY) == SLOT
        owner = owner_of(masters, SLOT)
        replica = replica_of(servers[3:], owner)
        kept = next(name for name in map(str, range(100000))
                    if owner_of(masters, int(call(owner, "CLUSTER", "KEYSLOT", name))) is owner)
        call(owner, "SET", KEY, 1)
        call(owner, "SET", kept, 1)
        wait_until(lambda: replica.client().dbsize() == 2, "the replica's data", replica)
        taker = next(server for server in masters if server is not owner)
        call(taker, "CLUSTER", "SETSLOT", SLOT, "IMPORTING", node_id(owner))
        call(taker, "CLUSTER", "SETSLOT", SLOT, "NODE", node_id(taker))
        wait_until(lambda: owner.client().dbsize() == 1, "the deletion", owner)
        wait_until(lambda: replica.client().dbsize() == 1, "the deletion on the replica", replica)
        assert call(owner, "GET", kept) == "1"
        assert call(owner, "CLUSTER", "COUNTKEYSINSLOT", SLOT) == 0


@pytest.mark.slow
def test_a_replica_migrates_to_a_master_that_lost_its_own():
    """A shard of three nodes gives one to a master whose only replica was killed."""
    with cluster(*("cairn",) * 6, replicas=1) as servers, contextlib.ExitStack() as stack:
        masters = servers[:3]
        spare = start_node(stack)
        redis_cli("add-node", address(spare), address(servers[0]), "--cluster-slave", "--cluster-master-id",
                  node_id(masters[0]))
        wait_until(lambda: all(len(nodes_of(server)) == 7 for server in servers), "seven nodes")
        await_ok([*servers, spare])
        victim = replica_of(servers[3:], masters[1])
        victim.kill9()

        def has_replica():
            lines = call(masters[1], "CLUSTER", "REPLICAS", node_id(masters[1]))
            return any("fail" not in line.split()[2] for line in lines)
        wait_until(has_replica, "the migration", masters[1], timeout_s=60)
        wait_until(lambda: masters[1].client().info("replication")["connected_slaves"] == 1, "its link", masters[1])
        wait_until(lambda: len(call(masters[0], "CLUSTER", "REPLICAS", node_id(masters[0]))) == 1, "the news")


@pytest.mark.slow
def test_a_forgotten_node_does_not_return_by_gossip():
    """CLUSTER FORGET holds for a minute although other nodes still gossip about the node; others keep it."""
    with cluster("cairn", "cairn", "redis") as servers, contextlib.ExitStack() as stack:
        forgetful, spare = servers[0], start_node(stack)
        node = node_id(spare)
        call(spare, "CLUSTER", "MEET", "127.0.0.1", servers[2].port)
        wait_until(lambda: all(node in nodes_of(server) for server in servers), "the new node")
        call(forgetful, "CLUSTER", "FORGET", node)
        received = int(info(forgetful)["cluster_stats_messages_received"])
        wait_until(lambda: int(info(forgetful)["cluster_stats_messages_received"]) > received + 30, "gossip", forgetful)
        assert node not in nodes_of(forgetful)
        assert node in nodes_of(servers[2])
        assert call(forgetful, "CLUSTER", "FORGET", node) == "OK"  # another node may have told it to forget the node
        with pytest.raises(redis.ResponseError, match="Unknown node"):
            call(forgetful, "CLUSTER", "FORGET", "0" * 40)
        with pytest.raises(redis.ResponseError, match="I tried hard but I can't forget myself"):
            call(forgetful, "CLUSTER", "FORGET", node_id(forgetful))


def test_a_hostname_is_one_word_of_nodes_conf():
    """A hostname with a blank would make the file unreadable at the next start."""
    with contextlib.ExitStack() as stack:
        server = start_node(stack)
        for name, reason in (("x" * 256, "less than 256 characters"), ("a b", "alphanumeric"), ("a,b", "alphanumeric")):
            with pytest.raises(redis.ResponseError, match=f"Hostnames .*{reason}"):
                call(server, "CONFIG", "SET", "cluster-announce-hostname", name)
        call(server, "CONFIG", "SET", "cluster-announce-hostname", "host-1.example")
        assert nodes_of(server)[node_id(server)][1].endswith(",host-1.example")


@pytest.mark.slow
def test_a_node_is_reset():
    """SOFT keeps the id and the epochs, HARD keeps neither. A master with keys refuses; a replica drops its data."""
    with cluster(*("cairn",) * 6, replicas=1) as servers:
        master, replica = servers[0], replica_of(servers[3:], servers[0])
        key = next(name for name in map(str, range(100000))
                   if owner_of(servers[:3], int(call(master, "CLUSTER", "KEYSLOT", name))) is master)
        call(master, "SET", key, 1)
        with pytest.raises(redis.ResponseError, match="can't be called with master nodes containing keys"):
            call(master, "CLUSTER", "RESET")
        wait_until(lambda: replica.client().dbsize() == 1, "the replica's data", replica)
        old_id, old_epoch = node_id(replica), info(replica)["cluster_current_epoch"]
        call(replica, "CLUSTER", "RESET", "SOFT")
        assert (node_id(replica), info(replica)["cluster_current_epoch"]) == (old_id, old_epoch)
        assert len(nodes_of(replica)) == 1
        assert call(replica, "ROLE")[0] == "master"
        assert replica.client().dbsize() == 0
        assert info(replica)["cluster_state"] == "fail"
        call(replica, "CLUSTER", "RESET", "HARD")
        assert node_id(replica) != old_id
        assert info(replica)["cluster_current_epoch"] == "0"
        for server in servers:
            if server is not replica:
                call(server, "CLUSTER", "FORGET", old_id)
        call(replica, "CLUSTER", "MEET", "127.0.0.1", master.port)
        wait_until(lambda: all(len(nodes_of(server)) == 6 and node_id(replica) in nodes_of(server)
                               for server in servers), "its return", replica)
        call(replica, "CLUSTER", "REPLICATE", node_id(master))
        wait_until(lambda: replica.client().dbsize() == 1, "the replica's data", replica)


@pytest.mark.slow
def test_scripts_and_blocked_clients_are_redirected_as_in_redis():
    """A replica sends a script that may write to its master, also after READONLY. A blocked client waits on while its
    slot migrates, and gets MOVED when the slot has left."""
    with cluster(*("cairn",) * 6, replicas=1) as servers:
        masters = servers[:3]
        owner = owner_of(masters, SLOT)
        other = next(server for server in masters if server is not owner)
        replica = replica_of(servers[3:], owner)
        with contextlib.closing(replica.client()) as client:
            client.execute_command("READONLY")
            with pytest.raises(redis.ResponseError, match=f"MOVED {SLOT} .*:{owner.port}|^{SLOT} .*:{owner.port}"):
                client.execute_command("EVAL", "#!lua\nreturn 1", 1, KEY)
            assert client.execute_command("EVAL", "#!lua flags=no-writes\nreturn 1", 1, KEY) == 1
        with contextlib.closing(owner.client()) as client:
            connection = client.connection_pool.get_connection("BLPOP")
            connection.send_command("BLPOP", KEY, 0)
            wait_until(lambda: owner.client().info("clients")["blocked_clients"] == 1, "the block", owner)
            call(other, "CLUSTER", "SETSLOT", SLOT, "IMPORTING", node_id(owner))
            call(owner, "CLUSTER", "SETSLOT", SLOT, "MIGRATING", node_id(other))
            assert owner.client().info("clients")["blocked_clients"] == 1
            assert not connection.can_read(0.2)
            give_slot(masters, SLOT, other)
            with pytest.raises(redis.ResponseError, match=f"{SLOT} .*:{other.port}"):
                connection.read_response()
