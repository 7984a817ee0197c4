# SPDX-License-Identifier: BSD-3-Clause
"""CLIENT and its subcommands: their replies compared with redis-server, and their effects on connections."""

import re
import socket
import time

import pytest
import redis
from harness import Server
from raw_client import RawClient
from waiting import assert_stays, let_pass, wait_until

FIELDS = """id addr laddr fd name age idle flags db sub psub ssub multi qbuf qbuf-free argv-mem multi-mem rbs
rbp obl oll omem tot-mem events cmd user redir resp capa lib-name lib-ver tot-net-in tot-net-out tot-cmds""".split()


def fields(line):
    """A line of CLIENT LIST as a dictionary."""
    return dict(part.split("=", 1) for part in line.decode().split(" "))


def client_list(client, *options):
    """CLIENT LIST as dictionaries."""
    return [fields(line) for line in client("client", "list", *options)[1].splitlines()]


def test_the_same_replies(pair):
    pair.lines("""
        client
        client foo
        client foo bar
        client id x
        client getname
        client setname
        client setname ''
        client setname me
        client getname
        client setname ''
        client getname
        client kill
        client kill foo
        client kill id
        client kill id abc
        client kill id 0
        client kill id 999999
        client kill foo bar
        client kill type foo
        client kill type replica
        client kill type pubsub type master
        client kill user foo
        client kill user default addr 1:1
        client kill skipme x
        client kill addr 1:1 laddr 2:2
        client kill id 999999 skipme
        client list foo
        client list type
        client list type foo
        client list type replica
        client list type pubsub x
        client list id
        client list id a
        client list id 999999
        client reply foo
        client reply on
        client no-evict foo
        client no-evict on
        client no-evict off
        client unblock
        client unblock a
        client unblock 999999
        client unblock 999999 foo
        client unblock 999999 timeout
        client unblock 999999 error
        client unblock 999999 error x
        client pause
        client pause a
        client pause -1
        client pause 0 foo
        client pause 0
        client pause 0 WRITE
        client unpause
        client unpause x
        client getredir
    """)
    pair("client", "setname", "with space")
    pair("client", "setname", "new\nline")
    pair("client", "kill", "id", "999999", "id", "999998")


def test_a_line_has_the_fields_of_redis_and_valkey(server):
    client = RawClient(server.port)
    client("client", "setname", "tester")
    client("client", "setinfo", "lib-name", "raw")
    client("client", "setinfo", "LIB-VER", "1.0")
    client("select", "5")
    line = client("client", "info")[1]
    assert line.endswith(b"\n")
    mine = fields(line[:-1])
    assert list(mine) == FIELDS
    assert mine["name"] == "tester" and mine["lib-name"] == "raw" and mine["lib-ver"] == "1.0"
    assert mine["db"] == "5" and mine["cmd"] == "client|info" and mine["user"] == "default"
    assert mine["resp"] == "2" and mine["flags"] == "N" and mine["multi"] == "-1"
    assert mine["addr"] == "%s:%d" % client.socket.getsockname()
    assert mine["laddr"] == "%s:%d" % client.socket.getpeername()
    assert int(mine["fd"]) > 0
    assert mine["id"] == client("client", "id")[1].decode()


def test_setinfo_refuses_characters_that_would_break_the_list(server):
    client = RawClient(server.port)
    assert client("client", "setinfo", "lib-name", "a b") == (
        b"-", b"ERR lib-name cannot contain spaces, newlines or special characters.")
    assert client("client", "setinfo", "nonsense", "a") == (b"-", b"ERR Unrecognized option 'nonsense'")
    assert client("client", "setinfo", "lib-name") == (
        b"-", b"ERR wrong number of arguments for 'client|setinfo' command")


