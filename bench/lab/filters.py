# SPDX-License-Identifier: BSD-3-Clause
"""Measures BF.ADD and CF.ADD on small and large filters, and the bytes they write to disk.

Each filter gets a tenth of its capacity, at most 200,000 items, before. Then, in turns, one client adds new items one
after the other, and replaces a full filter by a new one: microseconds until the reply, CPU of the server per item, and
the bytes that the kernel counts as written by the server until it is idle again. At the end the largest Bloom filter
alone gets items for long, so the sum includes flushes and compactions. Exit status 1 if an item of the largest filter
of a kind takes more than five times its time, or its CPU, on the smallest.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

from process import cpu_seconds, io_counters, wait_until_quiet
from servers import start_cairn
from wire import Chunk, Connection, encode_command

MOST_FILLED = 200_000
BATCH = 1_000
MOST_RATIO = 5.0


class Filter:
    """A filter on the server, and its measurements."""

    def __init__(self, server, kind: str, capacity: int):
        self.pid = server.process.pid
        self.kind, self.capacity = kind, capacity
        self.key = f"{kind}:{capacity}".encode()
        self.connection = Connection(server.port)
        self.next = self.first = 0
        self.times: list[float] = []
        self.cpu: list[float] = []
        self.bytes: list[float] = []

    def items(self, count: int) -> list[bytes]:
        """New items."""
        self.next += count
        return [b"item:%d" % number for number in range(self.next - count, self.next)]

    def fill(self):
        """Creates the filter, in place of a full one, and adds some items."""
        self.connection.ask("DEL", self.key.decode())
        self.first = self.next
        reserve = (b"BF.RESERVE", self.key, b"0.01") if self.kind == "bloom" else (b"CF.RESERVE", self.key)
        self.connection.ask(*(word.decode() for word in reserve), str(self.capacity))
        many = b"BF.INSERT" if self.kind == "bloom" else b"CF.INSERT"
        for _ in range(min(self.capacity // 10, MOST_FILLED) // BATCH):
            self.connection.pipeline([(many, self.key, b"ITEMS", *self.items(BATCH))])

    def add(self, item: bytes) -> bytes:
        """The command that adds an item."""
        return encode_command(b"BF.ADD" if self.kind == "bloom" else b"CF.ADD", self.key, item)

    def measure(self, commands: int):
        """One round."""
        written, used = io_counters(self.pid)["write_bytes"], cpu_seconds(self.pid)
        for _ in range(commands):
            if self.next - self.first >= self.capacity:
                self.fill()
            payload = self.add(self.items(1)[0])
            started = time.perf_counter()
            self.connection.exchange(payload, len(b":1\r\n"))
            self.times.append((time.perf_counter() - started) * 1e6)
        wait_until_quiet([self.pid])
        self.cpu.append((cpu_seconds(self.pid) - used) * 1e6 / commands)
        self.bytes.append((io_counters(self.pid)["write_bytes"] - written) / commands)

    def long_run(self, commands: int) -> float:
        """Bytes written per item over a long run of pipelines."""
        written = io_counters(self.pid)["write_bytes"]
        items = self.items(commands)
        self.connection.load(Chunk(b"".join(map(self.add, items[start:start + 16])), 16)
                             for start in range(0, commands, 16))
        wait_until_quiet([self.pid])
        return (io_counters(self.pid)["write_bytes"] - written) / commands

    def figures(self) -> dict:
        """Medians of the times, means of the bytes."""
        return {"kind": self.kind, "capacity": self.capacity, "us": statistics.median(self.times),
                "cpu_us": statistics.median(self.cpu), "written": statistics.mean(self.bytes)}


def measure(options: argparse.Namespace) -> dict:
    """Fills all filters first, then measures them in turns, then the largest Bloom filter alone."""
    with start_cairn(options.cairn_args) as server:
        filters = [Filter(server, kind, int(capacity)) for kind in ("bloom", "cuckoo")
                   for capacity in options.capacities.split(",")]
        for each in filters:
            each.fill()
        wait_until_quiet([server.process.pid])
        for _ in range(options.rounds):
            for each in filters:
                each.measure(options.commands)
        largest = max((each for each in filters if each.kind == "bloom"), key=lambda each: each.capacity)
        return {"filters": [each.figures() for each in filters],
                "long_run_written": largest.long_run(options.long_run // 16 * 16)}


def main() -> int:
    """Parses the command line, measures, prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--capacities", default="800,8000,100000,10000000,500000000",
                        help="the first and the last are compared")
    parser.add_argument("--commands", type=int, default=5_000, help="commands per filter and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long-run", type=int, default=200_000, help="items of the long run")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    result = measure(options)
    print("per item; medians of the times, the mean of the bytes")
    print(f"{'filter':>8} {'capacity':>14} {'us':>7} {'ratio':>6} {'CPU us':>7} {'ratio':>6} {'bytes written':>14}")
    good = True
    for kind in ("bloom", "cuckoo"):
        rows = [row for row in result["filters"] if row["kind"] == kind]
        for row in rows:
            row["ratio"] = row["us"] / rows[0]["us"]
            row["cpu_ratio"] = row["cpu_us"] / rows[0]["cpu_us"]
            print(f"{kind:>8} {row['capacity']:14,} {row['us']:7.1f} {row['ratio']:6.2f} {row['cpu_us']:7.2f}"
                  f" {row['cpu_ratio']:6.2f} {row['written']:14,.0f}")
        good = good and max(rows[-1]["ratio"], rows[-1]["cpu_ratio"]) <= MOST_RATIO
    print(f"{result['long_run_written']:,.0f} bytes written per item over {options.long_run:,} of them on the largest"
          " Bloom filter")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
