# SPDX-License-Identifier: BSD-3-Clause
"""Reads all data of a server, and reports the differences of two servers.

A snapshot has for each key its type, encoding, absolute deadline and a digest of its value. Lists and sorted sets are
read in their order; so are hashes and sets if Redis keeps an order (listpack, intset), else they are sorted. Scores are
compared as doubles: Redis 7.0 writes 17 digits, 7.2 the shortest text that reads back. PTTL must agree with the
deadline within a second. Keys come from SCAN, and DBSIZE must be their number, so a key that SCAN does not return is a
difference.
"""

import hashlib
import time
from typing import NamedTuple

from wire import Connection

BATCH = 1000
TTL_TOLERANCE_MS = 1000
NO_DEADLINE = -1
ORDERED_ENCODINGS = {b"listpack", b"ziplist", b"intset"}
READ_VALUE = {  # the words before and after the key
    b"string": ((b"GET",), ()),
    b"list": ((b"LRANGE",), (b"0", b"-1")),
    b"set": ((b"SMEMBERS",), ()),
    b"zset": ((b"ZRANGE",), (b"0", b"-1", b"WITHSCORES")),
    b"hash": ((b"HGETALL",), ()),
}


class KeyState(NamedTuple):
    """A server's data about one key."""

    type: bytes
    encoding: bytes
    deadline_ms: int
    value_digest: bytes


Snapshot = dict[bytes, KeyState]


def scan_keys(connection: Connection) -> list[bytes]:
    """All keys of the connection's database, each once."""
    keys: set[bytes] = set()
    cursor = b"0"
    while True:
        [(cursor, found)] = connection.pipeline([(b"SCAN", cursor, b"COUNT", b"%d" % BATCH)])
        keys.update(found)
        if cursor == b"0":
            break
    [size] = connection.pipeline([(b"DBSIZE",)])
    if size != len(keys):
        raise AssertionError(f"DBSIZE is {size}, SCAN returned {len(keys)} keys")
    return sorted(keys)


def _canonical(kind: bytes, encoding: bytes, value) -> bytes:
    """The value as bytes that are equal exactly if the values are."""
    if kind == b"string":
        return value
    items = value
    if encoding not in ORDERED_ENCODINGS and kind == b"hash":
        pairs = sorted(zip(value[::2], value[1::2]))
        items = [part for pair in pairs for part in pair]
    elif encoding not in ORDERED_ENCODINGS and kind == b"set":
        items = sorted(value)
    elif kind == b"zset":
        items = [part for member, score in zip(value[::2], value[1::2])
                 for part in (member, float(score).hex().encode())]
    return b"".join(b"%d:%b" % (len(item), item) for item in items)


def _read_batch(connection: Connection, keys: list[bytes]) -> Snapshot:
    started_ms = time.time() * 1000
    replies = connection.pipeline([
        command for key in keys for command in ((b"TYPE", key), (b"OBJECT", b"ENCODING", key),
                                                (b"PEXPIRETIME", key), (b"PTTL", key))])
    ended_ms = time.time() * 1000

    reads = (READ_VALUE[kind] for kind in replies[::4])
    values = connection.pipeline([(*before, key, *after)
                                  for key, (before, after) in zip(keys, reads)])
    states = {}
    for index, (key, value) in enumerate(zip(keys, values)):
        kind, encoding, deadline_ms, left_ms = replies[4 * index:4 * index + 4]
        if deadline_ms == NO_DEADLINE:
            agrees = left_ms == NO_DEADLINE
        else:
            asked_ms = deadline_ms - left_ms
            agrees = (started_ms - TTL_TOLERANCE_MS <= asked_ms <= ended_ms + TTL_TOLERANCE_MS)
        if not agrees:
            raise AssertionError(f"{key!r}: PEXPIRETIME {deadline_ms}, PTTL {left_ms}, "
                                 f"asked from {started_ms:.0f} to {ended_ms:.0f}")
        digest = hashlib.blake2b(_canonical(kind, encoding, value), digest_size=16).digest()
        states[key] = KeyState(kind, encoding, deadline_ms, digest)
    return states


def take_snapshot(port: int, db: int) -> Snapshot:
    """Reads a whole database of the server on a port of 127.0.0.1."""
    with Connection(port) as connection:
        connection.ask("SELECT", str(db))
        keys = scan_keys(connection)
        snapshot: Snapshot = {}
        for start in range(0, len(keys), BATCH):
            snapshot.update(_read_batch(connection, keys[start:start + BATCH]))
    return snapshot


def find_differences(expected: Snapshot, found: Snapshot) -> list[str]:
    """One line for each key that differs; empty if the snapshots are equal."""
    differences = [f"{key!r} is missing" for key in expected.keys() - found.keys()]
    differences += [f"{key!r} should not be there" for key in found.keys() - expected.keys()]
    for key, theirs in expected.items():
        ours = found.get(key, theirs)
        names = [name for name in KeyState._fields if getattr(ours, name) != getattr(theirs, name)]
        if names:
            details = (f"{name} {getattr(ours, name)!r} instead of {getattr(theirs, name)!r}"
                       for name in names if name != "value_digest")
            text = ", ".join(details) or "another value or order"
            differences.append(f"{key!r}: {text}")
    return sorted(differences)
