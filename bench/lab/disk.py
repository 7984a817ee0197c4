# SPDX-License-Identifier: BSD-3-Clause
"""Bytes on disk beside redis-server's memory, and where each byte is.

Each kind of data is written to an empty Cairn and to an empty redis-server by lab/beyond_memory.c:

  objects                          small hashes, sets, sorted sets and geo sets, as in bench/beyond_memory
  set, zset, geo, counts, texts    collections of 300 to 1,000 members: integers; integers with integral scores;
                                   places; a hash of integers to integers; a hash of incompressible texts

Memory is the growth of redis-server's used_memory. Disk is the size of Cairn's directory after COMPACT and a shutdown,
without the server's log file. COMPACT makes the write-ahead logs of the load obsolete, and the program waits until they
are deleted. The table below each kind is from RocksDB's table properties: for each space the bytes of row keys and
values as written, of data blocks as stored, of index blocks before compression, of filters, and of the files.
Exit status 1 if the objects take more than --most-objects of the memory, or the collections of integers and places
together more than --most-collections.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from beyond_memory import run_load, start
from cases import compile_program
from process import disk_bytes
from servers import start_redis

KINDS = {"objects": "load", "set": "loadset", "zset": "loadzset", "geo": "loadgeo", "counts": "loadcounts",
         "texts": "loadtexts"}
COLLECTIONS = ("set", "zset", "geo", "counts")  # the kinds of the bar
PROPERTIES = {"rows": "entries", "keys": "raw key size", "values": "raw value size", "data": "data block size",
              "index": r"index block size \([^)]*\)", "filter": "filter block size"}
SEED = 1
LOGS_WAIT_S = 60
MOST_LOG_BYTES = 1 << 20


def table_properties(path: pathlib.Path) -> tuple[str, dict[str, int]]:
    """The space of a table file, and the bytes of its parts."""
    command = ["sst_dump", f"--file={path}", "--command=identify", "--show_properties"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    parts = {}
    for name, label in PROPERTIES.items():
        parts[name] = int(re.search(rf"^\s*(?:# )?{label}: (\d+)$", text, re.MULTILINE)[1])
    parts["files"] = path.stat().st_size
    return re.search(r"column family name: (\w+)", text)[1], parts


def tables_by_space(folder: pathlib.Path) -> dict[str, dict[str, int]]:
    """The sums over all tables of each space."""
    spaces: dict[str, dict[str, int]] = collections.defaultdict(lambda: dict.fromkeys([*PROPERTIES, "files"], 0))
    for path in sorted(folder.glob("*.sst")):
        space, parts = table_properties(path)
        for name, value in parts.items():
            spaces[space][name] += value
    return spaces


def log_bytes(folder: pathlib.Path) -> int:
    """The size of the write-ahead logs, including old ones that are not deleted yet."""
    return disk_bytes(folder / "archive") + sum(path.stat().st_size for path in folder.glob("0*.log"))


def wait_for_logs(folder: pathlib.Path):
    """Waits until the logs of the load are deleted."""
    deadline = time.monotonic() + LOGS_WAIT_S
    while log_bytes(folder) > MOST_LOG_BYTES and time.monotonic() < deadline:
        time.sleep(0.2)


def measure_redis(program: str, kind: str, keys: int) -> int:
    """The growth of redis-server's used_memory."""
    with start_redis() as server:
        empty = server.client().info("memory")["used_memory"]
        run_load(program, 1, keys, SEED, (server.port, kind, 1, 0))
        return server.client().info("memory")["used_memory"] - empty


def measure_cairn(program: str, kind: str, keys: int, options: argparse.Namespace) -> dict:
    """The bytes of the files, by space and by part."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-"))
    try:
        with start(options.build, data_dir=folder, memory_budget=f"{options.budget}mb") as server:
            run_load(program, 1, keys, SEED, (server.port, kind, 1, 0))
            server.client(socket_timeout=600).execute_command("COMPACT")
            wait_for_logs(folder)
            server.shutdown()
        total = disk_bytes(folder) - (folder / "server.log").stat().st_size
        tables = tables_by_space(folder)
        blobs = sum(path.stat().st_size for path in folder.glob("*.blob"))
        in_tables = sum(parts["files"] for parts in tables.values())
        return {"disk": total, "spaces": tables, "blobs": blobs, "wal": log_bytes(folder),
                "other": total - in_tables - blobs - log_bytes(folder)}
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def show(kind: str, figures: dict):
    """Prints the ratio of a kind, and where its bytes are."""
    print(f"{kind}: {figures['disk'] / 1e6:.2f} MB on disk, {figures['memory'] / 1e6:.2f} MB in redis-server's memory: "
          f"{figures['disk'] / figures['memory']:.3f}")
    columns = ["keys", "values", "data", "index", "filter", "files"]
    print(f"  {'space':9} {'rows':>9} " + " ".join(f"{name:>11}" for name in columns) + "   bytes per row")
    for space, parts in figures["spaces"].items():
        print(f"  {space:9} {parts['rows']:9} " + " ".join(f"{parts[name]:11}" for name in columns) +
              f"   {parts['files'] / parts['rows']:.2f}")
    print(f"  blob files {figures['blobs']}, log {figures['wal']}, other files {figures['other']}", flush=True)


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--objects", type=int, default=300_000)
    parser.add_argument("--collections", type=int, default=2000, help="of each kind")
    parser.add_argument("--budget", type=int, default=256, metavar="MB", help="memory-budget")
    parser.add_argument("--most-objects", type=float, default=0.45)
    parser.add_argument("--most-collections", type=float, default=0.15)
    parser.add_argument("--build", default="", help="another cairn-server to measure instead")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main() -> int:
    """Measures the kinds; returns the exit status."""
    options = parse_options()
    program = compile_program("beyond_memory")
    results = {}
    for kind in options.kinds.split(","):
        keys = options.objects if kind == "objects" else options.collections
        figures = measure_cairn(program, KINDS[kind], keys, options)
        results[kind] = {"memory": measure_redis(program, KINDS[kind], keys), **figures}
        show(kind, results[kind])
    missed = False
    bars = {"objects": (["objects"], options.most_objects), "collections": (COLLECTIONS, options.most_collections)}
    for name, (kinds, most) in bars.items():
        measured = [results[kind] for kind in kinds if kind in results]
        if not measured:
            continue
        share = sum(one["disk"] for one in measured) / sum(one["memory"] for one in measured)
        missed |= share > most
        print(f"{name}: {share:.3f} of redis-server's memory (at most {most})")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
