# SPDX-License-Identifier: BSD-3-Clause
"""Random breaks under load, in each pairing with Cairn: the link is cut, the replica or the primary is killed
with -9, or both. Both sides are equal at the end, a counter is never off by one, and where Cairn was killed nobody
is sent everything again."""

import time

import pytest
from pairs import Load, assert_same, start, wait_for_link

# Redis without a disk forgets its stream when it is killed, so it is not killed here; its links are cut.
CASES = {("redis", "cairn"): ("cut", "replica"), ("cairn", "redis"): ("cut", "primary"),
         ("cairn", "cairn"): ("cut", "replica", "primary", "both")}


@pytest.mark.parametrize("primary_kind,replica_kind", CASES, ids=["-".join(case) for case in CASES])
def test_breaks(primary_kind, replica_kind, rounds, rng):
    """As above; the number of full syncs is that of the start, one."""
    options = {"repl_backlog_size": "256mb"}
    with start(primary_kind, **options) as primary:
        with start(replica_kind, replicaof=f"127.0.0.1 {primary.port}", **options) as replica:
            wait_for_link(replica)
            full_syncs = 0
            with Load(primary, clients=3, seed=rng.randrange(1000)):
                for _ in range(rounds):
                    time.sleep(rng.uniform(0.1, 0.6))
                    full_syncs += break_pair(primary, replica, rng.choice(CASES[primary_kind, replica_kind]))
                    wait_for_link(replica)
            assert_same(primary, replica)
            assert replica.client().get("counter") == primary.client().get("counter")
            one, other = replica.client().mget("pair:a", "pair:b")
            assert one == other
            full_syncs += primary.client().info("stats")["sync_full"]
            print("full syncs:", full_syncs)
            assert full_syncs == 1


def break_pair(primary, replica, how):
    """Breaks the link; answers how many full syncs a primary that is no more has counted."""
    if how == "cut":
        primary.client().execute_command("CLIENT", "KILL", "TYPE", "replica")
        return 0
    counted = 0
    if how in ("primary", "both"):
        counted = primary.client().info("stats")["sync_full"]
        primary.kill9()
    if how in ("replica", "both"):
        replica.kill9()
        replica.start()
    if how in ("primary", "both"):
        primary.start()
    return counted
