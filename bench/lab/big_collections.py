# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of a rank, an offset or a random member, by the size of the collection.

A list, a set, a sorted set and a hash of each size are loaded. Then each operation is sent many times, one request
after the other, at random places. The sizes take turns. The table has the median latency of a client, in microseconds,
for Cairn and for redis-server. Cairn is then restarted: the first query of each kind is listed separately, the medians
after it beside those before.

An operation fails if its median on the largest collection is more than three times that on the smallest. LINSERT is not
judged and sent only a few times: both servers read the list up to its pivot.
"""

import argparse
import json
import pathlib
import random
import statistics
import sys
import time

from awake import awake
from servers import start_cairn, start_redis
from wire import Chunk, Connection, encode_command

BATCH = 1000
MOST_GROWTH = 3.0
LINEAR = "LINSERT"  # reads the list up to its pivot
NEAR = 100  # LINSERT's pivots are within this many elements of the middle


def name(number: int) -> bytes:
    """An element by its number."""
    return b"m%09d" % number


def load(connection: Connection, size: int):
    """Loads the four collections of one size."""
    for start in range(0, size, BATCH):
        numbers = range(start, min(start + BATCH, size))
        names = [name(i) for i in numbers]
        scored = [word for i in numbers for word in (b"%d" % i, name(i))]
        fields = [word for each in names for word in (each, b"v")]
        payload = b"".join((
            encode_command(b"RPUSH", b"list:%d" % size, *names),
            encode_command(b"SADD", b"set:%d" % size, *names),
            encode_command(b"ZADD", b"zset:%d" % size, *scored),
            encode_command(b"HSET", b"hash:%d" % size, *fields),
        ))
        connection.send_chunk(Chunk(payload, 4))


def queries(size: int, rng: random.Random) -> dict:
    """Operation -> a function that makes its next query on collections of this size."""
    zset, lists, sets, hashes = (b"%s:%d" % (kind, size) for kind in (b"zset", b"list", b"set",
                                                                     b"hash"))

    def place(room=200):
        return rng.randrange(max(size - room, 1))

    def span():
        low, high = sorted((place(), place()))
        return b"%d" % low, b"%d" % high

    def window():
        start = place()
        return b"%d" % start, b"%d" % (start + 9)

    return {
        "ZRANK": lambda: (b"ZRANK", zset, name(place())),
        "ZRANGE": lambda: (b"ZRANGE", zset, *window()),
        "ZREVRANGE": lambda: (b"ZREVRANGE", zset, *window()),
        "ZCOUNT": lambda: (b"ZCOUNT", zset, *span()),
        "ZREMRANGEBYRANK": lambda: (b"ZREMRANGEBYRANK", zset, *[b"%d" % place()] * 2),
        "LINDEX": lambda: (b"LINDEX", lists, b"%d" % place()),
        "LRANGE": lambda: (b"LRANGE", lists, *window()),
        LINEAR: lambda: (b"LINSERT", lists, b"BEFORE",
                         name(size // 2 + rng.randrange(-NEAR, NEAR)), b"new"),
        "SPOP": lambda: (b"SPOP", sets),
        "SRANDMEMBER": lambda: (b"SRANDMEMBER", sets),
        "SRANDMEMBER 10": lambda: (b"SRANDMEMBER", sets, b"10"),
        "HRANDFIELD": lambda: (b"HRANDFIELD", hashes),
        "HRANDFIELD 10": lambda: (b"HRANDFIELD", hashes, b"10"),
        "ZRANDMEMBER": lambda: (b"ZRANDMEMBER", zset),
        "ZRANDMEMBER 10": lambda: (b"ZRANDMEMBER", zset, b"10"),
    }


def timed(connection: Connection, query: tuple) -> float:
    """The microseconds until the reply."""
    started = time.perf_counter()
    connection.pipeline([query])
    return (time.perf_counter() - started) * 1e6


def measure(connection: Connection, sizes: list, rounds: int) -> dict:
    """Operation -> size -> the first query's time and the median of the others.

    The sizes take turns, query by query, so a machine that becomes slower affects all of them.
    """
    rng = random.Random(5)
    by_size = {size: queries(size, rng) for size in sizes}
    figures = {}
    for operation in by_size[sizes[0]]:
        count = 3 if operation == LINEAR else rounds
        times = {size: [] for size in sizes}
        for _ in range(1 + count):
            for size in sizes:
                times[size].append(timed(connection, by_size[size][operation]()))
        figures[operation] = {size: {"first": taken[0], "median": statistics.median(taken[1:])}
                              for size, taken in times.items()}
    return figures


def measure_server(start, options, is_redis: bool) -> dict:
    """Loads a server and measures it; Cairn once more after a restart."""
    with start() as server:
        with Connection(server.port) as connection:
            for size in options.sizes:
                load(connection, size)
            measure(connection, options.sizes, 20)  # the first ones build the index
            figures = {"warm": measure(connection, options.sizes, options.rounds)}
        if not is_redis:
            server.restart("shutdown")
            with Connection(server.port) as connection:
                figures["restarted"] = measure(connection, options.sizes, options.rounds)
    return figures


def growth(by_size: dict) -> float:
    """The ratio of the largest collection's median to the smallest one's."""
    medians = [figures["median"] for _, figures in sorted(by_size.items())]
    return medians[-1] / medians[0]


def print_table(title: str, figures: dict, sizes: list, what: str, judged: bool):
    """A row per operation, a column per size."""
    print(f"\n{title}\n{'':16}" + "".join(f"{size:>11,}" for size in sizes)
          + ("     growth" if judged else ""))
    for operation, by_size in figures.items():
        line = f"{operation:16}" + "".join(f"{by_size[size][what]:11.0f}" for size in sizes)
        print(line + (f"{growth(by_size):11.2f}" if judged else ""))


def main() -> int:
    """Parses the command line, measures, prints the tables; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=lambda text: [int(word) for word in text.split(",")],
                        default=[1000, 10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=200, help="queries of each kind")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    with awake():
        result = {
            "cairn": measure_server(lambda: start_cairn(options.cairn_args), options, False),
            "redis": measure_server(start_redis, options, True),
        }
    sizes = options.sizes
    print_table("Cairn, median us", result["cairn"]["warm"], sizes, "median", True)
    print_table("redis-server, median us", result["redis"]["warm"], sizes, "median", True)
    restarted = result["cairn"]["restarted"]
    print_table("Cairn after a restart, first query, us", restarted, sizes, "first", False)
    print_table("Cairn after a restart, then, median us", restarted, sizes, "median", True)
    failed = [f"{operation} ({state})" for state in ("warm", "restarted")
              for operation, by_size in result["cairn"][state].items()
              if operation != LINEAR and growth(by_size) > MOST_GROWTH]
    print("\ngrows more than three times: " + (", ".join(failed) or "nothing"))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
