# SPDX-License-Identifier: BSD-3-Clause
"""Measures reads of several rows as one state, for docs/decisions/multi-row-reads.md.

    build/venv/bin/python bench/lab/multi_row.py [--case NAME=COMMAND ...]

GET, MGET of 20 keys of 1,000 and HGETALL of a spread hash of 300 fields, in pipelines of 16. First alone: the server's
CPU time per command. Then while redis-benchmark writes to the same keys, or the same hash, on the other of two I/O
threads as fast as it can: commands a second, writes a second, and the share of the commands that went to the slow lane.
The cases take turns, medians of the rounds. A case is a command line for a server.
"""

import argparse
import contextlib
import random
import shlex
import statistics
import subprocess
import time

import process
from servers import Server, default_command
from wire import Connection, encode_command, pack_chunks

KEYS, MOST, FIELDS, DEPTH = 1000, 20, 300, 16
VALUE = b"v" * 20
BULK = len(b"$20\r\n") + len(VALUE) + 2
LOADS = ("GET", "MGET", "HGETALL")
WRITES = {"GET": ("SET", "key:__rand_int__", VALUE.decode()), "MGET": ("SET", "key:__rand_int__", VALUE.decode()),
          "HGETALL": ("HSET", "hash", "f:__rand_int__", VALUE.decode())}


def key(number: int) -> bytes:
    """A key's name, as in redis-benchmark."""
    return b"key:%012d" % number


def fill(server: Server):
    """Writes the keys and the hash."""
    with Connection(server.port) as connection:
        connection.load(pack_chunks((b"SET", key(n), VALUE) for n in range(KEYS)))
        connection.load(pack_chunks((b"HSET", b"hash", b"f:%012d" % n, VALUE) for n in range(FIELDS)))


def pipeline_of(load: str, rng: random.Random) -> tuple[bytes, int]:
    """DEPTH commands and the size of their replies."""
    if load == "HGETALL":
        reply = len(b"*600\r\n") + FIELDS * (BULK + len(b"$14\r\n") + 14 + 2)
        return encode_command(b"HGETALL", b"hash") * DEPTH, reply * DEPTH
    if load == "GET":
        return b"".join(encode_command(b"GET", key(rng.randrange(KEYS))) for _ in range(DEPTH)), BULK * DEPTH
    commands = (encode_command(b"MGET", *(key(rng.randrange(KEYS)) for _ in range(MOST))) for _ in range(DEPTH))
    return b"".join(commands), (len(b"*20\r\n") + MOST * BULK) * DEPTH


def read_for(server: Server, load: str, seconds: float, seed: int) -> dict:
    """Reads for this time."""
    rng = random.Random(seed)
    pipelines = [pipeline_of(load, rng) for _ in range(100)]
    client = server.client()
    slow, cpu = client.info("stats")["slow_lane_commands"], process.cpu_seconds(server.pid)
    count, start = 0, time.monotonic()
    with Connection(server.port) as connection:
        while time.monotonic() < start + seconds:
            connection.exchange(*pipelines[count % len(pipelines)])
            count += 1
    count *= DEPTH
    return {"cpu_us": (process.cpu_seconds(server.pid) - cpu) * 1e6 / count,
            "per_second": count / (time.monotonic() - start),
            "slow_percent": 100 * (client.info("stats")["slow_lane_commands"] - slow) / count}


def read_beside_writes(server: Server, load: str, seconds: float, seed: int) -> dict:
    """The same during writes; also returns the writes a second."""
    numbers = FIELDS if load == "HGETALL" else KEYS
    command = ["redis-benchmark", "-p", str(server.port), "-c", "1", "-P", "8", "-q", "-n", "1000000000",
               "-r", str(numbers), *WRITES[load]]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as writer:
        time.sleep(0.1)
        before, start = server.client().info("commandstats"), time.monotonic()
        figures = read_for(server, load, seconds, seed)
        name = f"cmdstat_{WRITES[load][0].lower()}"
        writes = server.client().info("commandstats")[name]["calls"] - before[name]["calls"]
        figures["writes_per_second"] = writes / (time.monotonic() - start)
        writer.kill()
    return figures


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--case", action="append", metavar="NAME=COMMAND")
    parser.add_argument("--seconds", type=float, default=0.7)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main():
    """Prints one line per load and case."""
    options = parse_options()
    cases = {name: shlex.split(command) for name, _, command in
             (case.partition("=") for case in options.case or [])} or {"today": default_command()}
    found = {(load, name): ([], []) for load in LOADS for name in cases}
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(Server(command, io_threads=2)) for name, command in cases.items()}
        for server in servers.values():
            fill(server)
        for seed in range(options.rounds):
            for load in LOADS:
                for name, server in servers.items():
                    process.wait_until_quiet([one.pid for one in servers.values()], 5)
                    found[load, name][0].append(read_for(server, load, options.seconds, seed))
                    found[load, name][1].append(read_beside_writes(server, load, options.seconds, seed))
    print("load     case        CPU us alone   per second | beside writes: per second   slow lane %"
          "   writes per second")
    for (load, name), (alone, beside) in found.items():
        def median(rounds, column):
            return statistics.median(figures[column] for figures in rounds)
        print(f"{load:8} {name:12}{median(alone, 'cpu_us'):12.2f}{median(alone, 'per_second'):13.0f} |"
              f"{median(beside, 'per_second'):26.0f}{median(beside, 'slow_percent'):14.2f}"
              f"{median(beside, 'writes_per_second'):20.0f}")


if __name__ == "__main__":
    main()
