# SPDX-License-Identifier: BSD-3-Clause
"""Measures an EXEC that locks many keys while other clients do the same, for docs/decisions/locks.md.

    build/venv/bin/python bench/lab/exec_locks.py [--case NAME=COMMAND ...]

Two clients, each on its own I/O thread, send transactions of 1, 10 or 100 INCRs of random keys, of 100 keys or of a
million, eight transactions in a pipeline. The output is the server's CPU time per INCR and the share of the
transactions that went to the slow lane, medians of the rounds, with the cases in turns. At the end the sum of all keys
must be the number of INCRs. A case is a command line for a server.
"""

import argparse
import contextlib
import multiprocessing
import random
import statistics
import time

import process
from cases import read_cases
from servers import Server
from wire import Connection

CLIENTS, PIPELINE = 2, 8
LOADS = [(keys, size) for keys in (1_000_000, 100) for size in (1, 10, 100)]


def increment(port: int, keys: int, size: int, seconds: float, seed: int, counted):
    """The body of a client; adds its number of transactions to `counted`."""
    rng = random.Random(seed)
    pipelines = [[command for _ in range(PIPELINE) for command in
                  ((b"MULTI",), *((b"INCR", b"n:%d" % rng.randrange(keys)) for _ in range(size)), (b"EXEC",))]
                 for _ in range(20)]
    count, end = 0, time.monotonic() + seconds
    with Connection(port) as connection:
        while time.monotonic() < end:
            connection.pipeline(pipelines[count % len(pipelines)])
            count += 1
    with counted.get_lock():
        counted.value += count * PIPELINE


def measure(server: Server, keys: int, size: int, seconds: float, seed: int) -> tuple[float, float, int]:
    """CPU microseconds per INCR, percentage of the transactions on the slow lane, and their number."""
    counted = multiprocessing.Value("q", 0)
    client = server.client()
    slow, cpu = client.info("stats")["slow_lane_commands"], process.cpu_seconds(server.pid)
    clients = [multiprocessing.Process(target=increment,
                                       args=(server.port, keys, size, seconds, seed * CLIENTS + n, counted))
               for n in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    cpu = (process.cpu_seconds(server.pid) - cpu) * 1e6 / (counted.value * size)
    return cpu, 100 * (client.info("stats")["slow_lane_commands"] - slow) / counted.value, counted.value


def check(server: Server, increments: int):
    """Compares the sum of all keys with the number of INCRs."""
    client, total, cursor = server.client(), 0, None
    while cursor != 0:
        cursor, names = client.scan(cursor or 0, count=10000)
        total += sum(int(value) for value in client.mget(names)) if names else 0
    if total != increments:
        raise RuntimeError(f"the keys add up to {total}, {increments} INCRs were sent")


def main():
    """Prints one line per load and case."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--case", action="append", metavar="NAME=COMMAND")
    parser.add_argument("--seconds", type=float, default=0.7)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    cases = read_cases(options.case)
    found = {(load, name): [] for load in LOADS for name in cases}
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(Server(command, io_threads=2)) for name, command in cases.items()}
        for seed in range(options.rounds):
            for load in LOADS:
                for name, server in servers.items():
                    process.wait_until_quiet([one.pid for one in servers.values()], 5)
                    found[load, name].append(measure(server, *load, options.seconds, seed))
        for name, server in servers.items():
            check(server, sum(one[2] * size for (load, case), rounds in found.items() if case == name
                              for size in load[1:] for one in rounds))
    print("   keys  INCRs  case       CPU us per INCR   slow lane %")
    for ((keys, size), name), rounds in found.items():
        cpu, slow, _ = (statistics.median(column) for column in zip(*rounds))
        print(f"{keys:7}{size:7}  {name:12}{cpu:14.2f}{slow:14.2f}")


if __name__ == "__main__":
    main()
