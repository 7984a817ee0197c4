# SPDX-License-Identifier: BSD-3-Clause
"""Atomic migration of ranges of slots between nodes (CLUSTER MIGRATESLOTS): everything moves, or nothing."""

import contextlib
import os
import random
import select
import signal
import socket
import subprocess
import threading
import time

import pytest
import redis
from cluster_nodes import (address, await_ok, call, cluster, flags_of, give_slots_away, info, node_id, nodes_of,
                           redis_cli, start_node)
from fake_peers import FakeTarget
from harness import by_size, tool_path
from process_threads import read_of_threads
from raw_client import RawClient
from redis.cluster import ClusterNode, RedisCluster
from slot_moves import (ask_taken, await_end, begin, begin_import, contents, establish, fill, migrations, move,
                        start_target, state)
from waiting import assert_stays, wait_until

TAG = "{hello}"  # slot 866
SLOT = 866


def pair(*kinds, **directives):
    """A cluster of nodes of which the first two are the source and the target of migrations."""
    return cluster(*(kinds or ("cairn", "cairn", "cairn")), **directives)


def error(server, *command):
    """The text of the error that the command gets."""
    with pytest.raises(redis.exceptions.ResponseError) as caught:
        call(server, *command)
    return str(caught.value)


def reader(server):
    """A client that sees bytes."""
    client = server.client()
    client.response_callbacks.clear()
    return client


@pytest.mark.slow
def test_the_commands_have_valkeys_words():
    """Syntax, replies and errors of Valkey 9."""
    with pair() as nodes:
        first, second, _ = nodes
        target = node_id(second)
        def refused(*words):
            return error(first, "CLUSTER", "MIGRATESLOTS", *words)
        assert migrations(first) == []
        assert refused("SLOTSRANGE", 0, 1, "NODE", "x") == "Invalid node name: x"
        assert refused("SLOTSRANGE", 0, 1, "NODE", "f" * 40) == f"Unknown node name: {'f' * 40}"
        assert refused("SLOTSRANGE", 0, 1, "NODE", node_id(first)) == "Target node can not be this node."
        assert refused("SLOTSRANGE", 0, "NODE", target) == "Invalid or out of range slot"
        assert refused("SLOTSRANGE", 0, 1, 2) == "No end slot for final slot range"
        assert refused("SLOTSRANGE", 0, 16384, "NODE", target) == "Invalid or out of range slot"
        assert refused("SLOTSRANGE", 2, 1, "NODE", target) == "Start slot number 2 is greater than end slot number 1."
        assert refused("SLOTSRANGE", 1, 5, 5, 9, "NODE", target) == "Slot range 5-9 overlaps with previous range 1-5."
        assert refused("SLOTSRANGE", "NODE", target) == "No slot ranges specified"
        assert refused("SLOTSRANGE", 16000, 16001, "NODE", target) == "Slots are not served by this node."
        assert refused("SLOTSRANGE", 0, 16001, "NODE", target) == "Requested slots span multiple shards"
        assert refused("RANGES", 0, 1, "NODE", target) == "syntax error"
        assert refused("SLOTSRANGE", 0, 1, "TO", target) == "syntax error"
        assert refused("SLOTSRANGE", 0, 1, "NODE", target, "SLOTSRANGE", 1, 2, "NODE", target) == (
            "Slot ranges in migrations overlap")
        assert error(first, "CLUSTER", "CANCELSLOTMIGRATIONS") == "No migrations ongoing"
        assert error(first, "CLUSTER", "IMPORTKEYS", TAG, "x") == (
            "CLUSTER IMPORTKEYS is for the migration of slots only")
        assert error(first, "CLUSTER", "SYNCSLOTS", "TAKEOVER") == "this connection imports no slots"
        assert error(first, "CLUSTER", "SYNCSLOTS", "HIDE", "x" * 40, 1, 1) == "syntax error"
        assert call(first, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", 0, 1, 4, 4, "NODE", target, "slotsrange", 7, 7,
                    "node", node_id(nodes[2])) == "OK"
        for row in migrations(first):
            await_end(first, row["name"])
        row = migrations(first)[1]
        assert list(row) == ["name", "operation", "slot_ranges", "target_node", "source_node", "create_time",
                             "last_update_time", "last_ack_time", "state", "message", "cow_size"]
        assert (row["operation"], row["slot_ranges"], row["target_node"], row["source_node"], row["state"],
                row["message"]) == ("EXPORT", "0-1 4-4", target, node_id(first), "success", "")
        assert len(row["name"]) == 40
        imported = migrations(second)[0]
        assert (imported["operation"], imported["state"], imported["name"]) == ("IMPORT", "success", row["name"])
        with contextlib.closing(first.client(protocol=3)) as three:
            three.response_callbacks.clear()
            assert three.execute_command("CLUSTER", "GETSLOTMIGRATIONS")[1][b"slot_ranges"] == b"0-1 4-4"
        await_ok(nodes)
        assert "[OK] All 16384 slots covered." in redis_cli("check", address(first))


