#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A primary is cut off from its replica and the Sentinels, and still serves a client on its side.

test_sentinel.py runs this in its own network namespace, so it does not touch the machine's network and leaves nothing
behind. The primary is in a second namespace; a pair of virtual interfaces joins the two, and taking its end down cuts
it off. The argument is the number of rounds. Exit status 0: in each round the replica was promoted, no write that WAIT
1 acknowledged was lost, and the old primary came back as a replica.
"""

import pathlib
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

from harness import Server, default_command  # noqa: E402
from pairs import assert_same, wait_for_link  # noqa: E402
from sentinels import MOST_FAILOVER_S, Sentinels, Writer, lost, says  # noqa: E402
from waiting import wait_until  # noqa: E402

HERE, THERE = "10.231.0.1", "10.231.0.2"


class Island:
    """The second namespace. It exists as long as its only process."""

    def __init__(self):
        self.process = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self.enter = ["nsenter", "--net", "--target", str(self.process.pid)]
        home = pathlib.Path("/proc/self/ns/net").readlink()
        wait_until(lambda: pathlib.Path(f"/proc/{self.process.pid}/ns/net").readlink() != home, "the namespace")
        for command in ("link set lo up", "link add near type veth peer name far",
                        f"link set far netns {self.process.pid}", f"address add {HERE}/24 dev near",
                        "link set near up"):
            subprocess.run(["ip", *command.split()], check=True)
        self.ip("link set lo up")
        self.ip(f"address add {THERE}/24 dev far")
        self.ip("link set far up")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ip(self, words):
        """Runs `ip` in the namespace."""
        subprocess.run([*self.enter, "ip", *words.split()], check=True)


def start_at(host, prefix=()):
    """Starts a Cairn at an address."""
    server = Server(command=[*prefix, *default_command()], start=False, protected_mode=False)
    server.host = host
    server.directives["bind"] = f"{host} 127.0.0.1"
    return server.start()


class Islander:
    """A client next to the isolated server: it writes there and calls WAIT 1."""

    def __init__(self, island, server):
        self.command = [*island.enter, "redis-cli", "-h", "127.0.0.1", "-p", str(server.port)]
        self.ended = threading.Event()
        self.written = self.acknowledged = 0
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def _run(self):
        while not self.ended.is_set():
            done = subprocess.run(self.command, input="SADD island a\nSREM island a\nWAIT 1 100\n", text=True,
                                  capture_output=True, check=False).stdout.split()
            self.written += done[:1] == ["1"]
            self.acknowledged += done[:1] == ["1"] and done[-1:] == ["1"]


def cut_off(island, primary, replica, writer):
    """One round: cut off the primary, wait for the promotion, reconnect it as a replica."""
    wait_until(lambda: len(writer.acknowledged) > 100, "the writing")
    island.ip("link set far down")
    begin = time.monotonic()
    with Islander(island, primary) as islander:
        wait_until(lambda: says(replica, role="master"), "the promotion")
        took_s = time.monotonic() - begin
        assert took_s < MOST_FAILOVER_S, took_s
        wait_until(lambda: islander.written > 3, "writing to the one that is cut off")
    assert islander.acknowledged == 0
    island.ip("link set far up")
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
    with Island() as island, start_at(THERE, island.enter) as one, start_at(HERE) as other:
        other.client().execute_command("REPLICAOF", THERE, one.port)
        wait_for_link(other)
        with Sentinels(one, HERE) as sentinels:
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
