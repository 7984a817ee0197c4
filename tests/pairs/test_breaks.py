# SPDX-License-Identifier: BSD-3-Clause
"""Random breaks under load, in each pairing with Cairn: the link is cut, the replica or the primary is killed with -9,
or both. At the end both sides are equal, a counter has its exact value, and there was no additional full
synchronization except after a kill of a Redis, which forgets its place in the stream."""

import time

import pytest
from pairs import Load, assert_same, start, wait_for_link

CASES = [pytest.param("redis", "cairn", id="redis-cairn", marks=pytest.mark.slow),
         pytest.param("cairn", "redis", id="cairn-redis", marks=pytest.mark.slow),
         pytest.param("cairn", "cairn", id="cairn-cairn")]
WAYS = ("cut", "replica", "primary", "both")
OWN_OPTIONS = {"redis": {"appendonly": "yes"}, "cairn": {}}  # so a killed Redis keeps its acknowledged writes


@pytest.mark.parametrize(("primary_kind", "replica_kind"), CASES)
def test_breaks(primary_kind, replica_kind, rounds, rng):
    """Expects one full synchronization at the start, and one for each break that killed a Redis."""
    options = {"repl_backlog_size": "256mb"}
    killed = {"cut": [], "replica": [replica_kind], "primary": [primary_kind], "both": [primary_kind, replica_kind]}
    breaks = [rng.choice(WAYS) for _ in range(rounds)]
    expected = 1 + sum("redis" in killed[how] for how in breaks)
    with start(primary_kind, **options, **OWN_OPTIONS[primary_kind]) as primary:
        with start(replica_kind, replicaof=f"127.0.0.1 {primary.port}", **options,
                   **OWN_OPTIONS[replica_kind]) as replica:
            wait_for_link(replica)
            full_syncs = 0
            with Load(primary, clients=3, seed=rng.randrange(1000)) as load:
                for how in breaks:
                    time.sleep(rng.uniform(0.1, 0.6))  # a random moment
                    full_syncs += break_pair(primary, replica, how)
                    wait_for_link(replica)
            assert_same(primary, replica)
            assert replica.client().get("counter") == primary.client().get("counter")
            one, other = replica.client().mget("pair:a", "pair:b")
            assert one == other
            full_syncs += primary.client().info("stats")["sync_full"]
            print(f"{primary_kind}-{replica_kind}: {rounds} breaks, {load.commands} commands, {full_syncs} full syncs, "
                  f"{expected} expected")
            assert full_syncs == expected


def break_pair(primary, replica, how):
    """Breaks the link; returns the number of full synchronizations that a killed primary had counted."""
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
