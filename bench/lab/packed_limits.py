# SPDX-License-Identifier: BSD-3-Clause
"""Compares the cost of packed and spread hashes, sets and sorted sets, by the number of elements.

For each size the same collections are written twice, once with limits that keep them packed and once with limits that
spread them. Then a change of one element (HSET; SADD and SREM in turn; ZADD), a read of one and a read of all are
measured: the server's CPU time per command, and the bytes of log per change. There are 200 collections of each size,
and commands go to them in turn, so fifty commands of a tick use different rows.

  hash            fields of 8 to 10 bytes with values of 20
  set, zset       integers of seven digits, with scores of six

    build/venv/bin/python bench/lab/packed_limits.py [--kinds hash] [--sizes 16,64,128,256,512,1024]
"""

import argparse

import process
from servers import start_cairn
from wire import Connection, encode_command

COLLECTIONS = 200
VALUE = b"v" * 20
ROUNDS = 3
BATCH = 40
COMMANDS = 20_000


def bulk(word):
    """A word as a reply."""
    return b"$%d\r\n%s\r\n" % (len(word), word)


class Hash:
    """The commands of a hash and the replies' texts."""

    elements = staticmethod(lambda size: [b"field:%d" % i for i in range(size)])
    fill = staticmethod(lambda key, names: (b"HSET", key, *(word for name in names for word in (name, VALUE))))
    change = staticmethod(lambda key, name, turn: (b"HSET", key, name, VALUE))
    changed = b":0\r\n"
    read = staticmethod(lambda key, name: (b"HGET", key, name))
    found = bulk(VALUE)
    whole = staticmethod(lambda key: (b"HGETALL", key))
    all_of = staticmethod(lambda names: b"*%d\r\n" % (2 * len(names)) + b"".join(map(bulk, names))
                          + bulk(VALUE) * len(names))


class Set:
    """The same of a set of integers."""

    elements = staticmethod(lambda size: [b"%d" % (1_000_000 + 8999 * i) for i in range(size)])
    fill = staticmethod(lambda key, names: (b"SADD", key, *names))
    change = staticmethod(lambda key, name, turn: ((b"SREM", b"SADD")[turn % 2], key, name))
    changed = b":1\r\n"
    read = staticmethod(lambda key, name: (b"SISMEMBER", key, name))
    found = b":1\r\n"
    whole = staticmethod(lambda key: (b"SMEMBERS", key))
    all_of = staticmethod(lambda names: b"*%d\r\n" % len(names) + b"".join(map(bulk, names)))


class Zset(Set):
    """The same of a sorted set of integers."""

    fill = staticmethod(lambda key, names: (
        b"ZADD", key, *(word for i, name in enumerate(names) for word in (b"%d" % (100_000 + 877 * i), name))))
    change = staticmethod(lambda key, name, turn: (b"ZADD", key, b"%d" % (100_000 + 31 * turn), name))
    changed = b":0\r\n"
    read = staticmethod(lambda key, name: (b"ZSCORE", key, name))
    whole = staticmethod(lambda key: (b"ZRANGE", key, b"0", b"-1"))
    found = bulk(b"123456")


KINDS = {"hash": Hash, "set": Set, "zset": Zset}


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


def measure(kind, size, is_packed):
    """The three commands on collections of one kind, size and form."""
    entries = 1_000_000 if is_packed else 0
    limits = {"hash-max-listpack-entries": entries, "set-max-intset-entries": entries,
              "zset-max-listpack-entries": entries, "packed-max-bytes": "1mb", "packed-large-max-bytes": 0}
    with start_cairn("", **limits) as server:
        connection = Connection(server.port)
        names = kind.elements(size)
        keys = [b"h:%d" % i for i in range(COLLECTIONS)]
        for key in keys:
            filled = b":%d\r\n" % size
            connection.exchange(encode_command(*kind.fill(key, names)), len(filled))
        # Successive turns of a collection are a removal and an addition of the same element.
        turns = [(keys[i % COLLECTIONS], names[i // COLLECTIONS // 2 % size], i // COLLECTIONS)
                 for i in range(COMMANDS)]
        change = [encode_command(*kind.change(key, name, turn)) for key, name, turn in turns]
        read = [encode_command(*kind.read(key, names[i % size])) for i, (key, _, _) in enumerate(turns)]
        whole = [encode_command(*kind.whole(key)) for key, _, _ in turns[:max(400, 200_000 // size)]]
        return (run(server, connection, change, len(kind.changed)),
                run(server, connection, whole, len(kind.all_of(names))),
                run(server, connection, read, len(kind.found)))


def main():
    """Prints one line per kind, size and form."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kinds", default="hash")
    parser.add_argument("--sizes", default="16,64,128,256,512,1024")
    options = parser.parse_args()
    print("kind  elements  form     change us  log bytes   read us   all us")
    for kind in options.kinds.split(","):
        for size in map(int, options.sizes.split(",")):
            for form in ("packed", "spread"):
                change, whole, read = measure(KINDS[kind], size, form == "packed")
                print(f"{kind:5} {size:8}  {form:6}{change[0]:12.2f}{change[1]:11.0f}{read[0]:10.2f}{whole[0]:9.1f}",
                      flush=True)


if __name__ == "__main__":
    main()
