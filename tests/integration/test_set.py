# SPDX-License-Identifier: BSD-3-Clause
"""Sets compared with redis-server: both get the same commands and must give the same replies.

tests/types/set_test.cc tests the type itself. This file tests what clients see: replies, error texts and their order,
encodings, random members, scans, and the data after a kill.
"""

import collections
import random

import pytest
import redis

from harness import Server

COMMANDS = """sadd scard sdiff sdiffstore sinter sintercard sinterstore sismember smembers
              smismember smove spop srandmember srem sscan sunion sunionstore""".split()

# Commands whose elements have no specified order.
UNORDERED = {"smembers", "sinter", "sunion", "sdiff"}

ERRORS = """
sadd | sadd s | sadd string a | sadd s a a b | srem s | srem string a | srem nokey a | srem s a a x
scard | scard string | scard nokey | scard s x | sismember s | sismember string a
sismember nokey a | sismember s a | sismember i 01 | sismember i 1 | smismember s
smismember string a | smismember nokey a b | smismember s a x a | smembers string
smembers nokey | smembers i
smove s | smove s t | smove nokey string a | smove nokey t a | smove string t a | smove s string a
smove s string x | smove string string a | smove s s a | smove s s x | smove s nokey a | smove s t x
smove i s 1 | smove one t only | spop | spop s 1 2 | spop s x | spop s -1 | spop string
spop string 1 | spop string x | spop string -1 | spop nokey | spop nokey 1 | spop nokey 0 | spop s 0
spop one | spop one 1 | spop one 5 | spop i 100 | spop s 9223372036854775808 | spop one 1.5
srandmember | srandmember s 1 2 | srandmember s x | srandmember string | srandmember string x
srandmember string 1 | srandmember nokey | srandmember nokey 5 | srandmember nokey -5
srandmember s 0 | srandmember one | srandmember one 1 | srandmember one 5 | srandmember one -5
srandmember i 100 | srandmember s -9223372036854775808 | srandmember s 9223372036854775808
srandmember i 9223372036854775807 | sinter | sinter string | sinter s string | sinter string s
sinter nokey string | sinter string nokey | sinter nokey | sinter s nokey | sinter s t | sinter i i
sinter i s t | sinterstore | sinterstore d | sinterstore d string | sinterstore d nokey string
sinterstore string s t | sinterstore string nokey | sinterstore d nokey s | sinterstore s s t
sinterstore d i j | sintercard | sintercard 1 | sintercard 0 s | sintercard -1 s | sintercard x s
sintercard 2 s | sintercard 1 s t | sintercard 2 s t | sintercard 2 s t limit
sintercard 2 s t limit -1 | sintercard 2 s t limit x | sintercard 2 s t limit 1
sintercard 2 s t limit 0 | sintercard 2 s t limit 1 limit 2 | sintercard 2 s t other 1
sintercard 2 s string | sintercard 2 nokey string | sintercard 2 nokey s | sintercard 2 string s x
sintercard 9223372036854775807 s | sintercard 2 i j limit 9223372036854775807
sunion string | sunion s string | sunion nokey string | sunion nokey | sunion s t | sunion i j
sunion i s | sunion nokey s | sunionstore d string | sunionstore string s i | sunionstore d nokey
sunionstore string nokey | sunionstore s s t | sunionstore d i j | sdiff string | sdiff s string
sdiff nokey string | sdiff nokey s | sdiff s nokey | sdiff s t | sdiff t s | sdiff s s | sdiff s t s
sdiff i j | sdiff s string s | sdiffstore d string | sdiffstore d s string | sdiffstore string s t
sdiffstore string s s | sdiffstore d nokey s | sdiffstore s s t | sdiffstore d i j | sscan s
sscan s x | sscan string x | sscan string 0 | sscan string 0 count | sscan nokey 0 count x
sscan nokey x | sscan nokey 5 | sscan s 0 count | sscan s 0 count 0 | sscan s 0 count x
sscan s 0 match | sscan s 0 type set | sscan s 0 other 1 | sscan one 0 match o* count 5
sscan one 0 match x* | sscan i 0 count 100 | sscan i 0 match 1* | sscan s 18446744073709551616
"""


def ask(client, *command):
    """The reply, sorted if its order has no meaning, or the error's text."""
    try:
        reply = client.execute_command(*command)
    except redis.ResponseError as error:
        return f"error: {error}"
    if isinstance(reply, set) or (command[0] in UNORDERED and isinstance(reply, list)):
        return type(reply), sorted(reply)
    return reply


def raw_client(server, protocol=2):
    """A client that does not convert replies."""
    client = server.client(protocol=protocol)
    client.response_callbacks.clear()
    return client


