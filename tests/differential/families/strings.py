# SPDX-License-Identifier: BSD-3-Clause
"""String commands."""

from step import MILLISECONDS, NOTHING, SECONDS, TEXT_ONLY, command


def expiry_option(s):
    """An option of SET or GETEX that gives the key a deadline."""
    if s.chance(0.1):
        return [s.pick(b"EX", b"PX", b"EXAT", b"PXAT"), s.bad_time()]
    return s.pick(
        [b"EX", s.seconds()],
        [b"px", s.milliseconds()],
        [b"EXAT", s.timestamp()],
        [b"PXAT", s.timestamp() + b"123"],
    )


def set_value(s):
    """SET with any mix of its options, also conflicting ones."""
    options = []
    if s.chance(0.5):
        for _ in range(s.rng.randint(1, 3)):
            options += s.pick(
                expiry_option(s), [b"NX"], [b"xx"], [b"GET"], [b"KEEPTTL"], [b"PERSIST"], [b"EX"]
            )
    return command("SET", s.key("string"), s.value(), options, mutable=TEXT_ONLY)


def set_in_the_past(s):
    """SET with a deadline in the past: the key must not be visible."""
    key = s.key("string")
    return [
        command(
            "SET",
            key,
            s.value(),
            s.pick(b"EXAT", b"PXAT"),
            s.rng.randrange(1, 10**9),
            mutable=NOTHING,
        ),
        command(s.pick("EXISTS", "GET", "TTL", "STRLEN", "TYPE"), key, mutable=NOTHING),
        command("EXISTS", key, mutable=NOTHING),
    ]


def getex(s):
    """GETEX with one option, none, or too many."""
    options = s.pick(
        [],
        [b"PERSIST"],
        expiry_option(s),
        expiry_option(s),
        [s.pick(b"EXAT", b"PXAT"), b"1000"],
        [b"PERSIST", b"EX", b"1000"],
        [b"NX"],
    )
    return command("GETEX", s.key("string"), options, mutable=TEXT_ONLY)


def setex(s):
    """SETEX and PSETEX."""
    name, ttl = s.pick(("SETEX", s.seconds()), ("PSETEX", s.milliseconds()))
    return command(
        name, s.key("string"), s.bad_time() if s.chance(0.15) else ttl, s.value(), mutable=TEXT_ONLY
    )


def part(s):
    """The start or end of a range, mostly near an end of the string."""
    return b"%d" % (1024 * s.rng.randint(1, 10) + s.rng.randint(-9, 9)) if s.chance(0.1) else s.integer()


def setrange(s):
    """SETRANGE within 10,000 bytes, or at an offset that is refused."""
    offset = s.pick(
        b"0",
        b"1",
        b"10",
        b"100",
        b"9999",
        b"%d" % (1024 * s.rng.randint(1, 9) + s.rng.randint(-4, 1)),
        b"%d" % s.rng.randrange(60),
        b"-1",
        b"abc",
        b"536870912",
        b"9223372036854775807",
        b"4294967295",
        b"-9223372036854775808",
    )
    return command(
        "SETRANGE",
        s.key("string"),
        offset,
        s.pick(b"", b"z", b"hello", s.value()),
        mutable=TEXT_ONLY,
    )


def mset(s):
    """MSET and MSETNX, sometimes with a value missing."""
    words = []
    for key in s.key_list("string"):
        words += [key, s.value()]
    if s.chance(0.08):
        words.pop()
    return command(s.pick("MSET", "MSET", "MSETNX"), words)


def increment(s):
    """The integer increments."""
    key = s.key("string")
    if s.chance(0.4):
        return command(s.pick("INCR", "DECR"), key)
    return command(s.pick("INCRBY", "DECRBY"), key, s.integer())


def lcs(s):
    """LCS and its options."""
    options = s.some_options("LEN", "IDX", "WITHMATCHLEN", "MINMATCHLEN 2", "MINMATCHLEN x", most=3)
    return command("LCS", s.key("string"), s.key("string"), options)


def edge_counter(s):
    """A counter next to the end of its range."""
    key = s.key("string")
    return [
        command(
            "SET",
            key,
            s.pick(
                b"9223372036854775806",
                b"-9223372036854775807",
                b"9223372036854775807",
                b"170141183460469231731687303715884105727",
            ),
            mutable=NOTHING,
        ),
        command(
            s.pick("INCRBY", "DECRBY"),
            key,
            s.pick(b"1", b"2", b"-1", b"-2", b"-9223372036854775808"),
        ),
        command("GET", key),
    ]


COMMANDS = [
    (14, set_value),
    (3, set_in_the_past),
    (12, lambda s: command("GET", s.key("string"))),
    (3, lambda s: command("GETSET", s.key("string"), s.value())),
    (3, lambda s: command("SETNX", s.key("string"), s.value())),
    (3, setex),
    (4, mset),
    (4, lambda s: command("MGET", s.key_list("string"))),
    (8, increment),
    (2, edge_counter),
    (6, lambda s: command("INCRBYFLOAT", s.key("string"), s.number())),
    (6, lambda s: command("APPEND", s.key("string"), s.value())),
    (4, lambda s: command("STRLEN", s.key("string"))),
    (
        6,
        lambda s: command(
            s.pick("GETRANGE", "GETRANGE", "SUBSTR"), s.key("string"), part(s), part(s)
        ),
    ),
    (6, setrange),
    (2, lambda s: command("GETDEL", s.key("string"))),
    (5, getex),
    (2, lcs),
    (3, lambda s: command("OBJECT", "ENCODING", s.key("string"))),
    (2, lambda s: command("TTL", s.key("string"), rule=SECONDS)),
    (2, lambda s: command("PTTL", s.key("string"), rule=MILLISECONDS)),
]
