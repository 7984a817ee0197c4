# SPDX-License-Identifier: BSD-3-Clause
"""min-replicas-to-write bounds what a failover can lose: a primary that has lost its replica refuses writes after
min-replicas-max-lag, so only writes of that time are lost."""

import random
import signal
import threading
import time

import redis
from harness import Server
from pairs import follow, wait_for_link
from stalls import Stalls
from waiting import let_pass, wait_until

LAG_S = 1
# A replica reports once a second, and the primary looks at the reports once a second.
MOST_LOSS_S = LAG_S + 2


class Writer:
    """Adds numbers to the set `key` without WAIT, and remembers when each was acknowledged."""

    def __init__(self, server, key):
        self.key = key
        self.client = server.client(socket_timeout=2)
        self.acknowledged = []  # (number, time)
        self.refusals = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def end(self):
        """Ends the writing."""
        self.ended.set()
        self.thread.join()

    def _run(self):
        number = 0
        while not self.ended.is_set():
            number += 1
            try:
                self.client.sadd(self.key, number)
                self.acknowledged.append((number, time.monotonic()))
            except redis.ResponseError as error:
                assert str(error).startswith("NOREPLICAS"), error
                self.refusals += 1
                self.ended.wait(0.01)
            except redis.RedisError:
                return  # the kill


def lose_replica(primary, replica, key, rng):
    """The replica stops, the primary goes on until it refuses and then dies; returns the numbers of lost and
    of acknowledged writes, and the seconds from the stop to the last of these."""
    with Stalls() as stalls:
        writer = Writer(primary, key)
        wait_until(lambda: len(writer.acknowledged) > 200, "the writing")
        let_pass(rng.randrange(500))
        replica.process.send_signal(signal.SIGSTOP)
        stopped_s = time.monotonic()
        wait_until(lambda: writer.refusals > 20, "the refusal", primary)
        last_s = writer.acknowledged[-1][1]
        assert last_s - stopped_s < MOST_LOSS_S + stalls.total_s, f"{last_s - stopped_s:.2f} s without a replica"
        primary.kill9()
        writer.end()
    replica.restart("kill9")  # what it had received, but not read, is lost too
    client = replica.client()
    client.execute_command("REPLICAOF", "NO", "ONE")
    kept = set(map(int, client.smembers(key)))
    lost = [(number, at) for number, at in writer.acknowledged if number not in kept]
    early = [stopped_s - at for _, at in lost if at < stopped_s - LAG_S]
    assert not early, f"{len(early)} writes were lost, {max(early):.2f} s before the replica stopped"
    return len(lost), len(writer.acknowledged), last_s - stopped_s


def test_a_failover_loses_only_what_the_lag_allows(seconds, seed):
    """Several times, with exchanged roles."""
    rng = random.Random(seed)
    options = {"min_replicas_to_write": 1, "min_replicas_max_lag": LAG_S}
    with Server(**options) as primary, Server(**options) as replica:
        follow(replica, primary)
        end, rounds = time.monotonic() + seconds, []
        while len(rounds) < 2 or time.monotonic() < end:
            rounds.append(lose_replica(primary, replica, f"numbers:{len(rounds)}", rng))
            primary.start()
            follow(primary, replica)
            primary, replica = replica, primary
            wait_for_link(replica)
        lost, acknowledged, took_s = zip(*rounds)
        assert sum(lost) > 0, "the rounds lose something, or they show nothing"
        print(f"min-replicas-max-lag {LAG_S}: {len(rounds)} rounds, {sum(lost)} of {sum(acknowledged)} writes lost, "
              f"refused after {max(took_s):.2f} s at most")
