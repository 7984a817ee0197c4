# SPDX-License-Identifier: BSD-3-Clause
"""Sorted sets compared with redis-server: both get the same commands and must give the same replies.

tests/types/zset_test.cc tests the type itself. This file tests what clients see: replies and error texts in both
protocols, blocking, and the data after a kill. A double holds all scores exactly, because Redis 7.0 and 7.2 format
other scores differently.
"""

import random
import threading
import time

import pytest
import redis

from harness import Server
from waiting import wait_until

COMMANDS = """bzmpop bzpopmax bzpopmin zadd zcard zcount zdiff zdiffstore zincrby zinter zintercard
              zinterstore zlexcount zmpop zmscore zpopmax zpopmin zrandmember zrange zrangebylex
              zrangebyscore zrangestore zrem zremrangebylex zremrangebyrank zremrangebyscore
              zrevrange zrevrangebylex zrevrangebyscore zscan zscore zunion zunionstore""".split()

# Errors and replies without elements; $ stands for an empty argument.
LINES = """
zadd | zadd k 1 | zadd k nx 1 | zadd k 1 a 2 | zadd k x a | zadd k nan a | zadd k (1 a | zadd k $ a
zadd k nx xx 1 a | zadd k nx gt 1 a | zadd k gt lt 1 a | zadd k nx lt 1 a | zadd k incr 1 a 2 b
zadd string 1 a | zadd string x a | zadd string nx xx 1 a | zadd k 1 a x b | zadd k nx incr 1 a
zadd nokey xx 1 a | zadd nokey xx incr 1 a | zadd k incr inf inf | zadd k incr -inf inf
zadd k ch gt 0 a 9 new | zadd k ch lt 0 a 9 new | zadd k xx ch 5 a 6 new | zadd k ch ch 7 a
zincrby k x a | zincrby k nx a | zincrby k ch a | zincrby k nan a | zincrby string 1 a
zincrby string x a | zincrby k -inf inf | zincrby k 2.5 a | zincrby nokey 1 a | zrem string a
zrem nokey a | zrem k a b nothere | zrem k a b c d 1 inf | zcard string | zcard nokey | zcard k
zscore string a | zscore nokey a | zscore k nothere | zscore k inf | zmscore string a
zmscore nokey a b | zmscore k a nothere inf | zrank string a | zrank nokey a | zrank k nothere
zrank k c | zrevrank k c | zrevrank string a | zrandmember string | zrandmember nokey
zrandmember k x | zrandmember k 0 | zrandmember nokey 5 | zrandmember string 5
zrandmember k 1 other | zrandmember k 1 withscores x | zrandmember k -9223372036854775808
zrandmember k -9223372036854775807 withscores | zrandmember k 9223372036854775807 withscores
zrandmember k 100 | zrandmember k 100 withscores | zscan k x | zscan string x | zscan nokey 0 other
zscan string 0 | zscan k 0 other | zscan k 0 count 0 | zscan k 0 count x | zscan k 0 match
zscan k 0 match ? | zscan k 18446744073709551616 | zpopmin string
zpopmin nokey | zpopmin k 0 | zpopmin k -1 | zpopmin k x | zpopmin k 1 1 | zpopmin string -1
zpopmin string 0 | zpopmin k | zpopmax k | zpopmin k 2 | zpopmax k 2 | zpopmax k 100
zpopmin nokey 2 | zmpop 0 k min | zmpop x k min | zmpop -1 k min | zmpop 2 k min | zmpop 1 k up
zmpop 1 k min count 0 | zmpop 1 k min count x | zmpop 1 k min count | zmpop 1 k min count 1 count 1
zmpop 1 k min other 1 | zmpop 1 nokey max | zmpop 2 nokey string min | zmpop 2 nokey k max count 2
zmpop 9223372036854775807 k min | zmpop 1 k min count 100 | bzpopmin k x | bzpopmin k -1
bzpopmin string 0 | bzpopmin nokey string 0 | bzpopmin string x | bzpopmin nokey k 0 | bzpopmax k 0
bzpopmin nokey 0.01 | bzmpop x 1 k min | bzmpop -1 1 k min | bzmpop 0 0 k min | bzmpop x 0 k min
bzmpop 0 1 k up | bzmpop 0 2 nokey string min | bzmpop 0.01 1 nokey max | bzmpop 0 1 k max count 2
zrange k x 1 | zrange k 1 x | zrange string 0 1 | zrange string x 1 | zrange nokey 0 1
zrange k 0 -1 other | zrange k 0 -1 withscores | zrange k 0 -1 limit 0 1 | zrange k 0 -1 limit 0 -1
zrange k 0 -1 limit x 1 | zrange k 0 -1 limit 0 | zrange k 0 -1 rev rev
zrange k 0 -1 byscore bylex | zrange k - + bylex withscores | zrange k 0 1 bylex
zrange k x 1 byscore | zrange k nan 1 byscore
zrange k (1 (3 byscore | zrange k (3 (1 byscore rev withscores | zrange k $ ( byscore
zrange k 5 1 | zrange k -100 100 | zrange k 100 200 | zrange k 1 2 rev withscores
zrange k -inf +inf byscore limit 1 2 | zrange k -inf inf byscore limit -1 2
zrange k -inf inf byscore limit 0 -1 | zrange k inf -inf byscore rev limit 2 -5 withscores
zrange k -inf inf byscore limit 100 1 | zrange k 1 2 byscore other other | zrevrange k 0 1 rev
zrevrange k 0 1 limit 0 1 | zrevrange k 0 1 withscores | zrangebyscore k 1 3 byscore
zrangebyscore k x 3 | zrangebyscore k 1 3 withscores limit 1 1 | zrangebyscore string x 1
zrangebyscore k 1 3 limit 1 | zrevrangebyscore k 3 1 limit 0 1 withscores | zrevrangebyscore k 1 3
zrangebylex lex x y | zrangebylex lex [b (d | zrangebylex lex - + limit 1 2 | zrangebylex lex + -
zrangebylex lex - + withscores | zrangebylex lex [b [b | zrangebylex lex [b (b | zrangebylex lex [ +
zrevrangebylex lex + - limit 1 2 | zrevrangebylex lex [d (b | zrevrangebylex lex [b [d
zrangebylex string x y | zrangebylex string - + | zrangestore to k 0 1 withscores
zrangestore to string 0 1 | zrangestore to nokey 0 1 | zrangestore string nokey 0 1
zrangestore string k 0 1 | zrangestore to k (1 3 byscore | zrangestore to lex [b + bylex limit 0 2
zrangestore k k 3 1 byscore rev limit 0 1 | zcount k x 1 | zcount k 1 x | zcount string 1 2
zcount string x 2 | zcount nokey 1 2 | zcount k (1 3 | zcount k 3 1 | zlexcount lex - +
zlexcount lex x + | zlexcount lex [b (d | zlexcount nokey - + | zlexcount string - +
zremrangebyrank k x 1 | zremrangebyrank string 0 1 | zremrangebyrank k 1 0 | zremrangebyrank k -2 -1
zremrangebyrank k 0 -1 | zremrangebyscore k x 1 | zremrangebyscore string 1 2
zremrangebyscore k (1 3 | zremrangebyscore k -inf inf | zremrangebylex lex x y
zremrangebylex lex (a [c | zremrangebylex lex - + | zremrangebylex nokey - +
zunion 0 k | zunion x k | zunion -1 k | zunion 3 k lex | zunion 1 string | zunion 1 string weights x
zunion 1 k weights | zunion 1 k weights x | zunion 2 k lex weights 1 | zunion 1 k aggregate
zunion 1 k aggregate avg | zunion 1 k other | zunion 2 k set withscores
zunion 2 k set weights 2 3 aggregate max withscores | zunion 1 k limit 1 | zunion 1 nokey
zunion 2 k k withscores | zinter 2 k set withscores | zinter 2 k nokey | zinter 2 k set weights 0 1
zinter 1 k aggregate min weights -2 withscores | zinter 2 k string | zdiff 2 k set withscores
zdiff 2 k k | zdiff 1 k weights 1 | zdiff 2 nokey k | zdiff 2 k nokey withscores
zintercard 2 k set | zintercard 2 k set limit 1 | zintercard 2 k set limit -1
zintercard 2 k set limit x | zintercard 2 k set withscores | zintercard 0 k
zintercard 2 k k limit 0 | zintercard 1 string | zunionstore to 0 k | zunionstore to 1 string
zunionstore to 1 k withscores
zunionstore string 2 k set | zunionstore string 1 nokey | zunionstore to 2 k set weights 1 x
zunionstore to 2 k set aggregate min | zinterstore to 2 k set | zinterstore k 2 k nokey
zdiffstore to 2 k set | zdiffstore to 1 k aggregate sum | zdiffstore lex 2 k k
zunionstore to 2 inf minusinf | zunionstore to 2 inf minusinf weights 0 1
"""


