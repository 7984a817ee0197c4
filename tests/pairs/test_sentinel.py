# SPDX-License-Identifier: BSD-3-Clause
"""Failover by Redis Sentinel of a pair of Cairns with three Sentinels. The primary is killed, or cut off from the
others, while clients write with WAIT 1. A new primary serves soon and has every acknowledged write, and the old one
comes back as its replica by itself."""

import contextlib
import pathlib
import time

import pytest
from go_writer import GoWriter, missing_go
from harness import Server
from islands import missing_namespaces, run_in_namespace
from pairs import assert_same, wait_for_link
from sentinels import MOST_FAILOVER_S, Sentinels, Writer, lost, says
from waiting import wait_until

CUT_OFF = pathlib.Path(__file__).with_name("cut_off.py")


def fail_over(primary, replica, writers):
    """Kills the primary; the replica is promoted, and the old primary comes back as the replica."""
    wait_until(lambda: all(len(writer.acknowledged) > 100 for writer in writers), "the writing")
    primary.kill9()
    begin = time.monotonic()
    wait_until(lambda: says(replica, role="master"), "the promotion")
    took_s = time.monotonic() - begin
    print("promoted after", round(took_s, 2), "s")
    assert took_s < MOST_FAILOVER_S
    written = [len(writer.acknowledged) for writer in writers]
    primary.start()
    wait_until(lambda: says(primary, role="slave", master_link_status="up"), "the return")
    wait_until(lambda: all(len(writer.acknowledged) > before + 100 for writer, before in zip(writers, written)),
               "the writing")


def test_failover_loses_nothing(failovers):
    """The primary is killed with -9, several times; redis-py and go-redis write through their Sentinel clients."""
    kinds = [Writer] if missing_go() else [Writer, GoWriter]
    with Server() as one, Server() as other, contextlib.ExitStack() as stack:
        other.client().execute_command("REPLICAOF", "127.0.0.1", one.port)
        wait_for_link(other)
        sentinels = stack.enter_context(Sentinels(one))
        wait_until(sentinels.is_ready, "the Sentinels' agreement")
        primary, replica = one, other
        with contextlib.ExitStack() as writing:
            writers = [writing.enter_context(kind(sentinels)) for kind in kinds]
            for _ in range(failovers):
                fail_over(primary, replica, writers)
                primary, replica = replica, primary
        assert_same(primary, replica)
        for writer in writers:
            print(writer.key, len(writer.acknowledged), "acknowledged")
            assert not lost(primary, writer)[:10]


@pytest.mark.slow
def test_cut_off_primary(failovers):
    """The primary is cut off in its own network namespace and still serves a client there."""
    reason = missing_namespaces()
    if reason:
        print(f"*** SKIPPED the primary that is cut off: {reason} ***")
        pytest.skip(reason)
    limit_s = 600 * (1 + failovers)  # a longer run hangs
    assert run_in_namespace(CUT_OFF, failovers, limit_s=limit_s) == 0