def fill(client):
    """Creates the keys that ERRORS uses."""
    client.flushall()
    client.set("string", "text")
    client.sadd("one", "only")
    client.sadd("s", "a", "b", "c", "1", "2")
    client.sadd("t", "b", "c", "d", "2", "3")
    client.sadd("i", *range(10))
    client.sadd("j", *range(5, 20))


def state(client):
    """Every key with its type, encoding, expiry and members."""
    found = {}
    for key in sorted(client.execute_command("keys", "*")):
        encoding = ask(client, "object", "encoding", key)
        members = ask(client, "smembers", key) if key != b"string" or encoding != b"embstr" else 0
        found[key] = (encoding, ask(client, "ttl", key), members)
    return found


@pytest.mark.parametrize("protocol", [2, 3])
def test_errors_and_small_replies_equal_redis(server, redis_server, protocol):
    ours, theirs = raw_client(server, protocol), raw_client(redis_server, protocol)
    for line in filter(None, (part.strip() for part in ERRORS.replace("\n", "|").split("|"))):
        fill(ours)
        fill(theirs)
        assert ask(ours, *line.split()) == ask(theirs, *line.split()), line
        assert state(ours) == state(theirs), line


def test_command_info_is_that_of_redis(server, redis_server):
    ours, theirs = server.client(), redis_server.client()
    for name in COMMANDS:
        mine, reference = (ask(client, "command", "info", name) for client in (ours, theirs))
        assert mine == reference, name


def test_a_move_without_effect_does_not_change_a_watched_set(server, redis_server):
    """The destination has the member already, so a transaction that watches it succeeds."""
    for each in (server, redis_server):
        watcher, mover = (raw_client(each) for _ in range(2))
        watcher.execute_command("sadd", "source", "a", "b")
        watcher.execute_command("sadd", "target", "a")
        with watcher.pipeline() as transaction:
            transaction.watch("target")
            assert mover.execute_command("smove", "source", "target", "a") == 1
            transaction.multi()
            transaction.sadd("target", "c")
            assert transaction.execute() == [1]
        with watcher.pipeline() as transaction:
            transaction.watch("target")
            assert mover.execute_command("smove", "source", "target", "b") == 1
            transaction.multi()
            transaction.sadd("target", "d")
            with pytest.raises(redis.WatchError):
                transaction.execute()
        assert sorted(watcher.execute_command("smembers", "target")) == [b"a", b"b", b"c"]


def test_integers_come_in_ascending_order(r):
    r.sadd("a", 5, -3, 10**18, 0)
    r.sadd("b", 7, 5, 0, -3)
    assert raw_order(r, "smembers", "a") == [b"-3", b"0", b"5", b"%d" % 10**18]
    assert raw_order(r, "sinter", "a", "b") == [b"-3", b"0", b"5"]
    assert raw_order(r, "sunion", "a", "b") == [b"-3", b"0", b"5", b"7", b"%d" % 10**18]
    assert raw_order(r, "sdiff", "b", "a") == [b"7"]


def raw_order(client, *command):
    """The members in the order of the reply."""
    client.response_callbacks.clear()
    return client.execute_command(*command)


def random_members(rng):
    """Mostly integers or mostly texts, sometimes too long or too many for the small encodings."""
    kind = rng.random()
    if kind < 0.5:
        return [str(rng.randrange(700)) for _ in range(rng.choice([1, 3, 100]))]
    if kind < 0.9:
        return ["m%d" % rng.randrange(200) for _ in range(rng.choice([1, 3, 60]))]
    return [rng.choice(["", "007", "x" * 64, "y" * 65, str(2**63), str(-2**63)])]


def random_command(rng):
    """A set command with mostly valid arguments."""
    key, other, target = (rng.choice("abcde") for _ in range(3))
    keys = [rng.choice("abcde") for _ in range(rng.randrange(1, 4))]
    members = random_members(rng)
    return rng.choice([
        ["sadd", key, *members], ["sadd", key, *members], ["sadd", key, *members],
        ["srem", key, *members], ["sismember", key, members[0]], ["smismember", key, *members],
        ["scard", key], ["smembers", key], ["smove", key, other, members[0]],
        ["sinter", *keys], ["sunion", *keys], ["sdiff", *keys],
        ["sintercard", len(keys), *keys, "limit", rng.randrange(20)],
        ["sinterstore", target, *keys], ["sunionstore", target, *keys],
        ["sdiffstore", target, *keys], ["object", "encoding", key], ["expire", key, 1000],
        ["del", key]])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_commands_equal_redis(server, redis_server, seed):
    """Sets take every encoding, and replies, encodings and expiries are always equal."""
    ours, theirs = raw_client(server), raw_client(redis_server)
    rng = random.Random(seed)
    for step in range(3000):
        command = random_command(rng)
        assert ask(ours, *command) == ask(theirs, *command), (seed, step, command)
        if step % 200 == 0:
            assert state(ours) == state(theirs), (seed, step)


