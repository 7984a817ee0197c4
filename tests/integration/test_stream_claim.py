# SPDX-License-Identifier: BSD-3-Clause
"""XREADGROUP CLAIM, as in Redis 8.4: a consumer takes over entries that have been pending for long, and reads new ones.

The replies are those of the documentation of Redis 8.4 and of the tests of its suite; no server with the option is
there to compare with. A redis-server 7.0 as replica shows that claims are replicated by their effects.
"""

import threading

import pytest
import redis
from pairs import assert_same, follow, start
from waiting import let_pass, wait_for_blocked


@pytest.fixture
def group(r):
    """A stream of four entries; consumer a has read the first three. Replies are not converted."""
    r.response_callbacks.clear()
    for n in range(1, 5):
        r.execute_command("XADD", "s", f"{n}-0", "f", n)
    r.execute_command("XGROUP CREATE s g 0")
    r.execute_command("XREADGROUP GROUP g a COUNT 3 STREAMS s >")
    return r


def claim(r, options, consumer="b", key="s"):
    """Runs XREADGROUP with the options; (id, deliveries before) of each entry."""
    reply = r.execute_command("XREADGROUP", "GROUP", "g", consumer, *options.split(), "STREAMS", key, ">")
    return [(entry[0].decode(), entry[3]) for entry in reply[0][1]] if reply else []


def pending(r):
    """(id, consumer, deliveries) of each pending entry."""
    return [(e[0].decode(), e[1].decode(), e[3]) for e in r.execute_command("XPENDING s g - + 100")]


def blocked(server, command, others=0):
    """Runs a blocking command in a thread; returns (thread, replies)."""
    answers = []
    client = server.client()
    client.response_callbacks.clear()
    thread = threading.Thread(target=lambda: answers.append(client.execute_command(*command.split())))
    thread.start()
    wait_for_blocked(server, others + 1)
    return thread, answers


def test_idle_entries_come_before_new_ones(group):
    let_pass(20)
    reply = group.execute_command("XREADGROUP GROUP g b CLAIM 20 STREAMS s >")
    (key, entries), = reply
    assert key == b"s"
    assert [entry[:2] for entry in entries] == [[b"%d-0" % n, [b"f", b"%d" % n]] for n in range(1, 5)]
    assert all(20 <= entry[2] < 10**6 and entry[3] == 1 for entry in entries[:3])
    assert entries[3][2:] == [0, 0]
    assert pending(group) == [(f"{n}-0", "b", 2) for n in range(1, 4)] + [("4-0", "b", 1)]


def test_the_longest_idle_entry_comes_first(group):
    for entry_id, ms in (("2-0", 1000), ("3-0", 2000), ("1-0", 3000)):
        group.execute_command("XCLAIM", "s", "g", "a", 0, entry_id, "TIME", ms, "JUSTID")
    assert [entry_id for entry_id, _ in claim(group, "COUNT 2 CLAIM 1000")] == ["2-0", "3-0"]
    assert claim(group, "COUNT 2 CLAIM 1000") == [("1-0", 1), ("4-0", 0)]
    assert claim(group, "CLAIM 100000") == []


def test_count_limits_claimed_and_new_entries_together(group):
    let_pass(2)  # entries delivered in the same ms are in the order of their ids
    assert claim(group, "CLAIM 0 COUNT 1") == [("1-0", 1)]
    assert claim(group, "COUNT 4 CLAIM 0") == [("2-0", 1), ("3-0", 1), ("1-0", 2), ("4-0", 0)]


def test_noack_applies_to_new_entries_only(group):
    assert claim(group, "NOACK CLAIM 0") == [("1-0", 1), ("2-0", 1), ("3-0", 1), ("4-0", 0)]
    assert [entry_id for entry_id, _, _ in pending(group)] == ["1-0", "2-0", "3-0"]


def test_deleted_and_acknowledged_entries_are_not_claimed(group):
    group.execute_command("XREADGROUP GROUP g a STREAMS s >")
    group.execute_command("XDEL s 1-0")
    group.execute_command("XACK s g 3-0")
    assert claim(group, "CLAIM 0") == [("2-0", 1), ("4-0", 1)]
    group.execute_command("XGROUP DELCONSUMER s g b")
    assert claim(group, "CLAIM 0") == []
    assert pending(group) == [("1-0", "a", 1)]


