#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A primary is cut off from its replica and the Sentinels, and still serves a client on its side.

test_sentinel.py runs this in its own network namespace. The primary is on an island (islands.py). The argument is the
number of rounds. Exit status 0: in each round the replica was promoted, no write that WAIT 1 acknowledged was lost, and
the old primary came back as a replica.
"""

import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

from harness import Server  # noqa: E402
from islands import HOME, Island, Islander, make_bridge  # noqa: E402
from pairs import assert_same, wait_for_link  # noqa: E402
from sentinels import MOST_FAILOVER_S, Sentinels, Writer, lost, says  # noqa: E402
from waiting import wait_until  # noqa: E402


def start_at_home():
    """Starts a Cairn in the namespace of the test."""
    server = Server(start=False, protected_mode=False)
    server.host = HOME
    server.directives["bind"] = f"{HOME} 127.0.0.1"
    return server.start()


def cut_off(island, primary, replica, writer):
    """One round: cut off the primary, wait for the promotion, reconnect it as a replica."""
    wait_until(lambda: len(writer.acknowledged) > 100, "the writing")
    island.cut()
    begin = time.monotonic()
    with Islander(island, primary) as islander:
        wait_until(lambda: says(replica, role="master"), "the promotion")
        took_s = time.monotonic() - begin
        assert took_s < MOST_FAILOVER_S, took_s
        wait_until(lambda: islander.written > 3, "writing to the one that is cut off")
    assert islander.acknowledged == 0
    island.rejoin()
    begin = time.monotonic()
    wait_until(lambda: says(primary, role="slave", master_link_status="up"), "the return")
    print(f"promoted after {took_s:.2f} s, back after {time.monotonic() - begin:.2f} s; "
          f"{islander.written} writes on the island", flush=True)
    written = len(writer.acknowledged)
    wait_until(lambda: len(writer.acknowledged) > written + 100, "the writing")


def give_back(sentinels, primary, replica):
    """A planned failover back: the current replica becomes the primary again."""
    wait_until(lambda: sentinels.all_see_replica(replica), "the Sentinels' knowledge")
    wait_until(sentinels.fail_over, "the Sentinels' consent")
    wait_until(lambda: says(replica, role="master"), "the planned promotion")
    wait_until(lambda: says(primary, role="slave", master_link_status="up"), "the change of roles")


def main():
    """Runs the rounds."""
    make_bridge()
    with Island() as island, island.start() as one, start_at_home() as other:
        other.client().execute_command("REPLICAOF", one.host, one.port)
        wait_for_link(other)
        with Sentinels(one, HOME) as sentinels:
            wait_until(sentinels.is_ready, "the Sentinels' agreement")
            with Writer(sentinels) as writer:
                for round_number in range(int(sys.argv[1])):
                    if round_number:
                        give_back(sentinels, other, one)
                    cut_off(island, one, other, writer)
            assert_same(other, one)
            assert not lost(other, writer)[:10]
            print(len(writer.acknowledged), "acknowledged, none lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
