# SPDX-License-Identifier: BSD-3-Clause
"""Client-side caching: a client that may have a copy of a key gets an invalidation when the key changes."""

import contextlib
import threading
import time

import pytest

from harness import Server
from raw_client import RawClient, leaves
from waiting import let_pass, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def connect(server):
    """Opens connections to the server; they are closed after the test."""
    clients = []

    def open_client(protocol=3):
        clients.append(RawClient(server.port, protocol))
        return clients[-1]
    yield open_client
    for client in clients:
        client.close()


def invalidation(*keys):
    """An invalidation in RESP3."""
    return b">", [(b"$", b"invalidate"), (b"*", [(b"$", key) for key in keys])]


EVERYTHING = (b">", [(b"$", b"invalidate"), (b"_", b"")])
OK = (b"+", b"OK")
PONG = (b"+", b"PONG")


def info_number(client, field):
    """A number of INFO."""
    lines = client("info", "everything")[1].decode().splitlines()
    return int(next(line for line in lines if line.startswith(field + ":")).split(":")[1])


# ---- the commands

def test_the_commands_reply_as_in_redis(pair):
    pair.lines("""
        client getredir
        client trackinginfo
        client caching yes
        client tracking on
        client getredir
        client trackinginfo
        client caching yes
        client caching no
        client tracking on bcast
        client tracking on optin
        client caching no
        client caching maybe
        client caching yes
        client trackinginfo
        client trackinginfo
        get k
        client trackinginfo
        client tracking on optout
        client tracking off
        client tracking off
        client tracking on optin optout
        client tracking on optin bcast
        client tracking on prefix a
        client tracking on redirect 1000000
        client tracking on redirect x
        client tracking on redirect
        client tracking on what
        client tracking what
        client tracking on bcast prefix a: prefix ab
        client tracking on bcast prefix a: prefix b: noloop
        client trackinginfo
        client tracking on bcast prefix a:b
        client tracking on bcast prefix c
        client tracking on bcast prefix d prefix e prefix dx prefix ex
        client tracking on bcast prefix d prefix c1 prefix f prefix fx
        client tracking on bcast prefix d prefix d
        client tracking on bcast prefix c
        client trackinginfo
        client tracking off
        client tracking on optout
        client caching no
        client trackinginfo
        client caching yes
        reset
        client trackinginfo
        client getredir
    """)


@pytest.mark.parametrize("words", ["", "bcast", "noloop", "optin"])
def test_trackinginfo_is_a_map_with_a_set_in_resp3(server, redis_server, words):
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(RawClient(one.port, 3)))
                   for one in (server, redis_server)]
        for client in clients:
            client("client", "tracking", "on", *words.split())
        ours, theirs = (client("client", "trackinginfo") for client in clients)
        assert ours == theirs


def test_client_list_shows_tracking_clients(connect):
    client, other = connect(), connect()
    target = other("client", "id")[1].decode()

    def shown():
        line = client("client", "info")[1].decode()
        words = dict(word.split("=", 1) for word in line[4:].split())
        return words["flags"], words["redir"]
    assert shown() == ("N", "-1")
    client("client", "tracking", "on")
    assert shown() == ("t", "0")
    client("client", "tracking", "on", "redirect", target)
    assert shown() == ("t", target)
    client("client", "tracking", "off")
    client("client", "tracking", "on", "bcast")
    assert shown() == ("tB", "0")


# ---- the default mode

def test_a_read_key_is_invalidated_once(connect):
    reader, writer = connect(), connect()
    reader("client", "tracking", "on")
    writer("set", "k", "1")
    reader("get", "k")
    writer("set", "k", "2")
    assert reader.read() == invalidation(b"k")
    writer("set", "k", "3")  # the key was not read again
    writer("set", "other", "1")
    assert reader("ping") == PONG


@pytest.mark.parametrize("read", ["get k", "mget k x", "exists k", "strlen k", "ttl k", "type k",
                                  "getrange k 0 1", "touch k", "object encoding k"])