def test_other_commands_keep_the_order_of_times(group):
    """After the first claim the group keeps its entries by time, whatever command changes them."""
    assert claim(group, "CLAIM 100000") == [("4-0", 0)]
    group.execute_command("XCLAIM s g c 0 4-0 TIME 1000")
    group.execute_command("XACK s g 2-0")
    group.execute_command("XCLAIM s g c 0 3-0 TIME 2000 JUSTID")
    group.execute_command("XAUTOCLAIM s g d 0 1-0 COUNT 1 JUSTID")
    assert claim(group, "CLAIM 0") == [("4-0", 2), ("3-0", 1), ("1-0", 1)]
    group.execute_command("XGROUP SETID s g 0")
    assert claim(group, "CLAIM 0 COUNT 3", "e") == [("1-0", 2), ("3-0", 2), ("4-0", 3)]
    group.execute_command("XGROUP DESTROY s g")
    group.execute_command("XGROUP CREATE s g 0")
    assert claim(group, "CLAIM 0") == [(f"{n}-0", 0) for n in range(1, 5)]


def test_history_ignores_claim(group):
    reply = group.execute_command("XREADGROUP GROUP g a CLAIM 0 STREAMS s 0")
    assert [len(entry) for entry in reply[0][1]] == [2, 2, 2]


@pytest.mark.parametrize("command, error", [
    ("XREADGROUP GROUP g c CLAIM x STREAMS s >", "min-idle-time is not an integer or out of range"),
    ("XREADGROUP GROUP g c CLAIM -0 STREAMS s >", "min-idle-time is not an integer or out of range"),
    ("XREADGROUP GROUP g c CLAIM -1 STREAMS s >", "min-idle-time must be a positive integer"),
    ("XREADGROUP GROUP g CLAIM 5 c STREAMS s >", "syntax error"),
    ("XREAD CLAIM 5 STREAMS s 0",
     "The CLAIM option is only supported by XREADGROUP. You called XREAD instead."),
])
def test_wrong_arguments_are_refused(group, command, error):
    with pytest.raises(redis.ResponseError, match=f"^{error}$"):
        group.execute_command(command)


def test_a_blocked_client_claims_an_entry_when_it_has_been_idle_long_enough(server, group):
    group.execute_command("XREADGROUP GROUP g a STREAMS s >")
    group.execute_command("XACK s g 1-0 2-0 3-0")
    thread, answers = blocked(server, "XREADGROUP GROUP g b BLOCK 60000 CLAIM 300 STREAMS s >")
    thread.join(60)
    (entry,), = [entries for _, entries in answers[0]]
    assert entry[0] == b"4-0" and entry[2] >= 300 and entry[3] == 1


def test_blocked_clients_claim_what_another_one_received(server, group):
    """The second client finds nothing new, and gets the entry of the first one later."""
    group.execute_command("XREADGROUP GROUP g a STREAMS s >")
    group.execute_command("XACK s g 1-0 2-0 3-0 4-0")
    waiting = [blocked(server, f"XREADGROUP GROUP g {name} BLOCK 60000 CLAIM 200 STREAMS s >", others)
               for others, name in enumerate("bc")]
    group.execute_command("XADD s 5-0 f 5")
    for thread, _ in waiting:
        thread.join(60)
    assert sorted(answers[0][0][1][0][3] for _, answers in waiting) == [0, 1]
    assert all(answers[0][0][1][0][0] == b"5-0" for _, answers in waiting)


def test_a_blocked_client_gives_up_at_its_timeout(group):
    group.execute_command("XREADGROUP GROUP g a STREAMS s >")
    assert group.execute_command("XREADGROUP GROUP g b BLOCK 50 CLAIM 100000 STREAMS s >") is None
    assert group.execute_command("XREADGROUP GROUP g b BLOCK 50 CLAIM 9223372036854775807 STREAMS s >") is None


def test_the_order_survives_a_restart(server, group):
    assert claim(group, "CLAIM 100000") == [("4-0", 0)]
    group.execute_command("XCLAIM s g c 0 4-0 TIME 1000 JUSTID")
    server.kill9()
    server.start()
    r = server.client()
    r.response_callbacks.clear()
    assert [entry_id for entry_id, _ in claim(r, "CLAIM 0")] == ["4-0", "1-0", "2-0", "3-0"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cairn", "redis"])
def test_claims_are_replicated_by_their_effects(kind, group, server):
    with start(kind) as replica:
        follow(replica, server)
        assert len(claim(group, "CLAIM 0 COUNT 2")) == 2
        assert len(claim(group, "CLAIM 0", "c")) == 4
        assert_same(server, replica, dbs=(0,))
        other = replica.client()
        other.response_callbacks.clear()
        assert pending(other) == pending(group)
