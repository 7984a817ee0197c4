# SPDX-License-Identifier: BSD-3-Clause
"""Compares the cost of packed and spread hashes, by the number of fields.

For each size the same hashes are written twice, once with limits that keep them packed and once with limits that spread
them. Then HSET of an existing field, HGET and HGETALL are measured: the server's CPU time per command, and the bytes of
log per HSET. There are 200 hashes of each size, and commands go to them in turn, so fifty commands of a tick use
different rows.

    build/venv/bin/python bench/lab/packed_limits.py [--sizes 16,64,128,256,512,1024]
"""

import argparse
import itertools

import process
from servers import start_cairn
from wire import Connection, encode_command

HASHES = 200
VALUE = b"v" * 20
ROUNDS = 3
BATCH = 40


def fields(size):
    """The names of a hash's fields."""
    return [b"field:%d" % i for i in range(size)]


def fill(connection, size):
    """Writes HASHES hashes of `size` fields."""
    pairs = [word for field in fields(size) for word in (field, VALUE)]
    for number in range(HASHES):
        command = encode_command(b"HSET", b"h:%d" % number, *pairs)
        connection.exchange(command, len(b":%d\r\n" % size))


def run(server, connection, commands, reply_bytes):
    """CPU microseconds and log bytes per command, the best of ROUNDS."""
    best = None
    for _ in range(ROUNDS):
        log = server.client().info("rocksdb")["wal_bytes"]
        before = process.cpu_seconds(server.pid)
        for start in range(0, len(commands), BATCH):
            part = commands[start:start + BATCH]
            connection.exchange(b"".join(part), reply_bytes * len(part))
        cpu = (process.cpu_seconds(server.pid) - before) * 1e6 / len(commands)
        log = (server.client().info("rocksdb")["wal_bytes"] - log) / len(commands)
        best = min(best or (cpu, log), (cpu, log))
    return best


def measure(size, entries_limit):
    """The three commands on hashes of one size and form."""
    limits = {"hash-max-listpack-entries": entries_limit, "packed-max-bytes": "1mb"}
    with start_cairn("", **limits) as server:
        connection = Connection(server.port)
        fill(connection, size)
        names, count = itertools.cycle(fields(size)), 20_000
        keys = [b"h:%d" % (i % HASHES) for i in range(count)]
        hset = [encode_command(b"HSET", key, next(names), VALUE) for key in keys]
        hget = [encode_command(b"HGET", key, next(names)) for key in keys]
        whole = [encode_command(b"HGETALL", key) for key in keys[:max(400, 200_000 // size)]]
        reply = len(b"*%d\r\n" % (2 * size)) + sum(
            len(b"$%d\r\n" % len(f)) + len(f) + 2 + len(b"$20\r\n") + 22 for f in fields(size))
        return (run(server, connection, hset, len(b":0\r\n")),
                run(server, connection, hget, len(b"$20\r\n") + 22),
                run(server, connection, whole, reply))


def main():
    """Prints one line per size and form."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="16,64,128,256,512,1024")
    sizes = [int(size) for size in parser.parse_args().sizes.split(",")]
    print("fields  form    HSET us  log bytes   HGET us  HGETALL us")
    for size in sizes:
        for form, limit in (("packed", 1_000_000), ("spread", 0)):
            hset, hget, whole = measure(size, limit)
            print(f"{size:6}  {form:6}{hset[0]:9.2f}{hset[1]:11.0f}{hget[0]:10.2f}{whole[0]:12.1f}",
                  flush=True)


if __name__ == "__main__":
    main()
