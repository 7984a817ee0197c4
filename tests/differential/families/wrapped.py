# SPDX-License-Identifier: BSD-3-Clause
"""Commands of other families, wrapped in a script, in a transaction, on the connection of another user, or in COMMAND
GETKEYS.

Only commands whose replies are compared byte for byte are wrapped: no rule applies inside another reply.
"""

from families import bitmaps, hashes, hyperloglogs, keyspace, lists, sets, streams, strings, zsets
from step import EXACT

MODULES = (bitmaps, hashes, hyperloglogs, keyspace, lists, sets, streams, strings, zsets)
# Differences of encodings are explained only in separate replies; the other commands depend on the clock or on chance.
NEVER = (b"OBJECT", b"RANDOMKEY", b"FLUSHALL", b"SWAPDB", b"XINFO", b"KEYS", b"TTL", b"PTTL")
MOST_DRAWN = 40


def words(s):
    """The words of a random command."""
    for _ in range(MOST_DRAWN):
        table = s.rng.choice(MODULES).COMMANDS
        made = s.rng.choices([row[1] for row in table], [row[0] for row in table])[0](s)
        step = made[-1] if isinstance(made, list) else made
        is_comparable = step.rule == EXACT and step.replies and step.words[0].upper() not in NEVER
        if is_comparable and not (s.avoided and s.avoided.search(b" ".join(step.words))):
            return list(step.words)
    return [b"PING"]
