# SPDX-License-Identifier: BSD-3-Clause
"""List commands that do not block."""

from step import command


def push(s):
    """The four pushes."""
    name = s.pick("LPUSH", "RPUSH", "LPUSH", "RPUSH", "LPUSHX", "RPUSHX")
    return command(name, s.key("list"), s.member_list())


def lpos(s):
    """LPOS and its options."""
    options = s.some_options(
        "RANK 1",
        "RANK -1",
        "RANK 2",
        "RANK 0",
        "RANK x",
        "COUNT 0",
        "COUNT 2",
        "COUNT -1",
        "MAXLEN 0",
        "MAXLEN 5",
        "MAXLEN -2",
        "COUNT",
        most=3,
    )
    return command("LPOS", s.key("list"), s.member(), options)


def side(s):
    """LEFT or RIGHT, rarely another word."""
    return (
        s.pick(b"LEFT", b"RIGHT", b"left", b"right", b"UP")
        if s.chance(0.2)
        else s.pick(b"LEFT", b"RIGHT")
    )


def lmpop(s):
    """LMPOP with a valid or invalid number of keys."""
    keys = s.key_list("list", 3)
    number = len(keys) if s.chance(0.85) else s.pick(0, -1, 1, 9, "abc")
    options = s.some_options("COUNT 1", "COUNT 3", "COUNT 0", "COUNT x", "COUNT -1", most=1)
    return command("LMPOP", number, keys, side(s), options)


COMMANDS = [
    (20, push),
    (8, lambda s: command(s.pick("LPOP", "RPOP"), s.key("list"))),
    (5, lambda s: command(s.pick("LPOP", "RPOP"), s.key("list"), s.count())),
    (4, lambda s: command("LLEN", s.key("list"))),
    (8, lambda s: command("LINDEX", s.key("list"), s.integer())),
    (6, lambda s: command("LSET", s.key("list"), s.integer(), s.member())),
    (12, lambda s: command("LRANGE", s.key("list"), s.integer(), s.integer())),
    (2, lambda s: command("LRANGE", s.key("list"), 0, -1)),
    (2, lambda s: command("LTRIM", s.key("list"), s.rng.randint(-40, 3), s.rng.randint(-3, 40))),
    (6, lambda s: command("LREM", s.key("list"), s.integer(), s.member())),
    (
        6,
        lambda s: command(
            "LINSERT",
            s.key("list"),
            s.pick("BEFORE", "AFTER", "before", "NEXT"),
            s.member(),
            s.member(),
        ),
    ),
    (6, lpos),
    (5, lambda s: command("LMOVE", s.key("list"), s.key("list"), side(s), side(s))),
    (3, lambda s: command("RPOPLPUSH", s.key("list"), s.key("list"))),
    (4, lmpop),
    (2, lambda s: command("OBJECT", "ENCODING", s.key("list"))),
]
