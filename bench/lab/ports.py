# SPDX-License-Identifier: BSD-3-Clause
"""Measures the latency of a reader on one port during a flood of writes on another.

The flood is redis-benchmark: 20 connections, 16-deep pipelines, SET of 1 KB values, for the whole case. The reader
(lab/reader.c) is one connection that reads a random key of the same key space each millisecond. Three cases, several
rounds of each in turn:

  apart   Cairn, the flood on one port, the reader on another
  shared  Cairn, both on one port
  redis   redis-server with its append-only file on, both on its one port

Three claims are checked: apart's p99 is below 5 ms, at most a third of shared's, and below redis's.
"""

import argparse
import dataclasses
import json
import random
import statistics
import subprocess
import sys
import time

from cases import compile_program
from servers import Server, free_port, start_cairn, start_redis
from wire import Connection, pack_chunks

LIMIT_MS = 5.0
SETTLE_S = 2.0


@dataclasses.dataclass(frozen=True)
class Case:
    """A server, and the ports the flood and the reader use."""

    name: str
    server: Server
    flood_port: int
    reader_port: int


def fill(server: Server, keys: int, value_bytes: int):
    """Writes every key once, in random order."""
    order = list(range(keys))
    random.Random(1).shuffle(order)
    value = random.Random(2).randbytes(value_bytes)
    with Connection(server.port) as connection:
        connection.load(pack_chunks((b"SET", b"key:%012d" % n, value) for n in order))


def commands_processed(server: Server) -> int:
    """The number of commands that the server has run since it started."""
    return int(server.client().info("stats")["total_commands_processed"])


def measure(case: Case, reader: str, options, seed: int) -> dict:
    """Runs the flood, reads meanwhile, and returns the reader's figures and the flood's rate."""
    flood = subprocess.Popen(
        ["redis-benchmark", "-h", "127.0.0.1", "-p", str(case.flood_port), "-c", "20", "-P", "16",
         "-t", "set", "-d", str(options.value_bytes), "-r", str(options.keys), "-n", "2000000000"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(SETTLE_S)
        before, started = commands_processed(case.server), time.monotonic()
        done = subprocess.run(
            [reader, str(case.reader_port), str(options.keys), str(options.seconds),
             str(options.interval_us), str(seed)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{case.name}: {done.stderr.strip()}")
        if flood.poll() is not None:
            raise RuntimeError(f"{case.name}: the flood ended by itself")
        elapsed = time.monotonic() - started
        processed = commands_processed(case.server) - before
    finally:
        flood.kill()
        flood.wait()
    figures = json.loads(done.stdout)
    figures["flood_per_s"] = (processed - figures["reads"]) / elapsed
    if figures["misses"]:
        raise RuntimeError(f"{case.name}: {figures['misses']} reads found no key")
    return figures


def median_figures(rounds: list[dict]) -> dict:
    """The median of each figure over the rounds."""
    return {name: statistics.median(figures[name] for figures in rounds) for name in rounds[0]}


def check_claims(figures: dict[str, dict]) -> bool:
    """Prints whether each claim holds, with its figures; returns True if all do."""
    apart, shared, redis = (figures[name]["p99_ms"] for name in ("apart", "shared", "redis"))
    claims = [
        (f"p99 apart is below {LIMIT_MS:g} ms", apart < LIMIT_MS, f"{apart:.2f} ms"),
        ("p99 apart is at most a third of shared", apart <= shared / 3,
         f"{apart / shared:.2f} of {shared:.2f} ms"),
        ("p99 apart is below redis-server's", apart < redis,
         f"{apart / redis:.2f} of {redis:.2f} ms"),
    ]
    for claim, holds, numbers in claims:
        print(f"{'yes' if holds else 'NO':4} {claim}: {numbers}")
    return all(holds for _, holds, _ in claims)


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="bench/ports", description="A reader on one port during a flood on another.")
    parser.add_argument("--seconds", type=float, default=15, help="duration of the reads in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keys", type=int, default=200_000)
    parser.add_argument("--value-bytes", type=int, default=1024)
    parser.add_argument("--interval-us", type=int, default=1000,
                        help="time between two reads; 0: no pause")
    parser.add_argument("--io-threads", type=int, default=1, help="I/O threads of each of Cairn's two ports")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main() -> int:
    """Measures the three cases in turn and checks the claims; returns 1 if one does not hold."""
    options = parse_options()
    reader = compile_program("reader")
    port_a, port_b = free_port(), free_port()
    listen = [f"127.0.0.1:{port} io-threads {options.io_threads}" for port in (port_a, port_b)]
    rounds: dict[str, list[dict]] = {"apart": [], "shared": [], "redis": []}
    with start_cairn(options.cairn_args, listen=listen) as cairn, \
            start_redis(appendonly="yes") as redis:
        for server in (cairn, redis):
            fill(server, options.keys, options.value_bytes)
        cases = [Case("apart", cairn, port_a, port_b), Case("shared", cairn, port_a, port_a),
                 Case("redis", redis, redis.port, redis.port)]
        print(f"{'':8} {'reads/s':>9} {'p50 ms':>8} {'p90 ms':>8} {'p99 ms':>8} {'p99.9 ms':>9} "
              f"{'max ms':>8} {'SETs/s of the flood':>20}")
        for number in range(options.rounds):
            for case in cases:
                rounds[case.name].append(measure(case, reader, options, seed=number + 1))

    figures = {name: median_figures(measured) for name, measured in rounds.items()}
    for name, one in figures.items():
        print(f"{name:8} {one['reads'] / options.seconds:9.0f} {one['p50_ms']:8.3f} "
              f"{one['p90_ms']:8.3f} {one['p99_ms']:8.3f} {one['p999_ms']:9.3f} "
              f"{one['max_ms']:8.3f} {one['flood_per_s']:20.0f}")
    print()
    holds = check_claims(figures)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"median": figures, "rounds": rounds}, file, indent=1)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