@pytest.mark.parametrize("members", [
    [b"%d" % i for i in range(100)], [b"m%d" % i for i in range(100)],
    [b"m%d" % i for i in range(3000)]], ids=["integers", "packed", "spread"])
def test_random_members(r, members):
    """Distinct draws are distinct, other draws may repeat, and exactly the popped members are removed."""
    size = len(members)
    r.sadd("s", *members)
    assert r.srandmember("s") in members
    for count in (1, 5, size // 2, size - 1, size, size * 10):
        got = r.srandmember("s", count)
        assert len(got) == len(set(got)) == min(count, size) and set(got) <= set(members)
    for count in (1, 10, size * 3):
        got = r.srandmember("s", -count)
        assert len(got) == count and set(got) <= set(members)
    left = set(members)
    for count in (None, 1, 7, size // 3, size // 2, 10 * size):
        popped = r.spop("s", count)
        popped = {popped} if count is None else set(popped)
        assert len(popped) == min(count or 1, len(left))
        assert popped <= left
        left -= popped
        assert r.smembers("s") == left
    assert not r.exists("s")


def test_a_remainder_of_integers_is_small_again(r, redis_server):
    """If few members remain, SPOP writes a new set, as Redis does, and keeps the expiry."""
    for client in (r, redis_server.client()):
        client.sadd("s", *range(600))
        assert client.object("encoding", "s") == b"hashtable"
        client.expire("s", 1000)
        assert len(client.spop("s", 590)) == 590
        assert client.object("encoding", "s") == b"intset"
        assert client.scard("s") == 10 and client.ttl("s") > 990


def test_a_difference_may_keep_the_large_encoding(server, redis_server):
    """Redis subtracts small sets from a large one in a copy of it, which keeps its encoding."""
    for client in (raw_client(server), raw_client(redis_server)):
        client.execute_command("sadd", "mixed", *"abcd123456")
        client.execute_command("sadd", "abcd", *"abcd")
        client.execute_command("sadd", "ab", *"ab")
        client.execute_command("sadd", "cd", *"cd")
        for keys, encoding in [("mixed ab cd", b"hashtable"), ("mixed abcd", b"intset"),
                               ("mixed ab cd nokey nokey", b"hashtable")]:
            client.execute_command("sdiffstore", "result", *keys.split())
            assert client.execute_command("object", "encoding", "result") == encoding, keys


def test_pops_are_uniform(r):
    """Each of 1000 members is equally likely to be popped."""
    popped = collections.Counter()
    r.sadd("s", *("m%d" % i for i in range(1000)))
    for _ in range(100):
        pipe = r.pipeline(transaction=False)
        for _ in range(100):
            pipe.spop("s")
        got = pipe.execute()
        popped.update(got)
        r.sadd("s", *got)
    # Within a round of 100 pops no member repeats, so counts vary less than with independent draws: 999 degrees of
    # freedom with a standard deviation below 45.
    expected = 10000 / 1000
    chi_square = sum((popped[b"m%d" % i] - expected) ** 2 / expected for i in range(1000))
    assert 600 < chi_square < 1200


def test_scan_returns_all_lasting_members_across_changes_and_a_restart():
    with Server(appendfsync="always") as server:
        client = server.client()
        stays = {b"stay%d" % i for i in range(3000)}
        client.sadd("s", *stays)
        seen, cursor, steps = set(), 0, 0
        while steps == 0 or cursor != 0:
            cursor, found = client.sscan("s", cursor, count=100)
            seen.update(found)
            client.sadd("s", "new%d" % steps)
            client.srem("s", "new%d" % (steps - 3))
            steps += 1
            if steps == 10:
                server.restart("kill9")
                client = server.client()
        assert steps > 20
        assert stays <= seen
        matching = {b"stay29%d9" % i for i in range(10)}
        assert set(client.sscan_iter("s", match="stay29?9")) == matching


def test_sets_survive_a_kill():
    with Server(appendfsync="always") as server:
        client = server.client()
        sets = {"integers": {b"%d" % i for i in range(0, 3000, 7)},
                "texts": {b"m%d" % i for i in range(100)},
                "large": {b"member:%d" % i for i in range(5000)}}
        for key, members in sets.items():
            client.sadd(key, *members)
        client.sunionstore("all", *sets)
        server.restart("kill9")
        client = server.client()
        for key, members in sets.items():
            assert client.smembers(key) == members
        assert client.smembers("all") == set().union(*sets.values())
