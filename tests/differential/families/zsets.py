# SPDX-License-Identifier: BSD-3-Clause
"""Sorted-set commands that do not block."""

from step import ANY, NOTHING, SAMPLE, TEXT_ONLY, command


def zadd(s):
    """ZADD with any mix of its flags, also conflicting ones."""
    flags = s.some_options("NX", "XX", "GT", "LT", "CH", "INCR", most=3) if s.chance(0.5) else []
    words = []
    for member in s.member_list(1 if b"INCR" in flags and s.chance(0.8) else 5):
        words += [s.number(), member]
    if s.chance(0.05):
        words.pop()
    return command("ZADD", s.key("zset"), flags, words)


def score_bound(s):
    """One end of a range by score."""
    if s.chance(0.15):
        return s.pick(b"-inf", b"+inf", b"(inf", b"(-inf", b"(", b"abc", b"(abc", b"nan", b"[1")
    return (b"(" if s.chance(0.3) else b"") + s.number()


def lex_bound(s):
    """One end of a range by member."""
    if s.chance(0.3):
        return s.pick(b"-", b"+", b"(", b"[", b"x", b"", b"--")
    return s.pick(b"[", b"(") + s.member()


def bounds(s, kind):
    """Both ends of a range of this kind."""
    draw = {"rank": s.integer, "score": lambda: score_bound(s), "lex": lambda: lex_bound(s)}[kind]
    return [draw(), draw()]


def key_for(s, kind):
    """A sorted set on which such a range is defined."""
    return s.lex_key() if kind == "lex" else s.key("zset")


def mutable_for(kind):
    """A mutation must not use a range by member on a set with different scores."""
    return TEXT_ONLY if kind == "lex" else ANY


def limit(s):
    """A LIMIT clause or none."""
    if s.chance(0.6):
        return []
    return [
        b"LIMIT",
        s.pick(b"0", b"1", b"2", b"-1", b"abc"),
        s.pick(b"-1", b"0", b"1", b"3", b"x"),
    ]


def kind_options(s, kind):
    """The option of ZRANGE that selects this kind of range."""
    return {"rank": [], "score": [b"BYSCORE"], "lex": [b"BYLEX"]}[kind]


def zrange(s):
    """ZRANGE in its unified form."""
    kind = s.pick("rank", "rank", "score", "score", "lex")
    options = (
        kind_options(s, kind)
        + limit(s)
        + s.some_options("REV", "WITHSCORES", "NOPE" if s.chance(0.1) else "REV")
    )
    return command("ZRANGE", key_for(s, kind), bounds(s, kind), options, mutable=mutable_for(kind))


def zrangestore(s):
    """ZRANGESTORE, then a read of the result."""
    kind = s.pick("rank", "score", "lex")
    target = s.lex_key() if kind == "lex" else s.key("zset")
    return [
        command(
            "ZRANGESTORE",
            target,
            key_for(s, kind),
            bounds(s, kind),
            kind_options(s, kind),
            limit(s),
            s.some_options("REV", most=1),
            mutable=mutable_for(kind),
        ),
        command("OBJECT", "ENCODING", target, mutable=NOTHING),
    ]


def older_range(s):
    """The range commands that ZRANGE replaces."""
    name, kind = s.pick(
        ("ZREVRANGE", "rank"),
        ("ZRANGEBYSCORE", "score"),
        ("ZREVRANGEBYSCORE", "score"),
        ("ZRANGEBYLEX", "lex"),
        ("ZREVRANGEBYLEX", "lex"),
    )
    options = limit(s) if kind != "rank" else []
    if kind != "lex" and s.chance(0.5):
        options = options + [b"WITHSCORES"]
    return command(name, key_for(s, kind), bounds(s, kind), options, mutable=mutable_for(kind))


def count_or_remove(s):
    """ZCOUNT, ZLEXCOUNT and the ZREMRANGEBY family."""
    name, kind = s.pick(
        ("ZCOUNT", "score"),
        ("ZCOUNT", "score"),
        ("ZLEXCOUNT", "lex"),
        ("ZLEXCOUNT", "lex"),
        ("ZREMRANGEBYRANK", "rank"),
        ("ZREMRANGEBYSCORE", "score"),
        ("ZREMRANGEBYLEX", "lex"),
    )
    return command(name, key_for(s, kind), bounds(s, kind), mutable=mutable_for(kind))


def lex_add(s):
    """ZADD that keeps every score at 0."""
    words = []
    for member in s.member_list():
        words += [b"0", member]
    return command("ZADD", s.lex_key(), words, mutable=NOTHING)