def ask(client, *command):
    """The unconverted reply, or the error's text."""
    try:
        return client.execute_command(*command)
    except redis.ResponseError as error:
        return f"error: {error}"


def raw_client(server, protocol):
    """A client that does not convert replies."""
    client = server.client(protocol=protocol)
    client.response_callbacks.clear()
    return client


def fill(client):
    """Creates the keys that LINES uses."""
    client.flushall()
    client.set("string", "text")
    client.sadd("set", "a", "c", "x", "1")
    client.zadd("k", {"a": 1, "b": 2, "c": 2, "d": 3.25, "1": -4, "inf": "inf"})
    client.zadd("lex", {name: 0 for name in ("a", "b", "bb", "c", "d")})
    client.zadd("inf", {"m": "inf"})
    client.zadd("minusinf", {"m": "-inf"})


def lines():
    """LINES as commands."""
    parts = (part.split() for part in LINES.replace("\n", "|").split("|"))
    return [["" if word == "$" else word for word in part] for part in parts if part]


@pytest.fixture(params=[128, 0], ids=["packed", "spread"])
def pair(server, redis_server, request):
    """Both servers, with sorted sets that stay small or are never small; the limit is restored at the end."""
    servers = server, redis_server
    for one in servers:
        one.client().config_set("zset-max-listpack-entries", request.param)
    yield servers
    for one in servers:
        if one.is_running():
            one.client().config_set("zset-max-listpack-entries", 128)


