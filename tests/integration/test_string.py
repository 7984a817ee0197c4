# SPDX-License-Identifier: BSD-3-Clause
"""Strings compared with redis-server: both get the same commands and must return the same bytes."""

import random

VALUES = ["", "a", "0", "-0", "7", "007", "-12", "9223372036854775807", "-9223372036854775808",
          "9223372036854775808", "1.5", "1e3", " 1", "x" * 44, "x" * 45, "longer " * 50,
          b"\x00\r\n\xff"]

WRONG = """
rpush list a
get list
getset list v
getdel list
getex list
getex list ex 0
getex list ex x
append list v
incr list
incrby list x
incrbyfloat list x
setrange list 0 v
setrange list -1 v
setrange list 0 ''
getrange list x 0
getrange list 0 0
substr list 0 0
strlen list
set list v get
set list v nx get
set list v ex 0 get
lcs list nokey
lcs nokey list len
mget list nokey
setnx list v
msetnx new v list v
exists new
type list
"""

OPTIONS = """
set k v
set k w nx
set k w xx
set other w xx
set k w nx xx
set k w xx nx
set k w nx nx
set k w get
set other w get
set another w xx get
set k w nx get
set k w foo
set k w ex
set k w ex 0
set k w ex -1
set k w ex x
set k w ex 9223372036854775807
set k w px 9223372036854775807
set k w ex 10 px 10
set k w ex 10 ex 20
set k w keepttl ex 10
set k w ex 10 keepttl
set k w keepttl keepttl
set k w persist
set k w exat 0
set k w pxat 9223372036854775807
pexpiretime k
set k w keepttl
pexpiretime k
set k w
pttl k
set k w exat 9999999999
expiretime k
getex k persist
pttl k
getex k exat 9999999999
expiretime k
getex k
expiretime k
getex k ex 10 persist
getex k persist ex 10
getex k keepttl
getex k nx
getex k ex
getex k ex 0
getex k pxat -5
getex nokey ex 0
getex nokey ex 0 px 0
getex k pxat 1
exists k
set k v exat 1
get k
setex k 0 v
setex k -1 v
setex k x v
setex k 9223372036854775 v
psetex k 0 v
psetex k x v
setex k 100 v
get k
setnx k w
setnx fresh w
getset k new
pttl k
getset missing v
getdel missing
getdel nokey
mset a 1 b 2 a 3
mget a b nokey a
mset a
mset a 1 b
msetnx a 1 b
msetnx a 9 c 9
msetnx c 1 d 2 c 3
mget a c d
"""

COUNTERS = """
incr n
incr n
decr n
decrby n 10
incrby n -5
get n
incrby n x
incrby n 1.5
incrby n 9223372036854775808
set n 9223372036854775807
incr n
decrby n -1
decrby n -9223372036854775808
set n -9223372036854775808
decr n
incrby n -1
set n text
incr n
set n 11.5
incr n
incrbyfloat n 0.1
incrbyfloat n -1.2e1
incrbyfloat n x
incrbyfloat n ''
incrbyfloat n 1.5.5
incrbyfloat n nan
incrbyfloat n inf
incrbyfloat n 1e17
incrbyfloat n 0.00000000000000001
incrbyfloat fresh 3
object encoding fresh
incrbyfloat fresh 3.0e3
incrbyfloat fresh 0x10
set n 1e5000
incrbyfloat n 1
set n -1
incrbyfloat n 1
incrbyfloat m 1e-20
"""

LCS = """
mset a ohmytext b mynewtext e '' long abcabcabcabcabc other bcabcaabcx
lcs a b
lcs a b len
lcs a b idx
lcs a b idx withmatchlen
lcs a b idx minmatchlen 4
lcs a b idx minmatchlen 4 withmatchlen
lcs a b idx minmatchlen -4
lcs a b idx minmatchlen 0
lcs a b minmatchlen x
lcs a b minmatchlen
lcs a b idx len
lcs a b len len
lcs a b foo
lcs a e
lcs e e idx
lcs a nokey
lcs nokey1 nokey2 idx withmatchlen
lcs a a idx
lcs long other
lcs long other idx withmatchlen
lcs other long idx withmatchlen
lcs long other idx minmatchlen 2
"""


def test_wrong_types_and_the_order_of_errors(pair):
    pair.lines(WRONG)


def test_every_option_of_setting_and_getting(pair):
    pair.lines(OPTIONS)


def test_counters_and_their_limits(pair):
    pair.lines(COUNTERS)


def test_lcs(pair):
    pair.lines(LCS)


def test_every_command_returns_every_value(pair):
    for value in VALUES:
        pair("set", "k", value)
        for question in (["get", "k"], ["strlen", "k"], ["mget", "k"], ["object", "encoding", "k"],
                         ["getrange", "k", 0, -1], ["getrange", "k", -3, -2],
                         ["getset", "k", value], ["append", "k", value],
                         ["object", "encoding", "k"], ["get", "k"]):
            pair(*question)


def test_ranges_of_all_kinds(pair):
    for text in ("", "a", "hello", "12345"):
        pair("set", "k", text)
        for first in range(-7, 8):
            for last in range(-7, 8):
                pair("getrange", "k", first, last)
                pair("substr", "nokey", first, last)


def test_overwriting_a_range(pair):
    for start in (None, "", "12345", "text"):
        for offset in (0, 1, 4, 5, 9):
            for value in ("", "x", "12"):
                pair("del", "k")
                if start is not None:
                    pair("set", "k", start)
                pair("setrange", "k", offset, value)
                pair("get", "k")
                pair("object", "encoding", "k")
    pair("setrange", "k", 536870912, "x")
    pair("setrange", "k", 9223372036854775807, "x")
    pair("setrange", "k", 9223372036854775808, "x")


def test_edited_strings_keep_their_expiry(pair):
    for edit in (["append", "k", "1"], ["incr", "k"], ["incrbyfloat", "k", "0.5"],
                 ["setrange", "k", 0, "7"]):
        pair("set", "k", "5", "pxat", 9999999999999)
        pair(*edit)
        pair("pexpiretime", "k")


def test_random_edits_give_the_same_value(pair):
    rng = random.Random(11)
    for _ in range(1500):
        key = f"k{rng.randrange(4)}"
        pair(*rng.choice([
            ("set", key, rng.choice(VALUES)),
            ("append", key, rng.choice(VALUES)),
            ("setrange", key, rng.randrange(60), rng.choice(VALUES)),
            ("incr", key), ("decrby", key, rng.randrange(100)),
            ("incrbyfloat", key, rng.choice(["0.25", "-3", "1e2"])),
            ("getdel", key), ("getex", key), ("copy", key, "k0", "replace"),
            ("lcs", key, "k0", "idx", "withmatchlen"),
        ]))
        pair("object", "encoding", key)
        pair("get", key)


def test_values_survive_a_kill(server):
    client = server.client()
    client.config_set("appendfsync", "always")
    values = {f"k{i}": value for i, value in enumerate(VALUES)}
    client.mset(values)
    client.set("deadline", "v", px=1000000)
    server.restart("kill9")
    client = server.client()
    for key, value in values.items():
        assert client.get(key) == (value if isinstance(value, bytes) else value.encode())
    assert 0 < client.pttl("deadline") <= 1000000