def test_list_finds_by_id_and_type(server):
    one, two = RawClient(server.port), RawClient(server.port, 3)
    ids = [client("client", "id")[1].decode() for client in (one, two)]
    listed = client_list(one, "id", *ids)
    assert [entry["id"] for entry in listed] == ids
    assert [entry["resp"] for entry in listed] == ["2", "3"]
    assert set(ids) <= {entry["id"] for entry in client_list(one, "type", "normal")}
    two.close()
    wait_until(lambda: len(client_list(one, "id", *ids)) == 1)


def test_flags_show_the_state_of_a_client(server):
    watcher, client = RawClient(server.port), RawClient(server.port)
    mine = client("client", "id")[1].decode()

    def flags():
        return client_list(watcher, "id", mine)[0]["flags"]

    client("client", "no-evict", "on")
    client("client", "no-touch", "on")
    assert flags() == "eT"
    client("reset")
    assert flags() == "N"
    client("multi")
    client("ping")
    client("ping")
    assert flags() == "x"
    assert client_list(watcher, "id", mine)[0]["multi"] == "2"
    client("discard")
    client.send("blpop", "nothing-there", "0")
    wait_until(lambda: flags() == "b")
    assert watcher("client", "unblock", mine) == (b":", b"1")
    assert client.read() == (b"*", None)


def is_closed(client):
    """Whether the server has closed this connection."""
    try:
        client("ping")
    except (ConnectionError, OSError):
        return True
    return False


def test_kill_by_every_filter(server):
    killer = RawClient(server.port)
    my_address = "%s:%d" % killer.socket.getsockname()
    for option in ("old", "id", "addr", "user", "type"):
        victim = RawClient(server.port)
        address = "%s:%d" % victim.socket.getsockname()
        victim_id = victim("client", "id")[1]
        if option == "old":
            assert killer("client", "kill", address) == (b"+", b"OK")
        else:
            value = {"id": victim_id, "addr": address, "user": "default", "type": "normal"}[option]
            assert int(killer("client", "kill", option, value)[1]) >= 1
        wait_until(lambda: is_closed(victim))  # noqa: B023
    assert killer("ping") == (b"+", b"PONG")  # the killer is not killed
    assert killer("client", "kill", "addr", my_address) == (b":", b"0")
    assert killer("client", "kill", "addr", my_address, "skipme", "no") == (b":", b"1")
    wait_until(lambda: is_closed(killer))


# The ids and names of clients differ between the servers, so these calls find no client or are refused.
FILTERS = """
    client list idle x | client list idle 0 | client list idle -1 | client list maxage x | client list maxage 0
    client list maxage 100000 | client list idle 100000 | client list flags Z | client list flags NZ
    client list not-flags Z | client list flags t | client list flags A | client list flags L
    client list flags oO | client list not-flags N | client list db x | client list db 99
    client list db -1 | client list not-db x | client list not-db 77 | client list db 7
    client list user nosuch | client list not-user nosuch | client list not-user default
    client list lib-name x | client list lib-ver x | client list capa x | client list capa r
    client list not-capa z | client list not-ip 127.0.0.1 | client list name x | client list name
    client list not-type normal | client list not-type foo | client list type normal not-type normal
    client list type primary | client list type master | client list addr x | client list not-addr x laddr y
    client list skipme | client list skipme maybe | client list not-skipme yes
    client list not-maxage 1 | client list not-idle 1 | client list foo bar | client list name a name b
    client list not-id | client list not-name | client list db 0 not-db 0
    client kill name zz | client kill name zz not-name | client kill not-flags Z | client kill flags Z
    client kill db a | client kill db 99 | client kill maxage x | client kill maxage 0 | client kill maxage 100000
    client kill idle 100000 | client kill capa z | client kill not-type normal type normal | client kill ip 1.2.3.4
    client kill lib-name x lib-ver y | client kill id 888888 999999 777777 | client kill not-user nosuch
    client capa | client capa redirect | client list capa rr skipme yes | client capa nothing redirect
"""


def test_filters_reply_like_valkey(newer_pair):
    newer_pair.lines(FILTERS.replace(" | ", "\n"))


