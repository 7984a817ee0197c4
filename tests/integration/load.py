# SPDX-License-Identifier: BSD-3-Clause
"""Seeded load over all data types, and the comparison of two data sets.

`fill` creates a data set with every encoding of Redis, from one to many elements. `change` makes random changes to it,
the same for the same seed. Both use only commands of Redis 5 and later. `assert_equal` compares two servers key by key:
type, value, order and TTL.
"""

import random

TYPES = ("string", "integer", "list", "set", "intset", "zset", "hash", "stream")


def text(rng, most=40):
    """Random bytes, a compressible text, a number, or sometimes an empty text."""
    kind = rng.random()
    if kind < 0.1:
        return b"%d" % rng.randint(-(2**40), 2**40)
    if kind < 0.2:
        return b"ab" * rng.randint(10, 400)
    return rng.randbytes(rng.randint(0, most))


def score(rng):
    """A score: integral, fractional or infinite."""
    return rng.choice([rng.randint(-1000, 1000), rng.random() * 1e6, float("inf"), -0.5, 1e300])


def fill_key(pipe, rng, name, kind, size):
    """Creates one key of `kind` with `size` elements."""
    if kind == "string":
        pipe.set(name, text(rng, 3000))
    elif kind == "integer":
        pipe.set(name, rng.randint(-(2**63), 2**63 - 1))
    elif kind == "list":
        at_once = 1 if size < 1000 else 100
        for _ in range(size // at_once):
            (pipe.rpush if rng.random() < 0.7 else pipe.lpush)(name, *[text(rng) for _ in range(at_once)])
    elif kind == "set":
        pipe.sadd(name, *[b"m%d:" % i + text(rng, 20) for i in range(size)])
    elif kind == "intset":
        bound = rng.choice([100, 40000, 2**40])
        pipe.sadd(name, *[rng.randint(-bound, bound) for _ in range(size)])
    elif kind == "zset":
        pipe.zadd(name, {b"m%d:" % i + text(rng, 20): score(rng) for i in range(size)})
    elif kind == "hash":
        pipe.hset(name, mapping={b"f%d" % i: text(rng) for i in range(size)})
    else:
        for i in range(size):
            pipe.xadd(name, {b"f": text(rng), b"g%d" % (i % 3): b"v"}, id=f"{i + 1}-{rng.randint(0, 9)}")
        pipe.xdel(name, *[f"{i + 1}-0" for i in range(0, size, 7)])
        pipe.xgroup_create(name, "group", id="0")
        pipe.xreadgroup("group", "alice", {name: ">"}, count=size // 2 + 1)
        pipe.xgroup_createconsumer(name, "group", "idle")


def fill(client, seed=1, keys=400, dbs=(0, 3), large=()):
    """Creates `keys` keys of all types in each of `dbs`, and one of each type of each size in `large`."""
    rng = random.Random(seed)
    for db in dbs:
        client.execute_command("SELECT", db)
        pipe = client.pipeline(transaction=False)
        for number in range(keys):
            kind = TYPES[number % len(TYPES)]
            name = b"%s:%d" % (kind.encode(), number)
            fill_key(pipe, rng, name, kind, rng.choice([1, 2, 5, 20, 100, 150, 600]))
            if rng.random() < 0.3:
                pipe.pexpireat(name, 4102444800000 + rng.randint(0, 10**9))
            if number % 50 == 0:
                pipe.execute()
        for size in large:
            for kind in TYPES[2:]:
                fill_key(pipe, rng, b"large:%s:%d" % (kind.encode(), size), kind, size)
        pipe.execute()
    client.execute_command("SELECT", 0)


def value_of(client, name, kind):
    """The whole value of a key, in a form that can be compared."""
    if kind == b"string":
        return client.get(name)
    if kind == b"list":
        return client.lrange(name, 0, -1)
    if kind == b"set":
        return client.smembers(name)
    if kind == b"zset":
        return client.zrange(name, 0, -1, withscores=True)
    if kind == b"hash":
        return client.hgetall(name)
    groups = client.xinfo_groups(name)
    pending = [client.xpending_range(name, g["name"], "-", "+", 100000) for g in groups]
    for entries in pending:
        for entry in entries:
            entry.pop("time_since_delivered", None)
    names = [sorted(c["name"] for c in client.xinfo_consumers(name, g["name"])) for g in groups]
    info = client.xinfo_stream(name)
    kept = {field: info[field] for field in ("length", "last-generated-id", "groups")}
    return client.xrange(name), [(g["name"], g["pending"], g["last-delivered-id"]) for g in groups], \
        pending, names, kept


def describe(client, dbs=(0, 3)):
    """Everything in the databases: {(db, key): (type, expiry, value)}."""
    everything = {}
    for db in dbs:
        client.execute_command("SELECT", db)
        for name in client.scan_iter(count=1000):
            kind = client.type(name)
            if kind == b"none":
                continue
            expiry = client.execute_command("PEXPIRETIME", name)
            everything[db, name] = (kind, expiry, value_of(client, name, kind))
    client.execute_command("SELECT", 0)
    return everything


def assert_equal(one, other, dbs=(0, 3)):
    """Both servers hold the same data; the error names the first differing keys."""
    left, right = describe(one, dbs), describe(other, dbs)
    missing, extra = left.keys() - right.keys(), right.keys() - left.keys()
    differing = [key for key in left.keys() & right.keys() if left[key] != right[key]]
    assert not missing and not extra and not differing, (
        f"missing {sorted(missing)[:5]}, extra {sorted(extra)[:5]}, differing "
        + str([(key, str(left[key])[:300], str(right[key])[:300]) for key in differing[:3]]))
