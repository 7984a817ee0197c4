# SPDX-License-Identifier: BSD-3-Clause
"""Measures SETBIT at random offsets of large and small bitmaps, and the bytes it writes to disk.

Each bitmap is filled with random bytes. Then, in turns, one client flips bits one after the other: microseconds until
the reply, CPU of the server per SETBIT, and the bytes that the kernel counts as written by the server until it is idle
again: its log, and later flushes. Pipelines are measured as well and not judged: sixteen changes of one small bitmap
are one row in the log. At the end the largest bitmap alone is changed for long, so the sum includes flushes and
compactions. Exit status 1 if SETBIT on the largest takes more than three times its time, or its CPU, on the smallest.
"""

import argparse
import json
import pathlib
import random
import statistics
import sys

from process import cpu_seconds, wait_until_quiet
from servers import start_cairn
from single_writes import SingleWrites, add_options, add_ratios, measure_in_turns
from wire import Chunk, encode_command

PIPELINE = 16
FILL_BYTES = 1 << 20
MOST_RATIO = 3.0
SIZES = {"b": 1, "kb": 1 << 10, "mb": 1 << 20}


def parse_size(text: str) -> int:
    """"64mb" as a number of bytes."""
    digits = text.rstrip("kmbKMB")
    return int(digits) * SIZES[text[len(digits):].lower() or "b"]


class Bitmap(SingleWrites):
    """A bitmap on the server, and its measurements."""

    def __init__(self, server, size: int, luck: random.Random):
        super().__init__(server)
        self.size, self.luck = size, luck
        self.key = b"bitmap:%d" % size
        self.noise = bytearray()
        while len(self.noise) < size:
            self.noise += luck.randbytes(min(FILL_BYTES, size - len(self.noise)))
        self.pipelined_cpu: list[float] = []

    def fill(self):
        """Fills the bitmap with random bytes, a megabyte at a time."""
        for start in range(0, self.size, FILL_BYTES):
            noise = bytes(self.noise[start:start + FILL_BYTES])
            self.connection.send_chunk(
                Chunk(encode_command(b"SETRANGE", self.key, b"%d" % start, noise), 1))

    def next_command(self) -> bytes:
        """A SETBIT that flips a random bit."""
        byte, bit = self.luck.randrange(self.size), self.luck.randrange(8)
        self.noise[byte] ^= 0x80 >> bit
        value = b"%d" % (self.noise[byte] >> (7 - bit) & 1)
        return encode_command(b"SETBIT", self.key, b"%d" % (8 * byte + bit), value)

    def pipelines(self, commands: int) -> list[Chunk]:
        """This many SETBITs, encoded."""
        return [Chunk(b"".join(self.next_command() for _ in range(PIPELINE)), PIPELINE)
                for _ in range(commands // PIPELINE)]

    def measure(self, commands: int) -> None:
        """One round: single commands, then pipelines."""
        super().measure(commands)
        batches = self.pipelines(commands)
        used = cpu_seconds(self.pid)
        self.connection.load(batches)
        wait_until_quiet([self.pid])
        self.pipelined_cpu.append((cpu_seconds(self.pid) - used) * 1e6 / (len(batches) * PIPELINE))

    def figures(self) -> dict:
        """Medians of the times, means of the bytes."""
        return {"bytes": self.size, "pipelined_cpu_us": statistics.median(self.pipelined_cpu), **super().figures()}


def measure(options: argparse.Namespace) -> dict:
    """Fills all bitmaps first, then measures them in turns, then the largest alone."""
    luck = random.Random(options.seed)
    with start_cairn(options.cairn_args) as server:
        bitmaps = [Bitmap(server, parse_size(size), luck) for size in options.sizes.split(",")]
        for bitmap in bitmaps:
            bitmap.fill()
        measure_in_turns(bitmaps, options.rounds, options.commands)
        largest = bitmaps[-1]
        return {"bitmaps": [bitmap.figures() for bitmap in bitmaps],
                "long_run_written": largest.load(largest.pipelines(options.long_run), options.long_run)}


def main() -> int:
    """Parses the command line, measures, prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="1kb,8000b,64kb,1mb,64mb",
                        help="the first and the last are compared")
    parser.add_argument("--seed", type=int, default=1)
    add_options(parser, commands=30_000, rounds=5, long_run=400_000)
    options = parser.parse_args()
    result = measure(options)
    rows = result["bitmaps"]
    good = add_ratios(rows, MOST_RATIO)
    print("per SETBIT; medians of the times, the mean of the bytes")
    print(f"{'bitmap':>12} {'us':>7} {'ratio':>6} {'CPU us':>7} {'ratio':>6} {'CPU us -P 16':>13}"
          f" {'bytes written':>14}")
    for row in rows:
        print(f"{row['bytes']:12,} {row['us']:7.1f} {row['ratio']:6.2f} {row['cpu_us']:7.2f}"
              f" {row['cpu_ratio']:6.2f} {row['pipelined_cpu_us']:13.2f} {row['written']:14,.0f}")
    print(f"{result['long_run_written']:,.0f} bytes written per SETBIT over {options.long_run:,} of"
          f" them on {rows[-1]['bytes']:,} bytes")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