def test_every_read_counts(connect, read):
    reader, writer = connect(), connect()
    writer("set", "k", "1")
    reader("client", "tracking", "on")
    reader(*read.split())
    writer("append", "k", "2")
    assert reader.read() == invalidation(b"k")


@pytest.mark.parametrize("prepare, read, change", [
    ("hset c f 1", "hget c f", "hset c f 2"),
    ("hset c f 1", "hgetall c", "hdel c f"),
    ("rpush c a", "lrange c 0 -1", "rpush c b"),
    ("rpush c a b", "llen c", "lpop c"),
    ("sadd c a", "smembers c", "srem c a"),
    ("zadd c 1 a", "zscore c a", "zincrby c 1 a"),
    ("xadd c 1-1 a b", "xrange c - +", "xadd c 2-1 a b"),
    ("set c a", "getbit c 0", "setbit c 0 1"),
    ("pfadd c a", "pfcount c", "pfadd c b z w"),
    ("set c a", "get c", "rename c d"),
    ("set d a", "get c", "rename d c"),
    ("set c a", "get c", "del c"),
    ("set c a", "get c", "expire c 100"),
    ("set c a", "get c", "getdel c"),
    ("rpush c 2 1", "lrange c 0 -1", "sort c store c"),
    ("sadd a x", "smembers c", "sunionstore c a"),
    ("set a x", "get c", "copy a c"),
])
def test_every_change_counts(connect, prepare, read, change):
    reader, writer = connect(), connect()
    writer(*prepare.split())
    reader("client", "tracking", "on")
    reader(*read.split())
    writer(*change.split())
    while (told := reader.read()) != invalidation(b"c"):
        assert told[0] == b">", told


def test_a_clients_own_change_is_invalidated_after_its_reply(connect):
    client = connect()
    client("client", "tracking", "on")
    client("get", "k")
    assert client("set", "k", "1") == OK
    assert client.read() == invalidation(b"k")


def test_a_change_before_the_read_is_not_invalidated(connect):
    client = connect()
    client("client", "tracking", "on")
    for line in ("multi", "set k 1", "get k", "exec"):
        client(*line.split())
    assert client("ping") == PONG
    client.send("set", "j", "1")
    client.send("get", "j")
    assert [client.read(), client.read(), client("ping")] == [OK, (b"$", b"1"), PONG]
    client("set", "j", "2")  # the read is remembered anyway
    assert client.read() == invalidation(b"j")


@pytest.mark.parametrize("commands", [
    ("set k newvalue", "strlen k"),
    ("multi", "set k 2", "get k", "exec"),
])
def test_a_read_after_a_change_does_not_hide_the_change(connect, commands):
    """The client had a copy before the change, and another command's reply does not replace it."""
    client = connect()
    client("client", "tracking", "on")
    client("set", "k", "old")
    client("get", "k")
    client.send_together(*(line.split() for line in commands))
    for _ in commands:
        assert client.read()[0] != b">"
    assert client.read() == invalidation(b"k")


def test_tracking_that_starts_in_a_transaction_counts_for_the_rest_of_it(connect):
    client = connect()
    for line in ("multi", "client tracking on", "get k", "set k 2", "exec"):
        client(*line.split())
    assert client.read() == invalidation(b"k")


def test_noloop_remembers_a_read_after_the_clients_own_change(connect):
    client, other = connect(), connect()
    client("client", "tracking", "on", "noloop")
    client("get", "k")
    client.send_together(("set", "k", "1"), ("get", "k"))
    assert [client.read(), client.read()] == [OK, (b"$", b"1")]
    other("set", "k", "2")
    assert client.read() == invalidation(b"k")


def test_noloop_excludes_the_clients_own_changes(connect):
    client, other = connect(), connect()
    client("client", "tracking", "on", "noloop")
    client("mget", "mine", "theirs")
    client("set", "mine", "1")
    other("set", "theirs", "1")
    assert client.read() == invalidation(b"theirs")
    assert client("ping") == PONG


