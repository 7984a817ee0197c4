# SPDX-License-Identifier: BSD-3-Clause
"""100 slots move to and fro between two masters under load (CLUSTER MIGRATESLOTS), and each move loses a node."""

import collections
import contextlib
import itertools
import random
import re
import signal

import load
import redis
from cluster_nodes import address, await_ok, call, cluster, logs, node_id, nodes_of, redis_cli
from pairs import wait_for_link, wait_for_offset
from shard_writer import ShardWriter, tag_of_slots
from slot_moves import FINAL_STATES, await_end, begin, fill, migrations, state
from stalls import Stalls, Stopwatch
from waiting import let_pass, wait_until

FIRST, LAST = 200, 299
STEPS = ("snapshotting", "replicating", "failover-paused", "failover-granted", "success")
AT_RANDOM = "at random"
# The victims and moments of 50 rounds.
DECK = (*itertools.product(("source", "target"), (*STEPS, AT_RANDOM), range(3)),
        *itertools.product(("both", "third master"), (AT_RANDOM,), range(4)),
        *itertools.product(("replica of the source", "replica of the target"), (AT_RANDOM,), range(3)))
OWN_KEYS = 100  # of each node, in slots that stay
DIGEST = """local all = {}
for i, key in ipairs(KEYS) do
  all[i] = redis.sha1hex(redis.call('DUMP', key) or '') .. redis.call('PEXPIRETIME', key)
end
return redis.sha1hex(table.concat(all))"""


def fill_slots(client):
    """Keys of all types in all slots, with times to live, one slot with large collections; {slot: names}."""
    rng, names = random.Random(1), {}
    for slot in range(FIRST, LAST + 1):
        tag = "{%s}" % tag_of_slots(slot, slot)
        pipe = client.pipeline(transaction=False)
        pipe.mset({f"{tag}key:{i}": "x" * 100 for i in range(100)})
        for kind in load.TYPES:
            load.fill_key(pipe, rng, f"{tag}{kind}", kind, rng.randint(1, 60))
            if rng.random() < 0.3:
                pipe.pexpire(f"{tag}{kind}", rng.randint(10**7, 10**9))
        pipe.execute()
    fill(client, tag)
    for base in range(0, 200_000, 10_000):
        client.zadd(f"{tag}members", {f"member:{i}": i for i in range(base, base + 10_000)})
    for slot in range(FIRST, LAST + 1):
        names[slot] = sorted(call_raw(client, "CLUSTER", "GETKEYSINSLOT", slot, 10_000))
    return names


def call_raw(client, *words):
    """The reply to a command as the server sends it."""
    pipe = client.pipeline(transaction=False)
    pipe.response_callbacks = {}
    pipe.execute_command(*words)
    return pipe.execute()[0]


def step_of(client, name):
    """The state of a migration at its source."""
    rows = [dict(zip(row[::2], row[1::2])) for row in call_raw(client, "CLUSTER", "GETSLOTMIGRATIONS")]
    return next(row[b"state"].decode() for row in rows if row[b"name"] == name.encode())


def digests(server, names):
    """The values and times to live of all keys that fill_slots made, by slot."""
    with contextlib.closing(server.client()) as client:
        return {slot: client.eval(DIGEST, len(keys), *keys) for slot, keys in names.items()}


def owners(server):
    """The ids of the nodes that own the moving slots in the view of a server, and None for slots without one."""
    found = {}
    for node, line in nodes_of(server).items():
        for word in line[8:]:
            assert not word.startswith("["), f"an open slot: {line}"
            first, _, last = word.partition("-")
            for slot in range(max(int(first), FIRST), min(int(last or first), LAST) + 1):
                assert slot not in found, f"two owners of slot {slot}"
                found[slot] = node
    return {found.get(slot) for slot in range(FIRST, LAST + 1)}


def last_step(server, name):
    """The last state of a migration that a node has logged; "unknown" before the first."""
    steps = re.findall(rf"Slot migration {name}: \S* -> ([a-z-]+)", server.log_path.read_text("utf-8", "replace"))
    return steps[-1] if steps else "unknown"


