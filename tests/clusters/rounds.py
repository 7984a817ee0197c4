#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A cluster of three masters and three replicas is struck again and again, while clients write with WAIT 1.

test_rounds.py runs this in its own network namespace; each node is on an island (islands.py). The arguments are the
number of rounds and the seed. A round kills nodes with -9, cuts them off, or stops their processes for a while. Exit
status 0:

- if a master alone was struck, its replica served writes within cluster-node-timeout and MOST_ELECTION_S;
- a master that is cut off acknowledged no write by WAIT, and refused writes within the same time;
- after each round the cluster was whole again by itself: each slot has one owner, each master a replica;
- at the end no write that WAIT acknowledged was lost, on masters and replicas, and redis-cli --cluster check is clean.
"""

import contextlib
import pathlib
import random
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

import redis  # noqa: E402
from cluster_nodes import (TIMEOUT_MS, address, call, info, logs, make_cluster, node_id, nodes_of,  # noqa: E402
                           redis_cli)
from islands import Island, Islander, make_bridge  # noqa: E402
from pairs import wait_for_offset  # noqa: E402
from shard_writer import ShardWriter  # noqa: E402
from stalls import Stalls, Stopwatch  # noqa: E402
from waiting import let_pass, wait_until  # noqa: E402

MOST_ELECTION_S = 3
SHARDS = ((0, 5460), (5461, 10922), (10923, 16383))
MASTER_ALONE = ("kill master", "cut master", "pause master")
KINDS = (*MASTER_ALONE * 3, "kill replica", "cut replica", "kill shard", "kill two masters", "cut two masters",
         "kill master, cut another replica")


class Node:
    """A server on its island, and what was done to it."""

    def __init__(self, island, server):
        self.island, self.server = island, server
        self.struck = None

    def strike(self, how):
        """Kills, cuts off or stops the server."""
        self.struck = how
        if how == "kill":
            self.server.kill9()
        elif how == "cut":
            self.island.cut()
        else:
            self.server.process.send_signal(signal.SIGSTOP)

    def mend(self):
        """Undoes it."""
        how, self.struck = self.struck, None
        if how == "kill":
            self.server.start()
        elif how == "cut":
            self.island.rejoin()
        elif how == "pause":
            self.server.process.send_signal(signal.SIGCONT)


class Cluster:
    """The six nodes and their writers."""

    def __init__(self, nodes, writers, rng):
        self.nodes, self.writers, self.rng = nodes, writers, rng
        self.servers = [node.server for node in nodes]
        self.ids = {node_id(node.server): node for node in nodes}

    def shards(self):
        """[(master, replica)] in the order of SHARDS. REQUIRES: the cluster is whole."""
        lines = list(nodes_of(self.servers[0]).values())
        masters = sorted((int(line[8].split("-")[0]), line[0]) for line in lines if len(line) > 8)
        replica_of = {line[3]: self.ids[line[0]] for line in lines if line[3] != "-"}
        return [(self.ids[master], replica_of[master]) for _, master in masters]

    def is_whole(self):
        """Whether all nodes agree that three masters own all slots and each has a replica, whose link is up."""
        try:
            views = [sorted([line[0], line[3], *line[8:]] for line in nodes_of(server).values())
                     for server in self.servers]
            roles = [call(server, "ROLE") for server in self.servers]
            return (all(view == views[0] for view in views) and len({view[1] for view in views[0]}) == 4
                    and sum(len(view) > 2 for view in views[0]) == 3
                    and sorted(role[0] for role in roles) == ["master"] * 3 + ["slave"] * 3
                    and all(role[3] == "connected" for role in roles if role[0] == "slave")
                    and all(info(server)["cluster_state"] == "ok" for server in self.servers)
                    and all(info(server)["cluster_slots_ok"] == "16384" for server in self.servers))
        except redis.RedisError:
            return False

    def await_that(self, condition, what, **options):
        """wait_until, whose error shows what the nodes think."""
        try:
            wait_until(condition, what, **options)
        except AssertionError as failure:
            raise AssertionError(f"{failure}\n{logs(self.servers)}\n{self.views()}") from failure

    def views(self):
        """CLUSTER NODES of the nodes that reply."""
        found = []
        for server in self.servers:
            with contextlib.suppress(redis.RedisError), contextlib.closing(server.client(socket_timeout=1)) as client:
                client.response_callbacks.clear()
                for words in (("CLUSTER", "NODES"), ("INFO", "replication")):
                    found.append(f"--- {server.port}\n{client.execute_command(*words).decode()}")
        return "\n".join(found)

    def await_whole(self):
        """Waits for that, and for every writer to be acknowledged again."""
        self.await_that(self.is_whole, "a whole cluster", pause_s=0.1)
        before = [len(writer.acknowledged) for writer in self.writers]
        self.await_that(lambda: all(len(writer.acknowledged) > count + 50
                                    for writer, count in zip(self.writers, before)), "acknowledged writes")
        for writer in self.writers:
            writer.check()

    def victims(self, kind, shards):
        """[(node, how)] of a kind of round, and the index of the shard whose replica must succeed, or None."""
        one, other = self.rng.sample(range(3), 2)
        how = kind.split()[0]
        if kind in MASTER_ALONE:
            return [(shards[one][0], how)], one
        if kind in ("kill replica", "cut replica"):
            return [(shards[one][1], how)], None
        if kind == "kill shard":
            return [(node, how) for node in shards[one]], None
        if kind.endswith("two masters"):
            return [(shards[one][0], how), (shards[other][0], how)], None
        return [(shards[one][0], "kill"), (shards[other][1], "cut")], one

    def await_successor(self, writer, replica, watch):
        """Waits until the replica accepts writes to the writer's slot; returns the seconds since the strike."""
        server = replica.server
        with contextlib.closing(server.client(socket_timeout=1)) as client:
            self.await_that(lambda: accepts(client, writer.key("probe")), "the promotion", pause_s=0.005)
        took_s = watch.own_s()
        limit_s = TIMEOUT_MS / 1000 + MOST_ELECTION_S
        assert took_s < limit_s, f"a new master after {took_s:.2f} s ({watch.raw_s():.2f} s):\n{logs(self.servers)}"
        return took_s

    def round(self, number, stalls):
        """One round; returns the seconds until the successor served, or None."""
        kind, shards = self.rng.choice(KINDS), self.shards()
        victims, shard = self.victims(kind, shards)
        took_s, alone = None, []
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: [node.mend() for node, _ in victims])
            watch = Stopwatch(stalls)
            for node, how in victims:
                node.strike(how)
            for writer, (master, _) in zip(self.writers, shards):
                if (master, "cut") in victims:
                    key = writer.key("island")
                    alone.append(stack.enter_context(Islander(master.island, master.server, key)))
            if shard is not None:
                took_s = self.await_successor(self.writers[shard], shards[shard][1], watch)
            for islander in alone:
                self.await_that(lambda islander=islander: islander.refused_after_s, "the refusal of a lone master")
                limit_s = TIMEOUT_MS / 1000 + MOST_ELECTION_S + watch.stalled_for_s()
                assert islander.refused_after_s < limit_s, f"refused after {islander.refused_after_s:.2f} s"
            let_pass(self.rng.randrange(1500))
        assert all(islander.acknowledged == 0 for islander in alone)
        watch = Stopwatch(stalls)
        self.await_whole()
        served = f"served after {took_s:.2f} s, " if took_s else ""
        print(f"round {number}, {kind}: {served}whole again after {watch.raw_s():.2f} s", flush=True)
        return took_s

    def check_all(self):
        """The claims that hold at the end. REQUIRES: the writers have ended."""
        self.await_that(self.is_whole, "a whole cluster", pause_s=0.1)
        for server in self.servers:
            text = redis_cli("check", address(server))
            assert "[OK] All nodes agree about slots configuration." in text, text
            assert "[OK] All 16384 slots covered." in text, text
        for writer, (master, replica) in zip(self.writers, self.shards()):
            writer.check()
            wait_for_offset(master.server, replica.server)
            for node in (master, replica):
                lost = writer.lost_on(node.server)
                assert not lost, f"{node.server.port} lost {len(lost)} acknowledged writes: {lost[:10]}"


