# SPDX-License-Identifier: BSD-3-Clause
"""Measures DEL and RENAME of a large set and a set of ten, and checks that the disk space is freed.

Both sets are renamed back and forth, and sets of both sizes are deleted, when the server has finished its work for the
load. The times are median latencies of a client. Then COMPACT, and the directory is measured: the space of the large
sets must be freed. Exit status 1 if a command takes more than twice its time on the small set, or more than a tenth of
the space remains.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

from process import disk_bytes, wait_until_quiet
from servers import start_cairn
from wire import Connection, encode_command

BATCH = 1000
MOST_RATIO = 2.0
MOST_LEFT = 0.1
SETTLE_S = 60


def fill(connection: Connection, key: bytes, members: int):
    """SADDs `members` short texts."""
    for start in range(0, members, BATCH):
        names = [b"member:%d" % i for i in range(start, min(start + BATCH, members))]
        connection.exchange(encode_command(b"SADD", key, *names), len(b":%d\r\n" % len(names)))


def timed(connection: Connection, *words: bytes, reply: bytes) -> float:
    """The microseconds until the reply."""
    started = time.perf_counter()
    got = connection.exchange(encode_command(*words), len(reply))
    elapsed = time.perf_counter() - started
    if got != reply:
        raise RuntimeError(f"{words}: {got!r}")
    return elapsed * 1e6


def rename_times(connection: Connection, key: bytes, rounds: int) -> list[float]:
    """Renames the key and renames it back."""
    times = []
    for _ in range(rounds):
        times.append(timed(connection, b"RENAME", key, b"other", reply=b"+OK\r\n"))
        times.append(timed(connection, b"RENAME", b"other", key, reply=b"+OK\r\n"))
    return times


def measure(options: argparse.Namespace) -> dict:
    """Fills, renames, deletes, compacts."""
    with start_cairn(options.cairn_args) as server:
        connection, folder = Connection(server.port), pathlib.Path(server.data_dir)
        empty = disk_bytes(folder)
        figures = {"RENAME": {}, "DEL": {}}
        for size, members in {"small": 10, "large": options.members}.items():
            keys = [b"%s:%d" % (size.encode(), i) for i in range(options.sets)]
            for key in keys:
                fill(connection, key, members)
            wait_until_quiet([server.process.pid])
            figures["RENAME"][size] = [t for key in keys for t in rename_times(connection, key, 20)]
            full = disk_bytes(folder)
            figures["DEL"][size] = [
                timed(connection, b"DEL", key, reply=b":1\r\n") for key in keys]
        server.client(socket_timeout=600).execute_command("COMPACT")
        deadline = time.monotonic() + SETTLE_S
        while disk_bytes(folder) > empty + MOST_LEFT * full and time.monotonic() < deadline:
            time.sleep(0.5)
        left = disk_bytes(folder)
    medians = {command: {size: statistics.median(times) for size, times in by_size.items()}
               for command, by_size in figures.items()}
    return {"members": options.members, "us": medians, "disk_empty": empty, "disk_full": full,
            "disk_after": left}


def main() -> int:
    """Parses the command line, measures, prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--members", type=int, default=5_000_000)
    parser.add_argument("--sets", type=int, default=3, help="number of sets of each size")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    result = measure(options)
    good = True
    print(f"median microseconds, set of 10 and set of {options.members}")
    for command, by_size in result["us"].items():
        ratio = by_size["large"] / by_size["small"]
        good &= ratio <= MOST_RATIO
        print(f"{command:8}{by_size['small']:10.1f}{by_size['large']:10.1f}   ratio {ratio:.2f}")
    grown = result["disk_full"] - result["disk_empty"]
    left = max(0, result["disk_after"] - result["disk_empty"])
    good &= left <= MOST_LEFT * grown
    print(f"disk: {grown / 1e6:.1f} MB before the last DEL, {left / 1e6:.1f} MB after COMPACT")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
