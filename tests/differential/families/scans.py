# SPDX-License-Identifier: BSD-3-Clause
"""The SCAN family: whole iterations, whose elements are compared, and invalid calls."""

import dataclasses

from step import NOTHING, command

MOST_CALLS = 100000  # an iteration with more calls does not end


@dataclasses.dataclass
class Iteration:
    """A whole iteration: `head` is the command before the cursor, `options` the words after it."""

    head: list
    options: list
    database: int = 0


def iteration(s):
    """SCAN, HSCAN, SSCAN or ZSCAN from 0 until the cursor is 0 again."""
    options = []
    if s.chance(0.4):
        options += [b"MATCH", s.pattern()]
    if s.chance(0.5):
        options += [b"COUNT", s.pick(b"1", b"2", b"10", b"1000", b"9223372036854775807")]
    if s.chance(0.4):
        name, family = s.pick(("HSCAN", "hash"), ("SSCAN", "set"), ("ZSCAN", "zset"))
        return Iteration([name.encode(), s.key(family)], options)
    if s.chance(0.4):
        options += [b"TYPE", s.pick(b"string", b"hash", b"set", b"zset", b"LIST", b"list")]
    return Iteration([b"SCAN"], options)


def refused(s):
    """Invalid cursors and options."""
    cursor = s.pick(b"abc", b"1x", b"18446744073709551616", b"1.0", b" 0", b"0 ")
    options = s.pick(
        [b"COUNT", b"0"],
        [b"COUNT", b"-1"],
        [b"COUNT", b"abc"],
        [b"MATCH"],
        [b"NOPE", b"x"],
        [b"COUNT", b"9223372036854775808"],
        [b"TYPE"],
    )
    name = s.pick(("SCAN", []), ("HSCAN", [b"h"]), ("SSCAN", [b"s"]), ("ZSCAN", [b"z"]))
    if s.chance(0.5):
        return command(name[0], name[1], cursor, mutable=NOTHING)
    key = [s.key("hash")] if name[1] else []
    return command(name[0], key, "0", options, mutable=NOTHING)


COMMANDS = [(2, iteration), (3, refused)]