def test_filters_select_clients(server):
    watcher, queuing, subscriber = (RawClient(server.port) for _ in range(3))
    watcher("client", "setname", "watcher")
    queuing("client", "setname", "queuing")
    queuing("client", "setinfo", "lib-name", "lib")
    queuing("select", "3")
    queuing("client", "capa", "redirect")
    queuing("multi")
    subscriber("client", "setname", "subscriber")
    subscriber("client", "no-evict", "on")
    subscriber("subscribe", "channel")
    names = {"watcher", "queuing", "subscriber"}

    def found(*options):
        return {entry["name"] for entry in client_list(watcher, *options)} & names

    assert found("flags", "x") == {"queuing"}
    assert found("flags", "Pe") == {"subscriber"}
    assert found("flags", "Px") == set()
    assert found("not-flags", "Pe") == {"watcher", "queuing"}
    assert found("not-flags", "Px") == names
    assert found("name", "queuing") == {"queuing"}
    assert found("not-name", "queuing") == {"watcher", "subscriber"}
    assert found("not-name", "queuing", "skipme", "yes") == {"subscriber"}
    assert found("lib-name", "lib") == found("db", "3") == found("capa", "r") == {"queuing"}
    assert found("not-lib-name", "lib") == found("not-db", "3") == found("not-capa", "r") == {"watcher", "subscriber"}
    assert found("ip", "127.0.0.1", "type", "pubsub") == {"subscriber"}
    assert found("not-ip", "127.0.0.1") == set()
    assert found("not-type", "pubsub", "not-name", "watcher") == {"queuing"}
    my_id, other_id = (client("client", "id")[1].decode() for client in (watcher, RawClient(server.port)))
    assert found("id", my_id, other_id, "name", "watcher") == {"watcher"}
    assert found("not-id", my_id, other_id) == {"queuing", "subscriber"}
    wait_until(lambda: found("maxage", "1") == names)
    wait_until(lambda: found("idle", "1") == {"queuing", "subscriber"})
    assert watcher("client", "kill", "not-name", "watcher", "flags", "e") == (b":", b"1")
    wait_until(lambda: is_closed(subscriber))


def test_a_client_counts_its_bytes_and_commands(server):
    client = RawClient(server.port)
    client("set", "key", "x" * 1000)
    client("get", "key")
    (mine,) = client_list(client, "id", client("client", "id")[1])
    assert int(mine["tot-cmds"]) == 3
    assert 1000 < int(mine["tot-net-in"]) < 1400
    assert 1000 < int(mine["tot-net-out"]) < 1200


def test_a_client_that_kills_itself_gets_the_reply_first(server):
    client = RawClient(server.port)
    assert client("client", "kill", "%s:%d" % client.socket.getsockname()) == (b"+", b"OK")
    assert is_closed(client)


def test_a_killed_client_changes_nothing_after_the_reply_to_kill():
    """Its write waits for the only thread of the slow lane when CLIENT KILL replies."""
    with Server(slow_threads=1) as server:
        killer, sleeper, victim = (RawClient(server.port) for _ in range(3))
        victim_id = victim("client", "id")[1]
        sleeper.send("debug", "sleep", "0.5")
        wait_until(lambda: "debug" in [entry["cmd"] for entry in client_list(killer)])
        victim.send("set", "k", "x" * (1 << 20))
        wait_until(lambda: int(client_list(killer, "id", victim_id)[0]["tot-net-in"]) > 1 << 20)
        assert killer("client", "kill", "id", victim_id) == (b":", b"1")
        assert sleeper.read() == (b"+", b"OK")
        assert killer("keys", "*") == (b"*", [])  # the slow lane runs it after the write
        for client in (killer, sleeper, victim):
            client.close()


