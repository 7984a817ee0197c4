# SPDX-License-Identifier: BSD-3-Clause
"""SORT and SORT_RO.

They use separate keys, with numbers and with words without zero bytes: Redis compares texts like strcmp, and the order
of elements with the same weight depends on its sorting algorithm and on the input order, which is that of a hash table
for sets and sorted sets.
"""

from step import NOTHING, UNORDERED, command


def numbers_key(s):
    """A collection of numbers, its type in its name."""
    return s.pick(b"sort:list:1", b"sort:list:2", b"sort:set:1", b"sort:zset:1")


def fill(s):
    """Adds numbers, and weights and hashes that they are looked up in."""
    key = numbers_key(s)
    numbers = [s.pick(b"%d" % s.rng.randint(-20, 40), b"%g" % s.rng.uniform(-9, 9)) for _ in "123"]
    if key.startswith(b"sort:zset"):
        numbers.append(b"1" + b"0" * 70)  # SORT makes it a skip list in Redis; this does so before
        words = [w for n in numbers for w in (b"%d" % s.rng.randint(0, 9), n)]
        return command("ZADD", key, words, mutable=NOTHING)
    return command("SADD" if b"set" in key else "RPUSH", key, numbers, mutable=NOTHING)


def weights(s):
    """Weights in separate keys."""
    number = b"%d" % s.rng.randint(-20, 40)
    weight = s.pick(b"%d" % s.rng.randint(-99, 99), b"%g" % s.rng.uniform(-9, 9), b"w" + number)
    if s.chance(0.5):
        return command("SET", b"weight:" + number, weight, mutable=NOTHING)
    return command("HSET", b"object:" + number, "weight", weight, "name", s.value(), mutable=NOTHING)


def limit(s):
    """A LIMIT clause or none."""
    if s.chance(0.6):
        return []
    return [b"LIMIT", s.pick(b"0", b"1", b"-1", b"x"), s.pick(b"3", b"10", b"-1", b"0")]


def get(s):
    """GET clauses."""
    patterns = [b"#", b"weight:*", b"object:*->name", b"object:*->nope", b"none", b"*", b"object:*"]
    return [w for _ in range(s.rng.randint(0, 2)) for w in (b"GET", s.pick(*patterns))]


def sort_numbers(s):
    """SORT by the numbers themselves or by weights."""
    by = s.pick([], [], [b"BY", b"weight:*"], [b"BY", b"object:*->weight"], [b"BY", b"weight:*->f"])
    words = by + limit(s) + get(s) + s.pick([], [b"DESC"], [b"ASC"], [b"NOPE"][: s.chance(0.1)])
    name = s.pick("SORT", "SORT_RO")
    store = [b"STORE", b"sort:result"] if s.chance(0.25) else []
    return [
        # Redis reports a number as out of range if the previous number that it parsed anywhere was.
        command("ZADD", "sort:number", "1", "1", mutable=NOTHING),
        command(name, numbers_key(s), words, store, mutable=NOTHING),
    ]


def sort_words(s):
    """SORT ALPHA; elements of equal weight have a known input order only in a list."""
    key, by = numbers_key(s), s.pick([], [b"BY", b"weight:*"], [b"BY", b"object:*->weight"])
    if not by:
        return command("SORT", key, "ALPHA", limit(s), s.pick([], [b"DESC"]), mutable=NOTHING)
    if b"list" in key:
        return command("SORT", key, by, "ALPHA", limit(s), s.pick([], [b"DESC"]), mutable=NOTHING)
    return command("SORT", key, by, "ALPHA", rule=UNORDERED, mutable=NOTHING)


def unsorted(s):
    """SORT BY a constant: a list or a sorted set in its own order."""
    key = s.pick(b"sort:list:1", b"sort:list:2", b"sort:zset:1")
    store = [b"STORE", b"sort:result"] if s.chance(0.25) else []
    return command(
        "SORT", key, "BY", "nosort", limit(s), get(s), s.pick([], [b"DESC"]), store, mutable=NOTHING
    )


def refused(s):
    """SORT of a value that cannot be sorted."""
    make, words = s.pick(
        (["SET", "sort:other", "x"], []),
        (["HSET", "sort:other", "f", "v"], ["ALPHA"]),
        (["RPUSH", "sort:other", "1", "x"], s.pick(["DESC"], ["STORE", "sort:result"])),
        (["RPUSH", "sort:other", "1", "1e400", "nan"], []),
    )
    return [
        command("DEL", "sort:other", mutable=NOTHING),
        command(*make, mutable=NOTHING),
        command("SORT", "sort:other", *words, mutable=NOTHING),
    ]


COMMANDS = [
    (8, fill),
    (5, weights),
    (10, sort_numbers),
    (4, sort_words),
    (4, unsorted),
    (2, lambda s: command("LRANGE", "sort:result", 0, -1, mutable=NOTHING)),
    (1, refused),
    (1, lambda s: command("LPOP", s.pick("sort:list:1", "sort:list:2"), 3, mutable=NOTHING)),
]
