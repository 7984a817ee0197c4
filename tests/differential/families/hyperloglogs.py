# SPDX-License-Identifier: BSD-3-Clause
"""HyperLogLogs; their bytes are read as strings too, so the representation itself is compared."""

from step import NOTHING, TEXT_ONLY, command


def elements(s):
    """Elements, sometimes so many that the sparse form becomes dense."""
    if s.chance(0.1):
        first = s.rng.randrange(10**6)
        return [b"e%d" % (first + i) for i in range(s.pick(50, 300, 2000))]
    return s.member_list()


def pfmerge(s):
    """PFMERGE, whose destination is often a source as well."""
    sources = s.pick([], s.key_list("hll"), s.key_list("hll"))
    return command("PFMERGE", s.key("hll"), sources, mutable=TEXT_ONLY)


def damaged(s):
    """A value that is not a HyperLogLog, then a use of it."""
    key = b"hll:damaged"
    text = s.pick(b"HYLL", b"HYLL" + b"\x07" * 40, b"nothing", b"", b"12", b"HYLM" + b"\0" * 20)
    use = s.pick(["PFCOUNT", key], ["PFADD", key, "a"], ["PFMERGE", key, key])
    return [
        command("SET", key, text, mutable=NOTHING),
        command(*use, mutable=NOTHING),
        command("DEL", key, mutable=NOTHING),
    ]


COMMANDS = [
    (14, lambda s: command("PFADD", s.key("hll"), elements(s), mutable=TEXT_ONLY)),
    (8, lambda s: command("PFCOUNT", s.key_list("hll", 3), mutable=TEXT_ONLY)),
    (6, pfmerge),
    (3, lambda s: command("GET", s.key("hll"), mutable=TEXT_ONLY)),
    (2, lambda s: command("PFDEBUG", "ENCODING", s.key("hll"), mutable=NOTHING)),
    (1, lambda s: command("PFDEBUG", "DECODE", s.key("hll"), mutable=NOTHING)),
    (0.5, lambda s: command("PFDEBUG", "TODENSE", s.key("hll"), mutable=NOTHING)),
    (0.3, damaged),
    (1, lambda s: command("STRLEN", s.key("hll"), mutable=TEXT_ONLY)),
]
