# SPDX-License-Identifier: BSD-3-Clause
"""The writes of the fault rounds: those of tests/crash/model.py, and streams, transactions, scripts, expiry, FLUSHDB.

An operation is a list of commands that take effect together, and a function that applies them to a model.
"""

import itertools

from model import Operations, Scores, value_at

SCRIPT = b"redis.call('set', KEYS[1], ARGV[1]); return redis.call('sadd', KEYS[2], unpack(ARGV, 2))"
EXPIRY_SLACK_MS = 150  # difference between this process's clock and the server's


class Brief(bytes):
    """A string that expires between `earliest` and `latest`, in ms of the caller's clock."""

    def __new__(cls, value, earliest, latest):
        self = super().__new__(cls, value)
        self.earliest, self.latest = earliest, latest
        return self

    def __deepcopy__(self, memo):
        return self


class Entries(dict):
    """A stream: id -> fields."""


class Step:
    """Commands that take effect together, and their effect on a model."""

    __slots__ = ("apply", "commands")

    def __init__(self, commands, apply):
        self.commands = [[w if isinstance(w, bytes) else str(w).encode() for w in words] for words in commands]
        self.apply = apply


class Steps(Operations):
    """Draws the steps of one connection, which has its own database."""

    def __init__(self, rng, name, now_ms):
        super().__init__(rng, name, keys_per_kind=4, members=60)
        self.now_ms = now_ms
        self.name = name
        self.ids = itertools.count(1)
        self.own_draws = [self.write_stream, self.run_transaction, self.run_script, self.write_brief,
                          self.write_unique]

    def draw_step(self):
        """One step."""
        if self.rng.random() < 0.004:
            return Step([[b"FLUSHDB"]], lambda data: data.clear())
        if self.rng.random() < 0.4:
            return self.rng.choice(self.own_draws)()
        operation = self.draw()
        return Step([operation.words], operation.apply)

    def some_members(self):
        """One or a few members, or enough for a spread collection."""
        most = self.rng.choice((1, 3, 3, 40))
        return [self.rng.choice(self.members) for _ in range(self.rng.randint(1, most))]

    def write_stream(self):
        """XADD with an explicit id, or XTRIM."""
        key, number = b"%s:stream:%d" % (self.name, self.rng.randrange(3)), next(self.ids)
        if self.rng.random() < 0.15:

            def trim(data):
                for kept in list(data.get(key, ()))[:-5]:
                    del data[key][kept]

            return Step([[b"XTRIM", key, b"MAXLEN", 5]], trim)
        id_ = b"%d-1" % number
        return Step([[b"XADD", key, id_, b"f", id_]],
                    lambda data: value_at(data, key, Entries).__setitem__(id_, [b"f", id_]))

    def run_transaction(self):
        """Sets two counters to the same value, and adds a member to a set and a list."""
        a, b = (b"%s:twin:%d" % (self.name, i) for i in range(2))
        members, elements = (b"%s:both:%d" % (self.name, i) for i in range(2))
        by, member = self.rng.randint(1, 9), self.rng.choice(self.members)

        def apply(data):
            for key in (a, b):
                data[key] = b"%d" % (int(data.get(key, 0)) + by)
            value_at(data, members, set).add(member)
            value_at(data, elements, list).append(member)
            data[elements][:] = data[elements][-30:]

        return Step([[b"MULTI"], [b"INCRBY", a, by], [b"SADD", members, member], [b"RPUSH", elements, member],
                     [b"LTRIM", elements, -30, -1], [b"INCRBY", b, by], [b"EXEC"]], apply)

    def run_script(self):
        """Writes a string and a set, which is spread if it is new and large."""
        key, members = b"%s:script:%d" % (self.name, self.rng.randrange(3)), self.some_members()
        into = self.rng.choice(self.keys["set"])

        def apply(data):
            data[key] = members[0]
            value_at(data, into, set).update(members)

        return Step([[b"EVAL", SCRIPT, 2, key, into, members[0], *members]], apply)

    def write_brief(self):
        """SET with a time to live."""
        key, value = b"%s:brief:%d" % (self.name, self.rng.randrange(8)), b"%d" % self.rng.getrandbits(40)
        ttl_ms = self.rng.choice((20, 200, 1000, 100000))
        now_ms = self.now_ms()

        def apply(data):
            data[key] = Brief(value, now_ms + ttl_ms, self.now_ms() + ttl_ms + EXPIRY_SLACK_MS)

        return Step([[b"SET", key, value, b"PX", ttl_ms]], apply)

    def write_unique(self):
        """A spread set whose members no other set has: this reveals an id that is used twice."""
        number, slot = next(self.ids), self.rng.randrange(4)
        key = b"%s:unique:%d" % (self.name, slot)
        members = [b"%s-%d-%d" % (self.name, number, i) for i in range(20)]

        def apply(data):
            data[key] = set(members)

        return Step([[b"MULTI"], [b"DEL", key], [b"SADD", key, *members], [b"EXEC"]], apply)


def read_database(connection, db):
    """Everything in a database, in the model's form."""
    connection.call(b"SELECT", db)
    keys, cursor = set(), b"0"
    while True:
        _, ((_, cursor), (_, found)) = connection.call(b"SCAN", cursor, b"COUNT", b"1000")
        keys.update(key for _, key in found)
        if cursor == b"0":
            break
    keys = sorted(keys)
    types = [reply[1] for reply in connection.pipeline([[b"TYPE", key] for key in keys])] if keys else []
    reads = {
        b"string": lambda key: [b"GET", key],
        b"hash": lambda key: [b"HGETALL", key],
        b"set": lambda key: [b"SMEMBERS", key],
        b"list": lambda key: [b"LRANGE", key, b"0", b"-1"],
        b"zset": lambda key: [b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"],
        b"stream": lambda key: [b"XRANGE", key, b"-", b"+"],
    }
    kept = [(key, kind) for key, kind in zip(keys, types, strict=True) if kind != b"none"]  # a key may expire meanwhile
    replies = connection.pipeline([reads[kind](key) for key, kind in kept]) if kept else []
    found = {}
    for (key, kind), (type_, content) in zip(kept, replies, strict=True):
        assert type_ != b"-", (key, content)
        if content is not None and content != []:
            found[key] = _as_model(kind, content)
    return found


def _as_model(kind, content):
    if kind == b"string":
        return content
    if kind == b"stream":
        return Entries((id_[1], [word for _, word in fields[1]]) for _, (id_, fields) in content)
    items = [item for _, item in content]
    if kind == b"hash":
        return dict(zip(items[::2], items[1::2], strict=True))
    if kind == b"zset":
        return Scores(zip(items[::2], map(float, items[1::2]), strict=True))
    if kind == b"set":
        assert len(set(items)) == len(items), "a member twice"
        return set(items)
    return items


def differences(expected, found, began_ms, ended_ms):
    """Keys whose values differ. An empty stream is a key; a key with an expiry may or may not exist near that time."""
    different = []
    for key in expected.keys() | found.keys():
        mine, theirs = expected.get(key), found.get(key)
        if mine == theirs or (not mine and theirs is None):
            if not isinstance(mine, Brief) or began_ms <= mine.latest:
                continue
        elif theirs is None and isinstance(mine, Brief) and ended_ms >= mine.earliest:
            continue
        different.append(key)
    return sorted(different)


def drop_expired(data, now_ms):
    """Deletes the keys that have certainly expired."""
    for key in [key for key, value in data.items() if isinstance(value, Brief) and value.latest < now_ms]:
        del data[key]


