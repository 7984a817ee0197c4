# SPDX-License-Identifier: BSD-3-Clause
"""The Go program that runs concurrent clients and checks their histories with porcupine (tests/histories/go)."""

import pathlib
import queue
import subprocess
import threading

from harness import REPOSITORY, by_size
from programs import Program, build, is_built, missing_toolchain

HOME = pathlib.Path(__file__).resolve().parent
PROGRAM = Program("go", "porcupine", ["go", "version"], (1, 18), ["go", "build", "-o", "histories", "."],
                  ["./histories"])
PICTURES = REPOSITORY / "build" / "histories"
CLIENTS = 8
ROUND_LIMIT_S = 600


def missing_checker():
    """Why the program cannot run here, or None; builds it."""
    reason = missing_toolchain(PROGRAM)
    if not reason and not is_built(PROGRAM, HOME):
        if by_size(True, False, False):
            return "not built yet, and --quick builds nothing"
        reason = build(PROGRAM, HOME)
        assert not reason, f"tests/histories/go does not build: {reason}"
    return reason


class HistoryClients:
    """The running program. `mode` is plain, write or wait, as its main.go explains."""

    def __init__(self, mode, seed):
        PICTURES.mkdir(parents=True, exist_ok=True)
        command = [*PROGRAM.run, CLIENTS, seed, mode, PICTURES]
        self.process = subprocess.Popen([str(word) for word in command], cwd=PROGRAM.target(HOME), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1)
        self.lines = queue.Queue()
        self.rounds = self.groups = self.operations = self.unknown = self.undecided = self.longest_ms = 0
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.thread.join()
        self.process.wait()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.split())

    def connect_to(self, *servers):
        """Sets the servers that clients connect to from now on."""
        print("targets", *(f"{server.host}:{server.port}" for server in servers), file=self.process.stdin)

    def finish_round(self):
        """Reads and checks everything that was written since the last round. REQUIRES: the server serves."""
        print("round", file=self.process.stdin)
        violations = []
        while (words := self.lines.get(timeout=ROUND_LIMIT_S))[0] == "violation":
            violations.append(words[1])
        assert not violations, f"not linearizable: {violations}"
        groups, operations, unknown, found, undecided, took_ms = map(int, words[1:])
        assert found == 0
        self.rounds += 1
        self.groups += groups
        self.undecided += undecided
        # Nearly all checks take less than a second. The time of a few grows exponentially, and they are given up.
        assert self.undecided <= 1 + self.groups // 100, f"{self.undecided} of {self.groups} histories were not checked"
        self.operations += operations
        self.unknown += unknown
        self.longest_ms = max(self.longest_ms, took_ms)

    def summary(self):
        """What was checked, in a line."""
        skipped = f" but {self.undecided}, which were too hard to check" if self.undecided else ""
        return (f"{self.rounds} rounds, {self.groups} histories of {self.operations} operations, {self.unknown} of "
                f"unknown outcome, all linearizable{skipped}; the longest check took {self.longest_ms} ms")