@pytest.mark.parametrize("protocol", [2, 3])
def test_replies_equal_redis(pair, protocol):
    ours, theirs = (raw_client(server, protocol) for server in pair)
    for line in lines():
        fill(ours)
        fill(theirs)
        mine, reference = ask(ours, *line), ask(theirs, *line)
        if line[0] == "zscan" and isinstance(mine, list):  # the order of a scan is not specified
            mine, reference = (sorted(map(str, reply[1])) for reply in (mine, reference))
        assert mine == reference, line
        for key in ("k", "lex", "to", "string"):
            read = ("zrange", key, 0, -1, "withscores")
            assert ask(ours, *read) == ask(theirs, *read), (line, key)
            kind = ("object", "encoding", key)
            assert ask(ours, *kind) == ask(theirs, *kind), (line, key)


def test_command_info_is_that_of_redis_7_2(server, valkey_server):
    ours, theirs = raw_client(server, 2), raw_client(valkey_server, 2)
    for name in COMMANDS:
        mine, reference = (ask(client, "command", "info", name) for client in (ours, theirs))
        assert mine == reference, name


def test_a_rank_can_be_returned_with_its_score(server):
    two, three = raw_client(server, 2), raw_client(server, 3)
    two.zadd("k", {"a": 1, "b": 2.5, "c": 3})
    assert ask(two, "zrank", "k", "b", "withscore") == [1, b"2.5"]
    assert ask(three, "zrevrank", "k", "c", "WITHSCORE") == [0, 3.0]
    assert ask(two, "zrank", "k", "nothere", "withscore") is None
    assert ask(two, "zrank", "nokey", "a", "withscore") is None
    assert ask(two, "zrank", "k", "a", "withscores") == "error: syntax error"
    arity = "error: wrong number of arguments for 'zrank' command"
    assert ask(two, "zrank", "k", "a", "withscore", "x") == arity


