# SPDX-License-Identifier: BSD-3-Clause
"""What concurrent clients see is linearizable: every command, transaction and script takes effect at one moment between
its call and its reply, also across kills and failovers.

Clients write strings, counters and lists in groups of three keys with single commands, MULTI, WATCH and EVAL, and the
program in go/ checks the history of each group with porcupine. An operation without a reply may have taken effect or
not, at any later time. docs/reliability.md says what is claimed for which configuration.
"""

import random
import signal
import time

import pytest
from harness import Server
from history_clients import HistoryClients, missing_checker
from pairs import follow, replication, wait_for_link
from waiting import let_pass, wait_until

WAYS = ("kill", "pause", "planned", "kill replica")


@pytest.fixture(autouse=True)
def checker():
    """Skips a test if the checking program cannot be built."""
    reason = missing_checker()
    if reason:
        print(f"*** SKIPPED histories: {reason} ***")
        pytest.skip(reason)


def until(seconds):
    """Yields the numbers of rounds until this time has passed; at least two."""
    end, number = time.monotonic() + seconds, 0
    while number < 2 or time.monotonic() < end:
        yield number
        number += 1


@pytest.mark.parametrize("appendfsync", ["always", "everysec"])
def test_a_killed_server(appendfsync, seconds, seed):
    """kill -9 at random moments, some during the start: linearizable, whatever appendfsync says."""
    rng = random.Random(seed)
    with Server(appendfsync=appendfsync) as server, HistoryClients("plain", seed) as clients:
        clients.connect_to(server)
        for _ in until(seconds):
            let_pass(rng.randrange(100, 1200))
            server.kill9()
            if rng.random() < 0.3:
                server.spawn()
                let_pass(rng.randrange(150))
                server.kill9()
            server.start()
            let_pass(rng.randrange(300))
            clients.finish_round()
        print(f"appendfsync {appendfsync}, kill -9: {clients.summary()}")


class Pair:
    """A primary and its replica, which exchange their roles in several ways."""

    def __init__(self, one, other, clients, rng):
        self.primary, self.replica = one, other
        self.clients, self.rng = clients, rng

    def _promote(self):
        """Makes the replica the primary without the old one's knowledge; returns the old one."""
        self.replica.client().execute_command("REPLICAOF", "NO", "ONE")
        self.primary, self.replica = self.replica, self.primary
        return self.replica

    def kill(self):
        """The primary dies, and returns as a replica."""
        self.primary.kill9()
        old = self._promote()
        self.clients.connect_to(self.primary)
        let_pass(self.rng.randrange(300))
        old.directives["replicaof"] = f"{self.primary.host} {self.primary.port}"
        self.primary.directives.pop("replicaof", None)
        old.start()

    def pause(self):
        """The primary stops, is replaced, and goes on as a second primary, until it is told."""
        self.primary.process.send_signal(signal.SIGSTOP)
        let_pass(self.rng.randrange(300))
        old = self._promote()
        self.clients.connect_to(self.primary, old)
        let_pass(self.rng.randrange(600))
        old.process.send_signal(signal.SIGCONT)
        let_pass(self.rng.randrange(800))
        old.client().execute_command("REPLICAOF", self.primary.host, self.primary.port)
        self.clients.connect_to(self.primary)

    def planned(self):
        """FAILOVER."""
        self.primary.client().execute_command("FAILOVER")
        wait_until(lambda: replication(self.replica)["role"] == "master", "the failover", self.replica)
        self.primary, self.replica = self.replica, self.primary
        self.clients.connect_to(self.primary)

    def kill_replica(self):
        """The replica dies and returns."""
        self.replica.directives["replicaof"] = f"{self.primary.host} {self.primary.port}"
        self.replica.restart("kill9")


def test_a_pair_with_wait(seconds, seed):
    """Operations that end with a successful WAIT 1 are linearizable across failovers to the replica, although an old
    primary goes on to serve for a while."""
    rng = random.Random(seed)
    with Server() as one, Server() as other, HistoryClients("wait", seed) as clients:
        follow(other, one)
        pair = Pair(one, other, clients, rng)
        clients.connect_to(one)
        done = []
        for _ in until(seconds):
            let_pass(rng.randrange(100, 1000))
            done.append(rng.choice(WAYS))
            getattr(pair, done[-1].replace(" ", "_"))()
            wait_for_link(pair.replica)
            let_pass(rng.randrange(300))
            clients.finish_round()
        print("a pair with WAIT 1,", ", ".join(f"{done.count(way)} times {way}" for way in WAYS) + ":",
              clients.summary())


def test_a_pair_with_planned_failovers(seconds, seed):
    """FAILOVER loses nothing: operations that write are linearizable without WAIT."""
    rng = random.Random(seed)
    with Server() as one, Server() as other, HistoryClients("write", seed) as clients:
        follow(other, one)
        pair = Pair(one, other, clients, rng)
        clients.connect_to(one)
        for _ in until(seconds):
            let_pass(rng.randrange(100, 1000))
            pair.planned()
            wait_for_link(pair.replica)
            let_pass(rng.randrange(300))
            clients.finish_round()
        print("a pair with FAILOVER:", clients.summary())


def test_the_checker_finds_lost_writes(seed):
    """Without WAIT a failover loses writes. If the checker did not find that, the other tests would show nothing."""
    with Server() as one, Server() as other, HistoryClients("plain", seed) as clients:
        follow(other, one)
        clients.connect_to(one)
        let_pass(300)
        other.process.send_signal(signal.SIGSTOP)
        let_pass(300)
        one.kill9()
        other.restart("kill9")  # what it had received, but not read, is lost too
        clients.connect_to(other)
        with pytest.raises(AssertionError, match="not linearizable"):
            clients.finish_round()