def test_a_slot_that_is_being_imported_is_not_changed_by_hand():
    """SETSLOT IMPORTING would delete the keys that have arrived, and the take-over would succeed without them."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, SLOT, SLOT)
        client = begin_import(stack, target, source, SLOT, TAG)
        for words in (("SETSLOT", SLOT, "IMPORTING", source), ("SETSLOT", SLOT, "NODE", node_id(target)),
                      ("ADDSLOTS", SLOT), ("DELSLOTSRANGE", SLOT, SLOT)):
            assert error(target, "CLUSTER", *words) == f"I am already importing slot {SLOT}."
        assert call(target, "CLUSTER", "SETSLOT", SLOT, "STABLE") == "OK"
        assert client("CLUSTER", "SYNCSLOTS", "PAUSED") == (b"+", b"OK")
        assert client("CLUSTER", "SYNCSLOTS", "TAKEOVER") == (b"+", b"OK")
        assert call(target, "CLUSTER", "COUNTKEYSINSLOT", SLOT) == 1


def owns(target, source, slot):
    """Whether the target owns the slot of a source that does not run."""
    return nodes_of(target)[source][8:] != [str(slot)]


def test_a_takeover_that_waits_in_the_queue_is_given_up_when_the_source_asks():
    """The source serves the slot again after the answer 0. A later takeover would lose the writes in between."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, SLOT, SLOT, slow_threads=1, enable_debug_command="yes")
        client = begin_import(stack, target, source, SLOT, TAG)
        assert client("CLUSTER", "SYNCSLOTS", "PAUSED") == (b"+", b"OK")
        sleeper = stack.enter_context(RawClient(target.port))
        sleeper.send("DEBUG", "SLEEP", 2)
        wait_until(lambda: "cmd=debug" in call(target, "CLIENT", "LIST"), "the slow lane to be busy", target)
        client.send("CLUSTER", "SYNCSLOTS", "TAKEOVER")
        assert ask_taken(target, "a" * 40, SLOT) == 0
        with pytest.raises(ConnectionError):
            client.read()
        assert sleeper.read() == (b"+", b"OK")
        await_end(target, "a" * 40, "failed")
        assert not owns(target, source, SLOT)
        assert ask_taken(target, "a" * 40, SLOT) == 0


def test_a_takeover_needs_a_pause():
    """Its deadline counts from PAUSED, a moment that the source knows."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, SLOT, SLOT)
        client = begin_import(stack, target, source, SLOT, TAG)
        assert client("CLUSTER", "SYNCSLOTS", "TAKEOVER") == (b"-", b"ERR The source has not paused writes")
        assert not owns(target, source, SLOT)


@pytest.mark.slow
def test_a_frozen_target_does_not_take_over_later():
    """The source serves the slot again 15 seconds after PAUSED. The request may wait in the target's socket so long."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, SLOT, SLOT)
        client = begin_import(stack, target, source, SLOT, TAG)
        assert client("CLUSTER", "SYNCSLOTS", "PAUSED") == (b"+", b"OK")
        late_s = time.monotonic() + 10
        with stopped(target):
            client.send("CLUSTER", "SYNCSLOTS", "TAKEOVER")
            wait_until(lambda: time.monotonic() > late_s, "the deadline")
        assert client.read() == (b"-", b"ERR The takeover took too long")
        assert not owns(target, source, SLOT)


