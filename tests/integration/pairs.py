# SPDX-License-Identifier: BSD-3-Clause
"""Primaries and replicas for tests: starts real servers of both kinds on loopback, waits for them and compares them."""

import contextlib
import itertools
import random
import threading
import time

from harness import Server, start_redis, start_redis8, start_valkey
from load import assert_equal, text
from waiting import LIMIT_S, wait_until

PAIRS = list(itertools.product(("redis", "cairn"), repeat=2))


def start(kind, **directives):
    """A server of a kind, 'redis', 'redis8', 'valkey' or 'cairn'."""
    return {"redis": start_redis, "redis8": start_redis8, "valkey": start_valkey, "cairn": Server}[kind](
        **{"repl_diskless_sync_delay": 0, **directives})


def follow(replica, primary):
    """Makes `replica` a replica of `primary` and waits for the link."""
    replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
    wait_for_link(replica)


def send_and_see(server, client, *words, shown):
    """Sends a command of a raw client and waits until CLIENT LIST shows that the server has begun it."""
    client_id = client("client", "id")[1].decode()
    client.send(*words)
    with server.client() as other:
        wait_until(lambda: other.client_list(client_id=[client_id])[0]["cmd"] == shown, shown, pause_s=0)


def replication(server):
    """INFO replication of a server, over a separate connection, because it may be polled for minutes."""
    with server.client() as client:
        return client.info("replication")


def wait_for_link(replica, timeout_s=LIMIT_S):
    """Waits until the replica's link is up."""
    client = replica.client()
    wait_until(lambda: client.info("replication").get("master_link_status") == "up",
               f"the link of {replica.command[0]}", replica, timeout_s)


def wait_for_offset(primary, replica, timeout_s=LIMIT_S):
    """Waits until the replica has the whole stream of the primary. REQUIRES: no client writes."""
    one, other = primary.client(), replica.client()

    def caught_up():
        info = other.info("replication")
        return (info.get("master_link_status") == "up"
                and info["slave_repl_offset"] >= one.info("replication")["master_repl_offset"])

    wait_until(caught_up, "catching up", replica, timeout_s)


def wait_for_short_lived(server, dbs=(0, 3)):
    """Waits until the short-lived keys of `Load` are deleted; before that, SCAN hides them and DBSIZE counts them."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.client(db=db)) for db in dbs]

        def are_gone(client):
            names = set(client.scan_iter(count=1000))
            return client.dbsize() == len(names) and not any(name.startswith(b"load:e:") for name in names)

        wait_until(lambda: all(map(are_gone, clients)), "the end of the short-lived keys", server)


def assert_same(primary, *replicas, dbs=(0, 3)):
    """All servers hold the same data, once the replicas have caught up."""
    wait_for_short_lived(primary, dbs)
    for replica in replicas:
        wait_for_offset(primary, replica)
        assert_equal(primary.client(), replica.client(), dbs)


class Load:
    """Clients that write to a server until they are stopped: all types, MULTI, expiry, a counter.

    Connection errors are ignored, so the server may be killed meanwhile.
    """

    def __init__(self, server, clients=3, seed=1, pause_s=0.0):
        self.server = server
        self.ended = threading.Event()
        self.pause_s = pause_s
        self.commands = 0
        self.threads = [threading.Thread(target=self._run, args=(seed + number,), daemon=True)
                        for number in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def run(self, commands):
        """Waits until this many more commands have run."""
        goal = self.commands + commands
        wait_until(lambda: self.commands >= goal, f"{commands} commands", self.server)

    def _run(self, seed):
        rng = random.Random(seed)
        client = None
        while not self.ended.is_set():
            try:
                client = client or self.server.client(db=rng.choice([0, 3]))
                change(client, rng)
                self.commands += 1
            except Exception:  # noqa: BLE001  (whatever a killed server makes of a connection)
                client = None
                time.sleep(0.05)  # until the next try
            if self.pause_s:
                time.sleep(self.pause_s)  # the rate of the load


def change(client, rng):
    """One random change."""
    kind, number = rng.choice("slahzxemtpc"), rng.randrange(200)
    key = f"load:{kind}:{number}"
    if kind == "s":
        client.set(key, text(rng, 200), ex=rng.choice([None, 100, 1000]))
    elif kind == "l":
        client.rpush(key, *[text(rng) for _ in range(rng.randint(1, 5))])
        client.ltrim(key, -300, -1)
    elif kind == "a":
        client.sadd(key, *[rng.randint(0, 500) for _ in range(5)])
        client.spop(key, 2)
    elif kind == "h":
        client.hset(key, f"f{rng.randrange(300)}", text(rng))
        client.hincrbyfloat(key, "n", 0.5)
    elif kind == "z":
        client.zadd(key, {f"m{rng.randrange(300)}": rng.random()})
        client.zincrby(key, 1.25, "one")
        if rng.random() < 0.1:
            client.zpopmin(key)
    elif kind == "x":
        client.xadd(key, {"f": text(rng)}, maxlen=100, approximate=False)
    elif kind == "e":
        client.set(key, "short", px=rng.randint(1, 300))
    elif kind == "m":
        pipe = client.pipeline(transaction=True)
        pipe.incr("pair:a").incr("pair:b")
        pipe.execute()
    elif kind == "t":
        client.delete(f"load:{rng.choice('slahzx')}:{number}")
    elif kind == "p":
        client.incrbyfloat(key, 0.1)
        client.persist(f"load:s:{number}")
    else:
        client.incr("counter")
