# SPDX-License-Identifier: BSD-3-Clause
"""Blocking commands with timeouts of milliseconds; those without data time out."""

from step import NOTHING, command


def timeout(s):
    """A timeout in seconds, sometimes invalid."""
    if s.chance(0.1):
        return s.pick(b"-1", b"abc", b"", b"1e400", b"99999999999999999", b"-0.1")
    return b"0.001"


def block(s):
    """The BLOCK option of a stream command, in milliseconds."""
    return [b"BLOCK", s.pick(b"1", b"1", b"1", b"-1", b"x")]


def words(s):
    """The words of a blocking command."""
    lists, zsets = s.key_list("list", 3), s.key_list("zset", 3)
    sides = [s.pick(b"LEFT", b"RIGHT"), s.pick(b"LEFT", b"RIGHT")]
    count = s.pick([], [b"COUNT", b"2"], [b"COUNT", b"0"])
    streams = s.key_list("stream", 2)
    return s.pick(
        [s.pick(b"BLPOP", b"BRPOP"), *lists, timeout(s)],
        [s.pick(b"BZPOPMIN", b"BZPOPMAX"), *zsets, timeout(s)],
        [b"BLMOVE", s.key("list"), s.key("list"), *sides, timeout(s)],
        [b"BRPOPLPUSH", s.key("list"), s.key("list"), timeout(s)],
        [b"BLMPOP", timeout(s), b"%d" % len(lists), *lists, sides[0], *count],
        [b"BZMPOP", timeout(s), b"%d" % len(zsets), *zsets, s.pick(b"MIN", b"MAX"), *count],
        [b"XREAD", *block(s), b"STREAMS", *streams, *[s.pick(b"$", b"0") for _ in streams]],
        [b"XREADGROUP", b"GROUP", b"g1", s.pick(b"alice", b"dora"), *block(s), b"STREAMS", streams[0], b">"],
        [b"WAIT", b"0", b"1"],
        [b"WAITAOF", b"0", b"0", b"1"],
        [b"WAITAOF", s.pick(b"2", b"x", b"-1"), b"0", b"1"],
    )


def blocking(s):
    """A blocking command as a step."""
    name, *rest = words(s)
    return command(name.decode(), rest, mutable=NOTHING)


COMMANDS = [(1, blocking)]
