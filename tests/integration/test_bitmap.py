# SPDX-License-Identifier: BSD-3-Clause
"""Bits of strings compared with redis-server: SETBIT, GETBIT, BITCOUNT, BITPOS and BITOP."""

import random

EDGES = """
setbit b 7 1
setbit b 0 1
setbit b 4294967296 1
setbit b -1 1
setbit b x 1
setbit b 1 2
setbit b 1 x
getbit b 0
getbit b 1000
getbit b -1
getbit none 3
object encoding b
set n 12
setbit n 3 1
getbit n 2
rpush list a
setbit list 0 1
getbit list 0
bitcount list
bitpos list 1
bitop and d list
bitcount none
bitcount b 0
bitcount b 0 -1 bits
bitcount b 0 0 x
bitpos none 1
bitpos none 0
bitpos b 2
bitpos b x
bitpos b 0 0 -1 bit
bitop not d a b
bitop nand d a
bitop and d none
exists d
"""


def test_edge_cases_equal_redis(pair):
    pair.lines(EDGES)


def test_random_bits_agree(pair):
    """Random writes, then counts, searches and combinations of random ranges."""
    luck = random.Random(7)
    for _ in range(400):
        key = luck.choice("abc")
        pair("setbit", key, luck.randrange(900), luck.randrange(2))
        low, high = luck.randrange(-130, 130), luck.randrange(-130, 130)
        unit = luck.choice([("byte",), ("bit",), ()])
        pair("bitcount", key, low, high, *unit)
        pair("bitpos", key, luck.randrange(2), low, high, *unit)
        pair("bitpos", key, luck.randrange(2), low)
    for operation in ("and", "or", "xor"):
        pair("bitop", operation, "d", "a", "b", "c", "none")
        pair("get", "d")
    pair("bitop", "not", "d", "a")
    pair("get", "d")