def test_reply_modes(server):
    client = RawClient(server.port)
    client.send("client", "reply", "off")
    client.send("set", "quiet", "1")
    client.send("client", "reply", "skip")
    client.send("ping")
    client.send("client", "reply", "on")
    assert client.read() == (b"+", b"OK")
    client.send("client", "reply", "skip")
    client.send("ping", "skipped")
    client.send("ping", "heard")
    assert client.read() == (b"$", b"heard")
    assert client("get", "quiet") == (b"$", b"1")


def test_pause_blocks_writes_and_not_reads(server):
    admin, client = RawClient(server.port), RawClient(server.port)
    assert admin("client", "pause", "60000", "write") == (b"+", b"OK")
    client.socket.settimeout(60)
    assert client("get", "x") == (b"$", b"-1")
    client.send("set", "x", "1")
    assert_stays(lambda: admin("get", "x") == (b"$", b"-1"), 0.2, "the pause")
    assert admin("client", "unpause") == (b"+", b"OK")
    assert client.read() == (b"+", b"OK")


READS_ONLY = "#!lua flags=no-writes\nreturn 1"


def test_pause_blocks_all_commands_that_may_write(server):
    """EXEC of a queue with writes, scripts and PFCOUNT wait; read-only commands and errors do not."""
    held = [[("multi",), ("set", "x", 1), ("exec",)], [("eval", "return 1", 0)], [("pfcount", "hll")],
            [("multi",), ("eval", "return 1", 0), ("exec",)], [("publish", "channel", "text")]]
    passing = [[("multi",), ("get", "x"), ("exec",)], [("eval", READS_ONLY, 0)], [("eval_ro", "return 1", 0)],
               [("multi",), ("eval", READS_ONLY, 0), ("exec",)], [("set", "x")]]
    admin = RawClient(server.port)
    waiting = [RawClient(server.port) for _ in held]
    for client, commands in zip(waiting, held):
        for command in commands[:-1]:
            client(*command)
    admin("client", "pause", "60000", "write")
    for client, commands in zip(waiting, held):
        client.send(*commands[-1])
    for commands in passing:
        client = RawClient(server.port)
        for command in commands:
            client(*command)
        client.close()
    wait_until(lambda: b"blocked_clients:%d\r" % len(held) in admin("info", "clients")[1])
    admin("client", "unpause")
    assert [client.read()[0] for client in waiting] == [b"*", b":", b":", b"*", b":"]
    assert b"blocked_clients:0\r" in admin("info", "clients")[1]


def test_a_transaction_that_begins_a_pause_runs_once(server):
    """Its script locks its first key during the pause. A script that is held back would begin the pause again."""
    admin, client = RawClient(server.port), RawClient(server.port)
    client("multi")
    client("client", "pause", "60000", "write")
    client("eval", "return redis.call('incr', 'paused')", "0")
    assert client("exec") == (b"*", [(b"+", b"OK"), (b":", b"1")])
    assert admin("client", "unpause") == (b"+", b"OK")
    assert admin("del", "paused") == (b":", b"1")


def test_a_client_that_leaves_during_a_pause_is_closed(server):
    """Its write is dropped, as in Redis. Otherwise clients that retry would use up maxclients."""
    admin, gone, half_closed = (RawClient(server.port) for _ in range(3))
    ids = [client("client", "id")[1] for client in (gone, half_closed)]
    admin("client", "pause", "60000", "write")
    for client in (gone, half_closed):
        client.send("incr", "n")
    wait_until(lambda: b"blocked_clients:2\r" in admin("info", "clients")[1])
    gone.close()
    half_closed.socket.shutdown(socket.SHUT_WR)
    assert half_closed.stream.read() == b""
    wait_until(lambda: client_list(admin, "id", *ids) == [])
    admin("client", "unpause")
    assert admin("get", "n") == (b"$", b"-1")


