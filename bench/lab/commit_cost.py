# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of a tick's commit by the number of rows it writes.

One client sends SETs of 100 bytes in pipelines of 1 to 512, so a tick has as many rows; the server's CPU time and the
log's bytes are divided by the number of commands.

    build/venv/bin/python bench/lab/commit_cost.py [--policy no|everysec|always]
"""

import argparse
import random

import process
from servers import start_cairn
from wire import Connection, encode_command

KEYS = 100_000
VALUE = b"v" * 100
ROUNDS = 3


def measure(server, connection, depth, count):
    """CPU microseconds and log bytes per SET, the best of ROUNDS; and milliseconds per pipeline."""
    rng = random.Random(depth)
    pipelines = [b"".join(encode_command(b"SET", b"key:%06d" % rng.randrange(KEYS), VALUE)
                          for _ in range(depth)) for _ in range(count // depth)]
    best = None
    for _ in range(ROUNDS):
        log = server.client().info("rocksdb")["wal_bytes"]
        before = process.cpu_seconds(server.pid)
        for pipeline in pipelines:
            connection.exchange(pipeline, len(b"+OK\r\n") * depth)
        commands = len(pipelines) * depth
        cpu = (process.cpu_seconds(server.pid) - before) * 1e6 / commands
        log = (server.client().info("rocksdb")["wal_bytes"] - log) / commands
        best = min(best or (cpu, log), (cpu, log))
    return best


def main():
    """Prints one line per depth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--policy", default="everysec", choices=("no", "everysec", "always"))
    policy = parser.parse_args().policy
    print(f"appendfsync {policy}\ndepth  CPU us per SET  log bytes per SET")
    with start_cairn("", appendfsync=policy) as server:
        connection = Connection(server.port)
        measure(server, connection, 500, KEYS)
        for depth in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
            cpu, log = measure(server, connection, depth, 8000 if depth < 8 else 50_000)
            print(f"{depth:5}{cpu:16.2f}{log:19.1f}", flush=True)


if __name__ == "__main__":
    main()
