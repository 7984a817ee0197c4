# SPDX-License-Identifier: BSD-3-Clause
"""Stream commands, with consumer groups.

Ids are explicit, never `*`, so both servers have the same entries. Claims ask for an idle time of 0 or of hours, which
a preceding XCLAIM with IDLE may have set, so the servers' clocks do not matter.
"""

from step import NOTHING, STREAM_FACTS, TEXT_ONLY, command

HOURS_MS = 10**7


def group(s):
    """The name of a consumer group, rarely one that never exists."""
    return s.pick(b"g1", b"g1", b"g2", b"g3" if s.chance(0.7) else b"nogroup")


def consumer(s):
    """The name of a consumer."""
    return s.pick(b"alice", b"alice", b"bob", b"carol")


def entry_id(s):
    """An id of an entry that may exist."""
    if s.chance(0.06):
        return s.pick(b"0", b"0-0", b"abc", b"1-", b"-1", b"1-2-3", b"18446744073709551615-1", b"")
    return b"%d-%d" % (s.rng.randint(1, 60), s.rng.randint(0, 3))


def id_list(s, most=6):
    """Several ids."""
    return [entry_id(s) for _ in range(s.rng.randint(1, most))]


def new_id(s):
    """An id for XADD, usually above all previous ones of the stream."""
    draw = s.rng.random()
    if draw < 0.06:
        return s.pick(b"0-0", b"0", b"abc", b"1-*-", b"18446744073709551615-18446744073709551615")
    if draw < 0.3:
        return b"%d-*" % s.rng.randint(1, 60)
    if draw < 0.5:
        return b"%d" % s.rng.randint(1, 60)
    return b"%d-%d" % (s.rng.randint(1, 60), s.rng.randint(0, 3))


def trimming(s):
    """An exact MAXLEN or MINID clause, sometimes invalid."""
    if s.chance(0.1):
        return s.pick(
            [b"MAXLEN", b"-1"],
            [b"MAXLEN", b"abc"],
            [b"MAXLEN", b"5", b"LIMIT", b"1"],
            [b"MINID", b"abc"],
            [b"MAXLEN", b"~", b"1", b"LIMIT", b"-1"],
            [b"MAXLEN", b"=", b"5", b"MINID", b"3"],
        )
    exact = s.pick([], [b"="])
    if s.chance(0.5):
        return [b"MAXLEN", *exact, b"%d" % s.rng.randint(0, 30)]
    return [b"MINID", *exact, entry_id(s)]


def fields(s):
    """Field and value pairs, mostly with the same fields."""
    names = [b"f", b"g"] if s.chance(0.6) else [s.member() for _ in range(s.rng.randint(1, 3))]
    words = []
    for name in names:
        words += [name, s.value()]
    if s.chance(0.03):
        words.pop()
    return words


def xadd(s):
    """XADD and its options."""
    options = s.some_options("NOMKSTREAM", most=1) if s.chance(0.2) else []
    if s.chance(0.2):
        options += trimming(s)
    return command("XADD", s.key("stream"), options, new_id(s), fields(s))