@pytest.mark.slow
def test_the_source_does_not_serve_while_the_target_takes_over():
    """Not even after 15 seconds, when it would serve the slot again beside a silent target."""
    with contextlib.ExitStack() as stack:
        fake = stack.enter_context(FakeTarget(taken=2))
        source = start_node(stack, cluster_node_timeout=600_000)
        call(source, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        target = give_slots_away(source, SLOT + 1, SLOT + 1, fake.port)
        wait_until(lambda: info(source)["cluster_state"] == "ok", "the node to serve", source)
        name = begin(source, target, SLOT, SLOT)
        wait_until(lambda: fake.questions > 0, "the question", source)
        writer = stack.enter_context(RawClient(source.port))
        writer.send("SET", TAG, "x")
        assert_stays(lambda: not select.select([writer.socket], [], [], 0)[0], 16, "the wait of the write")
        fake.taken = 0
        assert writer.read() == (b"+", b"OK")
        await_end(source, name, "failed")


def test_an_import_ends_when_its_source_is_not_in_the_cluster_any_more():
    """A host that was lost closes no connection, and the slots could not be given to another node."""
    with contextlib.ExitStack() as stack:
        target, source = start_target(stack, SLOT, SLOT)
        begin_import(stack, target, source, SLOT, TAG)
        assert call(target, "CLUSTER", "FORGET", source) == "OK"
        await_end(target, "a" * 40, "failed")
        assert call(target, "CLUSTER", "ADDSLOTS", SLOT) == "OK"
        assert call(target, "CLUSTER", "COUNTKEYSINSLOT", SLOT) == 0


def test_a_slot_that_is_being_exported_is_not_changed_by_hand():
    """MIGRATE would move keys meanwhile, and the migration would delete them at the target: it sends the DEL."""
    with contextlib.ExitStack() as stack:
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        source = start_node(stack)
        call(source, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        target = give_slots_away(source, SLOT, SLOT, silent.getsockname()[1])
        name = begin(source, target, 0, 0)
        for words in (("SETSLOT", 0, "MIGRATING", target), ("SETSLOT", 0, "NODE", target), ("ADDSLOTS", 0),
                      ("DELSLOTS", 0)):
            assert error(source, "CLUSTER", *words) == "I am already migrating slot 0."
        assert call(source, "CLUSTER", "CANCELSLOTMIGRATIONS") == "OK"
        await_end(source, name, "cancelled")
        assert call(source, "CLUSTER", "SETSLOT", 0, "MIGRATING", target) == "OK"


def export_threads(server):
    """The number of threads that export slots."""
    return read_of_threads(server.pid, "comm").count(["slot-export\n"])


def test_one_export_runs_at_a_time():
    """Each takes a thread, a connection and a snapshot, and one command may begin thousands."""
    def states(server):
        return [row["state"] for row in reversed(migrations(server))]
    with contextlib.ExitStack() as stack:
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        source = start_node(stack)
        call(source, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        target = give_slots_away(source, SLOT, SLOT, silent.getsockname()[1])
        blocks = [word for slot in range(20) for word in ("SLOTSRANGE", slot, slot, "NODE", target)]
        assert call(source, "CLUSTER", "MIGRATESLOTS", *blocks) == "OK"
        assert error(source, "CLUSTER", "SETSLOT", 19, "MIGRATING", target) == "I am already migrating slot 19."
        wait_until(lambda: states(source)[0] == "reading-establish-response", "the first one to begin", source)
        assert states(source)[1:] == ["connecting"] * 19
        assert export_threads(source) == 1
        assert call(source, "CLUSTER", "CANCELSLOTMIGRATIONS") == "OK"
        assert states(source)[1:] == ["cancelled"] * 19
        wait_until(lambda: states(source)[0] == "cancelled", "the first one to end", source)
        assert error(source, "CLUSTER", "CANCELSLOTMIGRATIONS") == "No migrations ongoing"
        silent.close()  # the next ones fail one after another
        assert call(source, "CLUSTER", "MIGRATESLOTS", *blocks) == "OK"
        wait_until(lambda: states(source)[20:] == ["failed"] * 20, "all to have their turn", source)


@pytest.mark.slow
def test_every_type_moves_with_its_expiry():
    """The same bytes and times at the target, nothing left at the source, and both go on after a restart."""
    with pair() as nodes:
        first, second, third = nodes
        one, two = reader(first), reader(second)
        fill(one, TAG)
        before = contents(one, SLOT)
        assert len(before) > 70
        move(first, second, SLOT, SLOT)
        assert contents(two, SLOT) == before
        assert one.execute_command("CLUSTER", "COUNTKEYSINSLOT", SLOT) == 0
        wait_until(lambda: one.execute_command("DBSIZE") == 0, "no keys to be left at the source", first)
        for server in nodes:
            wait_until(lambda s=server: nodes_of(s)[node_id(second)][8:] and "866" in nodes_of(s)[node_id(second)],
                       "all nodes to know the owner", server)
        assert error(first, "GET", TAG + "x") == f"MOVED {SLOT} 127.0.0.1:{second.port}"
        assert error(third, "GET", TAG + "x") == f"MOVED {SLOT} 127.0.0.1:{second.port}"
        assert two.execute_command("DBSIZE") == len(before)
        move(second, first, SLOT, SLOT)  # and back
        assert contents(one, SLOT) == before
        first.restart("kill9")
        second.restart("kill9")
        await_ok(nodes)
        assert contents(reader(first), SLOT) == before
        assert reader(second).execute_command("DBSIZE") == 0
        assert reader(first).execute_command("CLUSTER", "COUNTKEYSINSLOT", SLOT) == len(before)


class Load:
    """Clients of the cluster that add to counters, lists and hashes, and read them back, until they are stopped."""

    def __init__(self, server, writers=3, readers=2, tags=20):
        self.server = server
        self.tags = [f"{{t{i}}}" for i in range(tags)]
        self.stopping = threading.Event()
        self.errors = []
        self.done = [0] * writers
        self.threads = [threading.Thread(target=self._run, args=(self._write, i)) for i in range(writers)]
        self.threads += [threading.Thread(target=self._run, args=(self._read, i)) for i in range(readers)]
        for thread in self.threads:
            thread.start()

    def _run(self, work, number):
        try:
            with RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", self.server.port)]) as client:
                rng = random.Random(number)
                while not self.stopping.is_set():
                    work(client, rng, number)
        except Exception as failure:  # pylint: disable=broad-except
            self.errors.append(failure)

    def _write(self, client, rng, number):
        tag = rng.choice(self.tags)
        client.incr(f"{tag}counter:{number}")
        client.rpush(f"{tag}list:{number}", self.done[number])
        client.hset(f"{tag}hash:{number}", f"f{rng.randint(0, 2000)}", self.done[number])
        client.eval("redis.call('INCR', KEYS[1]) return redis.call('INCR', KEYS[2])", 2, f"{tag}pair:a:{number}",
                    f"{tag}pair:b:{number}")
        self.done[number] += 1

    def _read(self, client, rng, number):
        tag = rng.choice(self.tags)
        values = client.mget(f"{tag}pair:a:0", f"{tag}pair:b:0")
        assert values[0] == values[1], (number, values)

    def stop(self):
        """Stops the clients and checks that no acknowledged write is lost."""
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        assert not self.errors, self.errors
        with RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", self.server.port)]) as client:
            for number, done in enumerate(self.done):
                assert done > 0
                counters = [int(client.get(f"{tag}counter:{number}") or 0) for tag in self.tags]
                lists = [client.llen(f"{tag}list:{number}") for tag in self.tags]
                assert counters == lists
                assert sum(counters) == done
                for tag in self.tags:
                    items = [int(item) for item in client.lrange(f"{tag}list:{number}", 0, -1)]
                    assert items == sorted(items)


@pytest.mark.slow
def test_no_write_is_lost_under_load():
    """Writers and readers of a cluster client see one data set while their slots move to and fro."""
    with pair() as nodes:
        clients = Load(nodes[2])
        try:
            for _ in range(by_size(1, 2, 5)):
                for source in nodes:
                    target = nodes[(nodes.index(source) + 1) % 3]
                    first, _, last = nodes_of(source)[node_id(source)][8].partition("-")
                    move(source, target, first, min(int(last or first), int(first) + 2000))
        finally:
            clients.stop()
        await_ok(nodes)


def many(client, count=20000):
    """Many small keys in the slot."""
    pipe = client.pipeline(transaction=False)
    for i in range(count):
        pipe.set(f"{TAG}key:{i}", "x" * 100, px=10**8 if i % 5 == 0 else None)
    pipe.execute()


@contextlib.contextmanager
def stopped(server):
    """The process does nothing meanwhile."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


def names(server):
    """All keys that SCAN finds."""
    with contextlib.closing(server.client()) as client:
        return set(client.scan_iter(count=1000))


@pytest.mark.slow
def test_a_cancelled_migration_leaves_nothing_behind():
    """The keys stay at the source, those at the target are deleted, and a second migration moves them."""
    with pair() as nodes:
        first, second, _ = nodes
        many(reader(first))
        reader(second).set(second_key(nodes, 1), "own")
        target = node_id(second)
        with stopped(second):
            name = begin(first, target, SLOT, SLOT)
            wait_until(lambda: state(first, name) != "connecting", "the connection")
            assert error(first, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", SLOT, SLOT, "NODE", target) == (
                f"I am already migrating slot {SLOT}.")
            assert call(first, "CLUSTER", "CANCELSLOTMIGRATIONS") == "OK"
            await_end(first, name, "cancelled")
        wait_until(lambda: state(second, name) in ("", "failed"), "the end at the target", second)
        wait_until(lambda: reader(second).dbsize() == 1, "the imported keys to be deleted", second)
        assert reader(first).dbsize() == 20000
        move(first, second, SLOT, SLOT)
        assert reader(second).dbsize() == 20001
        wait_until(lambda: reader(first).dbsize() == 0, "the keys to leave", first)


def second_key(nodes, index):
    """The name of a key in a slot of this node."""
    owned = nodes_of(nodes[index])[node_id(nodes[index])][8].split("-")
    for i in range(10**6):
        slot = call(nodes[0], "CLUSTER", "KEYSLOT", f"own:{i}")
        if int(owned[0]) <= slot <= int(owned[-1]):
            return f"own:{i}"
    raise AssertionError("no such key")


@pytest.mark.slow
def test_imported_keys_are_invisible_until_the_end():
    """While the import waits, the target shows none of them, in no way in which clients find keys."""
    with pair() as nodes:
        first, second, _ = nodes
        many(reader(first))
        own = second_key(nodes, 1)
        reader(second).set(own, 1)
        seen = set()
        name = begin(first, second, SLOT, SLOT)
        while state(first, name) not in ("success", "failed"):
            if state(second, name) == "receiving-snapshot":
                found = names(second)
                if state(second, name) == "receiving-snapshot":
                    seen |= found
        await_end(first, name)
        assert seen <= {own.encode()}
        assert len(names(second)) == 20001


@pytest.mark.slow
def test_an_export_leaves_out_hidden_keys(tmp_path):
    """cairn-export of a target that was killed during an import has the keys that its clients find after a restart."""
    with pair() as nodes:
        first, second, _ = nodes
        many(reader(first))
        reader(second).set(second_key(nodes, 1), 1)
        name = begin(first, second, SLOT, SLOT)
        wait_until(lambda: reader(second).dbsize() > 1 or state(first, name) == "success", "keys", pause_s=0.0005)
        second.kill9()
        exported = subprocess.run([tool_path("cairn-export"), "--dir", second.data_dir, tmp_path / "dump.rdb"],
                                  capture_output=True, text=True, check=True)
        second.start()
        await_ok(nodes)
        assert exported.stdout.startswith(f"{len(names(second))} keys exported"), exported.stdout


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["source", "target"])
@pytest.mark.parametrize("moment", ["snapshotting", "replicating", "failover-paused", "failover-granted"])
def test_a_killed_node_leaves_each_key_on_one_owner(victim, moment):
    """kill -9 of either side at the steps of a migration. After the restart all keys are at the one owner."""
    with pair() as nodes:
        first, second, _ = nodes
        many(reader(first))
        name = begin(first, second, SLOT, SLOT)
        reached = ("success", "failed") if moment != "snapshotting" else ()
        wait_until(lambda: state(first, name) in (moment, *reached), "the step", pause_s=0.0005)
        (first if victim == "source" else second).kill9()
        (first if victim == "source" else second).start()
        await_ok(nodes)
        if victim == "target":
            wait_until(lambda: state(first, name) in ("success", "failed"), "the end", first)
        await_ok(nodes)
        owner = wait_until(lambda: [s for s in (first, second)
                                    if call(s, "CLUSTER", "COUNTKEYSINSLOT", SLOT) == 20000], "an owner", first)
        assert len(owner) == 1
        other = second if owner[0] is first else first
        wait_until(lambda: reader(other).dbsize() == 0, "the other node to delete its keys", other)
        assert reader(owner[0]).dbsize() == 20000
        assert names(other) == set()
        assert call(owner[0], "GET", f"{TAG}key:1") == "x" * 100
        if owner[0] is first:
            move(first, second, SLOT, SLOT)
        assert reader(second).dbsize() == 20000


@pytest.mark.slow
def test_blocked_and_subscribed_clients_are_sent_away():
    """BLPOP of a key of a moved slot gets MOVED, and a subscriber of a shard channel an sunsubscribe."""
    with pair() as nodes:
        first, second, _ = nodes
        replies = []
        def wait_for_element():
            with contextlib.closing(first.client()) as client:
                try:
                    replies.append(client.blpop([TAG + "queue"], 60))
                except redis.exceptions.ResponseError as refusal:
                    replies.append(str(refusal))
        waiting = threading.Thread(target=wait_for_element)
        waiting.start()
        wait_until(lambda: first.client().info("clients")["blocked_clients"] == 1, "a blocked client")
        with contextlib.closing(first.client().pubsub()) as subscriber:
            subscriber.ssubscribe(TAG + "channel")
            assert subscriber.get_message(timeout=5)["type"] == "ssubscribe"
            move(first, second, SLOT, SLOT)
            waiting.join()
            assert replies == [f"MOVED {SLOT} 127.0.0.1:{second.port}"]
            assert subscriber.get_message(timeout=5)["type"] == "sunsubscribe"
            assert call(first, "PUBSUB", "SHARDCHANNELS") == []


@pytest.mark.slow
def test_replicas_of_both_nodes_follow():
    """The target's replica has the keys and is promoted with them; the source's replica loses them."""
    with pair("cairn", "cairn", "cairn", "cairn", "cairn", "cairn", replicas=1) as nodes:
        masters = [s for s in nodes if "master" in flags_of(s, node_id(s))]
        def replica_of(server):
            return next(s for s in nodes if nodes_of(s)[node_id(s)][3] == node_id(server))
        source = next(s for s in masters if int(nodes_of(s)[node_id(s)][8].split("-")[0]) == 0)
        target = next(s for s in masters if s is not source)
        fill(reader(source), TAG)
        before = contents(reader(source), SLOT)
        copy = replica_of(target)
        move(source, target, SLOT, SLOT)
        wait_until(lambda: contents(reader(target), SLOT) == before, "the keys at the target")
        wait_until(lambda: reader(copy).dbsize() == len(before), "the keys at its replica", copy)
        reading = reader(copy)
        reading.execute_command("READONLY")
        wait_until(lambda: len(names(copy)) == len(before), "the keys to be visible at the replica", copy)
        wait_until(lambda: reader(replica_of(source)).dbsize() == 0, "the source's replica to lose them")
        target.kill9()
        wait_until(lambda: "master" in flags_of(copy, node_id(copy)), "the promotion", copy)
        wait_until(lambda: contents(reader(copy), SLOT) == before, "the promoted replica to serve the keys", copy)


@pytest.mark.slow
def test_other_servers_are_refused_as_targets():
    """With a message that says what to do instead."""
    with pair("cairn", "redis", "redis") as nodes:
        source = nodes[0]
        slot = nodes_of(source)[node_id(source)][8].split("-")[0]
        row = await_end(source, begin(source, nodes[1], slot, slot), "failed")
        assert "MIGRATE" in row["message"]
        assert call(source, "CLUSTER", "COUNTKEYSINSLOT", slot) == 0
