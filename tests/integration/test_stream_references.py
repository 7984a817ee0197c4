# SPDX-License-Identifier: BSD-3-Clause
"""XDELEX, XACKDEL and the policies KEEPREF, DELREF and ACKED of XADD and XTRIM, as in Redis 8.2.

The replies are those of the documentation of Redis 8.2 and of the tests of its suite; no server with these commands is
there to compare with. A redis-server 7.0 as replica shows that they are replicated by their effects.
"""

import pytest
import redis
from pairs import assert_same, follow, start


@pytest.fixture
def two_groups(r):
    """A stream of five entries. g1 has read all of them, g2 the first three."""
    for n in range(1, 6):
        r.xadd("s", {"f": n}, id=f"{n}-0")
    for group, count in (("g1", 5), ("g2", 3)):
        r.xgroup_create("s", group, "0")
        r.xreadgroup(group, "c", {"s": ">"}, count=count)
    return r


def pending(r, group):
    return [entry["message_id"].decode() for entry in r.xpending_range("s", group, "-", "+", 10)]


def entries(r):
    return [entry_id.decode() for entry_id, _ in r.xrange("s")]


def test_keepref_leaves_the_entries_pending(two_groups):
    r = two_groups
    assert r.execute_command("XDELEX s IDS 2 1-0 9-0") == [1, -1]
    assert r.execute_command("XDELEX s KEEPREF IDS 1 2-0") == [1]
    assert entries(r) == ["3-0", "4-0", "5-0"]
    assert pending(r, "g1") == ["1-0", "2-0", "3-0", "4-0", "5-0"]
    assert r.execute_command("XACKDEL s g1 IDS 2 1-0 3-0") == [1, 1]
    assert pending(r, "g1") == ["2-0", "4-0", "5-0"]
    assert pending(r, "g2") == ["1-0", "2-0", "3-0"]
    assert r.execute_command("XACKDEL s g2 IDS 2 4-0 3-0") == [-1, 1]
    assert entries(r) == ["4-0", "5-0"]


def test_delref_deletes_the_references_of_all_groups(two_groups):
    r = two_groups
    assert r.execute_command("XDELEX s DELREF IDS 2 1-0 9-0") == [1, -1]
    assert pending(r, "g1") == ["2-0", "3-0", "4-0", "5-0"]
    assert pending(r, "g2") == ["2-0", "3-0"]
    r.xdel("s", "2-0")
    assert r.execute_command("XDELEX s DELREF IDS 1 2-0") == [-1]
    assert pending(r, "g2") == ["3-0"]
    assert r.execute_command("XACKDEL s g2 DELREF IDS 2 3-0 4-0") == [1, -1]
    assert pending(r, "g1") == ["4-0", "5-0"]
    assert pending(r, "g2") == []
    assert r.xinfo_consumers("s", "g1")[0]["pending"] == 2


def test_acked_waits_for_every_group(two_groups):
    """An entry that a group has not read yet is needed, too."""
    r = two_groups
    r.xack("s", "g1", "5-0", "1-0")
    r.xack("s", "g2", "2-0")
    assert r.execute_command("XDELEX s ACKED IDS 4 1-0 2-0 5-0 9-0") == [2, 2, 2, 2]
    assert r.execute_command("XACKDEL s g1 ACKED IDS 3 2-0 3-0 4-0") == [1, 2, 2]
    assert r.execute_command("XACKDEL s g2 ACKED IDS 2 1-0 3-0") == [1, 1]
    assert entries(r) == ["4-0", "5-0"]
    r.xgroup_destroy("s", "g2")
    assert r.execute_command("XDELEX s ACKED IDS 2 4-0 5-0") == [1, 1]
    assert r.xlen("s") == 0


def test_missing_keys_and_groups_have_no_entries(r):
    assert r.execute_command("XDELEX s IDS 2 1-1 2-2") == [-1, -1]
    assert r.execute_command("XACKDEL s g IDS 2 1-1 2-2") == [-1, -1]
    r.xadd("s", {"f": 1}, id="1-1")
    assert r.execute_command("XACKDEL s g IDS 1 1-1") == [-1]
    assert r.xlen("s") == 1


