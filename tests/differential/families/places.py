# SPDX-License-Identifier: BSD-3-Clause
"""Geo commands."""

from step import NOTHING, TEXT_ONLY, command

UNITS = (b"m", b"km", b"ft", b"mi", b"KM")


def place(s):
    """A longitude and a latitude, mostly in a small region, so searches find places."""
    draw = s.rng.random()
    if draw < 0.04:
        return [s.pick(b"181", b"abc", b"nan", b"-181", b"0"), s.pick(b"86", b"-86", b"x", b"inf")]
    if draw < 0.12:
        return [s.pick(b"180", b"-180", b"179.99999"), s.pick(b"85.05112878", b"-85.05112878", b"0")]
    if draw < 0.75:
        return [b"%.5f" % s.rng.uniform(13, 16), b"%.5f" % s.rng.uniform(37, 39)]
    return [b"%.4f" % s.rng.uniform(-180, 180), b"%.4f" % s.rng.uniform(-85, 85)]


def geoadd(s):
    """GEOADD of a few places."""
    words = []
    for member in s.member_list():
        words += [*place(s), member]
    if s.chance(0.03):
        words.pop()
    return command("GEOADD", s.key("geo"), s.some_options("NX", "XX", "CH", most=1), words, mutable=TEXT_ONLY)


def distance(s):
    """A radius or the side of a box."""
    if s.chance(0.05):
        return s.pick(b"-1", b"abc", b"", b"nan", b"inf", b"1e300")
    return s.pick(b"0", b"10", b"100", b"300.5", b"5000", b"20000")


def unit(s):
    """A unit of length."""
    return s.pick(*UNITS) if s.chance(0.97) else b"parsec"


def area(s):
    """FROM... and BY... clauses of GEOSEARCH, in any order."""
    middle = [b"FROMMEMBER", s.member()] if s.chance(0.4) else [b"FROMLONLAT", *place(s)]
    around = (
        [b"BYRADIUS", distance(s), unit(s)]
        if s.chance(0.5)
        else [b"BYBOX", distance(s), distance(s), unit(s)]
    )
    words = middle + around if s.chance(0.7) else around + middle
    return words if s.chance(0.96) else middle


def options(s):
    """ASC, COUNT and WITH... clauses. COUNT without an order returns the first places found, as in Redis."""
    words = s.pick([], [b"ASC"], [b"DESC"], [b"asc"])
    if s.chance(0.3):
        words += [b"COUNT", s.pick(b"1", b"3", b"100", b"0", b"-1", b"x")]
        if s.chance(0.1):
            words += [b"ANY"]
    return words


def with_options(s):
    """The WITH... options."""
    return s.some_options("WITHCOORD", "WITHDIST", "WITHHASH", most=3)


def geosearch(s):
    """GEOSEARCH."""
    return command("GEOSEARCH", s.key("geo"), area(s), options(s), with_options(s), mutable=TEXT_ONLY)


def geosearchstore(s):
    """GEOSEARCHSTORE, then a read of the result."""
    target = s.key("geo")
    words = options(s) + s.some_options("STOREDIST", "WITHDIST" if s.chance(0.1) else "STOREDIST")
    return [
        command("GEOSEARCHSTORE", target, s.key("geo"), area(s), words, mutable=TEXT_ONLY),
        command("ZRANGE", target, 0, -1, "WITHSCORES", mutable=NOTHING),
    ]


def georadius(s):
    """The older commands."""
    by_member = s.chance(0.5)
    name = s.pick("GEORADIUS", "GEORADIUS_RO")
    middle = place(s)
    if by_member:
        name, middle = name.replace("RADIUS", "RADIUSBYMEMBER"), [s.member()]
    words = options(s) + with_options(s)
    if s.chance(0.15):
        words += [s.pick(b"STORE", b"STOREDIST"), s.key("geo")]
    return command(name, s.key("geo"), middle, distance(s), unit(s), words, mutable=TEXT_ONLY)


def members(s):
    """GEOPOS, GEOHASH and GEODIST."""
    name = s.pick("GEOPOS", "GEOHASH", "GEODIST")
    words = s.member_list()
    if name == "GEODIST":
        words = [s.member(), s.member(), *([unit(s)] if s.chance(0.5) else [])]
    return command(name, s.key("geo"), words, mutable=TEXT_ONLY)


def wrong_type(s):
    """Commands on a key that is no sorted set."""
    words = s.pick(
        ["GEOADD", "geo:text", "1", "1", "m"],
        ["GEOPOS", "geo:text", "m"],
        ["GEOSEARCH", "geo:text", *area(s)],
        ["GEOSEARCHSTORE", s.key("geo"), "geo:text", *area(s)],
    )
    return [command("SET", "geo:text", "x", mutable=NOTHING), command(*words, mutable=NOTHING)]


COMMANDS = [
    (12, geoadd),
    (14, geosearch),
    (6, geosearchstore),
    (8, georadius),
    (8, members),
    (1, wrong_type),
    (2, lambda s: command("ZREM", s.key("geo"), s.member_list(), mutable=TEXT_ONLY)),
]