def xadd_many(s):
    """A series of rising ids, which makes streams long."""
    key, first = s.key("stream"), s.rng.randint(1, 60)
    return [
        command("XADD", key, b"%d-%d" % (first + i // 4, i % 4), "f", s.value(), mutable=NOTHING)
        for i in range(s.rng.randint(3, 30))
    ]


def bound(s, low):
    """One end of a range."""
    draw = s.rng.random()
    if draw < 0.3:
        return b"-" if low else b"+"
    if draw < 0.36:
        return s.pick(b"(-", b"(+", b"(", b"x", b"(18446744073709551615-18446744073709551615")
    if draw < 0.5:
        return b"(" + entry_id(s)
    return b"%d" % s.rng.randint(0, 62) if s.chance(0.3) else entry_id(s)


def xrange(s):
    """XRANGE and XREVRANGE."""
    options = [b"COUNT", s.count()] if s.chance(0.4) else []
    if s.chance(0.5):
        return command("XRANGE", s.key("stream"), bound(s, True), bound(s, False), options)
    return command("XREVRANGE", s.key("stream"), bound(s, False), bound(s, True), options)


def read_options(s):
    """COUNT and, rarely, a BLOCK that times out at once."""
    options = [b"COUNT", b"%d" % s.rng.randint(0, 5)] if s.chance(0.5) else []
    if s.chance(0.02):
        options += [b"BLOCK", s.pick(b"1", b"-1", b"abc")]
    return options


def xread(s):
    """XREAD of one stream or several."""
    keys = s.key_list("stream", 3)
    ids = [s.pick(entry_id(s), b"0", b"$" if s.chance(0.3) else b"0-0") for _ in keys]
    if s.chance(0.05):
        ids.pop()
    return command("XREAD", read_options(s), "STREAMS", keys, ids, mutable=NOTHING)


def xreadgroup(s):
    """XREADGROUP: mostly new entries, or a consumer's own again."""
    keys = s.key_list("stream", 2)
    ids = [s.pick(b">", b">", b">", b"0", entry_id(s)) for _ in keys]
    options = read_options(s) + s.some_options("NOACK", most=1 if s.chance(0.2) else 0)
    whose = [group(s), consumer(s)]
    made = [command("XGROUP", "CREATECONSUMER", key, *whose, mutable=NOTHING) for key in keys]
    words = [*options, b"STREAMS", *keys, *ids]
    return [*made, command("XREADGROUP", "GROUP", *whose, words, mutable=NOTHING)]


def xgroup(s):
    """XGROUP and its subcommands."""
    key, name = s.key("stream"), group(s)
    since = s.pick(b"$", b"0", entry_id(s))
    read = [b"ENTRIESREAD", s.pick(b"0", b"3", b"-1", b"-2", b"abc")] if s.chance(0.15) else []
    words = s.pick(
        ["CREATE", key, name, since, *(["MKSTREAM"] if s.chance(0.4) else []), *read],
        ["CREATE", key, name, since, *(["MKSTREAM"] if s.chance(0.4) else []), *read],
        ["CREATE", key, name, since, *(["MKSTREAM"] if s.chance(0.4) else []), *read],
        ["CREATECONSUMER", key, name, consumer(s)],
        ["DELCONSUMER", key, name, consumer(s)],
        ["SETID", key, name, since, *read],
        ["DESTROY", key, name] if s.chance(0.3) else ["CREATECONSUMER", key, name, consumer(s)],
        ["NOPE", key, name] if s.chance(0.1) else ["CREATE", key, name, since],
    )
    return command("XGROUP", *words, mutable=NOTHING)


def xpending(s):
    """XPENDING in both forms."""
    if s.chance(0.4):
        return command("XPENDING", s.key("stream"), group(s))
    idle = [b"IDLE", s.pick(b"0", b"%d" % HOURS_MS, b"abc")] if s.chance(0.3) else []
    who = [consumer(s)] if s.chance(0.4) else []
    return command(
        "XPENDING",
        s.key("stream"),
        group(s),
        idle,
        bound(s, True),
        bound(s, False),
        s.count(),
        who,
        rule=STREAM_FACTS,
        mutable=NOTHING,
    )


def claim_options(s):
    """Options of XCLAIM."""
    options = []
    if s.chance(0.3):
        options += s.pick([b"IDLE", b"%d" % (5 * HOURS_MS)], [b"TIME", b"1000"], [b"IDLE", b"x"])
    if s.chance(0.2):
        options += [b"RETRYCOUNT", s.pick(b"0", b"3", b"-1", b"abc")]
    if s.chance(0.2):
        options += [b"LASTID", entry_id(s)]
    return options + s.some_options("FORCE", "JUSTID", "NOPE" if s.chance(0.05) else "FORCE")


def claimant(s):
    """A stream, a group and a consumer, and the command that creates the consumer: Redis 7.0 creates it only if there
    is an entry to claim or to read."""
    whose = [s.key("stream"), group(s), consumer(s)]
    return whose, command("XGROUP", "CREATECONSUMER", whose, mutable=NOTHING)


def xclaim(s):
    """XCLAIM."""
    idle = s.pick(b"0", b"0", b"%d" % HOURS_MS, b"-1", b"abc" if s.chance(0.1) else b"0")
    whose, made = claimant(s)
    words = [*whose, idle, *id_list(s), *claim_options(s)]
    return [made, command("XCLAIM", words, mutable=NOTHING)]


def xautoclaim(s):
    """XAUTOCLAIM."""
    options = [b"COUNT", s.pick(b"1", b"2", b"0", b"10", b"abc")] if s.chance(0.4) else []
    whose, made = claimant(s)
    idle = s.pick(b"0", b"0", b"%d" % HOURS_MS, b"-5")
    words = [*whose, idle, bound(s, True), *options, *s.some_options("JUSTID", most=1)]
    return [made, command("XAUTOCLAIM", words, mutable=NOTHING)]


def xinfo(s):
    """The parts of XINFO that do not depend on the clock."""
    key = s.key("stream")
    words = s.pick(
        ["STREAM", key],
        ["STREAM", key, "FULL"],
        ["STREAM", key, "FULL", "COUNT", s.pick(b"0", b"2", b"-1")],
        ["GROUPS", key],
        ["CONSUMERS", key, group(s)],
        ["STREAM", key, "NOPE"] if s.chance(0.2) else ["GROUPS", key],
    )
    return command("XINFO", *words, rule=STREAM_FACTS, mutable=NOTHING)


def xsetid(s):
    """XSETID."""
    options = []
    if s.chance(0.4):
        options = [b"ENTRIESADDED", s.pick(b"0", b"100", b"-1"), b"MAXDELETEDID", entry_id(s)]
    return command("XSETID", s.key("stream"), entry_id(s), options)


COMMANDS = [
    (14, xadd),
    (5, xadd_many),
    (8, xrange),
    (5, lambda s: command("XLEN", s.key("stream"))),
    (5, lambda s: command("XDEL", s.key("stream"), id_list(s, 4))),
    (4, lambda s: command("XTRIM", s.key("stream"), trimming(s), mutable=TEXT_ONLY)),
    (6, xread),
    (14, xreadgroup),
    (10, xgroup),
    (7, lambda s: command("XACK", s.key("stream"), group(s), id_list(s), mutable=NOTHING)),
    (8, xpending),
    (8, xclaim),
    (5, xautoclaim),
    (8, xinfo),
    (2, xsetid),
]
