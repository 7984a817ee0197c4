# SPDX-License-Identifier: BSD-3-Clause
"""XADD IDMP and IDMPAUTO, XCFGSET and XIDMPRECORD, as in Redis 8.6 and 8.8: producers add an entry only once.

The replies are those of the documentation of Redis 8.6 and of the tests of its suite; no server with the commands is
there to compare with.
"""

import pytest
import redis
from pairs import assert_same, follow, start
from waiting import wait_until


@pytest.fixture
def raw(r):
    r.response_callbacks.clear()
    return r


def facts(r, key="s"):
    """XINFO's figures of the producers: duration, maxsize, pids and iids tracked, iids added, duplicates."""
    reply = r.execute_command("XINFO", "STREAM", key)
    if b"idmp-duration" not in reply:
        return None
    names = "idmp-duration idmp-maxsize pids-tracked iids-tracked iids-added iids-duplicates".split()
    return [dict(zip(reply[::2], reply[1::2]))[name.encode()] for name in names]


def add(r, producer, iid, *fields, key="s"):
    return r.execute_command("XADD", key, "IDMP", producer, iid, "*", *(fields or ("f", "v")))


def test_xinfo_shows_producers_only_where_there_were_some(raw):
    """Clients for older versions need not know the fields."""
    raw.execute_command("XADD s 1-0 f v")
    assert facts(raw) is None
    assert len(raw.execute_command("XINFO STREAM s")) == 20
    raw.execute_command("XCFGSET s IDMP-DURATION 5")
    assert facts(raw) == [5, 100, 0, 0, 0, 0]
    assert len(raw.execute_command("XINFO STREAM s FULL")) == 30


@pytest.fixture
def directives(raw):
    """Sets both directives; their defaults return afterwards."""
    raw.config_set("stream-idmp-duration", 7)
    raw.config_set("stream-idmp-maxsize", 2)
    yield
    raw.config_set("stream-idmp-duration", 100)
    raw.config_set("stream-idmp-maxsize", 100)


def test_directives_give_the_first_values(raw, directives):
    """For each stream that has no ids yet and was not configured."""
    raw.execute_command("XADD s 1-0 f v")
    raw.execute_command("XCFGSET s IDMP-DURATION 5")
    for number in range(3):
        add(raw, "p", number, key="new")
        add(raw, "p", number)
    assert facts(raw, "new") == [7, 2, 1, 2, 3, 0]
    assert facts(raw) == [5, 100, 1, 3, 3, 0]
    with pytest.raises(redis.ResponseError, match="must be between 1 and 86400"):
        raw.config_set("stream-idmp-duration", 0)


def test_an_entry_is_added_once(raw):
    first = add(raw, "p", "1")
    assert add(raw, "p", "1", "other", "fields") == first
    assert add(raw, "q", "1") != first
    assert add(raw, "p", "2") != first
    assert raw.xlen("s") == 3
    assert facts(raw) == [100, 100, 2, 3, 3, 1]


def test_the_id_of_idmpauto_is_that_of_the_fields(raw):
    def auto(*fields):
        return raw.execute_command("XADD", "s", "IDMPAUTO", "p", "*", *fields)

    first = auto("a", "1", "b", "2")
    assert auto("b", "2", "a", "1") == first  # in any order
    assert auto("a", "2", "b", "1") != first
    assert auto("ab", "1", "", "2") != auto("a", "b1", "", "2")
    assert facts(raw)[3:] == [4, 4, 1]


def test_options_may_be_combined(raw):
    assert raw.execute_command("XADD s NOMKSTREAM IDMP p 1 * f v") is None
    first = raw.execute_command("XADD s IDMP p 1 MAXLEN 2 * f v")
    for n in range(3):
        raw.execute_command("XADD", "s", "MAXLEN", "2", "IDMPAUTO", "p", "*", "n", n)
    assert raw.execute_command("XADD s IDMP p 1 MAXLEN 2 * f v") == first  # although it was trimmed
    assert raw.xlen("s") == 2


@pytest.mark.parametrize("words, error", [
    ("XADD s IDMP p 1 5-0 f v", "syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs"),
    ("XADD s IDMP p 1 IDMPAUTO p * f v", "syntax error, IDMP/IDMPAUTO specified multiple times"),
    ("XADD s IDMPAUTO  * f v", "syntax error, IDMPAUTO requires a non-empty producer ID"),
    ("XADD s IDMP  1 * f v", "syntax error, IDMP requires a non-empty producer ID"),
    ("XADD s IDMP p  * f v", "syntax error, IDMP requires a non-empty idempotent ID"),
    ("XCFGSET none IDMP-DURATION 5", "no such key"),
    ("XCFGSET s", "At least one parameter must be specified"),
    ("XCFGSET s IDMP-DURATION 0", "IDMP-DURATION must be between 1 and 86400 seconds"),
    ("XCFGSET s IDMP-DURATION 86401", "IDMP-DURATION must be between 1 and 86400 seconds"),
    ("XCFGSET s IDMP-MAXSIZE 10001", "IDMP-MAXSIZE must be between 1 and 10000 entries"),
    ("XCFGSET s IDMP-MAXSIZE 5 IDMP-MAXSIZE 5", "IDMP-MAXSIZE specified multiple times"),
    ("XCFGSET s OTHER 5", "syntax error"),
    ("XIDMPRECORD s p 1 9-9", "No such message in stream"),
    ("XIDMPRECORD s  1 1-0", "producer ID must be non-empty"),
    ("XIDMPRECORD s p  1-0", "idempotent ID must be non-empty"),
    ("XIDMPRECORD s p used 1-0", "IID already exists for this producer with a different stream ID"),
])
def test_wrong_arguments_are_refused(raw, words, error):
    raw.execute_command("XADD s 1-0 f v")
    add(raw, "p", "used")
    with pytest.raises(redis.ResponseError, match=f"^{error}$"):
        raw.execute_command(*words.split(" "))


