# SPDX-License-Identifier: BSD-3-Clause
"""SORT and SORT_RO compared with redis-server."""

import random
import threading

from waiting import wait_for_blocked

FILL = """
rpush list 3 1 2 10
rpush words b a c aa
sadd ints 5 3 4
sadd set b a c
zadd zset 3 a 1 b 2 c 2 d
mset weight_1 30 weight_2 20 weight_3 10 weight_10 x
mset name_1 one name_2 two name_3 three
hset object_1 weight 1 name eins
hset object_2 weight 5 name zwei
hset object_3 weight 3 name drei
hset object_10 weight 2
rpush floats 1.5 -2 +3 1e2 inf -inf 0x10
rpush same 1 1.0 01 -0 0
set string x
set last_a-> arrow
rpush a_elements a
rpush blanks '' 2
"""

LINES = """
sort list
sort list desc
sort list desc asc
sort list alpha
sort list alpha desc
sort list limit 1 2
sort list limit -5 2
sort list limit 0 0
sort list limit 4 1
sort list limit 3 100
sort list limit 1 -1
sort list limit 1 -7
sort list limit x 1
sort list limit 1 x
sort list limit 1
sort list limit 0 9223372036854775807
sort list limit 0 9223372036854775808
sort list by
sort list get
sort list store
sort list nonsense
sort list alpha nonsense limit x y
sort list by weight_*
sort list by weight_* alpha
sort list by weight_* alpha desc limit 0 2
sort list by nosuch_*
sort list by nosuch_* desc
sort list by nosuch_* alpha
sort list by object_*->weight
sort list by object_*->weight desc limit 1 2
sort list by object_*->nosuch
sort list by string*->x
sort list by name_* alpha get # get name_*
sort list by object_*->weight get object_*->name get #
sort list by nosort
sort list by nosort desc
sort list by nosort limit 1 2
sort list by nosort desc limit 1 2
sort list by nosort desc limit 5 2
sort list by nosort by object_*->weight
sort list by object_*->weight by nosort
sort list by #
sort list get nothing
sort list get # get # get weight_*
sort list get #*
sort list get *
sort list get weight_*->x
sort list get object_*
sort list by nosort get name_* limit 0 2
sort words
sort words alpha
sort words alpha desc
sort words by nosort
sort ints
sort ints desc
sort ints by nosort
sort ints by nosort limit 1 1
sort set
sort set alpha
sort set by nosuch_*
sort set by nosort store to
sort set by nosort desc limit 0 2 store to
sort zset
sort zset alpha
sort zset by nosort
sort zset by nosort desc
sort zset by nosort desc limit 1 2
sort zset by nosort limit 1 0
sort zset by nosort limit 9 9
sort zset by nosort desc store to
sort floats
sort floats desc
sort same
sort same desc
sort blanks
sort a_elements by nosort get last_*->
sort a_elements by nosort get last_*->x
sort none
sort none limit 1 2
sort none by nosort get a get b
sort string
sort string by nosort store to
sort string nonsense
sort object_1
sort list store to
sort list get name_* store to
sort list by weight_* store to
sort words store to
sort list alpha store list
sort none store to
sort list store string
sort none store string
sort list store first store second
sort list store by store to
sort list limit 0 0 store to
sort_ro list
sort_ro list by nosort get # limit 0 2
sort_ro list by weight_* alpha
sort_ro list store to
sort_ro string
sort_ro none
sort_ro words
sort
sort_ro
command getkeys sort a by w_* store b
command getkeys sort a limit store b
command getkeys sort a store b store c
command getkeys sort a get store b
command getkeysandflags sort a store b
command getkeysandflags sort_ro a by *
"""


def test_replies_equal_redis(pair):
    for line in filter(None, LINES.splitlines()):
        for server in (pair.ours, pair.theirs):
            server("flushall")
        pair.lines(FILL)
        pair(*line.split(" "))
        for key in ("to", "list", "first", "second", "by"):
            pair("lrange", key, 0, -1)
            pair("type", key)
        pair("type", "string")