def test_nothing_expires_during_a_pause(server):
    admin = RawClient(server.port)
    admin("config", "resetstat")
    admin("set", "brief", 1, "px", 30)
    admin("client", "pause", "60000", "write")
    wait_until(lambda: admin("get", "brief") == (b"$", b"-1"), "the deadline")
    let_pass(100)  # some turns of the cron, which deletes expired keys
    assert b"expired_keys:0\r" in admin("info", "stats")[1]
    admin("client", "unpause")
    wait_until(lambda: b"expired_keys:1\r" in admin("info", "stats")[1])


def test_a_large_query_buffer_is_freed_when_it_is_no_longer_needed(server):
    admin, client = RawClient(server.port), RawClient(server.port)
    client("client", "setname", "large")

    def buffer_bytes():
        [line] = [line for line in admin("client", "list")[1].splitlines() if b"name=large" in line]
        fields = dict(field.split(b"=", 1) for field in line.split())
        return int(fields[b"qbuf"]) + int(fields[b"qbuf-free"])

    client("set", "x", "v" * 400000)
    assert buffer_bytes() > 400000
    wait_until(lambda: client("set", "x", "v") and buffer_bytes() < 65536)
    wait_until(lambda: buffer_bytes() == 0)


def test_pause_ends_by_itself(server):
    admin, client = RawClient(server.port), RawClient(server.port)
    start = time.monotonic()
    admin("client", "pause", "300")
    assert client("ping") == (b"+", b"PONG")
    assert time.monotonic() - start > 0.25


def test_a_pause_of_all_commands_holds_the_next_pause_too(server):
    """The milder pause takes effect when the stricter one is over, as in Redis. UNPAUSE still ends it."""
    admin, other = RawClient(server.port), RawClient(server.port)
    start = time.monotonic()
    admin("client", "pause", "300")
    assert admin("client", "pause", "20", "write") == (b"+", b"OK")
    assert time.monotonic() - start > 0.25
    admin("client", "pause", "60000", "all")
    assert other("client", "unpause") == (b"+", b"OK")
    assert admin("ping") == (b"+", b"PONG")


def test_no_touch_keeps_the_idle_time(server, r):
    """After CLIENT NO-TOUCH ON reads are no uses of a key, except by TOUCH."""
    client = RawClient(server.port)

    def idle_s(key):
        return r.object("idletime", key)

    r.mset({key: "v" for key in ("plain", "queued", "read", "touched", "script")})
    client("client", "no-touch", "on")
    wait_until(lambda: idle_s("plain") >= 1 and idle_s("script") >= 1)
    client("get", "plain")
    client("eval", "redis.call('get', KEYS[1]) return redis.call('touch', KEYS[2])", "2", "read", "script")
    client("multi")
    client("get", "queued")
    client("exec")
    client("touch", "touched")
    assert all(idle_s(key) >= 1 for key in ("plain", "queued", "read"))
    assert idle_s("touched") == idle_s("script") == 0
    client("client", "no-touch", "off")
    client("get", "plain")
    assert idle_s("plain") == 0


def test_the_help_of_every_container_lists_its_subcommands(r):
    for container in ("client", "commandlog", "config", "slowlog", "memory", "function", "debug"):
        lines = r.execute_command(container, "help")
        assert lines[0].decode().startswith(container.upper() + " <subcommand>")
        assert lines[-2:] == [b"HELP", b"    Prints this help."]


def test_a_library_can_set_its_name(server):
    client = redis.Redis(host=server.host, port=server.port, lib_name="mine", lib_version="9")
    info = client.client_info()
    assert info["lib-name"] == "mine" and info["lib-ver"] == "9"
    assert re.fullmatch(r"[\d.]+:\d+", info["addr"])
    client.close()


@pytest.mark.parametrize("protocol", [2, 3])
def test_the_list_is_verbatim_text_in_resp3(server, protocol):
    client = RawClient(server.port, protocol)
    kind, content = client("client", "list")
    assert kind == (b"=" if protocol == 3 else b"$")
    assert content.startswith(b"txt:id=" if protocol == 3 else b"id=")
