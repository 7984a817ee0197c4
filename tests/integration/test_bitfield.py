# SPDX-License-Identifier: BSD-3-Clause
"""BITFIELD and BITFIELD_RO compared with redis-server."""

import random

EDGES = """
bitfield b
bitfield b get u8 0 get i64 3
exists b
bitfield b get u64 0
bitfield b get u8 -1
bitfield b get u8 #x
bitfield b get u8
bitfield b set u8 0 x
bitfield b overflow nope set u8 0 1
bitfield b overflow fail set u8 0 256
exists b
bitfield b set u8 #1 255 incrby u8 #1 1 get u8 8
bitfield b overflow sat incrby i8 0 500
bitfield_ro b get u8 0
bitfield_ro b set u8 0 1
rpush l a
bitfield l get u8 0
bitfield l set u8 0 1
set n 12345
bitfield n get u8 0 set u8 4 200
get n
"""


def test_edge_cases_equal_redis(pair):
    pair.lines(EDGES)


def test_random_fields_agree(pair):
    """Fields of any width at any offset, with all three overflow modes."""
    luck = random.Random(3)
    for _ in range(600):
        width = luck.choice([f"i{luck.randint(1, 64)}", f"u{luck.randint(1, 63)}"])
        offset = luck.choice([luck.randrange(200), f"#{luck.randrange(5)}"])
        value = luck.randint(-(2 ** luck.randint(1, 63)), 2 ** luck.randint(1, 63) - 1)
        way = luck.choice(["wrap", "sat", "fail"])
        action = luck.choice(["set", "incrby"])
        pair("bitfield", "b", "overflow", way, action, width, offset, value, "get", width, offset)
    pair("get", "b")
