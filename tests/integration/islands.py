# SPDX-License-Identifier: BSD-3-Clause
"""Servers in network namespaces of their own, which a test cuts off from the others.

REQUIRES: the test itself runs in its own network namespace (`unshare --net`), so it does not touch the machine's
network and leaves nothing behind. The test's namespace has a bridge with the address HOME, and each island has one
virtual cable to it.
"""

import pathlib
import shutil
import subprocess
import sys
import time

from background import Background
from harness import Server, default_command
from waiting import wait_until

HOME = "10.231.0.1"


def missing_namespaces():
    """Why this machine cannot make network namespaces for a test, or None."""
    needed = [tool for tool in ("bridge", "ip", "nsenter", "unshare") if not shutil.which(tool)]
    if needed:
        return f"no {', '.join(needed)}"
    if subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode:
        return "only root makes network namespaces"
    return None


def run_in_namespace(program, *arguments, limit_s):
    """Runs a Python program in a new network namespace; returns its exit status."""
    command = ["unshare", "--net", "--kill-child", "--fork", sys.executable, "-u", program, *arguments]
    return subprocess.run([str(word) for word in command], check=False, stderr=subprocess.STDOUT,
                          timeout=limit_s).returncode


def make_bridge():
    """Prepares the test's own namespace. It has to be called once, before the first island."""
    for command in ("link set lo up", "link add hub type bridge", f"address add {HOME}/24 dev hub", "link set hub up"):
        subprocess.run(["ip", *command.split()], check=True)


class Island:
    """A namespace with one address; it exists as long as its only process. `number` is from 1 to 200."""

    def __init__(self, number=1):
        self.address = f"10.231.0.{1 + number}"
        self.cable = f"cable{number}"
        self.process = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self.enter = ["nsenter", "--net", "--target", str(self.process.pid)]
        home = pathlib.Path("/proc/self/ns/net").readlink()
        wait_until(lambda: pathlib.Path(f"/proc/{self.process.pid}/ns/net").readlink() != home, "the namespace")
        for command in (f"link add {self.cable} type veth peer name far", f"link set {self.cable} master hub",
                        f"link set far netns {self.process.pid}", f"link set {self.cable} up"):
            subprocess.run(["ip", *command.split()], check=True)
        for command in ("link set lo up", f"address add {self.address}/24 dev far", "link set far up"):
            subprocess.run([*self.enter, "ip", *command.split()], check=True)
        self.rejoin()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def start(self, **directives):
        """Starts a Cairn here."""
        server = Server(command=[*self.enter, *default_command()], start=False, protected_mode=False, **directives)
        server.host = self.address
        server.directives["bind"] = f"{self.address} 127.0.0.1"
        return server.start()

    def cut(self):
        """Drops all packets in both directions; neither side gets an error."""
        self._set_port_state("disabled")

    def rejoin(self):
        """Ends the cut."""
        self._set_port_state("forwarding")

    def _set_port_state(self, state):
        number = {"disabled": "0", "forwarding": "3"}[state]
        command = ["bridge", "link", "set", "dev", self.cable, "state", number]
        # The kernel refuses it until it has noticed, in the background, that the cable is up.
        wait_until(lambda: subprocess.run(command, check=False).returncode == 0, f"the port's state {state}")


class Islander(Background):
    """A client next to an isolated server: it writes to `key` there and calls WAIT 1. `written` and `acknowledged`
    count its writes and those that a replica confirmed; `refused_after_s` is the time until the server first refused
    them, as a node without a majority does."""

    def __init__(self, island, server, key="island"):
        super().__init__()
        self.command = [*island.enter, "redis-cli", "-h", "127.0.0.1", "-p", str(server.port)]
        self.input = f"SADD {key} a\nSREM {key} a\nWAIT 1 100\n"
        self.written = self.acknowledged = 0
        self.begin_s, self.refused_after_s = time.monotonic(), None

    def _run(self):
        while not self.ended.is_set():
            replies = subprocess.run(self.command, input=self.input, text=True, capture_output=True,
                                     check=False).stdout.split()
            self.written += replies[:1] == ["1"]
            self.acknowledged += replies[:1] == ["1"] and replies[-1:] == ["1"]
            if replies[:1] == ["CLUSTERDOWN"] and self.refused_after_s is None:
                self.refused_after_s = time.monotonic() - self.begin_s