def accepts(client, key):
    """Whether the server accepts a write of the key as its owner."""
    try:
        client.set(key, "x")
    except redis.RedisError:
        return False
    return True


def main():
    """Runs the rounds."""
    rounds, seed = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    make_bridge()
    with contextlib.ExitStack() as stack:
        stalls = stack.enter_context(Stalls())
        nodes = []
        for number in range(1, 7):
            island = stack.enter_context(Island(number))
            server = island.start(cluster_enabled=True, cluster_node_timeout=TIMEOUT_MS)
            nodes.append(Node(island, stack.enter_context(server)))
        servers = [node.server for node in nodes]
        make_cluster(servers, replicas=1)
        writers = [ShardWriter(servers, slots, rng.randrange(1 << 30)) for slots in SHARDS]
        cluster = Cluster(nodes, writers, rng)
        with contextlib.ExitStack() as writing:
            for writer in writers:
                writing.enter_context(writer)
            cluster.await_whole()
            took = sorted(filter(None, [cluster.round(number, stalls) for number in range(1, rounds + 1)]))
        cluster.check_all()
        acknowledged = sum(len(writer.acknowledged) for writer in writers)
        print(f"{rounds} rounds, {acknowledged} writes acknowledged, none lost; {len(took)} masters replaced, after "
              f"{took[len(took) // 2]:.2f} s in the middle and {took[-1]:.2f} s at most; this machine stood still for "
              f"{stalls.total_s:.1f} s" if took else "no master was replaced")
    return 0


if __name__ == "__main__":
    sys.exit(main())
