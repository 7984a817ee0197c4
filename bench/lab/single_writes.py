# SPDX-License-Identifier: BSD-3-Clause
"""Costs of small changes of a large value: one client sends one command after the other."""

import argparse
import statistics
import time

from process import cpu_seconds, io_counters, wait_until_quiet
from wire import Connection


class SingleWrites:
    """A value on the server; of each command on it the microseconds, the server's CPU and the bytes to the disk."""

    def __init__(self, server):
        self.pid = server.process.pid
        self.connection = Connection(server.port)
        self.times: list[float] = []
        self.cpu: list[float] = []
        self.bytes: list[float] = []

    def next_command(self) -> bytes:
        """The next command, whose reply is an integer of one digit."""
        raise NotImplementedError

    def measure(self, commands: int) -> None:
        """One round. Bytes are those that the kernel counts as written until the server is idle again."""
        written, used = io_counters(self.pid)["write_bytes"], cpu_seconds(self.pid)
        for _ in range(commands):
            payload = self.next_command()
            started = time.perf_counter()
            self.connection.exchange(payload, len(b":1\r\n"))
            self.times.append((time.perf_counter() - started) * 1e6)
        wait_until_quiet([self.pid])
        self.cpu.append((cpu_seconds(self.pid) - used) * 1e6 / commands)
        self.bytes.append((io_counters(self.pid)["write_bytes"] - written) / commands)

    def load(self, chunks, commands: int) -> float:
        """Sends pipelines of so many commands together; the bytes written for each command."""
        written = io_counters(self.pid)["write_bytes"]
        self.connection.load(chunks)
        wait_until_quiet([self.pid])
        return (io_counters(self.pid)["write_bytes"] - written) / commands

    def figures(self) -> dict:
        """Medians of the times, means of the bytes."""
        return {"us": statistics.median(self.times), "cpu_us": statistics.median(self.cpu),
                "written": statistics.mean(self.bytes)}


def measure_in_turns(values: list[SingleWrites], rounds: int, commands: int) -> None:
    """All rounds of all values, in turns."""
    wait_until_quiet([values[0].pid])
    for _ in range(rounds):
        for value in values:
            value.measure(commands)


def add_ratios(rows: list[dict], most: float) -> bool:
    """Adds the ratios to the first row; whether those of the last are at most `most`."""
    for row in rows:
        row["ratio"] = row["us"] / rows[0]["us"]
        row["cpu_ratio"] = row["cpu_us"] / rows[0]["cpu_us"]
    return max(rows[-1]["ratio"], rows[-1]["cpu_ratio"]) <= most


def add_options(parser: argparse.ArgumentParser, commands: int, rounds: int, long_run: int) -> None:
    """The options of these programs, with their defaults."""
    parser.add_argument("--commands", type=int, default=commands, help="commands of each value and round")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--long-run", type=int, default=long_run, help="commands of the long run")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