def test_a_producer_has_only_its_latest_ids(raw):
    raw.execute_command("XADD s 1-0 f v")
    assert raw.execute_command("XCFGSET s IDMP-MAXSIZE 3") == b"OK"
    ids = [add(raw, "p", n) for n in range(5)]
    assert facts(raw) == [100, 3, 1, 3, 5, 0]
    assert add(raw, "p", 2) == ids[2]
    assert add(raw, "p", 1) != ids[1]
    assert add(raw, "p", 2) != ids[2]  # evicted by 1


def test_ids_expire(raw):
    """An id is forgotten, and so is a producer without other ids, although nobody deletes them."""
    raw.execute_command("XADD s 1-0 f v")
    raw.execute_command("XCFGSET s IDMP-DURATION 1")
    first = add(raw, "p", "1")
    assert add(raw, "p", "1") == first
    wait_until(lambda: facts(raw)[2:4] == [0, 0], "the expiry")
    assert add(raw, "p", "1") != first
    assert facts(raw)[2:] == [1, 1, 2, 1]


def test_many_producers_come_and_go(raw):
    raw.execute_command("XADD s 1-0 f v")
    raw.execute_command("XCFGSET s IDMP-DURATION 1")
    for n in range(40):
        add(raw, f"old{n}", "1")
    assert facts(raw)[2] == 40
    wait_until(lambda: facts(raw)[2] == 0, "the expiry")
    for n in range(60):
        add(raw, f"new{n}", "1")
    assert facts(raw)[4] == 100


def test_a_new_setting_forgets_the_ids(raw):
    first = add(raw, "p", "1")
    raw.execute_command("XCFGSET s IDMP-DURATION 100 IDMP-MAXSIZE 100")  # as it is
    assert add(raw, "p", "1") == first
    raw.execute_command("XCFGSET s IDMP-DURATION 200")
    assert facts(raw) == [200, 100, 0, 0, 1, 1]
    assert add(raw, "p", "1") != first


def test_xidmprecord_stores_an_id(raw):
    raw.execute_command("XADD s 1-0 f v")
    now = add(raw, "q", "1")
    assert raw.execute_command("XIDMPRECORD", "s", "p", "i", now) == b"OK"
    assert raw.execute_command("XIDMPRECORD", "s", "p", "i", now) == b"OK"
    assert facts(raw)[2:] == [2, 2, 2, 0]
    assert add(raw, "p", "i") == now


@pytest.mark.parametrize("way", ["restart", "dump", "copy", "reload"])
def test_ids_survive(server, raw, way):
    added = [add(raw, producer, iid) for producer in "pq" for iid in "ab"]
    raw.execute_command("XGROUP CREATE s g 0")
    raw.execute_command("XREADGROUP GROUP g c STREAMS s >")
    raw.execute_command("XNACK", "s", "g", "FAIL", "IDS", 1, added[0])
    before = facts(raw)
    key = "s"
    if way == "restart":
        server.kill9()
        server.start()
        raw = server.client()
        raw.response_callbacks.clear()
    elif way == "dump":
        raw.restore("s", 0, raw.dump("s"), replace=True)
    elif way == "copy":
        raw.copy("s", "t")
        raw.delete("s")
        key = "t"
    else:
        raw.execute_command("DEBUG RELOAD")
    assert facts(raw, key) == before
    assert [add(raw, producer, iid, key=key) for producer in "pq" for iid in "ab"] == added
    assert add(raw, "p", "c", key=key) not in added
    raw.delete(key)
    add(raw, "p", "a", key=key)
    assert facts(raw, key) == [100, 100, 1, 1, 1, 0]


@pytest.mark.slow
def test_replicas_get_the_entries_and_the_ids(raw, server):
    with start("cairn") as replica:
        follow(replica, server)
        first = add(raw, "p", "1")
        add(raw, "p", "1")
        raw.execute_command("XADD s MAXLEN ~ 100 IDMPAUTO q * f v")
        raw.execute_command("XADD s IDMP p gone MAXLEN 2 * f v")
        assert_same(server, replica, dbs=(0,))
        other = replica.client()
        other.response_callbacks.clear()
        assert facts(other) == [100, 100, 2, 3, 3, 0]
        raw.execute_command("XCFGSET s IDMP-MAXSIZE 50")
        wait_until(lambda: facts(other) == [100, 50, 0, 0, 3, 0], "the new setting")
        second = add(raw, "p", "1")
        assert second != first
        assert_same(server, replica, dbs=(0,))
        other.execute_command("REPLICAOF NO ONE")
        assert add(other, "p", "1") == second
