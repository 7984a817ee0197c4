# SPDX-License-Identifier: BSD-3-Clause
"""Generic key commands: existence, renaming, copying between databases, deadlines."""

from step import EXISTING_KEY, MILLISECONDS, NOTHING, SECONDS, TEXT_ONLY, UNORDERED, command

MOST_DATABASES = 3  # few, so commands that cross databases often find keys


def database(s):
    """A database number, mostly one in use."""
    if s.chance(0.1):
        return s.pick(
            b"-1", b"16", b"15", b"abc", b"", b"9223372036854775808", b"1.0", b"4294967296"
        )
    return b"%d" % s.rng.randrange(MOST_DATABASES)


def expire(s):
    """The EXPIRE family: deadlines in the far future, or in the past, which delete the key."""
    flags = s.some_options("NX", "XX", "GT", "LT", "NOPE" if s.chance(0.05) else "XX", most=2)
    name, when = s.pick(
        ("EXPIRE", s.seconds()),
        ("PEXPIRE", s.milliseconds()),
        ("EXPIREAT", s.timestamp()),
        ("PEXPIREAT", s.timestamp() + b"123"),
    )
    if s.chance(0.12):
        when = s.pick(s.bad_time(), b"-9223372036854775807", b"9223372036854775", b"-1000")
    return command(name, s.any_key(), when, flags, mutable=TEXT_ONLY)


def deadline(s):
    """Queries of a key's expiry."""
    name, rule = s.pick(
        ("TTL", SECONDS),
        ("PTTL", MILLISECONDS),
        ("EXPIRETIME", SECONDS),
        ("PEXPIRETIME", MILLISECONDS),
    )
    return command(name, s.any_key(), rule=rule)


def copy(s):
    """COPY and its options."""
    options = []
    if s.chance(0.4):
        options += [b"DB", database(s)]
    options += s.some_options("REPLACE", "REPLACE", "NOPE" if s.chance(0.1) else "REPLACE", most=1)
    return command("COPY", s.key_pair(), options)


def swapdb(s):
    """SWAPDB, also of a database with itself."""
    return command("SWAPDB", database(s), database(s))


def encoding(s):
    """OBJECT ENCODING and invalid forms of it."""
    if s.chance(0.1):
        return command(
            "OBJECT",
            s.pick(
                [b"ENCODING"],
                [b"NOPE", s.any_key()],
                [b"ENCODING", b"a", b"b"],
                [b"REFCOUNT", b"missing:0"],
                [b""],
            ),
            mutable=NOTHING,
        )
    return command("OBJECT", "ENCODING", s.any_key())


def flush(s):
    """FLUSHDB, rarely FLUSHALL, with their options."""
    name = "FLUSHALL" if s.chance(0.2) else "FLUSHDB"
    return command(
        name, s.pick([], [b"ASYNC"], [b"SYNC"], [b"sync"], [b"NOPE"], [b"SYNC", b"ASYNC"])
    )


COMMANDS = [
    (
        5,
        lambda s: command(
            s.pick("DEL", "UNLINK"), [s.any_key() for _ in range(s.rng.randint(1, 2))]
        ),
    ),
    (
        6,
        lambda s: command(
            s.pick("EXISTS", "TOUCH"), [s.any_key() for _ in range(s.rng.randint(1, 4))]
        ),
    ),
    (5, lambda s: command("TYPE", s.any_key())),
    (5, lambda s: command(s.pick("RENAME", "RENAMENX"), s.key_pair())),
    (7, copy),
    (4, lambda s: command("MOVE", s.any_key(), database(s))),
    (14, expire),
    (5, lambda s: command("PERSIST", s.any_key())),
    (9, deadline),
    (4, lambda s: command("KEYS", s.pattern(), rule=UNORDERED)),
    (2, lambda s: command("RANDOMKEY", rule=EXISTING_KEY, mutable=NOTHING)),
    (4, lambda s: command("DBSIZE")),
    (2, swapdb),
    (6, encoding),
    (0.3, flush),
]
