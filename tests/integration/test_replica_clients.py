# SPDX-License-Identifier: BSD-3-Clause
"""Clients of a replica learn of changes from its primary: invalidations, events, MONITOR, SLOWLOG."""

import time

import pytest
from pairs import follow, start, wait_for_offset
from raw_client import RawClient
from waiting import assert_stays, wait_until


@pytest.fixture(scope="module")
def couple():
    """A primary without active expiry, and its replica."""
    with start("cairn", enable_debug_command="yes") as primary, start("cairn") as replica:
        primary.client().execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        follow(replica, primary)
        yield primary, replica


def track(server, *options):
    """A client with tracking enabled."""
    client = RawClient(server.port, 3)
    assert client("client", "tracking", "on", *options) == (b"+", b"OK")
    return client


def invalidated(client):
    """The keys of the next invalidation, or None for all keys."""
    kind, (name, keys) = client.read()
    assert (kind, name[1]) == (b">", b"invalidate")
    return [key for _, key in keys[1]] if keys[0] == b"*" else None


CHANGES = {
    "a write": lambda client: client.set("k", 2),
    "a deletion": lambda client: client.delete("k"),
    "a flush": lambda client: client.flushall(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("options", [(), ("bcast",)], ids=["default", "bcast"])
def test_a_tracking_client_gets_invalidations_of_the_primarys_changes(couple, change, options):
    """Its cached copy is outdated."""
    primary, replica = couple
    primary.client().set("k", 1)
    wait_for_offset(primary, replica)
    with track(replica, *options) as client:
        client("get", "k")
        CHANGES[change](primary.client())
        assert invalidated(client) == (None if change == "a flush" else [b"k"])


@pytest.mark.parametrize("files", ["yes", "no"])
def test_a_tracking_client_gets_an_invalidation_of_all_after_a_transfer(files):
    """A first transfer, by files or by an RDB file, replaces all data."""
    with start("cairn") as primary, start("cairn", repl_sync_files=files) as replica:
        replica.client().set("k", "old")
        primary.client().set("k", "new")
        with track(replica) as client:
            assert client("get", "k") == (b"$", b"old")
            follow(replica, primary)
            assert invalidated(client) is None
            assert client("get", "k") == (b"$", b"new")
            primary.client().set("k", "newer")
            assert invalidated(client) == [b"k"]


def test_a_reload_sends_an_invalidation(couple):
    """DEBUG RELOAD also replaces all data."""
    primary, _ = couple
    primary.client().set("k", 1)
    with track(primary) as client:
        client("get", "k")
        primary.client().execute_command("DEBUG", "RELOAD")
        assert invalidated(client) is None


def test_an_expired_field_sends_an_invalidation():
    """The invalidation names its hash, on the primary and on the replica."""
    with start("cairn") as primary, start("cairn") as replica:
        follow(replica, primary)
        primary.client().hset("h", mapping={"a": 1, "b": 2})
        primary.client().execute_command("HPEXPIRE", "h", 100, "FIELDS", 1, "a")
        wait_for_offset(primary, replica)
        with track(primary) as here, track(replica) as there:
            for client in (here, there):
                client("hgetall", "h")
            for client in (here, there):
                assert invalidated(client) == [b"h"]
                assert client("hlen", "h") == (b":", b"1")


def test_an_expired_key_is_a_keymiss(couple):
    """A read on the replica publishes keymiss and keeps the key; on the primary the key is deleted."""
    primary, replica = couple
    primary.client().psetex("stale", 1, "v")
    wait_for_offset(primary, replica)
    for server in (replica, primary):
        server.client().config_set("notify-keyspace-events", "KEAm")
        with RawClient(server.port) as listener:
            listener("psubscribe", "__keyevent@0__:*")
            assert server.client().get("stale") is None
            expected = [b"keymiss"] if server is replica else [b"expired", b"keymiss"]
            for event in expected:
                assert listener.read()[1][2][1] == b"__keyevent@0__:" + event


def test_the_primarys_commands_are_shown(couple):
    """MONITOR and SLOWLOG show commands of the stream, with the primary as the client."""
    primary, replica = couple
    replica.client().config_set("slowlog-log-slower-than", 0)
    with RawClient(replica.port) as monitor:
        monitor("monitor")
        with primary.client(db=2).pipeline(transaction=True) as pipe:
            pipe.set("shown", 1).incr("shown").execute()
        lines = []
        while not lines or b'"EXEC"' not in lines[-1]:
            line = monitor.read()[1]
            if b"%d]" % primary.port in line:
                lines.append(line)
    words = [line.split(b"] ")[1] for line in lines]
    assert words[-4:] == [b'"SELECT" "2"', b'"SET" "shown" "1"', b'"INCRBY" "shown" "1"', b'"EXEC"']
    assert b"[2 " in lines[-2]
    slow = [entry for entry in replica.client().slowlog_get(50) if entry["command"] == b"SET shown 1"]
    assert slow and slow[0]["client_address"] == b"127.0.0.1:%d" % primary.port
    replica.client().config_set("slowlog-log-slower-than", 10000)


@pytest.mark.slow
def test_a_writable_replica_expires_its_own_fields():
    """Any number of fields can expire at the same moment, and after any number of new expiries."""
    with start("cairn") as primary, start("cairn", replica_read_only=False) as replica:
        follow(replica, primary)
        client = replica.client()
        fields = [f"f{number}" for number in range(5000)]
        client.hset("own", mapping=dict.fromkeys([*fields, "keep"], 1))
        when = int(time.time() * 1000) + 500
        for moment in (when + 3600000, when + 7200000, when):
            client.execute_command("HPEXPIREAT", "own", moment, "FIELDS", len(fields), *fields)
        wait_until(lambda: client.hlen("own") == 1, "the end of the fields")
        client.set("prolonged", 1, px=100)
        client.set("prolonged", 1, px=3600000)
        assert_stays(lambda: client.get("prolonged") == b"1", 0.5, "the key")


def test_a_replica_refers_a_client_with_capa_redirect_to_its_primary(couple):
    """Only commands that read or write are referred; READONLY lets the replica serve reads."""
    primary, replica = couple
    referred = (b"-", b"REDIRECT 127.0.0.1:%d" % primary.port)
    client = RawClient(replica.port)
    assert client("get", "k")[0] == b"$"
    assert client("client", "capa", "redirect") == (b"+", b"OK")
    assert client("get", "k") == client("set", "k", "1") == client("flushall") == referred
    assert client("ping") == (b"+", b"PONG")
    assert client("readonly") == (b"+", b"OK")
    assert client("get", "k")[0] == b"$"
    assert client("set", "k", "1") == referred
    assert client("readwrite") == (b"+", b"OK")
    client("multi")
    assert client("get", "k") == referred
    assert client("exec")[1].startswith(b"EXECABORT")
    client("reset")
    assert client("get", "k") == referred
    on_primary = RawClient(primary.port)
    on_primary("client", "capa", "redirect")
    assert on_primary("set", "k", "1") == (b"+", b"OK")