def random_bound(rng):
    """One side of an interval of scores."""
    bound = rng.choice(["-inf", "+inf", str(rng.randrange(-8, 40) / 4)])
    return rng.choice(["", "", "("]) + bound


def random_command(rng):
    """A sorted set command with mostly valid arguments."""
    key, other = rng.choice("abc"), rng.choice("abc")
    member = lambda: rng.choice(["m%d", "%d", "\xff%d"]) % rng.randrange(150)  # noqa: E731
    score = lambda: rng.choice([rng.randrange(-8, 40) / 4, 10**9, "inf", "-inf"])  # noqa: E731
    index = lambda: rng.choice([0, -1, rng.randrange(-150, 150)])  # noqa: E731
    pairs = [item for _ in range(rng.choice([1, 1, 2, 10, 40])) for item in (score(), member())]
    bounds = [random_bound(rng), random_bound(rng)]
    limit = rng.choice([[], ["limit", rng.randrange(0, 90), rng.choice([-1, 1, 10])]])
    scores = rng.choice([[], ["withscores"]])
    combine = ["aggregate", rng.choice(["sum", "min", "max"]), "weights", 1, rng.choice([2, -1])]
    return rng.choice([
        ["zadd", key, *pairs], ["zadd", key, *pairs], ["zadd", key, *pairs],
        ["zadd", key, rng.choice(["nx", "xx", "gt", "lt"]), "ch", *pairs],
        ["zadd", key, "incr", score(), member()], ["zincrby", key, score(), member()],
        ["zrem", key, member(), member(), member()], ["zcard", key], ["zscore", key, member()],
        ["zmscore", key, member(), member()], ["zrank", key, member()],
        ["zrevrank", key, member()], ["zrange", key, index(), index(), *scores],
        ["zrange", key, index(), index(), "rev", *scores],
        ["zrange", key, *bounds, "byscore", *limit, *scores],
        ["zrevrangebyscore", key, *bounds, *limit, *scores], ["zcount", key, *bounds],
        ["zrangestore", key, other, index(), index()],
        ["zrangestore", key, other, *bounds, "byscore", "rev", *limit],
        ["zremrangebyrank", key, rng.randrange(100), rng.randrange(100)],
        ["zremrangebyscore", key, bounds[0], bounds[0]],
        ["zpopmin", key, rng.randrange(5)], ["zpopmax", key], ["zmpop", 2, key, other, "max"],
        ["zunion", 2, key, other, *combine, *scores], ["zinter", 2, key, other, *combine, *scores],
        ["zdiff", 2, key, other, *scores], ["zintercard", 2, key, other],
        ["zunionstore", "c", 2, key, other, *combine], ["zinterstore", "c", 2, key, other],
        ["zdiffstore", "c", 2, key, other], ["sadd", "set", member()],
        ["zunion", 2, key, "set", *scores], ["zinterstore", "c", 2, "set", key],
        ["zrandmember", key, 1000, *scores], ["object", "encoding", key], ["expire", key, 1000],
        ["ttl", key], ["copy", key, other, "replace"], ["rename", key, other], ["type", key],
    ])


@pytest.mark.parametrize("protocol", [2, 3])
def test_random_commands_give_the_same_replies(pair, protocol):
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    ours, theirs = (raw_client(server, protocol) for server in pair)
    for step in range(4000):
        command = random_command(rng)
        assert ask(ours, *command) == ask(theirs, *command), f"seed {seed} step {step} {command}"


