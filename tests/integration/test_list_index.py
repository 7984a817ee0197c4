# SPDX-License-Identifier: BSD-3-Clause
"""Items far from both ends of a large list, which an index in memory finds, compared with a model.

Every change of the list must update this index or drop it. So these tests read items between all kinds of changes,
including transactions and failing commands.
"""

import random

import pytest
import redis

SIZE = 12000


class Model:
    """A list on the server and the same one in Python."""

    def __init__(self, client, rng):
        self.client, self.rng, self.count = client, rng, 0
        self.items = []

    def new(self, count=1):
        """New unique items, some of them large."""
        names = []
        for _ in range(count):
            self.count += 1
            size = 3000 if self.rng.random() < 0.002 else self.rng.choice((0, 0, 0, 30))
            names.append(b"%d" % self.count + b"x" * size)
        return names

    def push(self, count):
        """RPUSH or LPUSH."""
        names = self.new(count)
        if self.rng.random() < 0.5:
            self.client.rpush("list", *names)
            self.items += names
        else:
            self.client.lpush("list", *names)
            self.items = names[::-1] + self.items

    def pop(self, count):
        """RPOP or LPOP."""
        if self.rng.random() < 0.5:
            assert self.client.rpop("list", count) == self.items[::-1][:count]
            self.items = self.items[:-count]
        else:
            assert self.client.lpop("list", count) == self.items[:count]
            self.items = self.items[count:]

    def set(self):
        """LSET at a random index."""
        at, (name,) = self.rng.randrange(len(self.items)), self.new()
        self.client.lset("list", at, name)
        self.items[at] = name

    def insert(self):
        """LINSERT at a random place; several next to each other, so that chunks are split."""
        at = self.rng.randrange(len(self.items))
        for name in self.new(self.rng.choice((1, 40))):
            self.client.linsert("list", "BEFORE", self.items[at], name)
            self.items.insert(at, name)

    def remove(self):
        """LREM of one item."""
        at = self.rng.randrange(len(self.items))
        assert self.client.lrem("list", 0, self.items[at]) == 1
        del self.items[at]

    def trim(self):
        """LTRIM of some items at both ends, sometimes of many."""
        first, last = (self.rng.choice((0, 3, 500, 2500)) for _ in "12")
        self.client.ltrim("list", first, -1 - last)
        self.items = self.items[first:len(self.items) - last]

    def transaction(self):
        """Changes and reads in one EXEC."""
        pipe = self.client.pipeline(transaction=True)
        names, middle = self.new(300), len(self.items) // 2
        pipe.rpush("list", *names)
        pipe.lindex("list", middle)
        pipe.linsert("list", "BEFORE", self.items[middle], b"inserted")
        pipe.lindex("list", middle)
        pipe.lrem("list", 1, b"inserted")
        pipe.lpop("list", 200)
        pipe.lindex("list", middle)
        replies = pipe.execute()
        self.items += names
        assert replies[1] == self.items[middle] and replies[3] == b"inserted"
        self.items = self.items[200:]
        assert replies[6] == self.items[middle]

    def fail(self):
        """Commands that fail, alone and in a transaction."""
        with pytest.raises(redis.ResponseError):
            self.client.lset("list", len(self.items), "x")
        pipe = self.client.pipeline(transaction=True)
        pipe.lindex("list", len(self.items) // 2)
        pipe.execute_command("lpush", "list", *self.new(200))
        pipe.execute_command("incr", "list")
        pipe.execute_command("lpop", "list", 200)
        replies = pipe.execute(raise_on_error=False)
        assert replies[0] == self.items[len(self.items) // 2]

    def look(self):
        """Reads single items and ranges far from the ends."""
        for _ in range(3):
            at = self.rng.randrange(len(self.items))
            assert self.client.lindex("list", at) == self.items[at], at
            assert self.client.lindex("list", at - len(self.items)) == self.items[at], at
            assert self.client.lrange("list", at, at + 9) == self.items[at:at + 10], at


@pytest.mark.parametrize("seed", range(3))
def test_the_index_follows_every_change(server, seed):
    rng = random.Random(seed)
    model = Model(server.client(), rng)
    model.push(SIZE)
    changes = [lambda: model.push(rng.choice((1, 10, 700))), lambda: model.pop(rng.choice((1, 10, 700))),
               lambda: model.push(1), lambda: model.pop(1), model.set, model.insert, model.remove,
               model.transaction, model.fail]
    for step in range(400):
        rng.choice(changes)()
        if step % 60 == 59:
            model.trim()
        if len(model.items) < 6000:
            model.push(5000)
        model.look()
        assert model.client.llen("list") == len(model.items)
    assert model.client.lrange("list", 0, -1) == model.items


def test_a_list_used_as_a_queue_and_read_by_index(server):
    r = server.client()
    r.rpush("list", *range(20000))
    for i in range(0, 15000, 500):
        assert r.lindex("list", 9000) == b"%d" % (9000 + i)
        assert r.lpop("list", 500) == [b"%d" % n for n in range(i, i + 500)]
        r.rpush("list", *range(20000 + i, 20500 + i))
    for _ in range(20):
        r.rpop("list", 900)
        r.rpush("list", *["x"] * 900)
        assert r.lindex("list", 10000) == b"25000"