def test_optin_remembers_reads_after_caching_yes(connect):
    reader, writer = connect(), connect()
    reader("client", "tracking", "on", "optin")
    reader("get", "a")
    reader("client", "caching", "yes")
    reader("get", "b")
    reader("get", "c")
    reader("client", "caching", "yes")
    for line in ("multi", "get d", "get e", "exec"):
        reader(*line.split())
    reader("get", "f")
    for key in "abcdef":
        writer("set", key, "1")
    assert [reader.read() for _ in range(3)] == [invalidation(k) for k in (b"b", b"d", b"e")]
    assert reader("ping") == PONG


def test_optout_forgets_reads_after_caching_no(connect):
    reader, writer = connect(), connect()
    reader("client", "tracking", "on", "optout")
    reader("get", "a")
    reader("client", "caching", "no")
    reader("get", "b")
    reader("get", "c")
    for key in "abc":
        writer("set", key, "1")
    assert [reader.read() for _ in range(2)] == [invalidation(k) for k in (b"a", b"c")]
    assert reader("ping") == PONG


def test_a_flush_invalidates_everything(connect):
    reader, writer = connect(), connect()
    for command in ("flushall", "flushdb"):
        reader("client", "tracking", "on")
        reader("get", "k")
        writer(command)
        assert reader.read() == EVERYTHING
        assert info_number(writer, "tracking_total_keys") == 0


@pytest.mark.parametrize("how", ["actively", "when met"])
def test_an_expired_key_is_invalidated(how, connect):
    reader, writer = connect(), connect()
    if how == "when met":
        writer("debug", "set-active-expire", "0")
    try:
        writer("set", "k", "v", "px", "30")
        reader("client", "tracking", "on")
        reader("get", "k")
        if how == "when met":
            let_pass(30)
            writer("get", "k")
        assert reader.read() == invalidation(b"k")
    finally:
        writer("debug", "set-active-expire", "1")


def test_off_and_reset_end_invalidations(connect):
    writer = connect()
    for end in (("client", "tracking", "off"), ("reset",)):
        reader = connect()
        reader("client", "tracking", "on")
        reader("get", "k")
        reader(*end)
        writer("set", "k", "1")
        assert reader("ping") == PONG
        assert info_number(writer, "tracking_clients") == 0


# ---- broadcasting

def test_broadcasting_invalidates_every_change_with_the_prefixes(connect):
    reader, writer = connect(), connect()
    reader("client", "tracking", "on", "bcast", "prefix", "a:", "prefix", "b:")
    writer("set", "c:1", "1")
    writer("set", "a:1", "1")
    assert reader.read() == invalidation(b"a:1")
    writer("set", "a:1", "2")
    assert reader.read() == invalidation(b"a:1")
    for line in ("multi", "set b:2 1", "set a:3 1", "set a:2 1", "set a:2 2", "exec"):
        writer(*line.split())
    assert [reader.read(), reader.read()] == [invalidation(b"a:2", b"a:3"), invalidation(b"b:2")]


def test_many_prefixes_are_compared_quickly(connect):
    reader = connect()
    words = [word for i in range(40000) for word in ("prefix", f"p{i:05}")]
    start = time.monotonic()
    assert reader("client", "tracking", "on", "bcast", *words) == (b"+", b"OK")
    more = "client tracking on bcast prefix q prefix {} prefix {} prefix r"
    error = reader(*more.format("r1", "p00001x").split())
    assert b"'r1' overlaps with another provided prefix 'r'" in error[1]
    error = reader(*more.format("p00001x", "r1").split())
    assert b"'p00001x' overlaps with an existing prefix 'p00001'" in error[1]
    assert time.monotonic() - start < 5


def test_broadcasting_without_a_prefix_is_about_all_keys(connect):
    reader, writer = connect(), connect()
    reader("client", "tracking", "on", "bcast", "noloop")
    reader("set", "mine", "1")
    writer("mset", "y", "1", "x", "1")
    assert reader.read() == invalidation(b"x", b"y")
    assert info_number(writer, "tracking_total_prefixes") == 1
    assert info_number(writer, "tracking_clients") == 1
    assert info_number(writer, "tracking_total_keys") == 0


# ---- redirection

