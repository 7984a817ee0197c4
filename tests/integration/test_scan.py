# SPDX-License-Identifier: BSD-3-Clause
"""SCAN, KEYS and patterns: the same replies as redis-server, and the guarantee of a scan."""

import random

from raw_client import leaves, unordered

ARGUMENTS = """
set '' empty
scan
scan x
scan -
scan ''
scan +0
scan 18446744073709551616
scan 0 count
scan 0 count x
scan 0 count 0
scan 0 count -1
scan 0 count 1.5
scan 0 match
scan 0 match a match
scan 0 foo 1
scan 0 type
scan 0 count 10 count 0
scan 0 match * type tree count 100
keys
keys a b
keys nothing
"""

PATTERN_CHARACTERS = "ab*?[]^-\\ab"


def scan_all(client, **options):
    """The keys that a whole scan returns, with repetitions."""
    cursor, names = 0, []
    while True:
        cursor, found = client.scan(cursor, **options)
        names += found
        if cursor == 0:
            return names


def test_arguments(pair):
    pair.lines(ARGUMENTS)


def test_patterns_match_as_in_redis(pair):
    rng = random.Random(5)
    texts = ["", "a", "b", "ab", "ba", "aab", "abab", "*", "?", "[", "]", "\\", "-", "^", "a-b",
             "[ab]"]
    for text in texts:
        pair("set", text, 1)
    for _ in range(1500):
        pattern = "".join(rng.choice(PATTERN_CHARACTERS) for _ in range(rng.randrange(1, 8)))
        pair("keys", pattern, normal=unordered)
        mine = pair.ours("scan", 0, "match", pattern, "count", 1000)
        reference = pair.theirs("scan", 0, "match", pattern, "count", 1000)
        assert sorted(leaves(mine)) == sorted(leaves(reference)), pattern


def test_a_scan_returns_every_key_once(r):
    names = {f"key:{i}".encode() for i in range(3000)}
    names |= {f"{{tag}}:{i}".encode() for i in range(500)}
    r.mset({name: 1 for name in names})
    for count in (1, 7, 100, 100_000):
        found = scan_all(r, count=count)
        assert len(found) == len(names)
        assert set(found) == names
    assert set(r.keys("*")) == names


def test_filters_return_every_matching_key(r):
    r.mset({f"s{i}": 1 for i in range(300)})
    for i in range(300):
        r.sadd(f"m{i}", 1)
    sets, strings = ({f"{letter}{i}".encode() for i in range(300)} for letter in "ms")
    assert set(scan_all(r, _type="set")) == sets
    assert set(scan_all(r, _type="STRING", count=7)) == strings
    ones = {name for name in sets | strings if name[1:2] == b"1"}
    assert set(scan_all(r, match="?1*")) == ones
    assert not scan_all(r, _type="hash")


def test_keys_present_throughout_are_returned_whatever_else_changes(r):
    stay = {f"stay{i}".encode() for i in range(500)}
    r.mset({name: 1 for name in stay})
    rng = random.Random(9)
    cursor, found = 0, []
    while True:
        cursor, names = r.scan(cursor, count=5)
        found += names
        if cursor == 0:
            break
        r.mset({f"new{rng.randrange(10_000)}": 1 for _ in range(20)})
        r.delete(*(f"new{rng.randrange(10_000)}" for _ in range(20)))
    staying = [name for name in found if name in stay]
    assert set(staying) == stay
    assert len(staying) == len(stay)


def test_a_cursor_survives_restarts(server):
    names = {f"key:{i}".encode() for i in range(500)}
    server.client().config_set("appendfsync", "always")
    server.client().mset({name: 1 for name in names})
    cursor, found = 0, []
    for how in ("shutdown", "kill9", None):
        cursor, part = server.client().scan(cursor, count=100)
        found += part
        assert cursor != 0
        if how:
            server.restart(how)
    while cursor:
        cursor, part = server.client().scan(cursor, count=100)
        found += part
    assert sorted(found) == sorted(names)


def test_expired_keys_are_not_returned(r):
    r.mset({f"stays{i}": 1 for i in range(50)})
    for i in range(50):
        r.set(f"goes{i}", 1, pxat=1)
    assert sorted(scan_all(r)) == sorted(f"stays{i}".encode() for i in range(50))
    assert len(r.keys("*")) == 50


def test_invalid_cursors_end_the_scan(r):
    r.mset({f"k{i}": 1 for i in range(20)})
    for cursor in (2**46, 2**63, 2**64 - 1):
        assert r.execute_command("scan", str(cursor)) == (0, [])
