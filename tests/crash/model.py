# SPDX-License-Identifier: BSD-3-Clause
"""The expected data after a list of writes: a model of each command on Python values.

Keys map to bytes (string), dict (hash), set, list, or `Scores` (sorted set, member -> float). An operation is a command
and a function that applies it to the model. Operations are deterministic given the data, so the state after n of them
is known exactly.
"""

KINDS = ("string", "counter", "hash", "set", "list", "zset")


class Scores(dict):
    """A sorted set: member -> score."""


class Operation:
    """A command and its effect on a model (a dict of keys)."""

    __slots__ = ("words", "apply")

    def __init__(self, words, apply):
        self.words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.apply = apply


def value_at(data, key, kind):
    """The collection at `key`, created if it is missing."""
    return data.setdefault(key, kind())


def drop_if_empty(data, key):
    """Deletes the key of an empty collection."""
    if key in data and not data[key]:
        del data[key]


class Operations:
    """Draws random writes for one writer, on keys that no other writer uses."""

    def __init__(self, rng, name, keys_per_kind=6, members=300):
        self.rng = rng
        self.keys = {
            kind: [b"%s:%s:%d" % (name, kind.encode(), i) for i in range(keys_per_kind)]
            for kind in KINDS
        }
        # Integers and texts; enough of them to make collections spread.
        self.members = [b"%d" % (i * 977) if i % 2 else b"member %d" % i for i in range(members)]

        self.draws = [
            self.write_string,
            self.write_counter,
            self.write_hash,
            self.write_set,
            self.write_zset,
            self.write_list,
            self.write_key,
        ]

    def draw(self):
        """One operation."""
        return self.rng.choice(self.draws)()

    def some_members(self):
        """One or a few members; sometimes many, which spread a collection in one commit."""
        most = self.rng.choice((1, 4, 4, 150))
        return [self.rng.choice(self.members) for _ in range(self.rng.randint(1, most))]

    def write_string(self):
        """SET, APPEND, MSET, SETRANGE; SETRANGE makes strings long enough for fragments."""
        key, value = self.rng.choice(self.keys["string"]), b"%d" % self.rng.getrandbits(60)
        draw = self.rng.randrange(5)
        if draw == 4:
            offset = self.rng.randrange(self.rng.choice((100, 12000, 12000)))

            def overwrite(data):
                text = data.get(key, b"").ljust(offset, b"\0")
                data[key] = text[:offset] + value + text[offset + len(value):]

            return Operation([b"SETRANGE", key, offset, value], overwrite)
        if draw == 0:
            return Operation(
                [b"APPEND", key, value], lambda d: d.__setitem__(key, d.get(key, b"") + value)
            )
        if draw == 1:
            keys = self.rng.sample(self.keys["string"], 3)
            words = [word for k in keys for word in (k, value)]
            return Operation([b"MSET", *words], lambda d: d.update((k, value) for k in keys))
        if draw == 2:
            value *= self.rng.choice((1, 10, 300))
        return Operation([b"SET", key, value], lambda d: d.__setitem__(key, value))

    def write_counter(self):
        """INCRBY: detects lost and repeated writes."""
        key, by = self.rng.choice(self.keys["counter"]), self.rng.randint(1, 9)
        return Operation(
            [b"INCRBY", key, by], lambda d: d.__setitem__(key, b"%d" % (int(d.get(key, 0)) + by))
        )

    def write_hash(self):
        """HSET, HDEL, HINCRBY."""
        key, fields = self.rng.choice(self.keys["hash"]), self.some_members()
        if self.rng.random() < 0.3:

            def remove(data):
                for field in fields:
                    data.get(key, {}).pop(field, None)
                drop_if_empty(data, key)

            return Operation([b"HDEL", key, *fields], remove)
        value = b"%d" % self.rng.randrange(10**6)
        if self.rng.random() < 0.3:
            field = fields[0]

            def add(data):
                row = value_at(data, key, dict)
                row[field] = b"%d" % (int(row.get(field, 0)) + int(value))

            return Operation([b"HINCRBY", key, field, value], add)
        words = [word for field in fields for word in (field, value)]
        return Operation(
            [b"HSET", key, *words],
            lambda d: value_at(d, key, dict).update((f, value) for f in fields),
        )

    def write_set(self):
        """SADD, SREM, SMOVE."""
        key, members = self.rng.choice(self.keys["set"]), self.some_members()
        draw = self.rng.random()
        if draw < 0.5:
            return Operation(
                [b"SADD", key, *members], lambda d: value_at(d, key, set).update(members)
            )
        if draw < 0.8:

            def remove(data):
                data.get(key, set()).difference_update(members)
                drop_if_empty(data, key)

            return Operation([b"SREM", key, *members], remove)
        target, member = self.rng.choice(self.keys["set"]), members[0]

        def move(data):
            if member in data.get(key, ()) and key != target:
                data[key].discard(member)
                drop_if_empty(data, key)
                value_at(data, target, set).add(member)

        return Operation([b"SMOVE", key, target, member], move)

    def write_zset(self):
        """ZADD, ZINCRBY, ZREM."""
        key, members = self.rng.choice(self.keys["zset"]), self.some_members()
        score = self.rng.randrange(-400, 400) / 4
        draw = self.rng.random()
        if draw < 0.3:

            def remove(data):
                for member in members:
                    data.get(key, {}).pop(member, None)
                drop_if_empty(data, key)

            return Operation([b"ZREM", key, *members], remove)
        if draw < 0.5:
            member = members[0]

            def add(data):
                row = value_at(data, key, Scores)
                row[member] = row.get(member, 0.0) + score

            return Operation([b"ZINCRBY", key, score, member], add)
        words = [word for member in members for word in (score, member)]
        return Operation(
            [b"ZADD", key, *words],
            lambda d: value_at(d, key, Scores).update((m, score) for m in members),
        )

    def write_list(self):
        """RPUSH, LPUSH, LPOP, RPOP, LMOVE."""
        key, elements = self.rng.choice(self.keys["list"]), self.some_members()
        draw = self.rng.random()
        if draw < 0.3:
            return Operation(
                [b"RPUSH", key, *elements], lambda d: value_at(d, key, list).extend(elements)
            )
        if draw < 0.5:

            def prepend(data):
                value_at(data, key, list)[:0] = elements[::-1]

            return Operation([b"LPUSH", key, *elements], prepend)
        if draw < 0.8:
            name, count = self.rng.choice((b"LPOP", b"RPOP")), self.rng.choice((1, 3, 60))

            def pop(data):
                row = data.get(key, [])
                del row[slice(count) if name == b"LPOP" else slice(max(0, len(row) - count), None)]
                drop_if_empty(data, key)

            return Operation([name, key, count], pop)
        target = self.rng.choice(self.keys["list"])

        def move(data):
            if data.get(key):
                element = data[key].pop(0)
                value_at(data, target, list).append(element)
                drop_if_empty(data, key)

        return Operation([b"LMOVE", key, target, b"LEFT", b"RIGHT"], move)

    def write_key(self):
        """DEL, UNLINK, RENAME, COPY REPLACE."""
        kind = self.rng.choice(KINDS)
        key, other = self.rng.sample(self.keys[kind], 2)
        draw = self.rng.randrange(4)
        if draw == 0:
            return Operation([b"DEL", key], lambda d: d.pop(key, None))
        if draw == 1:
            return Operation([b"UNLINK", key, other], lambda d: (d.pop(key, 0), d.pop(other, 0)))

        def copy(data):
            if key in data:
                kept = data[key] if isinstance(data[key], bytes) else type(data[key])(data[key])
                data[other] = kept
            if draw == 2:
                data.pop(key, None)

        if draw == 2:
            return Operation([b"RENAME", key, other], copy)
        return Operation([b"COPY", key, other, b"REPLACE"], copy)