def test_a_resp2_client_gets_invalidations_through_a_subscriber(connect):
    reader, writer, listener = connect(2), connect(), connect(2)
    target = listener("client", "id")[1].decode()
    listener("subscribe", "__redis__:invalidate")
    reader("client", "tracking", "on", "redirect", target)
    assert reader("client", "getredir") == (b":", target.encode())
    reader("get", "k")
    writer("set", "k", "1")
    assert leaves(listener.read()) == [b"message", b"__redis__:invalidate", b"k"]
    writer("flushall")
    assert leaves(listener.read()) == [b"message", b"__redis__:invalidate", b"-1"]


def test_a_resp3_target_needs_no_subscription(connect):
    reader, writer, listener = connect(2), connect(), connect(3)
    reader("client", "tracking", "on", "redirect", listener("client", "id")[1].decode())
    reader("get", "k")
    writer("set", "k", "1")
    assert listener.read() == invalidation(b"k")


def test_the_end_of_a_redirection_target_is_reported(connect):
    reader, writer, listener = connect(), connect(), connect()
    target = listener("client", "id")[1].decode()
    reader("client", "tracking", "on", "redirect", target)
    reader("get", "k")
    writer("client", "kill", "id", target)
    wait_until(lambda: b"id=" not in writer("client", "list", "id", target)[1], "the end of the client")
    writer("set", "k", "1")
    assert reader.read() == (b">", [(b"$", b"tracking-redir-broken"), (b":", target.encode())])
    assert b"broken_redirect" in leaves(reader("client", "trackinginfo"))
    assert b"flags=tR" in reader("client", "info")[1]


# ---- bounds

def test_the_table_has_a_limit(connect):
    reader, writer = connect(), connect()
    reader("client", "tracking", "on")
    try:
        for i in range(20):
            reader("get", f"k{i}")
        assert info_number(writer, "tracking_total_keys") == 20
        assert info_number(writer, "tracking_total_items") == 20
        writer("config", "set", "tracking-table-max-keys", "5")
        told = [reader.read() for _ in range(15)]
        assert info_number(writer, "tracking_total_keys") == 5
        assert len({leaves(one)[1] for one in told}) == 15
        reader.send("get", "another")
        assert sorted([reader.read()[0], reader.read()[0]]) == [b">", b"_"]
    finally:
        writer("config", "set", "tracking-table-max-keys", "1000000")


# ---- across threads

def test_no_cached_copy_stays_stale():
    """A client's copy equals the server's value, for writers on any thread.

    Readers keep a copy of each key until its invalidation; meanwhile writers increment the keys. When all writes are
    done, every remaining copy must have the last value.
    """
    keys = [f"k{i}" for i in range(20)]
    with Server(io_threads=3) as server:
        stop = threading.Event()
        wrong = []

        def write():
            client = RawClient(server.port)
            while not stop.is_set():
                for key in keys:
                    client("incr", key)
            client.close()

        def read():
            client = RawClient(server.port, 3)
            client("client", "tracking", "on")
            copies = {}

            def take(reply):
                """Handles invalidations until the reply comes."""
                while reply[0] == b">":
                    copies.pop(leaves(reply)[1].decode(), None)
                    reply = client.read()
                return reply
            while not stop.is_set():
                for key in keys:
                    if key not in copies:
                        client.send("get", key)
                        copies[key] = take(client.read())[1]
                client.send("ping")
                take(client.read())
            writers_done.wait()
            for _ in range(2):  # an invalidation may come before the second reply
                client.send("ping")
                take(client.read())
            stays = RawClient(server.port)
            for key, value in copies.items():
                if stays("get", key)[1] != value:
                    wrong.append((key, value))
            stays.close()
            client.close()

        writers_done = threading.Event()
        writers = [threading.Thread(target=write) for _ in range(3)]
        readers = [threading.Thread(target=read) for _ in range(4)]
        for thread in writers + readers:
            thread.start()
        time.sleep(3)  # clients write meanwhile
        stop.set()
        for thread in writers:
            thread.join()
        writers_done.set()
        for thread in readers:
            thread.join()
        assert not wrong
