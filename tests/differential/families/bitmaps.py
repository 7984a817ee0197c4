# SPDX-License-Identifier: BSD-3-Clause
"""Bitmaps and bit fields, on strings that other string commands use too."""

from step import NOTHING, TEXT_ONLY, command


def edited(s, name, *words):
    """A command that edits a bitmap, on a string that was edited before or does not exist: an edit without a change
    makes Redis convert a string that was only SET to the encoding of an edited one."""
    key = s.key("bits")
    append = [command("APPEND", key, s.pick(b"", s.value()), mutable=NOTHING) for _ in "12"]
    before = s.pick(append, [command("DEL", key, mutable=NOTHING)])
    return [*before, command(name, key, *words, mutable=NOTHING)]


def offset(s):
    """A bit's offset: never so high that a server would allocate much memory, and sometimes so high that Cairn splits
    the string into fragments, around the border of two of them."""
    if s.chance(0.06):
        return s.pick(b"-1", b"4294967296", b"abc", b"", b"1.0", b"9223372036854775808", b"01")
    if s.chance(0.05):
        return b"%d" % (8 * 1024 * s.rng.randint(1, 10) + s.rng.randint(-70, 70))
    return b"%d" % s.rng.randrange(s.pick(16, 200, 200, 20000))


def place(s):
    """The start or end of a range."""
    reach = s.pick(3, 20, 200, 9000)
    return b"%d" % s.pick(s.rng.randint(-reach, reach), 2**63 - 1, -(2**63), s.rng.randint(0, reach))


def span(s):
    """Start, end and unit of a range, or only the first ones."""
    words = s.pick([], [place(s), place(s)], [place(s), place(s)])
    if words and s.chance(0.6):
        words.append(s.pick(b"BYTE", b"BIT", b"bit"))
    return words


def bad_span(s):
    """An invalid range, on an existing key: on missing keys Redis 7.0 does not check the range."""
    key = b"bits:there"
    wrong = s.pick(
        [b"1"], [b"x", b"2"], [b"1", b""], [b"1", b"2", b"NOPE"], [b"1", b"2", b"BIT", b"x"]
    )
    name, bit = s.pick(("BITCOUNT", []), ("BITPOS", [b"1"]), ("BITPOS", [b"2"]), ("BITPOS", [b"x"]))
    if name == "BITPOS" and wrong == [b"1"]:
        wrong = []
    return [
        command("SET", key, s.value(), mutable=NOTHING),
        command(name, key, bit, wrong, mutable=NOTHING),
        command("DEL", key, mutable=NOTHING),
    ]


def bitop(s):
    """BITOP, whose destination is often a source as well."""
    name = s.pick("AND", "OR", "XOR", "NOT", "nope" if s.chance(0.1) else "xor")
    keys = s.key_list("bits", 1 if name == "NOT" and s.chance(0.9) else 4)
    return command("BITOP", name, s.key("bits"), keys)


def field(s):
    """A width and a position for BITFIELD."""
    if s.chance(0.04):
        return [s.pick(b"u64", b"i65", b"i0", b"x8", b"u", b""), b"0"]
    width = s.pick(b"u%d" % s.rng.randint(1, 63), b"i%d" % s.rng.randint(1, 64), b"u8", b"i8")
    return [width, b"#%d" % s.rng.randrange(20) if s.chance(0.4) else offset(s)]


def bitfield(s):
    """BITFIELD with several operations, BITFIELD_RO with reads."""
    if s.chance(0.3):
        words = []
        for _ in range(s.rng.randint(1, 4)):
            words += [b"GET", *field(s)]
        if s.chance(0.05):
            words += [b"SET", b"u8", b"0", b"1"]
        return command("BITFIELD_RO", s.key("bits"), words, mutable=TEXT_ONLY)
    words = []
    for _ in range(s.rng.randint(1, 4)):
        amount = b"%d" % s.rng.randint(-(2 ** s.rng.randint(1, 62)), 2 ** s.rng.randint(1, 62))
        words += s.pick(
            [b"GET", *field(s)],
            [b"SET", *field(s), amount],
            [b"INCRBY", *field(s), amount],
            [b"OVERFLOW", s.pick(b"WRAP", b"sat", b"FAIL", b"x" if s.chance(0.1) else b"WRAP")],
        )
    return edited(s, "BITFIELD", words)


def bitpos(s):
    """BITPOS."""
    words = span(s)
    if not words and s.chance(0.5):
        words = [place(s)]
    return command("BITPOS", s.key("bits"), s.pick(b"0", b"1", b"1"), words, mutable=NOTHING)


COMMANDS = [
    (12, lambda s: edited(s, "SETBIT", offset(s), s.pick(0, 1, 1, 1, "2", "x"))),
    (6, lambda s: command("GETBIT", s.key("bits"), offset(s))),
    (8, lambda s: command("BITCOUNT", s.key("bits"), span(s), mutable=NOTHING)),
    (2, bad_span),
    (8, bitpos),
    (8, bitop),
    (14, bitfield),
    (3, lambda s: command("SET", s.key("bits"), s.value())),
    (2, lambda s: command("APPEND", s.key("bits"), s.value())),
    (3, lambda s: command("GETRANGE", s.key("bits"), s.integer(), s.integer())),
    (2, lambda s: command("STRLEN", s.key("bits"))),
]