class Moves:
    """The cluster, what it has to hold, and the rounds."""

    def __init__(self, servers, seed):
        self.servers, self.rng = servers, random.Random(seed)
        self.by_id = {node_id(server): server for server in servers}
        view = nodes_of(servers[0])
        self.masters = [self.by_id[node] for node, line in view.items() if len(line) > 8]
        self.replicas = {self.by_id[line[3]]: self.by_id[node] for node, line in view.items() if line[3] != "-"}
        source = self.owner()
        with contextlib.closing(source.client()) as client:
            self.names = fill_slots(client)
        self.movers = [source, next(server for server in self.masters if server is not source)]
        for server in self.movers:
            tag = next(tag for tag in map(str, itertools.count())
                       if not FIRST <= call(server, "CLUSTER", "KEYSLOT", tag) <= LAST and self.serves(server, tag))
            with contextlib.closing(server.client()) as client:
                client.mset({f"{{{tag}}}own:{i}": i for i in range(OWN_KEYS)})
        self.expected = digests(source, self.names)
        self.deck = self.rng.sample(DECK, len(DECK))
        self.writers, self.kills, self.whole_after_s = [], collections.Counter(), []
        self.move_s = 1.0  # of an undisturbed move

    @staticmethod
    def serves(server, key):
        """Whether the server owns the slot of the key."""
        try:
            call(server, "GET", key)
        except redis.ResponseError:
            return False
        return True

    def owner(self):
        """The one owner of all moving slots. REQUIRES: all nodes agree about the slots."""
        found = owners(self.servers[0])
        assert len(found) == 1 and None not in found, found
        return self.by_id[found.pop()]

    def other(self, server):
        """The other one of the two masters."""
        return next(each for each in self.movers if each is not server)

    def await_that(self, condition, what):
        """wait_until, whose error shows the ends of all logs."""
        try:
            return wait_until(condition, what)
        except AssertionError as failure:
            raise AssertionError(f"{failure}\n{logs(self.servers)}") from failure

    def victims(self, kind, source, target):
        """The servers that a round kills."""
        third = next(server for server in self.masters if server not in self.movers)
        return {"source": [source], "target": [target], "both": [source, target], "third master": [third],
                "replica of the source": [self.replicas[source]],
                "replica of the target": [self.replicas[target]]}[kind]

    def strike(self, source, name, moment, victims):
        """Kills the victims at a step of the migration, or after a part of the time that a move takes."""
        if moment == AT_RANDOM:
            let_pass(self.rng.random() * 1200 * self.move_s)
        else:
            with contextlib.closing(source.client()) as client:  # one connection, since some steps are short
                wait_until(lambda: step_of(client, name) in (moment, *FINAL_STATES), f"the step {moment}", source,
                           pause_s=0)
        for victim in victims:
            victim.process.send_signal(signal.SIGKILL)
        for victim in victims:
            victim.kill9()

    def await_whole(self, writers):
        """Waits until all nodes agree, every replica is connected, and every writer is acknowledged again."""
        await_ok(self.servers)
        for replica in self.replicas.values():
            wait_for_link(replica)
        before = [len(writer.acknowledged) for writer in writers]
        self.await_that(lambda: all(len(writer.acknowledged) > count + 20 for writer, count in zip(writers, before)),
                        "acknowledged writes")

    def move(self, source):
        """An undisturbed move to the other master."""
        target = self.other(source)
        watch = Stopwatch(self.stalls)
        await_end(source, begin(source, target, FIRST, LAST))
        self.move_s = watch.raw_s()
        await_ok(self.servers)
        assert self.owner() is target

    def check(self, writers):
        """The claims about the data. REQUIRES: the writers have ended."""
        owner = self.owner()
        other = self.other(owner)
        for writer in writers:
            writer.check()
            lost = writer.lost_on(owner)
            assert not lost, f"{len(lost)} acknowledged writes are lost: {lost[:10]}\n{logs(self.servers)}"
        found = digests(owner, self.names)
        wrong = [slot for slot, digest in self.expected.items() if found[slot] != digest]
        assert not wrong, f"the keys of slots {wrong} differ"
        for server in self.movers:
            self.await_that(lambda server=server: not self.has_left_over(server, server is owner), "no keys left over")
            replica = self.replicas[server]
            wait_for_offset(server, replica)
            self.await_that(lambda server=server, replica=replica:
                            call(server, "DBSIZE") == call(replica, "DBSIZE"), "the replica's keys")
        text = redis_cli("check", address(other))
        assert "[OK] All nodes agree about slots configuration." in text, text
        assert "[OK] All 16384 slots covered." in text, text

    @staticmethod
    def has_left_over(server, is_owner):
        """Whether a master has keys that it does not serve, by every way of counting them."""
        with contextlib.closing(server.client()) as client:
            size = client.dbsize()
            visible = sum(1 for _ in client.scan_iter(count=10_000))
            moving = sum(call_raw(client, "CLUSTER", "COUNTKEYSINSLOT", slot) for slot in range(FIRST, LAST + 1))
        return size != visible or size != moving + OWN_KEYS or (not is_owner and moving != 0)

    def round(self, number):
        """A move with a kill, and one without."""
        kind, moment, _ = self.deck[(number - 1) % len(self.deck)]
        source = self.owner()
        target = self.other(source)
        writers = [ShardWriter(self.masters, slots, self.rng.randrange(1 << 30), replicas=0, pause_s=0.005,
                               least_tag=100_000 * number)
                   for slots in ((FIRST, FIRST + 9), (FIRST + 50, FIRST + 59), (LAST - 9, LAST))]
        self.writers += writers
        with contextlib.ExitStack() as stack:
            for writer in writers:
                stack.enter_context(writer)
            self.await_whole(writers)
            name = begin(source, target, FIRST, LAST)
            victims = self.victims(kind, source, target)
            self.strike(source, name, moment, victims)
            watch = Stopwatch(self.stalls)
            step = last_step(target if victims == [target] else source, name)
            self.kills[kind, step] += 1
            let_pass(self.rng.randrange(300))
            for victim in victims:
                victim.start()
            self.await_whole(writers)
            took_s = watch.raw_s()
            self.whole_after_s.append(took_s)
            for server in (source, target):
                known = {row["name"] for row in migrations(server)}
                assert server in victims or name in known
                self.await_that(lambda server=server, known=known:
                                name not in known or state(server, name) in FINAL_STATES, "the end of the migration")
            moved = self.owner() is target
            assert moved == (state(source, name) == "success") or source in victims
            assert moved == (state(target, name) == "success") or target in victims
            self.move(self.owner())
        self.check(writers)
        print(f"round {number}, {kind} killed in {step} ({moment}): {'moved' if moved else 'stayed'}, whole again "
              f"after {took_s:.2f} s, then moved in {self.move_s:.2f} s", flush=True)

    def run(self, rounds):
        """All rounds; prints the figures."""
        with Stalls() as self.stalls:
            self.move(self.owner())
            print(f"a move without load: {self.move_s:.2f} s")
            for number in range(1, rounds + 1):
                self.round(number)
            self.check(self.writers)
            for (kind, step), count in sorted(self.kills.items()):
                print(f"{kind} killed in {step}: {count}")
            acknowledged = sum(len(writer.acknowledged) for writer in self.writers)
            print(f"{rounds} rounds, {sum(self.kills.values())} kills, {acknowledged} writes acknowledged, none lost; "
                  f"whole again after {max(self.whole_after_s):.2f} s at most; this machine stood still for "
                  f"{self.stalls.total_s:.1f} s")


def test_moves_of_slots_survive_kills(moves, seed):
    """kill -9 at any step: each slot has one owner, which has every key and every acknowledged write; no other node has
    a key of it; and the next move succeeds."""
    # A master that is killed returns before its replica might succeed it: a failover would lose what is on the way.
    with cluster(*["cairn"] * 6, replicas=1, cluster_replica_no_failover=True) as servers:
        Moves(servers, seed).run(moves)
