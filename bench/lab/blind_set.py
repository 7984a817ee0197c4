# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of SET's check whether its key exists, for docs/decisions/key-cache.md.

    build/venv/bin/python bench/lab/blind_set.py [--case NAME=COMMAND ...]

redis-benchmark's SET, -c 50 -P 16 -d 100: into an empty server, whose key cache is complete; of new keys, and of
existing keys, into the data set of run_again.py, some ten times the caches. One line per load and case, medians of the
rounds, with the cases in turns; DBSIZE is compared with the number of written keys. A case is a command line for a
server, such as a build whose SET does not check.
"""

import argparse
import contextlib
import pathlib
import shutil
import statistics
import tempfile

import process
from cases import read_cases
from load_generator import run_redis_benchmark
from run_again import DIRECTIVES, KEYS, fill
from servers import Server

LOADS = {"fits": ("-r", "1000000", "SET", "key:__rand_int__"), "new": ("-r", "1000000000", "SET", "new:__rand_int__"),
         "overwrite": ("-r", str(KEYS), "SET", "key:__rand_int__")}


def measure(server: Server, load: str, requests: int) -> tuple[float, float, float]:
    """SETs a second, CPU microseconds per SET, percentage of them on the slow lane or with a fetched row."""
    process.wait_until_quiet([server.pid], 5)
    client = server.client()
    slow, cpu = client.info("stats")["slow_lane_commands"], process.cpu_seconds(server.pid)
    figures = run_redis_benchmark(server.port, "-c", "50", "-P", "16", "-n", str(requests), *LOADS[load], "v" * 100)
    cpu = (process.cpu_seconds(server.pid) - cpu) * 1e6 / requests
    return figures.throughput, cpu, 100 * (client.info("stats")["slow_lane_commands"] - slow) / requests


def count_keys(server: Server) -> tuple[int, int]:
    """The number of keys by DBSIZE, and by a scan."""
    client = server.client()
    return int(client.dbsize()), sum(1 for _ in client.scan_iter(count=10000))


def main():
    """Prints one line per load and case."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--case", action="append", metavar="NAME=COMMAND")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    cases = read_cases(options.case)
    found = {(load, name): [] for load in LOADS for name in cases}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        first = pathlib.Path(folder, "filled")
        first.mkdir()
        with Server(data_dir=str(first), **DIRECTIVES) as server:
            fill(server)
        empty, filled = {}, {}
        for name, command in cases.items():
            shutil.copytree(first, pathlib.Path(folder, name))
            filled[name] = stack.enter_context(Server(command, str(pathlib.Path(folder, name)), **DIRECTIVES))
            empty[name] = stack.enter_context(Server(command))
        for _ in range(options.rounds):
            for load in LOADS:
                for name in cases:
                    server = (empty if load == "fits" else filled)[name]
                    found[load, name].append(measure(server, load, options.requests))
        print("load       case       per second      CPU us   slow lane %")
        for (load, name), rounds in found.items():
            rate, cpu, slow = (statistics.median(column) for column in zip(*rounds))
            print(f"{load:10} {name:10}{rate:11.0f}{cpu:12.2f}{slow:14.2f}")
        for name in cases:
            print(name, "DBSIZE %d, keys %d" % count_keys(empty[name]))


if __name__ == "__main__":
    main()
