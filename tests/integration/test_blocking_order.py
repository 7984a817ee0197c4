# SPDX-License-Identifier: BSD-3-Clause
"""Many blocked clients compared with Valkey, which serves them like Redis 7.2: which clients, in which order, with
which replies.

A dozen clients block on lists, sorted sets and streams with every blocking command. Another client changes keys in
every way that can serve one of them: pushes of several elements, transactions, RENAME, COPY, RESTORE, SORT STORE, MOVE
and others. After each change the same clients must have got the same replies, and the same ones must still be blocked.
Seeds determine the scripts. One change makes only one list ready: Redis serves several lists one after the other, Cairn
all at once.
"""

import random
import select
import time

import pytest

from raw_client import RawClient
from rdb_payloads import payload
from waiting import wait_until

pytestmark = pytest.mark.slow

WAITERS = 12
STEPS = 40
GIVE_UP_S = 60


class Side:
    """One server: its blocked clients and the client that changes keys."""

    def __init__(self, port):
        self.waiters = [RawClient(port) for _ in range(WAITERS)]
        self.ids = [client("client", "id")[1] for client in self.waiters]
        self.actor, self.other = RawClient(port), RawClient(port)
        self.other("select", 1)
        self.actor("flushall")

    def close(self):
        """Closes all connections."""
        for client in (*self.waiters, self.actor, self.other):
            client.close()

    def blocked(self):
        """The number of blocked clients."""
        _, text = self.other("info", "clients")  # the client that changes keys may be in a transaction
        return int(text.split(b"blocked_clients:")[1].split(b"\r\n")[0])

    def readable(self, waiting):
        """The blocked clients that have got a reply."""
        ready, _, _ = select.select([self.waiters[i].socket for i in waiting], [], [], 0)
        return [i for i in waiting if self.waiters[i].socket in ready]


class Script:
    """The commands of one seed, the same for both sides."""

    def __init__(self, seed):
        self.rng, self.number = random.Random(seed), 0

    def new(self, count):
        """New elements that no key has yet."""
        self.number += count
        return [f"e{self.number - i}" for i in range(count)]

    def wait(self):
        """A command that blocks without a timeout."""
        rng = self.rng
        a, b = rng.sample(("l1", "l2", "l3"), 2)
        side = rng.choice(("LEFT", "RIGHT"))
        return rng.choice((
            ["BLPOP", a, b, 0], ["BLPOP", a, 0], ["BRPOP", a, b, 0],
            ["BLMOVE", a, "sink", side, rng.choice(("LEFT", "RIGHT")), 0], ["BRPOPLPUSH", a, "sink", 0],
            ["BLMPOP", 0, 2, a, b, side, "COUNT", rng.randint(1, 3)],
            ["BZPOPMIN", "z1", "z2", 0], ["BZPOPMAX", "z2", 0],
            ["BZMPOP", 0, 2, "z2", "z1", rng.choice(("MIN", "MAX")), "COUNT", 2],
            ["XREAD", "BLOCK", 0, "STREAMS", "s1", "s2", "$", "$"],
            ["XREADGROUP", "GROUP", "g", f"c{rng.randint(1, 3)}", "COUNT", 1, "BLOCK", 0,
             "STREAMS", "s1", ">"],
        ))

    def entry(self, key):
        """An XADD with a higher id than all previous ones."""
        self.number += 1
        return ["XADD", key, f"{self.number}-1", "f", "v"]

    def push(self):
        """A push to a list that clients are blocked on."""
        rng = self.rng
        return [rng.choice(("RPUSH", "LPUSH")), rng.choice(("l1", "l2", "l3")),
                *self.new(rng.choice((1, 1, 2, 5)))]

    def score(self):
        """A ZADD."""
        words = [w for name in self.new(self.rng.choice((1, 3))) for w in (self.rng.randint(0, 9), name)]
        return ["ZADD", self.rng.choice(("z1", "z2")), *words]

    def change(self):
        """The commands of one change; if the first word is OTHER, a client of database 1 sends it."""
        rng, target = self.rng, self.rng.choice(("l1", "l2", "l3"))
        fill = ["RPUSH", "tmp", *self.new(rng.choice((1, 3)))]
        scores = ["ZADD", "ztmp", 1, *self.new(1), 2, *self.new(1)]
        value = payload(bytes([1, 2, 2]) + b"%02d" % (self.number % 100) + b"\x02r2")
        return rng.choice((
            [self.push()], [self.push()], [self.push()], [self.score()], [self.score()],
            [self.entry("s1")], [self.entry("s2")],
            [["MULTI"], ["RPUSH", target, *self.new(1)], ["LPUSH", target, *self.new(3)], self.score(),
             self.entry("s1"), ["EXEC"]],
            [["MULTI"], ["RPUSH", target, *self.new(2)], ["DEL", target], ["EXEC"]],
            [["MULTI"], ["RPUSH", target, *self.new(2)], ["LPOP", target], ["EXEC"]],
            [["MULTI"], self.entry("s1"), self.entry("s1"), ["EXEC"]],
            [["MULTI"], ["SET", target, "x"], ["DEL", target], ["RPUSH", target, *self.new(1)],
             ["EXEC"]],
            [fill, ["RENAME", "tmp", target]], [fill, ["COPY", "tmp", target, "REPLACE"]],
            [fill, ["LMOVE", "tmp", target, "LEFT", "RIGHT"]], [fill, ["RPOPLPUSH", "tmp", target]],
            [fill, ["SORT", "tmp", "ALPHA", "STORE", target]],
            [["RESTORE", target, 0, value, "REPLACE"]], [["RPUSHX", target, *self.new(2)]],
            [["SET", target, "text"], ["DEL", target]], [["DEL", "l1", "l2", "l3", "tmp"]],
            [scores, ["RENAME", "ztmp", "z1"]], [scores, ["ZUNIONSTORE", "z2", 1, "ztmp"]],
            [scores, ["ZRANGESTORE", "z1", "ztmp", 0, -1]], [["ZINCRBY", "z2", 1, *self.new(1)]],
            [["GEOADD", "z1", 13, 38, *self.new(1)]], [["DEL", "z1", "z2", "ztmp"]],
            [["OTHER", "RPUSH", "moved", *self.new(2)], ["OTHER", "RENAME", "moved", "l3"],
             ["OTHER", "MOVE", "l3", 0]],
            [["XGROUP", "DESTROY", "s1", "g"], ["XGROUP", "CREATE", "s1", "g", "$", "MKSTREAM"]],
            [["DEL", "s1"], ["XGROUP", "CREATE", "s1", "g", "$", "MKSTREAM"]],
            [["UNBLOCK", rng.randrange(WAITERS), rng.choice(("TIMEOUT", "ERROR"))]],
            [["FLUSHALL"], ["XGROUP", "CREATE", "s1", "g", "$", "MKSTREAM"]],
        ))