def combine_keys(s):
    """Number and names of source keys, also of plain sets. The number may be wrong."""
    keys = [s.key("set" if s.chance(0.15) else "zset") for _ in range(s.rng.randint(1, 3))]
    number = len(keys) if s.chance(0.9) else s.pick(0, -1, 1, 9, "abc", "")
    return number, keys


def weights(s, count):
    """WEIGHTS and AGGREGATE clauses."""
    words = []
    if s.chance(0.4):
        words += [b"WEIGHTS"] + [s.number() for _ in range(count if s.chance(0.9) else count + 1)]
    if s.chance(0.4):
        words += s.words_of_case("AGGREGATE") + [s.pick(b"SUM", b"MIN", b"max", b"AVG")]
    return words


def combine(s):
    """ZUNION, ZINTER and ZDIFF."""
    number, keys = combine_keys(s)
    name = s.pick("ZUNION", "ZINTER", "ZDIFF")
    words = weights(s, len(keys)) if name != "ZDIFF" or s.chance(0.1) else []
    return command(name, number, keys, words, s.some_options("WITHSCORES", most=1))


def combine_and_store(s):
    """The storing forms, whose destination is often also a source."""
    number, keys = combine_keys(s)
    target = s.key("zset")
    name = s.pick("ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE")
    words = weights(s, len(keys)) if name != "ZDIFFSTORE" else []
    return [
        command(name, target, number, keys, words),
        command("OBJECT", "ENCODING", target, mutable=NOTHING),
    ]


def intercard(s):
    """ZINTERCARD."""
    number, keys = combine_keys(s)
    return command(
        "ZINTERCARD",
        number,
        keys,
        s.some_options("LIMIT 0", "LIMIT 2", "LIMIT -1", "LIMIT abc", "LIMIT", most=1),
    )


def zmpop(s):
    """ZMPOP."""
    number, keys = combine_keys(s)
    return command(
        "ZMPOP",
        number,
        keys,
        s.pick("MIN", "MAX", "max", "MID"),
        s.some_options("COUNT 1", "COUNT 3", "COUNT 0", "COUNT x", most=1),
    )


def random_members(s):
    """ZRANDMEMBER, compared with the whole set read just before."""
    key = s.key("zset")
    count = s.rng.randint(-12, 20)
    if s.chance(0.3):
        return [
            command("ZRANGE", key, 0, -1, mutable=NOTHING),
            command("ZRANDMEMBER", key, rule=SAMPLE, mutable=NOTHING),
        ]
    if s.chance(0.5):
        return [
            command("ZRANGE", key, 0, -1, mutable=NOTHING),
            command("ZRANDMEMBER", key, count, rule=SAMPLE, distinct=count > 0, mutable=NOTHING),
        ]
    return [
        command("ZRANGE", key, 0, -1, "WITHSCORES", mutable=NOTHING),
        command(
            "ZRANDMEMBER",
            key,
            count,
            "WITHSCORES",
            rule=SAMPLE,
            stride=2,
            distinct=count > 0,
            mutable=NOTHING,
        ),
    ]


def random_members_refused(s):
    """ZRANDMEMBER with invalid arguments."""
    return command(
        "ZRANDMEMBER",
        s.key("zset"),
        s.pick(
            [b"abc"],
            [b"1", b"WITHVALUES"],
            [b"-9223372036854775808", b"WITHSCORES"],
            [b"9223372036854775808"],
            [b"5", b"WITHSCORES", b"x"],
            [b""],
        ),
        mutable=NOTHING,
    )


COMMANDS = [
    (16, zadd),
    (3, lex_add),
    (6, lambda s: command("ZREM", s.key("zset"), s.member_list())),
    (6, lambda s: command("ZSCORE", s.key("zset"), s.member())),
    (4, lambda s: command("ZMSCORE", s.key("zset"), s.member_list())),
    (6, lambda s: command("ZINCRBY", s.key("zset"), s.number(), s.member())),
    (4, lambda s: command("ZCARD", s.key("zset"))),
    (5, lambda s: command(s.pick("ZRANK", "ZREVRANK"), s.key("zset"), s.member(), mutable=NOTHING)),
    (14, zrange),
    (4, zrangestore),
    (10, older_range),
    (9, count_or_remove),
    (6, combine),
    (6, combine_and_store),
    (3, intercard),
    (
        4,
        lambda s: command(
            s.pick("ZPOPMIN", "ZPOPMAX"), s.key("zset"), [s.count()] if s.chance(0.5) else []
        ),
    ),
    (3, zmpop),
    (5, random_members),
    (1, random_members_refused),
    (3, lambda s: command("OBJECT", "ENCODING", s.key("zset"))),
]
