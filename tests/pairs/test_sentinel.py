# SPDX-License-Identifier: BSD-3-Clause
"""Failover by Redis Sentinel: a pair of Cairns and three Sentinels. The primary is killed while a client writes with
WAIT 1: a new primary serves soon, has every write that was acknowledged, and the old one comes back as its
replica."""

import pathlib
import subprocess
import tempfile
import threading
import time

import redis.sentinel
from harness import Server, free_port
from pairs import assert_same, replication, wait_for_link, wait_until

# Sentinel reconnects not more than once a second, and counts a new primary's silence from the moment of the switch: a
# second would let it take a healthy one for dead.
DOWN_AFTER_MS = 2000
FAILOVER_TIMEOUT_MS = 5000


class Sentinels:
    """Three Sentinels that watch a primary."""

    def __init__(self, primary):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cairn-sentinels-"))
        self.ports = [free_port() for _ in range(3)]
        self.processes = []
        for port in self.ports:
            conf = self.dir / f"{port}.conf"
            conf.write_text(
                f"port {port}\nbind 127.0.0.1\ndir {self.dir}\nsentinel monitor pair 127.0.0.1 {primary.port} 2\n"
                f"sentinel down-after-milliseconds pair {DOWN_AFTER_MS}\n"
                f"sentinel failover-timeout pair {FAILOVER_TIMEOUT_MS}\nsentinel parallel-syncs pair 1\n")
            log = open(self.dir / f"{port}.log", "wb")
            self.processes.append(subprocess.Popen(["redis-server", conf, "--sentinel"], stdout=log, stderr=log))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
        for port in self.ports:
            print((self.dir / f"{port}.log").read_text())  # shown when the test fails

    def client(self):
        """redis-py's client of Sentinel."""
        return redis.sentinel.Sentinel([("127.0.0.1", port) for port in self.ports], socket_timeout=0.5)

    def is_ready(self):
        """Whether each knows the replica and the two others."""
        try:
            for port in self.ports:
                state = redis.Redis(port=port).sentinel_master("pair")
                if state["num-slaves"] < 1 or state["num-other-sentinels"] < 2:
                    return False
        except redis.RedisError:
            return False
        return True


class Writer:
    """Adds numbers to a set through Sentinel and remembers those that WAIT 1 acknowledged."""

    def __init__(self, sentinels):
        self.primary = sentinels.client().master_for("pair", socket_timeout=1)
        self.acknowledged = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def _run(self):
        number = 0
        while not self.ended.is_set():
            number += 1
            try:
                pipe = self.primary.pipeline(transaction=False)
                pipe.sadd("numbers", number)
                pipe.execute_command("WAIT", 1, 500)
                if pipe.execute()[1] >= 1:
                    self.acknowledged.append(number)
            except redis.RedisError:
                time.sleep(0.02)


def says(server, **fields):
    """Whether INFO replication has these fields. Sentinel kills the clients of those it gives another role."""
    try:
        return replication(server).items() >= fields.items()
    except redis.ConnectionError:
        return False


def test_failover_loses_nothing(rounds):
    """As above, back and forth."""
    with Server() as one, Server() as other:
        other.client().execute_command("REPLICAOF", "127.0.0.1", one.port)
        wait_for_link(other)
        with Sentinels(one) as sentinels:
            wait_until(sentinels.is_ready, 30, "the Sentinels' agreement")
            primary, replica = one, other
            with Writer(sentinels) as writer:
                for _ in range(max(1, rounds // 3)):
                    wait_until(lambda: len(writer.acknowledged) > 100, 30, "the writing")
                    primary.kill9()
                    begin = time.monotonic()
                    wait_until(lambda: says(replica, role="master"), 30, "the promotion")
                    took_s = time.monotonic() - begin
                    print("promoted after", round(took_s, 2), "s")
                    assert took_s < (DOWN_AFTER_MS + FAILOVER_TIMEOUT_MS) / 1000 + 2
                    written = len(writer.acknowledged)
                    primary.start()
                    wait_until(lambda: says(primary, role="slave", master_link_status="up"), 30, "the return")
                    wait_until(lambda: len(writer.acknowledged) > written + 100, 30, "the writing")
                    primary, replica = replica, primary
            assert_same(primary, replica)
            have = {int(member) for member in primary.client().smembers("numbers")}
            lost = [number for number in writer.acknowledged if number not in have]
            assert not lost, lost[:10]
