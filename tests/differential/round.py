# SPDX-License-Identifier: BSD-3-Clause
"""The commands of one round.

A run consists of rounds. Each begins on empty servers with its own sub-seed, sizes and encoding limits. So a difference
can be reproduced by running that round alone, and its history is never longer than a round.
"""

import random

from families import (
    bitmaps,
    blocking,
    hashes,
    hyperloglogs,
    introspection,
    keyspace,
    lists,
    places,
    programs,
    scans,
    server,
    sets,
    sorting,
    streams,
    strings,
    transactions,
    users,
    zsets,
)
from space import Space
from step import ANY, NOTHING, command

FAMILIES = {
    "string": (18, strings),
    "hash": (16, hashes),
    "set": (16, sets),
    "zset": (22, zsets),
    "list": (14, lists),
    "stream": (22, streams),
    "bitmap": (12, bitmaps),
    "hyperloglog": (7, hyperloglogs),
    "geo": (10, places),
    "sort": (7, sorting),
    "keyspace": (12, keyspace),
    "scan": (0.4, scans),
    "server": (2.5, server),
}
# Families of the long form: they wrap commands of the others, and most of their replies differ in Redis 7.0.
LONG_FAMILIES = {
    "blocking": (4, blocking),
    "introspection": (12, introspection),
    "script": (20, programs),
    "transaction": (10, transactions),
    "user": (12, users),
}
MUTATED_SHARE = 0.06
# Every limit has two names; rounds set it by either of them.
LIMITS = {
    "hash-max-listpack-entries": (4, 32, 128),
    "hash-max-listpack-value": (16, 64),
    "set-max-intset-entries": (4, 64, 512),
    "zset-max-listpack-entries": (0, 8, 128),
    "zset-max-listpack-value": (16, 64),
    "list-max-listpack-size": (-2, 4, 128),
    "list-compress-depth": (0, 1),
    "hll-sparse-max-bytes": (100, 3000),
    "stream-node-max-entries": (3, 100),
}
ODD_TEXTS = [b"abc", b"", b"\xff\x00", b"1x", b"not a number", b"(", b"--1"]


def text_of(item):
    """A step's or an iteration's words as one text."""
    words = item.head + item.options if isinstance(item, scans.Iteration) else item.words
    return b" ".join(words)


class Round:
    """Generates the batches of one round."""

    def __init__(self, seed, number, batch_size=200, only=None, avoided=None):
        self.rng = random.Random(f"{seed}/{number}")
        self.number = number
        self.batch_size = batch_size
        self.avoided = avoided  # a regular expression that no command may match
        self.limits = self._draw_limits()  # for CONFIG SET
        self.space = Space(self.rng, avoided)
        self.space.protocol = 2
        self.drawn, self.generators, self.weights = [], [], []
        for name, (share, module) in {**FAMILIES, **LONG_FAMILIES}.items():
            if name not in (only or FAMILIES):
                continue
            share *= self.rng.choice((0.3, 1, 1, 3))  # rounds stress different families
            total = sum(weight for weight, _ in module.COMMANDS)
            for weight, generator in module.COMMANDS:
                self.generators.append(generator)
                self.weights.append(share * weight / total)

    def _draw_limits(self):
        chosen = {}
        for name, values in LIMITS.items():
            if self.rng.random() < 0.5:
                name = name.replace("listpack", "ziplist")
            chosen[name] = self.rng.choice(values if self.rng.random() < 0.6 else values[-1:])
        return chosen

    def batches(self, commands):
        """Yields (protocol, [Step]) or (protocol, Iteration) until `commands` steps were yielded."""
        given = 0
        while given < commands:
            protocol = self.space.protocol = self.rng.choice((2, 3))
            batch = []
            if self.rng.random() < 0.1:
                batch.append(self._select(protocol))
            while len(batch) < self.batch_size:
                group = self._group(protocol)
                given += len(group)
                if isinstance(group[0], scans.Iteration):
                    if batch:
                        yield protocol, batch
                    yield protocol, group[0]
                    batch = []
                    break
                batch += group
                if group[-1].ends_batch:
                    break
            if batch:
                yield protocol, batch

    def _group(self, protocol):
        """One step, or several that belong together and stay in one batch."""
        if not self.drawn:
            self.drawn = self.rng.choices(self.generators, self.weights, k=256)
        made = self.drawn.pop()(self.space)
        group = made if isinstance(made, list) else [made]
        if self.avoided and any(self.avoided.search(text_of(item)) for item in group):
            return self._group(protocol)
        database = self.space.databases[protocol - 2]
        for item in group:
            item.database = database
            if not isinstance(item, scans.Iteration):
                self._perhaps_mutate(item)
        return group

    def _select(self, protocol):
        database = self.rng.randrange(keyspace.MOST_DATABASES)
        self.space.databases[protocol - 2] = database
        return command("SELECT", database, mutable=NOTHING, database=database)

    def _perhaps_mutate(self, step):
        """Makes some steps invalid: an argument missing, an additional one, or one of the wrong kind."""
        if step.mutable is NOTHING or self.rng.random() > MUTATED_SHARE:
            return
        words, rng = step.words, self.rng
        draw = rng.randrange(5)
        if draw == 0:
            words.pop()
        elif draw == 1:
            words.append(rng.choice((b"extra", b"", b"LIMIT", b"NX")))
        elif draw == 2 and step.mutable is ANY and len(words) > 1:
            words[1] = self.space.any_key()
        elif draw == 3 and len(words) > 2:
            # The key is not changed: a sorted set with another name may have any scores.
            words[rng.randrange(2, len(words))] = rng.choice(ODD_TEXTS)
        else:
            words[0] = words[0].swapcase()
        if not words:
            words.append(b"PING")
