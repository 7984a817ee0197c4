# SPDX-License-Identifier: BSD-3-Clause
"""XNACK, as in Redis 8.8: a consumer gives pending entries back to their group.

The replies are those of the documentation of Redis 8.8 and of the tests of its suite; no server with the command is
there to compare with.
"""

import pytest
import redis
from pairs import follow, start
from waiting import wait_until

MOST = 2**63 - 1


@pytest.fixture
def group(r):
    """A stream of four entries; consumer a has read the first three. Replies are not converted."""
    r.response_callbacks.clear()
    for n in range(1, 5):
        r.execute_command("XADD", "s", f"{n}-0", "f", n)
    r.execute_command("XGROUP CREATE s g 0")
    r.execute_command("XREADGROUP GROUP g a COUNT 3 STREAMS s >")
    return r


def pending(r, *options):
    """(id, consumer, deliveries) of each pending entry."""
    reply = r.execute_command("XPENDING", "s", "g", *options, "-", "+", "100")
    return [(e[0].decode(), e[1].decode(), e[3]) for e in reply]


def claim(r, options="CLAIM 0", consumer="b"):
    reply = r.execute_command("XREADGROUP", "GROUP", "g", consumer, *options.split(), "STREAMS", "s", ">")
    return [(entry[0].decode(), entry[3]) for entry in reply[0][1]] if reply else []


def full(r):
    """XINFO's description of the group."""
    reply = r.execute_command("XINFO STREAM s FULL")
    facts = dict(zip(reply[::2], reply[1::2]))[b"groups"][0]
    return dict(zip(facts[::2], facts[1::2]))


@pytest.mark.parametrize("mode, deliveries", [
    ("SILENT", 0), ("FAIL", 1), ("FATAL", MOST), ("FAIL RETRYCOUNT 7", 7), ("FATAL RETRYCOUNT 0", 0)])
def test_the_mode_decides_about_the_count(group, mode, deliveries):
    mode, *options = mode.split()
    assert group.execute_command("XNACK", "s", "g", mode, "IDS", 2, "2-0", "4-0", *options) == 1
    assert pending(group) == [("1-0", "a", 1), ("2-0", "", deliveries), ("3-0", "a", 1)]
    assert claim(group, "CLAIM 100000 COUNT 1") == [("2-0", deliveries)]
    assert pending(group)[1] == ("2-0", "b", min(deliveries + 1, MOST))


def test_released_entries_come_first_in_the_order_of_their_release(group):
    group.execute_command("XREADGROUP GROUP g a STREAMS s >")
    assert group.execute_command("XNACK s g FAIL IDS 2 4-0 2-0") == 2
    assert group.execute_command("XNACK s g FAIL IDS 1 3-0") == 1
    assert group.execute_command("XNACK s g SILENT IDS 1 4-0") == 1  # again: to the end
    assert claim(group) == [("2-0", 1), ("3-0", 1), ("4-0", 0), ("1-0", 1)]
    assert b"nacked-count" not in full(group)


def test_released_entries_are_shown_without_a_consumer(group):
    group.execute_command("XNACK s g FAIL IDS 2 1-0 3-0")
    assert group.execute_command("XPENDING s g") == [3, b"1-0", b"3-0", [[b"a", b"1"]]]
    entry, *_ = group.execute_command("XPENDING s g - + 1")
    assert entry == [b"1-0", b"", -1, 1]
    assert [each[0] for each in pending(group, "IDLE", 100000)] == ["1-0", "3-0"]
    facts = full(group)
    assert (facts[b"pel-count"], facts[b"nacked-count"]) == (3, 2)
    assert facts[b"pending"][0] == [b"1-0", b"", 0, 1]
    (consumer,) = facts[b"consumers"]
    assert [each[0] for each in consumer[-1]] == [b"2-0"]


def test_other_commands_take_released_entries(group):
    group.execute_command("XNACK s g FAIL IDS 3 1-0 2-0 3-0")
    assert group.execute_command("XCLAIM s g b 100000 1-0 JUSTID") == [b"1-0"]
    assert group.execute_command("XAUTOCLAIM s g b 100000 0 COUNT 1 JUSTID")[1] == [b"2-0"]
    assert group.execute_command("XACK s g 3-0") == 1
    assert pending(group) == [("1-0", "b", 1), ("2-0", "b", 1)]
    group.execute_command("XNACK s g FAIL IDS 1 2-0")
    group.execute_command("XDEL s 1-0 2-0")
    assert group.execute_command("XAUTOCLAIM s g b 0 0") == [b"0-0", [], [b"1-0", b"2-0"]]
    assert pending(group) == []


def test_force_adds_entries_that_are_not_pending(group):
    assert group.execute_command("XNACK s g FAIL IDS 2 4-0 9-0 FORCE") == 1
    assert pending(group)[-1] == ("4-0", "", 0)
    group.execute_command("XGROUP DELCONSUMER s g a")
    assert pending(group) == [("4-0", "", 0)]


@pytest.mark.parametrize("words, error", [
    ("s g BAD IDS 1 1-0", "mode must be SILENT, FAIL, or FATAL"),
    ("s g FAIL IDS 0 1-0", "numids must be a positive integer"),
    ("s g FAIL IDS 2 1-0", "number of IDs doesn't match numids"),
    ("s g FAIL IDS 1 1-0 2-0", "Unrecognized XNACK option '2-0'"),
    ("s g FAIL FORCE FORCE FORCE", "syntax error, expected IDS keyword"),
    ("s g FAIL IDS 1 x", "Invalid stream ID specified as stream command argument"),
    ("s g FAIL IDS 1 1-0 RETRYCOUNT -1", "Invalid RETRYCOUNT value, must be >= 0"),
    ("s other FAIL IDS 1 1-0", "No such key 's' or consumer group 'other'"),
    ("t g FAIL IDS 1 1-0", "Operation against a key holding the wrong kind of value"),
])
def test_wrong_arguments_are_refused(group, words, error):
    group.set("t", "x")
    with pytest.raises(redis.ResponseError) as refusal:
        group.execute_command("XNACK", *words.split())
    assert str(refusal.value).removeprefix("NOGROUP ").removeprefix("WRONGTYPE ") == error


@pytest.mark.parametrize("way", ["restart", "dump", "reload"])
def test_released_entries_survive(server, group, way):
    group.execute_command("XNACK s g FAIL IDS 2 3-0 1-0 RETRYCOUNT 5")
    if way == "restart":
        server.kill9()
        server.start()
        group = server.client()
        group.response_callbacks.clear()
    elif way == "dump":
        group.restore("s", 0, group.dump("s"), replace=True)
    else:
        group.execute_command("DEBUG RELOAD")
    assert pending(group) == [("1-0", "", 5), ("2-0", "a", 1), ("3-0", "", 5)]
    assert claim(group, "CLAIM 100000 COUNT 2") == [("3-0", 5), ("1-0", 5)]


@pytest.mark.slow
def test_released_entries_are_replicated(group, server):
    with start("cairn") as replica:
        follow(replica, server)
        group.execute_command("XREADGROUP GROUP g a STREAMS s 0")  # not replicated: the counts differ
        group.execute_command("XNACK s g SILENT IDS 3 2-0 1-0 4-0 FORCE")
        group.execute_command("XNACK s g FATAL IDS 1 3-0")
        group.execute_command("XCLAIM s g b 0 1-0 JUSTID")
        other = replica.client()
        other.response_callbacks.clear()
        wait_until(lambda: pending(other) == pending(group), "the same pending entries")
        assert full(other)[b"nacked-count"] == 3
