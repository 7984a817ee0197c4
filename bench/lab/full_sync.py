# SPDX-License-Identifier: BSD-3-Clause
"""Measures a first transfer to a new replica: by files, by an RDB file, and of redis-server.

A primary is filled with bench/rdb's data, all types, many small keys and some large collections, or (`--plain`) with
strings of 100 bytes. A new replica connects and loads until its link is up, by each way in turns: seconds, CPU of both
sides, bytes over the connection, memory of the replica at its end. The replica's number of keys must equal the
primary's, and in one round its DEBUG DIGEST too.

Exit status 1 if the data differ, or if a transfer by files takes more than half the CPU of an RDB file, both sides
together.
"""

import argparse
import json
import pathlib
import random
import statistics
import sys
import time

from process import cpu_seconds
from rdb import FILL, NOISE_BYTES, digest
from servers import Server, start_cairn, start_redis

MOST_OF_RDB = 0.5
BYTES_PER_CALL = 2_500_000  # the bytes that FILL adds to an RDB file
WAYS = ("cairn, files", "cairn, RDB", "redis")


def fill_plain(server: Server, keys: int):
    """Writes strings of 100 bytes that hardly compress."""
    run = server.client(socket_timeout=600).register_script(
        "local noise = ARGV[1] for i = tonumber(ARGV[2]), tonumber(ARGV[3]) do "
        "local at = i * 7919 % (#noise - 100) redis.call('SET', 'key:' .. i, noise:sub(at + 1, at + 100)) end")
    noise = random.Random(1).randbytes(NOISE_BYTES)
    for first in range(0, keys, 10000):
        run(args=[noise, first, min(first + 9999, keys - 1)])


def fill_all(server: Server, size_bytes: int):
    """Writes keys of all types."""
    run = server.client(socket_timeout=600).register_script(FILL)
    noise = random.Random(1).randbytes(NOISE_BYTES)
    for number in range(size_bytes // BYTES_PER_CALL):
        run(args=[noise, number])


def start(way: str, options, **directives) -> Server:
    """A server for one of the ways."""
    if way == "redis":
        return start_redis(repl_diskless_sync_delay=0, enable_debug_command="yes", **directives)
    return start_cairn(options.cairn_args, enable_debug_command="yes", repl_sync_files=way == "cairn, files",
                       **directives)


def measure(primary: Server, way: str, options, checks: bool) -> dict:
    """One new replica, from REPLICAOF to the link."""
    client = primary.client()
    sent = client.info("stats")["total_net_output_bytes"]
    before = cpu_seconds(primary.pid)
    with start(way, options) as replica:
        waiting = replica.client()
        started = time.monotonic()
        waiting.execute_command("REPLICAOF", "127.0.0.1", primary.port)
        while waiting.info("replication")["master_link_status"] != "up":
            time.sleep(0.01)
        seconds = time.monotonic() - started
        figures = {"s": seconds, "primary_cpu_s": cpu_seconds(primary.pid) - before,
                   "replica_cpu_s": cpu_seconds(replica.pid),
                   "sent_mb": (client.info("stats")["total_net_output_bytes"] - sent) / 1e6,
                   "replica_mb": replica.resident_bytes() / 1e6,
                   "same": waiting.dbsize() == client.dbsize()}
        if checks:
            figures["same"] = figures["same"] and digest(primary) == digest(replica)
        return figures


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/full_sync", description=__doc__.partition("\n")[0])
    parser.add_argument("--size-mb", type=int, default=400, help="approximate size of an RDB file of the data")
    parser.add_argument("--plain", type=int, default=0, metavar="KEYS", help="write this many strings instead")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ways", type=lambda text: [WAYS[int(word)] for word in text.split(",")], default=WAYS,
                        help="0: Cairn by files, 1: Cairn by RDB, 2: redis-server")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main() -> int:
    """Fills a primary of each kind, measures in turns, and checks the claims."""
    options = parse_options()
    primaries, rounds = {}, {way: [] for way in options.ways}
    try:
        for way in options.ways:
            kind = way.split(",")[0]
            if kind in primaries:
                continue
            primaries[kind] = start("redis" if kind == "redis" else "cairn, files", options)
            if options.plain:
                fill_plain(primaries[kind], options.plain)
            else:
                fill_all(primaries[kind], options.size_mb * 1_000_000)
            print(kind, primaries[kind].client().dbsize(), "keys", flush=True)
        for number in range(options.rounds):
            for way in options.ways:
                rounds[way].append(measure(primaries[way.split(",")[0]], way, options, number == 0))
    finally:
        for server in primaries.values():
            server.close()
    print(f"{'':14}{'seconds':>9}{'primary CPU s':>15}{'replica CPU s':>15}{'MB sent':>9}{'replica MB':>12}")
    medians = {}
    for way, all_figures in rounds.items():
        one = {what: statistics.median(figures[what] for figures in all_figures) for what in all_figures[0]}
        medians[way] = one
        print(f"{way:14}{one['s']:9.2f}{one['primary_cpu_s']:15.2f}{one['replica_cpu_s']:15.2f}{one['sent_mb']:9.0f}"
              f"{one['replica_mb']:12.0f}")
    same = all(figures["same"] for all_figures in rounds.values() for figures in all_figures)
    print("yes" if same else "NO", "the same data everywhere")
    fast = True
    if WAYS[0] in medians and WAYS[1] in medians:
        files, rdb = (medians[way]["primary_cpu_s"] + medians[way]["replica_cpu_s"] for way in WAYS[:2])
        fast = files <= MOST_OF_RDB * rdb
        print("yes" if fast else "NO", f"files take at most {MOST_OF_RDB:g} of the CPU of an RDB file")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rounds, indent=1))
    return 0 if same and fast else 1


if __name__ == "__main__":
    sys.exit(main())