@pytest.mark.parametrize("words, error", [
    ("IDS abc 1-1", "Number of IDs must be a positive integer"),
    ("IDS 0 1-1", "Number of IDs must be a positive integer"),
    ("IDS -5 1-1", "Number of IDs must be a positive integer"),
    ("IDS 3 1-1 2-2", "The `numids` parameter must match the number of arguments"),
    ("IDS 1 1-1 2-2", "syntax error"),
    ("KEEPREF DELREF IDS 1 1-1", "syntax error"),
    ("DELREF ACKED IDS 1 1-1", "syntax error"),
    ("OTHER IDS 1 1-1", "syntax error"),
    ("IDS 1 1-1 IDS 1 1-1", "syntax error"),
    ("IDS 1 x", "Invalid stream ID specified as stream command argument"),
])
def test_wrong_arguments_are_refused(r, words, error):
    r.xadd("s", {"f": 1}, id="1-1")
    for command in ("XDELEX s", "XACKDEL s g"):
        with pytest.raises(redis.ResponseError, match=f"^{error}$"):
            r.execute_command(f"{command} {words}")
    assert r.xlen("s") == 1


def test_other_types_are_refused(r):
    r.set("s", "text")
    for command in ("XDELEX s IDS 1 1-1", "XACKDEL s g IDS 1 1-1"):
        with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
            r.execute_command(command)


def test_trimming_with_delref_deletes_references(two_groups):
    r = two_groups
    assert r.execute_command("XTRIM s MAXLEN 3 DELREF") == 2
    assert pending(r, "g1") == ["3-0", "4-0", "5-0"]
    assert pending(r, "g2") == ["3-0"]
    r.execute_command("XADD s DELREF MINID 5 6-0 f 6")
    assert pending(r, "g1") == ["5-0"]
    assert entries(r) == ["5-0", "6-0"]


def test_trimming_with_acked_passes_over_references(two_groups):
    """It goes on behind an entry that a group needs, until the length is reached."""
    r = two_groups
    r.xack("s", "g1", "1-0", "3-0")
    r.xack("s", "g2", "1-0", "3-0")
    assert r.execute_command("XTRIM s MAXLEN 4 ACKED") == 1
    assert entries(r) == ["2-0", "3-0", "4-0", "5-0"]
    r.execute_command("XADD s ACKED MAXLEN 1 6-0 f 6")
    assert entries(r) == ["2-0", "4-0", "5-0", "6-0"]
    assert r.execute_command("XTRIM s MINID 9 KEEPREF") == 4
    assert pending(r, "g1") == ["2-0", "4-0", "5-0"]


def test_trimming_without_groups_needs_no_acknowledgement(r):
    for n in range(1, 6):
        r.execute_command("XADD s ACKED MAXLEN = 2", f"{n}-0", "f", n)
    assert entries(r) == ["4-0", "5-0"]
    for command in ("XTRIM s MAXLEN 1 ACKED DELREF", "XTRIM s ACKED LIMIT 0"):
        with pytest.raises(redis.ResponseError, match="^syntax error"):
            r.execute_command(command)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cairn", "redis"])
def test_replicas_get_the_effects(kind, two_groups, server):
    """A replica that does not know the commands ends in the same state: they are replicated as XACK and XDEL."""
    r = two_groups
    with start(kind) as replica:
        follow(replica, server)
        r.execute_command("XDELEX s DELREF IDS 2 1-0 9-0")
        r.execute_command("XACKDEL s g1 ACKED IDS 1 3-0")
        r.execute_command("XACKDEL s g2 ACKED IDS 1 3-0")
        r.execute_command("XADD s ACKED MAXLEN ~ 2 LIMIT 100 * f 6")
        r.execute_command("XADD s DELREF MAXLEN 2 * f 7")
        r.execute_command("XTRIM s MINID 9 ACKED")
        assert_same(server, replica, dbs=(0,))
        for group in ("g1", "g2"):
            assert pending(replica.client(), group) == pending(r, group)


def test_events_and_changes(two_groups):
    """Deleted entries emit xdel; a deleted reference alone counts as a change only."""
    r = two_groups
    r.config_set("notify-keyspace-events", "KEt")
    listener = r.pubsub(ignore_subscribe_messages=True)
    listener.psubscribe("__keyevent*")
    listener.get_message(timeout=5)
    before = r.info("persistence")["rdb_changes_since_last_save"]
    r.execute_command("XDELEX s DELREF IDS 2 1-0 2-0")
    r.execute_command("XACKDEL s g1 ACKED IDS 1 3-0")
    r.execute_command("XTRIM s MAXLEN 2 DELREF")
    heard = [listener.get_message(timeout=20)["channel"] for _ in range(2)]
    assert [channel.rsplit(b":")[-1] for channel in heard] == [b"xdel", b"xtrim"]
    assert r.info("persistence")["rdb_changes_since_last_save"] - before == 4
    r.config_set("notify-keyspace-events", "")
    listener.close()