def test_a_stored_range_treats_negative_zeros_as_redis_does(server, redis_server):
    """Redis stores the range in a listpack while it fits, and a listpack holds 0 for -0."""
    ranges = [("0", "-1"), ("-4", "-1"), ("0", "4"), ("0", "4", "rev"), ("-2", "-1", "rev"),
              ("-inf", "+inf", "byscore"), ("+inf", "-inf", "byscore", "rev"),
              ("0", "0", "byscore"), ("0", "0", "byscore", "limit", "1", "4"),
              ("-", "+", "bylex"), ("+", "-", "bylex", "rev")]
    long = "n" * 80
    replies = []
    for one in (server, redis_server):
        client = raw_client(one, 2)
        client.config_set("zset-max-listpack-entries", 4)
        try:
            client.execute_command("zadd", "k", *(word for member in ("a", "b", "c", "m", long, "y", "z")
                                                  for word in ("-0", member)))
            client.execute_command("zadd", "k", -3, "low", 5, "high")
            replies.append([(words, ask(client, "zrangestore", "to", "k", *words),
                             ask(client, "zrange", "to", 0, -1, "withscores"))
                            for words in ranges])
        finally:
            client.config_set("zset-max-listpack-entries", 128)
    assert replies[0] == replies[1]
    shown = [word for _, _, elements in replies[0] for word in elements[1::2]]
    assert b"-0" in shown and b"0" in shown


def test_a_large_set_reads_the_same_at_any_depth(server, redis_server):
    clients = raw_client(server, 2), raw_client(redis_server, 2)
    rng = random.Random(3)
    pairs = [(rng.randrange(100_000) / 4, f"member:{i}") for i in range(60_000)]
    for client in clients:
        for start in range(0, len(pairs), 5000):
            client.execute_command("zadd", "big", *sum(pairs[start:start + 5000], ()))
        client.zremrangebyrank("big", 30_000, 30_100)
        client.zpopmin("big", 300)
        client.zremrangebyscore("big", 20_000, 20_010)
    questions = [
        ("zcard", "big"), ("zrange", "big", 0, 9), ("zrange", "big", -10, -1, "withscores"),
        ("zrange", "big", 25_000, 25_300), ("zrevrange", "big", 40_000, 40_010),
        ("zcount", "big", 5000, 10_000), ("zcount", "big", "(5000", "inf"),
        ("zrangebyscore", "big", 7000, 7020, "withscores"),
        ("zrangebyscore", "big", "-inf", "inf", "limit", 33_333, 5),
        ("zrevrangebyscore", "big", 19_000, 0, "limit", 12_345, 200),
        ("zrank", "big", "member:77"), ("zrevrank", "big", "member:59999"),
        ("zrange", "big", 0, -1, "withscores"),
    ]
    for question in questions:
        mine, reference = (ask(client, *question) for client in clients)
        assert mine == reference, question


def test_random_members_are_members_and_many_different_ones(server):
    client = raw_client(server, 2)
    for size in (100, 20_000):
        client.delete("k")
        client.execute_command("zadd", "k", *sum(((i, f"m{i}") for i in range(size)), ()))
        single = {client.execute_command("zrandmember", "k") for _ in range(300)}
        assert len(single) > 60 and all(client.zscore("k", name) is not None for name in single)
        for count in (50, 90):
            some = client.execute_command("zrandmember", "k", count)
            assert len(some) == len(set(some)) == count
        repeated = client.execute_command("zrandmember", "k", -500, "withscores")
        assert len(repeated) == 1000
        assert all(name == b"m" + score for name, score in zip(repeated[::2], repeated[1::2]))


