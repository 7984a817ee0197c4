# SPDX-License-Identifier: BSD-3-Clause
"""Hash commands."""

from step import NOTHING, PAIRS, PAIRS_AS_ENCODED, AS_ENCODED, SAMPLE, command


def hset(s):
    """HSET and HMSET of several fields, sometimes with a value missing."""
    words = []
    for field in s.member_list():
        words += [field, s.value()]
    if s.chance(0.06):
        words.pop()
    return command(s.pick("HSET", "HSET", "HSET", "HMSET"), s.key("hash"), words)


def read_whole(s):
    """HGETALL, HKEYS and HVALS: in the order of insertion while the hash is packed."""
    key, name = s.key("hash"), s.pick("HGETALL", "HGETALL", "HKEYS", "HVALS")
    rule = PAIRS_AS_ENCODED if name == "HGETALL" else AS_ENCODED
    return [
        command("OBJECT", "ENCODING", key, mutable=NOTHING),
        command(name, key, rule=rule, mutable=NOTHING),
    ]


def random_fields(s):
    """HRANDFIELD, compared with the whole hash read just before."""
    key = s.key("hash")
    whole = command("HGETALL", key, rule=PAIRS, mutable=NOTHING)
    if s.chance(0.3):
        return [whole, command("HRANDFIELD", key, rule=SAMPLE, mutable=NOTHING)]
    count = s.rng.randint(-12, 20)
    values = s.chance(0.5)
    return [
        whole,
        command(
            "HRANDFIELD",
            key,
            count,
            [b"WITHVALUES"] if values else [],
            rule=SAMPLE,
            distinct=count > 0,
            stride=2 if values else 1,
            mutable=NOTHING,
        ),
    ]


def random_fields_refused(s):
    """HRANDFIELD with invalid arguments."""
    return command(
        "HRANDFIELD",
        s.key("hash"),
        s.pick(
            [b"abc"],
            [b"1", b"WITHSCORES"],
            [b"-9223372036854775808", b"WITHVALUES"],
            [b"9223372036854775808"],
            [b"5", b"WITHVALUES", b"x"],
            [b""],
        ),
        mutable=NOTHING,
    )


COMMANDS = [
    (16, hset),
    (3, lambda s: command("HSETNX", s.key("hash"), s.member(), s.value())),
    (10, lambda s: command("HGET", s.key("hash"), s.member())),
    (6, lambda s: command("HMGET", s.key("hash"), s.member_list())),
    (7, read_whole),
    (4, lambda s: command("HLEN", s.key("hash"))),
    (4, lambda s: command("HEXISTS", s.key("hash"), s.member())),
    (8, lambda s: command("HDEL", s.key("hash"), s.member_list())),
    (8, lambda s: command("HINCRBY", s.key("hash"), s.member(), s.integer())),
    (8, lambda s: command("HINCRBYFLOAT", s.key("hash"), s.member(), s.number())),
    (3, lambda s: command("HSTRLEN", s.key("hash"), s.member())),
    (5, random_fields),
    (1, random_fields_refused),
    (3, lambda s: command("OBJECT", "ENCODING", s.key("hash"))),
]
