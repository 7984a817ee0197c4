# SPDX-License-Identifier: BSD-3-Clause
"""Sentinels that watch a pair, and clients that find the primary through them and write with WAIT 1."""

import pathlib
import shutil
import subprocess
import tempfile
import time

import redis.sentinel
from background import Background
from harness import free_port
from pairs import replication

# Sentinel reconnects at most once a second, and measures a new primary's silence from the moment of the switch. With
# one second here it could consider a healthy primary down.
DOWN_AFTER_MS = 2000
FAILOVER_TIMEOUT_MS = 5000
# From the end of a primary until another one serves: a failed vote is repeated after twice the failover's timeout.
MOST_FAILOVER_S = (DOWN_AFTER_MS + 3 * FAILOVER_TIMEOUT_MS) / 1000 + 2


class Sentinels:
    """Three Sentinels that watch a primary; they listen on `host`."""

    def __init__(self, primary, host="127.0.0.1"):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cairn-sentinels-"))
        self.host = host
        self.ports = [free_port() for _ in range(3)]
        self.processes = []
        for port in self.ports:
            conf = self.dir / f"{port}.conf"
            conf.write_text(
                f"port {port}\nbind {host}\ndir {self.dir}\nsentinel monitor pair {primary.host} {primary.port} 2\n"
                f"sentinel down-after-milliseconds pair {DOWN_AFTER_MS}\n"
                f"sentinel failover-timeout pair {FAILOVER_TIMEOUT_MS}\nsentinel parallel-syncs pair 1\n")
            with open(self.dir / f"{port}.log", "wb") as log:
                self.processes.append(subprocess.Popen(["redis-server", conf, "--sentinel"], stdout=log, stderr=log))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
        for port in self.ports:
            print((self.dir / f"{port}.log").read_text())  # shown when the test fails
        shutil.rmtree(self.dir)

    def addresses(self):
        """The Sentinels' addresses."""
        return [(self.host, port) for port in self.ports]

    def client(self):
        """redis-py's client of Sentinel."""
        return redis.sentinel.Sentinel(self.addresses(), socket_timeout=0.5)

    def is_ready(self):
        """Whether each knows the replica and the two other Sentinels."""
        try:
            for host, port in self.addresses():
                state = redis.Redis(host, port).sentinel_master("pair")
                if state["num-slaves"] < 1 or state["num-other-sentinels"] < 2:
                    return False
        except redis.RedisError:
            return False
        return True

    def all_see_replica(self, server):
        """Whether each has learned from this server itself that it is a replica with a link. A Sentinel that has not
        would revert a planned failover to it: it would consider the promoted server an old primary."""
        try:
            for host, port in self.addresses():
                states = [state for state in redis.Redis(host, port).sentinel_slaves("pair")
                          if state["port"] == server.port]
                if not states or states[0]["role-reported"] != "slave" or states[0]["master-link-status"] != "ok":
                    return False
        except redis.RedisError:
            return False
        return True

    def fail_over(self):
        """Requests a planned failover; returns False while it is refused."""
        try:
            redis.Redis(*self.addresses()[0]).execute_command("SENTINEL", "FAILOVER", "pair")
        except redis.RedisError:
            return False
        return True


class Writer(Background):
    """Adds numbers to a set through Sentinel and remembers those that WAIT 1 acknowledged."""

    key = "numbers"

    def __init__(self, sentinels):
        super().__init__()
        self.primary = sentinels.client().master_for("pair", socket_timeout=1)
        self.acknowledged = []

    def _run(self):
        number = 0
        while not self.ended.is_set():
            number += 1
            try:
                pipe = self.primary.pipeline(transaction=False)
                pipe.sadd(self.key, number)
                pipe.execute_command("WAIT", 1, 500)
                if pipe.execute()[1] >= 1:
                    self.acknowledged.append(number)
            except redis.RedisError:
                time.sleep(0.02)  # until the next try


def lost(primary, writer):
    """The acknowledged numbers that are missing."""
    have = {int(member) for member in primary.client().smembers(writer.key)}
    return [number for number in writer.acknowledged if number not in have]


def says(server, **fields):
    """Whether INFO replication has these fields. Sentinel kills the clients of servers whose role it changes."""
    try:
        return replication(server).items() >= fields.items()
    except redis.ConnectionError:
        return False
