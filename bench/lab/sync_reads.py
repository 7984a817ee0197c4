# SPDX-License-Identifier: BSD-3-Clause
"""Measures the latency of a reader of the primary during a first transfer.

A primary under a memory budget is filled with values of 1 KB that do not compress. One connection (lab/reader.c) reads
a random key each millisecond, first without other load, then while a new replica gets its first transfer; by files and
by an RDB file, in turns. Meanwhile the resident memory of both servers is sampled.

Three claims are checked: the p99 during a transfer is at most twice that alone, no process exceeded its budget by more
than a tenth (and 64 MB for memory that is not charged), and the replica has all keys.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import threading
import time

from awake import awake
from cases import compile_program
from process import wait_until_quiet
from servers import Server, start_cairn
from wire import Connection, pack_chunks

VALUE_BYTES = 1000
KEYS_PER_MB = 1000
MOST_RATIO = 2.0
MB = 1_000_000
SPARE_MB = 64
SETTLE_S = 20  # the disk is busy for a while with the removal of the last replica's data
WAYS = {"files": "yes", "RDB": "no"}


def fill(server: Server, keys: int):
    """Every key once, in random order."""
    noise = random.Random(2).randbytes(VALUE_BYTES + 65536)
    order = list(range(keys))
    random.Random(1).shuffle(order)
    with Connection(server.port, timeout_s=600) as connection:
        connection.load(pack_chunks((b"SET", b"key:%012d" % n, noise[n % 65536:n % 65536 + VALUE_BYTES])
                                    for n in order))


class Reader:
    """Reads the primary's keys, one a millisecond, in a separate process; figures of runs of `seconds`."""

    def __init__(self, port: int, keys: int):
        self.program = compile_program("reader")
        self.port, self.keys = port, keys

    def run(self, seconds: float, seed: int) -> dict:
        """Percentiles in milliseconds."""
        done = subprocess.run([self.program, str(self.port), str(self.keys), str(seconds), "1000", str(seed)],
                              capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout)
        if figures["misses"]:
            raise RuntimeError(f"{figures['misses']} reads found no key")
        return figures


class MemoryWatch:
    """The peak of resident memory of each server, sampled ten times a second."""

    def __init__(self, *servers: Server):
        self.servers = servers
        self.highest = [0] * len(servers)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._look)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def _look(self):
        while not self.ended.wait(0.1):
            for number, server in enumerate(self.servers):
                self.highest[number] = max(self.highest[number], server.resident_bytes())


def is_synced(replica: Server) -> bool:
    """Whether the replica's link is up."""
    return replica.client().info("replication")["master_link_status"] == "up"


def measure(primary: Server, reader: Reader, way: str, options, seed: int) -> dict:
    """One round: reads alone, then reads during a first transfer."""
    wait_until_quiet([primary.pid])
    time.sleep(SETTLE_S)
    alone = reader.run(options.seconds, seed)
    primary.client().config_set("repl-sync-files", WAYS[way])
    with start_cairn(options.cairn_args, memory_budget=f"{options.budget_mb}mb", repl_sync_files=WAYS[way]) as replica:
        with MemoryWatch(primary, replica) as memory:
            started = time.monotonic()
            replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
            time.sleep(0.5)
            during = reader.run(options.seconds, seed + 1)
            was_short = is_synced(replica)
            while not is_synced(replica):
                time.sleep(0.05)
            seconds = time.monotonic() - started
        if was_short:
            raise RuntimeError(f"the transfer took {seconds:.1f} s, less than the reads: choose a smaller --seconds")
        same = replica.client().dbsize() == primary.client().dbsize()
    return {"alone_p99": alone["p99_ms"], "during_p99": during["p99_ms"], "during_p50": during["p50_ms"],
            "ratio": during["p99_ms"] / alone["p99_ms"], "seconds": seconds,
            "primary_mb": memory.highest[0] / MB, "replica_mb": memory.highest[1] / MB, "same": same}


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/sync_reads", description=__doc__.partition("\n")[0])
    parser.add_argument("--size-mb", type=int, default=5000)
    parser.add_argument("--budget-mb", type=int, default=512, help="memory budget of each server")
    parser.add_argument("--seconds", type=float, default=15, help="duration of the reads, less than the transfer")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main() -> int:
    """Fills, measures in turns, and checks the claims."""
    options = parse_options()
    keys = options.size_mb * KEYS_PER_MB
    rounds = {way: [] for way in options.ways.split(",")}
    with start_cairn(options.cairn_args, memory_budget=f"{options.budget_mb}mb") as primary, awake():
        fill(primary, keys)
        print(primary.client().dbsize(), "keys", flush=True)
        reader = Reader(primary.port, keys)
        for number in range(options.rounds):
            for way, found in rounds.items():
                found.append(measure(primary, reader, way, options, 10 * number))
    columns = ("alone_p99", "during_p50", "during_p99", "ratio", "seconds", "primary_mb", "replica_mb")
    print(f"{'':8}" + "".join(f"{column:>12}" for column in columns))
    medians = {}
    for way, found in rounds.items():
        medians[way] = {column: statistics.median(figures[column] for figures in found) for column in columns}
        print(f"{way:8}" + "".join(f"{medians[way][column]:12.2f}" for column in columns))
    most_mb = 1.1 * options.budget_mb * 1.048576 + SPARE_MB
    highest = max(max(figures["primary_mb"], figures["replica_mb"]) for found in rounds.values() for figures in found)
    claims = {f"p99 at most {MOST_RATIO:g} times that without": all(one["ratio"] <= MOST_RATIO
                                                                   for one in medians.values()),
              f"at most {highest:.0f} MB resident, limit {most_mb:.0f}": highest <= most_mb,
              "all keys": all(figures["same"] for found in rounds.values() for figures in found)}
    for claim, holds in claims.items():
        print("yes" if holds else "NO", claim)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rounds, indent=1))
    return 0 if all(claims.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
