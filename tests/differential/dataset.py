# SPDX-License-Identifier: BSD-3-Clause
"""Compares all data of two servers: every key, its type, encoding, value, order and expiry.

The order is compared if Redis specifies it: lists, sorted sets, packed hashes, integer sets. Elements of hashes and
sets that became hash tables are compared as sets.
"""

from compare import stream_facts
from resp import show

DEADLINE_SLACK_MS = 3000
CHUNK = 500
KEY = object()
READERS = {
    b"string": [b"GET", KEY],
    b"list": [b"LRANGE", KEY, b"0", b"-1"],
    b"hash": [b"HGETALL", KEY],
    b"set": [b"SMEMBERS", KEY],
    b"zset": [b"ZRANGE", KEY, b"0", b"-1", b"WITHSCORES"],
    b"stream": [b"XINFO", b"STREAM", KEY, b"FULL", b"COUNT", b"0"],
    b"none": [b"TYPE", KEY],
}


def scan_keys(connection):
    """All keys of the selected database."""
    keys, cursor = set(), b"0"
    while True:
        _, ((_, cursor), (_, found)) = connection.call(b"SCAN", cursor, b"COUNT", b"1000")
        keys.update(key for _, key in found)
        if cursor == b"0":
            return keys


def describe(connection, keys, ordered=True):
    """For each key (type, encoding, milliseconds to live, value in comparable form)."""
    facts = connection.pipeline(
        [
            [name, *rest, key]
            for key in keys
            for name, *rest in ((b"TYPE",), (b"OBJECT", b"ENCODING"), (b"PTTL",))
        ]
    )
    types = [reply[1] for reply in facts[::3]]
    encodings = [reply[1] for reply in facts[1::3]]
    reads = []
    for key, kind in zip(keys, types):
        reads.append([key if word is KEY else word for word in READERS[kind]])
    described = []
    for kind, encoding, ttl, reply in zip(
        types, encodings, facts[2::3], connection.pipeline(reads)
    ):
        known_order = encoding if ordered else b"hashtable"
        described.append((kind, encoding, ttl[1], comparable(kind, known_order, reply)))
    return described


def comparable(kind, encoding, reply):
    """The value, with its elements sorted if their order is not specified."""
    if kind == b"stream":
        return stream_facts(reply)
    if kind not in (b"hash", b"set") or encoding != b"hashtable" or not isinstance(reply[1], list):
        return reply
    content = reply[1]
    if kind == b"hash":
        content = list(zip(content[::2], content[1::2]))
    return reply[0], sorted(content)


def same_deadline(ours, theirs):
    """Whether two PTTL replies agree."""
    if ours < 0 or theirs < 0:
        return ours == theirs
    return abs(ours - theirs) <= DEADLINE_SLACK_MS


def compare_database(first, second, database, encodings=True, agree=None):
    """The differences of one database, a sentence each; see compare()."""
    for connection in (first, second):
        connection.call(b"SELECT", b"%d" % database)
    ours, theirs = scan_keys(first), scan_keys(second)
    found = [
        f"db {database}: key {key!r} only in the {where}"
        for where, keys in (("first", ours - theirs), ("second", theirs - ours))
        for key in sorted(keys)
    ]
    sizes = first.call(b"DBSIZE"), second.call(b"DBSIZE")
    if sizes[0] != sizes[1] or sizes[0][1] != len(ours):
        found.append(
            f"db {database}: DBSIZE {sizes[0][1]} and {sizes[1][1]}, SCAN finds {len(ours)}"
        )
    common = sorted(ours & theirs)
    for start in range(0, len(common), CHUNK):
        keys = common[start : start + CHUNK]
        for key, a, b in zip(
            keys, *(describe(each, keys, ordered=encodings) for each in (first, second))
        ):
            if a[0] != b[0] or (encodings and a[1] != b[1]):
                found.append(f"db {database}: key {key!r} is {a[:2]} and {b[:2]}")
            elif not same_deadline(a[2], b[2]):
                found.append(f"db {database}: key {key!r} lives {a[2]} and {b[2]} ms")
            elif a[3] != b[3] and not (agree and agree(a[0], a[3], b[3])):
                found.append(
                    f"db {database}: {a[0].decode()} {key!r}:\n"
                    f"    {show(a[3]) if isinstance(a[3][0], bytes) else a[3]}\n"
                    f"    {show(b[3]) if isinstance(b[3][0], bytes) else b[3]}"
                )
    return found


def compare(first, second, databases=16, encodings=True, agree=None):
    """All differences of two servers, given a connection to each (resp.Connection). `encodings`: whether to compare the
    encodings, and the order of elements of small collections that follows from them. `agree(type, value, value)` may
    explain values that differ."""
    return [
        sentence
        for database in range(databases)
        for sentence in compare_database(first, second, database, encodings, agree)
    ]
