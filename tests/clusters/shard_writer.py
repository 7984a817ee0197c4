# SPDX-License-Identifier: BSD-3-Clause
"""A client that writes to the slots of one shard, follows redirections, and remembers what was acknowledged."""

import itertools
import random

import redis
from background import Background
from redis.crc import key_slot

KINDS = ("set", "hash", "zset", "list", "string")
MOST_AT_ONCE = 10
WAIT_MS = 500


def tag_of_slots(first, last, least=0):
    """A hash tag whose slot is in the range: a number of at least `least`."""
    return next(tag for tag in map(str, itertools.count(least)) if first <= key_slot(b"{%s}" % tag.encode()) <= last)


class ShardWriter(Background):
    """Writes batches of unique numbers into keys of all types of one slot, each batch with one WAIT for `replicas`, and
    pauses after each.

    A batch that breaks is not sent again, so a list holds each number at most once. `served_by` is the port of the node
    that ran the last batch, `written` the number of batches that ran, with or without a replica.
    """

    def __init__(self, servers, slots, seed, replicas=1, pause_s=0, least_tag=0):
        super().__init__()
        self.addresses = [(server.host, server.port) for server in servers]
        self.tag = tag_of_slots(*slots, least_tag)
        self.replicas, self.pause_s = replicas, pause_s
        self.rng = random.Random(seed)
        self.acknowledged = []  # (kind, number)
        self.written = 0
        self.served_by = None
        self.failure = None

    def key(self, kind):
        """The key of a kind other than string."""
        return f"{{{self.tag}}}:{kind}"

    def string_key(self, number):
        """The key of a string."""
        return f"{{{self.tag}}}:{number}"

    def lost_on(self, server):
        """The acknowledged (kind, number) that a node of the shard does not have, or has with another value; a replica
        is asked too."""
        strings = [number for kind, number in self.acknowledged if kind == "string"]
        with server.client() as client:
            client.execute_command("READONLY")
            values = client.mget([self.string_key(number) for number in strings]) if strings else []
            items = list(map(int, client.lrange(self.key("list"), 0, -1)))
            have = {"set": set(map(int, client.smembers(self.key("set")))),
                    "hash": {int(field) for field, value in client.hgetall(self.key("hash")).items()
                             if value == self.hash_value(int(field)).encode()},
                    "zset": {int(member) for member, score in client.zrange(self.key("zset"), 0, -1, withscores=True)
                             if score == int(member) * 0.5},
                    "list": set(items),
                    "string": {number for number, value in zip(strings, values) if value == b"%d" % number}}
        assert len(have["list"]) == len(items), "a number was written twice"
        return [(kind, number) for kind, number in self.acknowledged if number not in have[kind]]

    @staticmethod
    def hash_value(number):
        """The value of a field of the hash."""
        return "v" * (number % 90)

    def _run(self):
        try:
            self._write()
        except Exception as failure:  # any error is shown on the test's thread, by check()
            self.failure = failure

    def check(self):
        """Raises the error that ended the writing, if there was one."""
        if self.failure:
            raise self.failure

    def _write(self):
        address, client, number = self.rng.choice(self.addresses), None, 0
        while not self.ended.is_set():
            batch = [(self.rng.choice(KINDS), number + i) for i in range(self.rng.randint(1, MOST_AT_ONCE))]
            number += len(batch)
            try:
                client = client or redis.Redis(*address, socket_timeout=1, socket_connect_timeout=0.5)
                replies = self._send(client, batch)
            except redis.ConnectionError:
                client, address = None, self.rng.choice(self.addresses)
                self.ended.wait(0.02)
                continue
            except redis.TimeoutError:
                client, address = None, self.rng.choice(self.addresses)
                continue
            errors = [reply for reply in replies if isinstance(reply, Exception)]
            if not errors:
                self.written += 1
                self.served_by = address[1]
                if replies[-1] >= self.replicas:
                    self.acknowledged += batch
                if self.pause_s:
                    self.ended.wait(self.pause_s)
            elif str(errors[0]).startswith("MOVED"):
                client, address = None, self._target(str(errors[0]))
            else:
                client, address = None, self.rng.choice(self.addresses)
                self.ended.wait(0.02)

    @staticmethod
    def _target(moved):
        host, _, port = moved.split()[2].rpartition(":")
        return host, int(port)

    def _send(self, client, batch):
        pipe = client.pipeline(transaction=False)
        for kind, number in batch:
            key = self.key(kind)
            if kind == "set":
                pipe.sadd(key, number)
            elif kind == "hash":
                pipe.hset(key, number, self.hash_value(number))
            elif kind == "zset":
                pipe.zadd(key, {number: number * 0.5})
            elif kind == "list":
                pipe.rpush(key, number)
            else:
                pipe.set(self.string_key(number), number)
        pipe.execute_command("WAIT", self.replicas, WAIT_MS)
        return pipe.execute(raise_on_error=False)