def test_a_scan_returns_all_lasting_members(server):
    client = raw_client(server, 2)
    client.execute_command("zadd", "k", *sum(((i, f"m{i}") for i in range(5000)), ()))
    seen, cursor = set(), b"0"
    while True:
        cursor, found = client.execute_command("zscan", "k", cursor, "count", 100, "match", "m*")
        seen.update(found[::2])
        client.execute_command("zadd", "k", len(seen), f"new{len(seen)}")
        client.execute_command("zrem", "k", f"m{4000 + len(seen) % 1000}")
        if cursor == b"0":
            break
    assert all(b"m%d" % i in seen for i in range(4000))


@pytest.mark.slow
def test_sorted_sets_survive_a_kill():
    with Server(appendfsync="always") as server:
        client = server.client()
        client.zadd("small", {"a": 1, "b": "-inf", "7": 2.5})
        client.zadd("large", {f"m{i}": i / 3 for i in range(20_000)})
        client.zpopmin("large", 5000)
        client.zincrby("large", 0.5, "m9000")
        before = client.zrange("large", 0, -1, withscores=True)
        server.restart("kill9")
        client = server.client()
        assert client.zrange("small", 0, -1) == [b"b", b"a", b"7"]
        assert client.zrange("large", 0, -1, withscores=True) == before
        assert client.zrank("large", "m9000") is not None


class Waiter:
    """A blocking command on its own connection; it starts when this object is created."""

    def __init__(self, server, *command):
        self.client = raw_client(server, 2)
        self.client_id = self.client.client_id()
        self.reply = None
        self.thread = threading.Thread(target=self._run, args=command, daemon=True)
        self.thread.start()
        observer = server.client()
        wait_until(lambda: any(int(c["id"]) == self.client_id and "b" in c["flags"] for c in observer.client_list()),
                   "the wait of the command")

    def _run(self, *command):
        self.reply = ask(self.client, *command)

    def result(self):
        """The reply. Fails if there is none in time."""
        self.thread.join(60)
        assert not self.thread.is_alive(), "still waiting"
        return self.reply


def test_a_blocked_client_gets_an_added_member(server, r):
    for command, expected in (
            (("bzpopmin", "k1", "k2", 0), [b"k2", b"a", b"1"]),
            (("bzpopmax", "k1", "k2", 0), [b"k2", b"b", b"2.5"]),
            (("bzmpop", 0, 2, "k1", "k2", "max", "count", 5),
             [b"k2", [[b"b", b"2.5"], [b"a", b"1"]]])):
        waiter = Waiter(server, *command)
        r.zadd("k2", {"a": 1, "b": 2.5})
        assert waiter.result() == expected
        r.delete("k2")


def test_a_blocked_client_times_out(server, r):
    start = time.monotonic()
    assert ask(r, "bzpopmin", "nokey", 0.2) is None
    assert time.monotonic() - start >= 0.2
    waiter = Waiter(server, "bzmpop", 0.3, 1, "nokey", "min")
    r.zadd("other", {"a": 1})
    assert waiter.result() is None


@pytest.mark.slow
def test_pops_do_not_slow_down():
    """Pops leave deleted rows behind at both ends; later pops must not scan them."""
    with Server() as server:
        client = server.client()
        for start in range(0, 120_000, 10_000):
            client.execute_command("zadd", "queue", *sum(
                ((i, f"job:{i}") for i in range(start, start + 10_000)), ()))

        def time_of_pops(name):
            start = time.monotonic()
            pipe = client.pipeline(transaction=False)
            for _ in range(1000):
                pipe.execute_command(name, "queue")
            pipe.execute()
            return time.monotonic() - start

        for name in ("zpopmin", "zpopmax"):
            early = min(time_of_pops(name) for _ in range(5))
            for _ in range(45):
                time_of_pops(name)
            late = min(time_of_pops(name) for _ in range(5))
            assert late < 6 * early + 0.02, name
        memory = client.info("everything")
        assert memory["used_rank_index_bytes"] < memory["budget_rank_index_bytes"]
