# SPDX-License-Identifier: BSD-3-Clause
"""Lists compared with redis-server: both get the same commands and must give the same replies.

tests/types/list_test.cc tests the type itself. This file tests what clients see: replies and error texts, blocking, and
the data after a kill.
"""

import random
import threading
import time

import pytest
import redis

from harness import Server
from waiting import assert_stays, wait_until

COMMANDS = """lindex linsert llen lmove lmpop lpop lpos lpush lpushx lrange lrem lset ltrim rpop
              rpoplpush rpush rpushx blpop brpop blmove brpoplpush blmpop""".split()

ERRORS = """
lpush | lpush k | lpush string v | lpushx string v | lpop | lpop k 1 2 | lpop k -1 | lpop k x
lpop string | lpop string -1 | lpop nokey | lpop nokey 0 | lpop nokey 1 | lpop k 0 | rpop k 0
llen string | llen nokey | lindex string x | lindex nokey x | lindex k x | lindex k 100
lindex k -100 | lindex k -9223372036854775808 | lset nokey x v | lset k x v | lset k 100 v
lset k -100 v | lset string 0 v | lrange k x 0 | lrange k 0 x | lrange string 0 -1
lrange string x -1 | lrange nokey 0 -1 | lrange k 5 1 | lrange k -100 100 | ltrim k x 0
ltrim string 0 0 | ltrim nokey 0 0 | lrem k x v | lrem string 0 v | lrem nokey 0 v
lrem string x v | linsert k middle p v | linsert nokey before p v | linsert string before p v
linsert string nowhere p v | linsert k after nopivot v | lpos k v rank 0 | lpos k v rank x
lpos k v count -1 | lpos k v count x | lpos k v maxlen -1 | lpos k v maxlen x | lpos k v rank
lpos k v count | lpos k v other 1 | lpos nokey v | lpos nokey v count 1 | lpos string v
lpos string v rank 0 | lpos k nothere | lpos k nothere count 0 | lmove k k2 left up
lmove k k2 up left | lmove nokey string left left | lmove k string left left
lmove string k left left | rpoplpush nokey string | rpoplpush k string | rpoplpush string k
lmpop 0 k left | lmpop x k left | lmpop -1 k left | lmpop 2 k left | lmpop 1 k up
lmpop 1 k left count 0 | lmpop 1 k left count x | lmpop 1 k left count
lmpop 1 k left count 1 count 1 | lmpop 1 k left other 1 | lmpop 1 nokey left
lmpop 2 nokey string left | lmpop 9223372036854775807 k left | blpop k x | blpop k -1
blpop string 0 | blpop nokey string 0 | brpop k -0.5 | blmove k k2 left up 0
blmove k k2 left left x | blmove k k2 left left -1 | blmove string k2 left left 0
brpoplpush k k2 x | brpoplpush k string 0 | blmpop x 1 k left | blmpop -1 1 k left
blmpop 0 0 k left | blmpop x 0 k left | blmpop 0 1 k up | blmpop 0 2 nokey string left
"""


def ask(client, *command):
    """The reply, or the error's text, in a form that can be compared."""
    try:
        reply = client.execute_command(*command)
        return list(reply) if isinstance(reply, tuple) else reply
    except redis.ResponseError as error:
        return f"error: {error}"


def fill(client):
    """Creates the keys that ERRORS uses."""
    client.flushall()
    client.set("string", "text")
    client.rpush("k", "a", "b", "c", "1", "2")


@pytest.mark.parametrize("protocol", [2, 3])
def test_errors_and_empty_replies_equal_redis(server, redis_server, protocol):
    ours, theirs = server.client(protocol=protocol), redis_server.client(protocol=protocol)
    for line in filter(None, (part.strip() for part in ERRORS.replace("\n", "|").split("|"))):
        fill(ours)
        fill(theirs)
        assert ask(ours, *line.split()) == ask(theirs, *line.split()), line
        assert ours.lrange("k", 0, -1) == theirs.lrange("k", 0, -1), line


def test_command_info_is_that_of_redis_7_2(server, valkey_server):
    ours, theirs = server.client(), valkey_server.client()
    for name in COMMANDS:
        mine, reference = (ask(client, "command", "info", name) for client in (ours, theirs))
        assert mine == reference, name


def value(rng):
    """A text or a number; some repeat, and some need a separate chunk."""
    return rng.choice([str(rng.randrange(10)), str(rng.randrange(-10**12, 10**12)),
                       "text:%d" % rng.randrange(50), "x" * rng.randrange(200),
                       "y" * rng.choice([10, 100, 3000])])