def read_data(connection, prefix=b""):
    """All data of the server below `prefix`, in the model's form."""
    keys, cursor = set(), b"0"
    while True:
        _, ((_, cursor), (_, found)) = connection.call(b"SCAN", cursor, b"COUNT", b"500")
        keys.update(key for _, key in found)
        if cursor == b"0":
            break
    keys = sorted(key for key in keys if key.startswith(prefix))
    types = [reply[1] for reply in connection.pipeline([[b"TYPE", key] for key in keys])]
    reads = {
        b"string": lambda key: [b"GET", key],
        b"hash": lambda key: [b"HGETALL", key],
        b"set": lambda key: [b"SMEMBERS", key],
        b"list": lambda key: [b"LRANGE", key, b"0", b"-1"],
        b"zset": lambda key: [b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"],
    }
    replies = connection.pipeline([reads[t](key) for t, key in zip(types, keys, strict=True)])
    return {
        key: _as_model(kind, reply[1])
        for key, kind, reply in zip(keys, types, replies, strict=True)
    }


def _as_model(kind, content):
    if kind == b"string":
        return content
    items = [item for _, item in content]
    if kind == b"hash":
        return dict(zip(items[::2], items[1::2], strict=True))
    if kind == b"zset":
        return Scores(zip(items[::2], map(float, items[1::2]), strict=True))
    return set(items) if kind == b"set" else items
