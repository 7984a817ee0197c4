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
import sys

from servers import start_cairn
from single_writes import SingleWrites, add_options, add_ratios, measure_in_turns
from wire import Chunk, encode_command

MOST_FILLED = 200_000
BATCH = 1_000
PIPELINE = 16
MOST_RATIO = 5.0


class Filter(SingleWrites):
    """A filter on the server, and its measurements."""

    def __init__(self, server, kind: str, capacity: int):
        super().__init__(server)
        self.kind, self.capacity = kind, capacity
        self.key = f"{kind}:{capacity}".encode()
        self.next = self.first = 0

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

    def next_command(self) -> bytes:
        """Adds a new item; a full filter is replaced first."""
        if self.next - self.first >= self.capacity:
            self.fill()
        return self.add(self.items(1)[0])

    def pipelines(self, commands: int) -> list[Chunk]:
        """Additions of this many items, encoded."""
        items = self.items(commands)
        return [Chunk(b"".join(map(self.add, items[start:start + PIPELINE])), PIPELINE)
                for start in range(0, commands, PIPELINE)]

    def figures(self) -> dict:
        """Medians of the times, means of the bytes."""
        return {"kind": self.kind, "capacity": self.capacity, **super().figures()}


def measure(options: argparse.Namespace) -> dict:
    """Fills all filters first, then measures them in turns, then the largest Bloom filter alone."""
    with start_cairn(options.cairn_args) as server:
        filters = [Filter(server, kind, int(capacity)) for kind in ("bloom", "cuckoo")
                   for capacity in options.capacities.split(",")]
        for each in filters:
            each.fill()
        measure_in_turns(filters, options.rounds, options.commands)
        long_run = options.long_run // PIPELINE * PIPELINE
        largest = max((each for each in filters if each.kind == "bloom"), key=lambda each: each.capacity)
        return {"filters": [each.figures() for each in filters],
                "long_run_written": largest.load(largest.pipelines(long_run), long_run)}


def main() -> int:
    """Parses the command line, measures, prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--capacities", default="800,8000,100000,10000000,500000000",
                        help="the first and the last are compared")
    add_options(parser, commands=5_000, rounds=3, long_run=200_000)
    options = parser.parse_args()
    result = measure(options)
    print("per item; medians of the times, the mean of the bytes")
    print(f"{'filter':>8} {'capacity':>14} {'us':>7} {'ratio':>6} {'CPU us':>7} {'ratio':>6} {'bytes written':>14}")
    good = True
    for kind in ("bloom", "cuckoo"):
        rows = [row for row in result["filters"] if row["kind"] == kind]
        good = add_ratios(rows, MOST_RATIO) and good
        for row in rows:
            print(f"{kind:>8} {row['capacity']:14,} {row['us']:7.1f} {row['ratio']:6.2f} {row['cpu_us']:7.2f}"
                  f" {row['cpu_ratio']:6.2f} {row['written']:14,.0f}")
    print(f"{result['long_run_written']:,.0f} bytes written per item over {options.long_run:,} of them on the largest"
          " Bloom filter")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