def random_command(rng):
    """A list command with mostly valid arguments."""
    key, other = rng.choice(["a", "b", "c"]), rng.choice(["a", "b", "c"])
    index = lambda: rng.choice([0, -1, 1, rng.randrange(-400, 400)])  # noqa: E731
    side = lambda: rng.choice(["left", "right"])  # noqa: E731
    many = [value(rng) for _ in range(rng.choice([1, 1, 1, 2, 5, 40]))]
    return rng.choice([
        ["rpush", key, *many], ["lpush", key, *many], ["rpush", key, *many],
        ["lpushx", key, *many], ["lpop", key], ["rpop", key], ["lpop", key, rng.randrange(6)],
        ["rpop", key, rng.choice([3, 30])], ["llen", key], ["lindex", key, index()],
        ["lset", key, index(), value(rng)], ["lrange", key, index(), index()],
        ["lrange", key, 0, -1], ["ltrim", key, rng.randrange(4), -1 - rng.randrange(4)],
        ["ltrim", key, *rng.choice([(0, 20), (-30, -1), (0, 300)])],
        ["linsert", key, rng.choice(["before", "after"]), value(rng), value(rng)],
        ["linsert", key, rng.choice(["before", "after"]), value(rng), value(rng)],
        ["lrem", key, rng.randrange(-3, 4), value(rng)],
        ["lpos", key, value(rng), "rank", rng.choice([1, -1, 2, -2]), "count", rng.randrange(3),
         "maxlen", rng.choice([0, 10, 100])],
        ["lpos", key, value(rng)], ["lmove", key, other, side(), side()],
        ["rpoplpush", key, other], ["lmpop", 2, key, other, side(), "count", rng.randrange(1, 9)],
        ["expire", key, 1000], ["ttl", key], ["type", key], ["exists", key],
    ])


@pytest.mark.parametrize("limit", [-2, 3])
def test_random_commands_give_the_same_replies(redis_server, limit):
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    with Server(list_max_listpack_size=limit) as server:
        ours, theirs = server.client(), redis_server.client()
        for step in range(4000):
            command = random_command(rng)
            replies = ask(ours, *command), ask(theirs, *command)
            if command[0] == "ttl" and min(replies) > 0:  # a second may pass between the two
                assert max(replies) - min(replies) <= 1, f"seed {seed} step {step}"
                continue
            assert replies[0] == replies[1], f"seed {seed} step {step} {command}"


def test_a_large_list_reads_the_same_at_any_offset(server, redis_server):
    clients = server.client(), redis_server.client()
    for client in clients:
        for start in range(0, 100_000, 5000):
            client.rpush("big", *range(start, start + 5000))
        client.linsert("big", "before", 50_000, "middle")
        client.lset("big", 70_000, "set")
        client.lrem("big", -1, 99_990)
        client.ltrim("big", 10, -11)
    ours, theirs = clients
    assert ours.llen("big") == theirs.llen("big")
    for start, stop in ((0, 20), (-20, -1), (49_900, 50_100), (69_000, 71_000), (0, -1)):
        assert ours.lrange("big", start, stop) == theirs.lrange("big", start, stop)
    for index in (0, -1, 49_990, 60_000, -40_000):
        assert ours.lindex("big", index) == theirs.lindex("big", index)


def test_an_insertion_moves_to_the_slow_lane_when_its_budget_is_used_up(r):
    """The command's work budget ends at some point of it, which depends on the size."""
    r.delete("l")
    r.rpush("l", *["item%06d" % i for i in range(5000)])
    for reads in range(2000, 2060):
        with r.pipeline(transaction=True) as pipe:
            for _ in range(reads):
                pipe.exists("nokey")
            pipe.linsert("l", "before", "item000100", "new")
            assert pipe.execute()[-1] == 5001
        assert r.lrem("l", 0, "new") == 1


def test_lists_survive_a_kill(tmp_path):
    with Server(appendfsync="always") as server:
        client = server.client()
        client.rpush("small", "a", "1", "b")
        client.rpush("large", *range(30_000))
        client.lpop("large", 10_000)
        client.linsert("large", "before", 20_000, "here")
        before = client.lrange("large", 0, -1)
        server.restart("kill9")
        client = server.client()
        assert client.lrange("small", 0, -1) == [b"a", b"1", b"b"]
        assert client.lrange("large", 0, -1) == before


class Waiter:
    """A blocking command on its own connection, whose reply comes later."""

    def __init__(self, server, *command):
        self.client = server.client(socket_timeout=60)
        self.client_id = self.client.client_id()
        self.reply = None
        self.thread = threading.Thread(target=self._run, args=command, daemon=True)
        observer = server.client()
        self.thread.start()
        wait_until(lambda: self._is_blocked(observer) or not self.thread.is_alive(), "a wait or an answer")

    def _run(self, *command):
        self.reply = ask(self.client, *command)

    def _is_blocked(self, observer):
        for client in observer.client_list():
            if int(client["id"]) == self.client_id:
                return "b" in client["flags"]
        return False

    def result(self, timeout_s=10):
        """The reply. Fails if there is none in time."""
        self.thread.join(timeout_s)
        assert not self.thread.is_alive(), "still waiting"
        return self.reply

    def is_waiting(self):
        """Whether there is no reply yet."""
        return self.thread.is_alive()


