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
import time

from process import cpu_seconds, io_counters, wait_until_quiet
from servers import start_cairn
from wire import Chunk, Connection, encode_command

PIPELINE = 16
FILL_BYTES = 1 << 20
MOST_RATIO = 3.0
SIZES = {"b": 1, "kb": 1 << 10, "mb": 1 << 20}


def parse_size(text: str) -> int:
    """"64mb" as a number of bytes."""
    digits = text.rstrip("kmbKMB")
    return int(digits) * SIZES[text[len(digits):].lower() or "b"]


class Bitmap:
    """A bitmap on the server, and its measurements."""

    def __init__(self, server, size: int, luck: random.Random):
        self.server, self.size, self.luck = server, size, luck
        self.pid = server.process.pid
        self.key = b"bitmap:%d" % size
        self.connection = Connection(server.port)
        self.noise = bytearray()
        while len(self.noise) < size:
            self.noise += luck.randbytes(min(FILL_BYTES, size - len(self.noise)))
        self.times: list[float] = []
        self.cpu: list[float] = []
        self.pipelined_cpu: list[float] = []
        self.bytes: list[float] = []

    def fill(self):
        """Fills the bitmap with random bytes, a megabyte at a time."""
        for start in range(0, self.size, FILL_BYTES):
            noise = bytes(self.noise[start:start + FILL_BYTES])
            self.connection.send_chunk(
                Chunk(encode_command(b"SETRANGE", self.key, b"%d" % start, noise), 1))

    def setbit(self) -> bytes:
        """A SETBIT that flips a random bit."""
        byte, bit = self.luck.randrange(self.size), self.luck.randrange(8)
        self.noise[byte] ^= 0x80 >> bit
        value = b"%d" % (self.noise[byte] >> (7 - bit) & 1)
        return encode_command(b"SETBIT", self.key, b"%d" % (8 * byte + bit), value)

    def pipelines(self, commands: int) -> list[Chunk]:
        """This many SETBITs, encoded."""
        return [Chunk(b"".join(self.setbit() for _ in range(PIPELINE)), PIPELINE)
                for _ in range(commands // PIPELINE)]

    def measure(self, commands: int):
        """One round: single commands, then pipelines."""
        written, used = io_counters(self.pid)["write_bytes"], cpu_seconds(self.pid)
        for _ in range(commands):
            payload = self.setbit()
            started = time.perf_counter()
            self.connection.exchange(payload, len(b":1\r\n"))
            self.times.append((time.perf_counter() - started) * 1e6)
        wait_until_quiet([self.pid])
        self.cpu.append((cpu_seconds(self.pid) - used) * 1e6 / commands)
        self.bytes.append((io_counters(self.pid)["write_bytes"] - written) / commands)
        batches = self.pipelines(commands)
        used = cpu_seconds(self.pid)
        self.connection.load(batches)
        wait_until_quiet([self.pid])
        self.pipelined_cpu.append((cpu_seconds(self.pid) - used) * 1e6 / (len(batches) * PIPELINE))

    def long_run(self, commands: int) -> float:
        """Bytes written per SETBIT over a long run."""
        batches = self.pipelines(commands)
        written = io_counters(self.pid)["write_bytes"]
        self.connection.load(batches)
        wait_until_quiet([self.pid])
        return (io_counters(self.pid)["write_bytes"] - written) / commands

    def figures(self) -> dict:
        """Medians of the times, sums of the bytes."""
        return {"bytes": self.size, "us": statistics.median(self.times),
                "cpu_us": statistics.median(self.cpu),
                "pipelined_cpu_us": statistics.median(self.pipelined_cpu),
                "written": statistics.mean(self.bytes)}


def measure(options: argparse.Namespace) -> dict:
    """Fills all bitmaps first, then measures them in turns, then the largest alone."""
    luck = random.Random(options.seed)
    with start_cairn(options.cairn_args) as server:
        bitmaps = [Bitmap(server, parse_size(size), luck) for size in options.sizes.split(",")]
        for bitmap in bitmaps:
            bitmap.fill()
        wait_until_quiet([server.process.pid])
        for _ in range(options.rounds):
            for bitmap in bitmaps:
                bitmap.measure(options.commands)
        return {"bitmaps": [bitmap.figures() for bitmap in bitmaps],
                "long_run_written": bitmaps[-1].long_run(options.long_run)}


def main() -> int:
    """Parses the command line, measures, prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="1kb,8000b,64kb,1mb,64mb",
                        help="the first and the last are compared")
    parser.add_argument("--commands", type=int, default=30_000, help="commands per bitmap and round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--long-run", type=int, default=400_000, help="SETBITs of the long run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    result = measure(options)
    rows = result["bitmaps"]
    print("per SETBIT; medians of the times, the mean of the bytes")
    print(f"{'bitmap':>12} {'us':>7} {'ratio':>6} {'CPU us':>7} {'ratio':>6} {'CPU us -P 16':>13}"
          f" {'bytes written':>14}")
    for row in rows:
        row["ratio"] = row["us"] / rows[0]["us"]
        row["cpu_ratio"] = row["cpu_us"] / rows[0]["cpu_us"]
        print(f"{row['bytes']:12,} {row['us']:7.1f} {row['ratio']:6.2f} {row['cpu_us']:7.2f}"
              f" {row['cpu_ratio']:6.2f} {row['pipelined_cpu_us']:13.2f} {row['written']:14,.0f}")
    print(f"{result['long_run_written']:,.0f} bytes written per SETBIT over {options.long_run:,} of"
          f" them on {rows[-1]['bytes']:,} bytes")
    good = max(rows[-1]["ratio"], rows[-1]["cpu_ratio"]) <= MOST_RATIO
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