def test_random_sorts_equal_redis(pair):
    """Thousands of elements, so the values are spread and the slow lane sorts them."""
    rng = random.Random(8)
    numbers = rng.sample(range(10**6), 3000)
    for command, key in (("rpush", "list"), ("sadd", "set")):
        pair(command, key, *numbers)
    pair("zadd", "zset", *(word for n in numbers for word in (rng.randrange(10**9), n)))
    pair("mset", *(word for n in numbers for word in (f"w_{n}", rng.random())))
    for n in numbers[::2]:
        pair("hset", f"h_{n}", "f", rng.randrange(50))
    for key in ("list", "set", "zset"):
        for by in ((), ("by", "w_*"), ("by", "h_*->f")):
            pair("sort", key, *by)
            pair("sort", key, *by, "desc", "limit", 100, 50, "get", "#", "get", "w_*")
        pair("sort", key, "alpha", "limit", 2990, 20, "get", "h_*->f")
        pair("sort", key, "by", "w_*", "store", "to")
        pair("lrange", "to", 0, -1)
        pair("object", "encoding", "to")
    for order in ("asc", "desc"):
        pair("sort", "zset", "by", "nosort", order, "limit", 1000, 7)
        pair("sort", "list", "by", "nosort", order, "limit", 1000, 7)


def test_the_order_of_equal_weights_equals_redis(pair):
    """LIMIT takes a part of an unstable sort, so the sort must make the same steps as Redis's."""
    luck = random.Random(5)
    for weight in range(8):
        pair("set", f"v_{weight}", luck.choice("abc"))
    for size in (3, 7, 8, 40, 41, 300, 3000):
        pair("del", "list")
        pair("rpush", "list", *(luck.randrange(10) for _ in range(size)))
        for _ in range(10):
            first, many = luck.randrange(size), luck.choice([1, 3, size])
            order = luck.choice(["asc", "desc"])
            pair("sort", "list", "by", "v_*", "alpha", order, "limit", first, many)


def test_a_stored_result_has_no_expiry(pair):
    pair("set", "to", "x", "ex", 1000)
    pair("rpush", "list", 2, 1)
    pair("sort", "list", "store", "to")
    pair("ttl", "to")
    pair("expire", "list", 1000)
    pair("sort", "list", "store", "list")
    pair("ttl", "list")


def test_sort_in_a_transaction_sees_its_writes(pair):
    pair.lines("""
rpush list 1 2 3
mset w_1 1 w_2 2 w_3 3
multi
mset w_1 9 w_3 0
sort list by w_* get w_* get #
sort list by w_* store to
lrange to 0 -1
sort list by nosuch
sort to limit x x
exec
""")


def test_store_unblocks_a_client(server):
    client, waiting = server.client(), server.client()
    client.flushall()
    got = []
    thread = threading.Thread(target=lambda: got.append(waiting.blpop("to", timeout=20)))
    thread.start()
    wait_for_blocked(server)
    client.rpush("list", 3, 1, 2)
    client.sort("list", store="to")
    thread.join(60)
    assert got == [(b"to", b"1")]
    assert client.lrange("to", 0, -1) == [b"2", b"3"]


def test_weights_are_of_one_state(server):
    """A writer keeps exchanging two weights atomically: no sort may see one of them twice."""
    client, writer = server.client(), server.client()
    client.flushall()
    client.rpush("list", *range(64))
    client.mset({f"w_{i}": i for i in range(64)})
    stop = threading.Event()

    def exchange():
        rng = random.Random(4)
        weights = list(range(64))
        while not stop.is_set():
            a, b = rng.sample(range(64), 2)
            weights[a], weights[b] = weights[b], weights[a]
            writer.mset({f"w_{a}": weights[a], f"w_{b}": weights[b]})

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for _ in range(300):
            assert client.sort("list", by="w_*", get="w_*") == [b"%d" % i for i in range(64)]
            client.sort("list", by="w_*", get="w_*", store="to")
            assert client.lrange("to", 0, -1) == [b"%d" % i for i in range(64)]
    finally:
        stop.set()
        thread.join()
