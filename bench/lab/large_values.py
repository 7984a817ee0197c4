# SPDX-License-Identifier: BSD-3-Clause
"""Measures what large values cost the disk: write amplification, and the disk use at rest.

Values of random bytes, from 8 KB to 1 MB (their logarithms are uniform), are set once and then overwritten three times,
each time in another random order (case mixed), over a few connections. In the case random, as many writes take random
values, so that some are overwritten often and some never; in the case 100kb all values have 100 KB. Then the server is
left alone until its directory stops changing.

  given           MB of values that clients set
  log, flushes, moved, tables
                  bytes written for each of these bytes, by RocksDB's counters: to the log, by flushes, by the garbage
                  collection of blob files (with tables on builds that do not count it), and to tables by compactions
  amplification   the same of all that the process gave to the disk (/proc/PID/io, without pages that were deleted
                  before they were written)
  disk            the data directory at rest, for each byte of the values that are alive

--build measures a second server in turns. Exit status 1 if this build's write amplification is above 2.5 or its disk
above 1.5 in another case than random, or if a value reads back wrong.
"""

import argparse
import concurrent.futures
import json
import pathlib
import random
import sys
import time

from process import disk_bytes, io_counters, wait_until_at_rest
from servers import start_build, start_cairn

MB = 1 << 20
SMALLEST, LARGEST = 8 << 10, 1 << 20
FIXED = 100 << 10
CONNECTIONS = 4
SETTLE_S = 60.0
SAMPLE = 200  # values read back
MOST_AMPLIFICATION = 2.5
MOST_DISK = 1.5


def value_sizes(case: str, live_bytes: int) -> list[int]:
    """Sizes of values that add up to `live_bytes`."""
    source, sizes = random.Random(1), []
    while sum(sizes) < live_bytes:
        sizes.append(FIXED if case == "100kb" else int(SMALLEST * (LARGEST / SMALLEST)**source.random()))
    return sizes


def value_of(key: int, generation: int, size: int) -> bytes:
    """The bytes of a value; they do not compress."""
    return random.Random((key << 8) + generation).randbytes(size)


def written_bytes(pid: int) -> int:
    """The bytes that the process gave to the disk."""
    fields = io_counters(pid)
    return fields["write_bytes"] - fields["cancelled_write_bytes"]


def keys_to_set(case: str, count: int, generation: int) -> list[int]:
    """The values that are set, each once; in the case random, only the first time each once."""
    source = random.Random(generation)
    if case == "random" and generation > 0:
        return [source.randrange(count) for _ in range(count)]
    return source.sample(range(count), count)


def set_values(server, sizes: list[int], keys: list[int], generation: int):
    """Sets these values over several connections."""

    def run(part):
        client = server.client()
        for key in part:
            client.set(f"value:{key}", value_of(key, generation, sizes[key]))

    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        for done in [pool.submit(run, keys[i::CONNECTIONS]) for i in range(CONNECTIONS)]:
            done.result()


def measure(server, case: str, live_mb: int, overwrites: int) -> dict:
    """The figures of one server."""
    sizes = value_sizes(case, live_mb * MB)
    last = [0] * len(sizes)  # the generation of each value
    given, before, started = 0, written_bytes(server.process.pid), time.monotonic()
    for generation in range(overwrites + 1):
        keys = keys_to_set(case, len(sizes), generation)
        set_values(server, sizes, keys, generation)
        for key in keys:
            last[key] = generation
            given += sizes[key]
    seconds = time.monotonic() - started
    wait_until_at_rest(server.process.pid, pathlib.Path(server.data_dir), SETTLE_S)
    client = server.client()
    for key in random.Random(2).sample(range(len(sizes)), min(SAMPLE, len(sizes))):
        if client.get(f"value:{key}") != value_of(key, last[key], sizes[key]):
            raise RuntimeError(f"value:{key} reads back wrong")
    info = client.info("rocksdb")
    moved = client.info("compaction").get("blob_moved_bytes", 0)
    return {"given": given / MB, "mb_a_second": given / MB / seconds,
            "log": info["wal_bytes"] / given, "flushes": info["flush_write_bytes"] / given,
            "moved": moved / given, "tables": (info["compaction_write_bytes"] - moved) / given,
            "amplification": (written_bytes(server.process.pid) - before) / given,
            "disk": disk_bytes(pathlib.Path(server.data_dir)) / sum(sizes),
            "blob_files": sum(1 for _ in pathlib.Path(server.data_dir).glob("*.blob"))}


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/large_values", description=__doc__.partition("\n")[0])
    parser.add_argument("--mb", type=int, default=400, help="size of the values that are alive")
    parser.add_argument("--cases", default="mixed,random,100kb")
    parser.add_argument("--overwrites", type=int, default=3)
    parser.add_argument("--budget", default="256mb", help="memory-budget")
    parser.add_argument("--build", metavar="SERVER", help="measure this cairn-server too")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives of this build")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main() -> int:
    """Measures each case with each build; returns the exit status."""
    options, figures = parse_options(), []
    names = ("given", "mb_a_second", "log", "flushes", "moved", "tables", "amplification", "disk", "blob_files")
    print(f"{'':20}" + "".join(f"{name:>15}" for name in names))
    for case in options.cases.split(","):
        starts = {"this": lambda: start_cairn(options.cairn_args, memory_budget=options.budget)}
        if options.build:
            starts = {"other": lambda: start_build(options.build, memory_budget=options.budget), **starts}
        for build, start in starts.items():
            with start() as server:
                row = measure(server, case, options.mb, options.overwrites)
            figures.append({"case": case, "build": build, **row})
            print(f"{case + ' ' + build:20}" + "".join(f"{row[name]:15.2f}" for name in names), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1))
    return 0 if all(row["amplification"] <= MOST_AMPLIFICATION and row["disk"] <= MOST_DISK
                    for row in figures if row["build"] == "this" and row["case"] != "random") else 1


if __name__ == "__main__":
    sys.exit(main())