def test_existing_elements_are_popped_at_once(r):
    r.rpush("k2", "a", "b", "c", "d", "e")
    assert ask(r, "blpop", "k1", "k2", 1) == [b"k2", b"a"]
    assert ask(r, "brpop", "k1", "k2", 0) == [b"k2", b"e"]
    assert ask(r, "blmove", "k2", "k3", "left", "right", 0) == b"b"
    assert ask(r, "brpoplpush", "k2", "k3", 0) == b"d"
    assert ask(r, "blmpop", 0, 2, "k1", "k3", "left", "count", 5) == [
        b"k3", [b"d", b"b"]]
    assert r.lrange("k2", 0, -1) == [b"c"] and not r.exists("k3")


def test_a_blocked_client_gets_a_pushed_element(server, r):
    cases = [
        (("blpop", "k1", "k2", 0), [b"k2", b"v"]),
        (("brpop", "k1", "k2", 0), [b"k2", b"v"]),
        (("blmove", "k2", "other", "left", "left", 0), b"v"),
        (("brpoplpush", "k2", "other", 0), b"v"),
        (("blmpop", 0, 2, "k1", "k2", "right"), [b"k2", [b"v"]]),
    ]
    for command, reply in cases:
        waiter = Waiter(server, *command)
        assert r.lpush("k2", "v") == 1
        assert waiter.result() == reply, command
        assert not r.exists("k2")


def test_blocked_clients_are_served_in_order(server, r):
    waiters = [Waiter(server, "blpop", "k", 0) for _ in range(4)]
    r.rpush("k", "1", "2")
    r.rpush("k", "3", "4")
    assert [waiter.result()[1] for waiter in waiters] == [b"1", b"2", b"3", b"4"]


def test_one_element_serves_one_client(server, r):
    first, second = Waiter(server, "blpop", "k", 0), Waiter(server, "brpop", "k", 0.4)
    r.rpush("k", "only")
    assert first.result() == [b"k", b"only"]
    assert second.result() is None


def test_a_chain_of_moves_is_followed(server, r):
    last = Waiter(server, "blpop", "c", 0)
    middle = Waiter(server, "blmove", "b", "c", "left", "left", 0)
    first = Waiter(server, "blmove", "a", "b", "left", "left", 0)
    r.rpush("a", "v")
    assert [first.result(), middle.result(), last.result()] == [b"v", b"v", [b"c", b"v"]]


def test_a_key_of_another_type_does_not_unblock(server, r):
    waiter = Waiter(server, "blpop", "k", 0)
    r.set("k", "text")
    assert_stays(waiter.is_waiting, 0.1, "the wait")
    r.delete("k")
    r.rpush("k", "v")
    assert waiter.result() == [b"k", b"v"]


def test_every_way_to_create_a_list_unblocks(server, r):
    for appear in (("rename", "from", "k"), ("copy", "from", "k"), ("lmove", "from", "k", "left",
                                                                     "left")):
        r.delete("k", "from")
        r.rpush("from", "v")
        waiter = Waiter(server, "blpop", "k", 0)
        r.execute_command(*appear)
        assert waiter.result() == [b"k", b"v"], appear


@pytest.mark.parametrize("command", [("blpop", "k", 0.1), ("brpop", "k", "k2", 0.1),
                                     ("blmove", "k", "k2", "left", "left", 0.1),
                                     ("brpoplpush", "k", "k2", 0.1),
                                     ("blmpop", 0.1, 1, "k", "left")])
def test_a_timeout_ends_the_wait(server, redis_server, command):
    started = time.monotonic()
    ours = ask(server.client(), *command)
    assert time.monotonic() - started > 0.09
    assert ours == ask(redis_server.client(), *command) and ours is None


# In microseconds the time is beyond 64 bits, of which it fills the lowest 20 at most.
@pytest.mark.parametrize("command", [("blpop", "k", "18446744073709.6"), ("wait", 1, 18446744073709600),
                                     ("xread", "block", 18446744073709600, "streams", "k", "$")])
def test_a_timeout_of_millions_of_years_does_not_end_the_wait(server, r, command):
    waiter = Waiter(server, *command)
    assert_stays(waiter.is_waiting, 0.1, "the wait")
    assert r.client_unblock(waiter.client_id) == 1
    assert not waiter.result()


def test_client_unblock_ends_the_wait(server, r):
    waiter = Waiter(server, "blpop", "k", 0)
    assert r.client_unblock(waiter.client_id) == 1
    assert waiter.result() is None
    waiter = Waiter(server, "blpop", "k", 0)
    assert r.client_unblock(waiter.client_id, error=True) == 1
    assert "UNBLOCKED client unblocked via CLIENT UNBLOCK" in waiter.result()
