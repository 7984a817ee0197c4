# SPDX-License-Identifier: BSD-3-Clause
"""Set commands."""

from step import AS_ENCODED, NOTHING, POP, SAMPLE, UNORDERED, command


def sadd(s):
    """SADD, half of the time with integers only, so integer sets exist."""
    key = s.key("set")
    if s.chance(0.5):
        return command(
            "SADD",
            key,
            [
                b"%d"
                % s.rng.choice(
                    (
                        s.rng.randint(-40, 40),
                        s.rng.randint(-40000, 40000),
                        s.rng.randint(-(2**40), 2**40),
                    )
                )
                for _ in range(s.rng.randint(1, 6))
            ],
        )
    return command("SADD", key, s.member_list())


def members(s):
    """SMEMBERS: ascending while the set has only integers."""
    key = s.key("set")
    return [
        command("OBJECT", "ENCODING", key, mutable=NOTHING),
        command("SMEMBERS", key, rule=AS_ENCODED, mutable=NOTHING),
    ]


def random_members(s):
    """SRANDMEMBER, compared with the whole set read just before."""
    key = s.key("set")
    whole = command("SMEMBERS", key, rule=UNORDERED, mutable=NOTHING)
    if s.chance(0.3):
        return [whole, command("SRANDMEMBER", key, rule=SAMPLE, mutable=NOTHING)]
    count = s.rng.randint(-12, 20)
    return [
        whole,
        command("SRANDMEMBER", key, count, rule=SAMPLE, distinct=count > 0, mutable=NOTHING),
    ]


def pop(s):
    """SPOP; the engine makes both sets equal again."""
    count = s.pick([], [], [b"%d" % s.rng.randint(0, 6)], [b"1000"])
    return [command("SPOP", s.key("set"), count, rule=POP, mutable=NOTHING)]


def pop_refused(s):
    """SPOP and SRANDMEMBER with invalid arguments."""
    return command(
        s.pick("SPOP", "SRANDMEMBER"),
        s.key("set"),
        s.pick([b"abc"], [b""], [b"9223372036854775808"], [b"1", b"2"]),
        mutable=NOTHING,
    )


def combine(s):
    """SINTER, SUNION and SDIFF."""
    return command(s.pick("SINTER", "SUNION", "SDIFF"), s.key_list("set"), rule=UNORDERED)


def combine_and_store(s):
    """The storing forms, whose destination is often also a source."""
    destination = s.key("set")
    return [
        command(s.pick("SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"), destination, s.key_list("set")),
        command("OBJECT", "ENCODING", destination, mutable=NOTHING),
    ]


def intercard(s):
    """SINTERCARD with a valid or invalid number of keys, and a limit."""
    keys = s.key_list("set", 3)
    number = len(keys) if s.chance(0.85) else s.pick(0, -1, 1, 9, "abc")
    options = s.some_options("LIMIT 0", "LIMIT 2", "LIMIT -1", "LIMIT abc", "LIMIT", "NOPE", most=1)
    return command("SINTERCARD", number, keys, options)


COMMANDS = [
    (18, sadd),
    (8, lambda s: command("SREM", s.key("set"), s.member_list())),
    (6, members),
    (5, lambda s: command("SISMEMBER", s.key("set"), s.member())),
    (4, lambda s: command("SMISMEMBER", s.key("set"), s.member_list())),
    (4, lambda s: command("SCARD", s.key("set"))),
    (2, pop),
    (1, pop_refused),
    (5, random_members),
    (6, lambda s: command("SMOVE", s.key("set"), s.key("set"), s.member())),
    (8, combine),
    (5, combine_and_store),
    (4, intercard),
    (3, lambda s: command("OBJECT", "ENCODING", s.key("set"))),
]
