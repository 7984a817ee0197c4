# SPDX-License-Identifier: BSD-3-Clause
"""Measures the effect of reads that miss on reads that hit, for docs/decisions/run-again.md.

    build/venv/bin/python bench/lab/run_again.py [--case NAME=COMMAND ...] [--depth 16] [--budget] [--page-cache]

The data set is some ten times the caches, and table files are read past the kernel's page cache (or not). Each of 50
connections requests hot keys and, with 0, 10, 50, 90 percent, a random one of all the others. One line per case and
percentage, medians of the rounds, with the cases in turns. With --budget, long reads delay the hot ones: a client
requests every few milliseconds HGETALL of 2,000 or 20,000 spread fields, or LRANGE of 100,000 elements, all in memory.

A case is a command line for a server, such as a build with a changed constant of src/.
"""

import argparse
import contextlib
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

import process
from cases import compile_program, read_cases
from servers import Server
from wire import Connection, encode_command, pack_chunks

KEYS, HOT, VALUE_BYTES = 300_000, 2_000, 1000
CONNECTIONS = 50
BUDGET = "64mb"
LONG_PAUSE_S = 0.005
LONG_READS = {"2,000 rows": (b"HGETALL", b"hash:2000"), "20,000 rows": (b"HGETALL", b"hash:20000"),
              "100,000 items": (b"LRANGE", b"list", b"0", b"-1")}
COLUMNS = ("per_second", "cpu_us", "hot_p50_ms", "hot_p99_ms", "hot_p999_ms", "cold_p50_ms", "cold_p99_ms",
           "slow_percent")


def fill(server: Server):
    """Writes the keys, with values that do not compress, in an order other than that of the disk."""
    noise = pathlib.Path("/dev/urandom").open("rb").read(VALUE_BYTES + 4096)
    values = (noise[n % 4096:n % 4096 + VALUE_BYTES] for n in range(KEYS))
    with Connection(server.port) as connection:
        connection.load(pack_chunks((b"SET", b"key:%012d" % n, value) for n, value in enumerate(values)))
        connection.ask("COMPACT")
        for fields in (2_000, 20_000):
            pairs = (text for n in range(fields) for text in (f"field:{n}", "v" * 20))
            connection.ask("HSET", f"hash:{fields}", *pairs)
        connection.ask("RPUSH", "list", *("v" * 20 for _ in range(100_000)))


def warm(server: Server):
    """Reads each hot key twice, so that reads of other keys do not evict it."""
    with Connection(server.port) as connection:
        for _ in range(3):
            for start in range(0, HOT, 100):
                connection.pipeline([(b"GET", b"key:%012d" % n) for n in range(start, start + 100)])


class LongReads:
    """A client that requests a whole collection repeatedly during the `with` block."""

    def __init__(self, server: Server, command: tuple[bytes, ...]):
        self.times: list[float] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(server, command))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _run(self, server: Server, command: tuple[bytes, ...]):
        with Connection(server.port) as connection:
            encoded = encode_command(*command)
            size = len(encode_command(*connection.pipeline([command])[0]))
            while not self._done.wait(LONG_PAUSE_S):
                start = time.monotonic()
                connection.exchange(encoded, size)
                self.times.append(time.monotonic() - start)


def measure(server: Server, program: str, cold: int, options, seed: int) -> dict:
    """One run of the load; also returns the server's CPU and the share of reads that went to the slow lane."""
    client = server.client()
    slow = client.info("stats")["slow_lane_commands"]
    cpu = process.cpu_seconds(server.pid)
    done = subprocess.run([program, str(server.port), str(options.connections), str(options.depth), str(HOT), str(KEYS),
                           str(cold), str(options.seconds), str(seed)], check=True, capture_output=True)
    figures = json.loads(done.stdout)
    reads = figures["hot"] + figures["cold"]
    figures["cpu_us"] = (process.cpu_seconds(server.pid) - cpu) / reads * 1e6
    figures["slow_percent"] = 100 * (client.info("stats")["slow_lane_commands"] - slow) / reads
    return figures


def measure_load(server: Server, program: str, load: str, options, seed: int) -> dict:
    """One run of a load by its name."""
    if load not in LONG_READS:
        cold = int(load.partition("%")[0])
        return measure(server, program, cold, options, seed * 100 + cold)
    with LongReads(server, LONG_READS[load]) as reads:
        figures = measure(server, program, 0, options, seed)
    return {**figures, "long_p50_ms": statistics.median(reads.times) * 1e3}


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--case", action="append", metavar="NAME=COMMAND")
    parser.add_argument("--depth", type=int, default=1, help="depth of the pipelines")
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", action="store_true", help="long reads in memory instead of cold ones")
    parser.add_argument("--page-cache", action="store_true",
                        help="let the kernel cache the tables")
    return parser.parse_args()


def main():
    """Prints one line per load and case."""
    options = parse_options()
    cases = read_cases(options.case)
    program = compile_program("hot_cold")
    loads = list(LONG_READS) if options.budget else ["0% cold", "10% cold", "50% cold", "90% cold"]
    directives = {"memory_budget": BUDGET, "rocksdb_direct_io": "no" if options.page_cache else "yes"}
    found = {(load, name): [] for load in loads for name in cases}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        first = pathlib.Path(folder, "filled")
        first.mkdir()
        with Server(data_dir=str(first), **directives) as server:
            fill(server)
        servers = {}
        for name, command in cases.items():
            shutil.copytree(first, pathlib.Path(folder, name))
            servers[name] = stack.enter_context(Server(command, str(pathlib.Path(folder, name)), **directives))
        for seed in range(options.rounds):
            for load in loads:
                for name, server in servers.items():
                    warm(server)
                    found[load, name].append(measure_load(server, program, load, options, seed))
    columns = COLUMNS + (("long_p50_ms",) if options.budget else ())
    print("load          case        " + "".join(f"{column:>14}" for column in columns))
    for (load, name), rounds in found.items():
        medians = (statistics.median(figures[column] for figures in rounds) for column in columns)
        print(f"{load:13} {name:12}" + "".join(f"{median:14.3f}" for median in medians))


if __name__ == "__main__":
    main()