def send(side, words):
    """Sends one command of a change."""
    if words[0] == "OTHER":
        return side.other(*words[1:])
    if words[0] == "UNBLOCK":
        return side.actor("client", "unblock", side.ids[words[1]], words[2])
    return side.actor(*words)


def settle(ours, theirs, waiting):
    """Waits until both sides have served all they will; returns the served clients and their replies."""
    still = theirs.blocked()  # Valkey has served all its clients when it replies
    served = theirs.readable(waiting)
    assert len(waiting) - len(served) == still
    deadline = time.monotonic() + GIVE_UP_S
    while ours.blocked() != still or set(ours.readable(waiting)) != set(served):
        if time.monotonic() > deadline:
            return served, ours.readable(waiting)
        time.sleep(0.002)  # not wait_until, because the caller shows the difference
    return served, served


@pytest.mark.parametrize("seed", range(30))
def test_the_same_clients_are_served_in_the_same_way(server, valkey_server, seed):
    ours, theirs, script = Side(server.port), Side(valkey_server.port), Script(seed)
    waiting, told = {}, []
    try:
        for side in (ours, theirs):
            side.actor("xgroup", "create", "s1", "g", "$", "mkstream")
        for step in range(STEPS):
            for at in range(WAITERS):
                if at in waiting:
                    continue
                words = script.wait()
                for side in (ours, theirs):  # one after the other, because their order decides who is served
                    before = side.blocked()
                    side.waiters[at].send(*words)
                    wait_until(lambda side=side, before=before, at=at: side.blocked() != before or side.readable([at]),
                               "a wait or an answer", pause_s=0.001)
                waiting[at] = words
                compare(ours, theirs, waiting, told)
            for words in script.change():
                told.append(words)
                assert send(ours, words) == send(theirs, words), told[-12:]
                compare(ours, theirs, waiting, told)
    finally:
        ours.close()
        theirs.close()


def compare(ours, theirs, waiting, told):
    """Both sides served the same clients with the same replies."""
    served, our_served = settle(ours, theirs, waiting)
    assert set(our_served) == set(served), (
        f"served {sorted(served)} there and {sorted(our_served)} here after "
        + "; ".join(" ".join(map(str, words)) for words in told[-8:])
        + " of " + "; ".join(f"{at}: {' '.join(map(str, words))}" for at, words in waiting.items()))
    for at in served:
        mine, reference = ours.waiters[at].read(), theirs.waiters[at].read()
        assert mine == reference, (at, waiting[at], told[-12:])
        told.append(("served", at, *waiting.pop(at)))
